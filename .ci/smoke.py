"""Is an installed funcgrad whole? Run by `.ci/release.py` in an environment with NumPy alone, away from the sources."""

import importlib.metadata
import importlib.resources
import pkgutil
import sys

import numpy as np

import funcgrad as fg
import funcgrad.numpy as fnp

OPTIONAL = ("scipy", "matplotlib", "jax", "tensorboard", "tqdm", "autograd")  # what the rest may ask for


def derivatives() -> None:
    """Each transform once, beside what is known."""
    x = np.array([0.5, 1.0, 2.0])
    f = lambda x: np.sum(np.sin(x) * x**2)
    slope = np.cos(x) * x**2 + 2 * x * np.sin(x)
    np.testing.assert_allclose(fg.grad(f)(x), slope)
    np.testing.assert_allclose(fg.jvp(f, (x,), (np.ones(3),))[1], slope.sum())
    np.testing.assert_allclose(fg.jit(fg.grad(f))(x), slope)
    np.testing.assert_allclose(np.diag(fg.hessian(lambda x: np.sum(x**3))(x)), 6 * x)
    np.testing.assert_allclose(fg.vmap(fg.grad(np.sin))(x), np.cos(x))
    np.testing.assert_allclose(fg.root(lambda y: y**2 - 2.0, 1.0), np.sqrt(2.0))


def assignment() -> None:
    """A loop that fills an array."""

    def filled(x):
        y = fnp.zeros(3)
        for i in range(3):
            y[i] = x ** (i + 1)
        return np.sum(y)

    assert fg.grad(filled)(2.0) == 1 + 4 + 12


def tensors() -> None:
    """A step of training in PyTorch's style."""
    import funcgrad.torch as torch

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = lambda: ((model(torch.ones(4, 2)) - 1.0) ** 2).mean()
    before = loss()
    before.backward()
    optimizer.step()
    assert loss().item() < before.item()


def pictures() -> None:
    """They carry files of the package."""
    assert "funcgrad-picture" in fg.draw(np.sin)(1.0).to_html()
    assert "funcgrad-flame" in fg.trace(lambda x: np.sin(x) * 2)(1.0).to_html()


def files() -> None:
    """What is no Python must be there as well."""
    root = importlib.resources.files("funcgrad")
    for name in (
        "py.typed",
        "math.pyi",
        "torch/tensors/tensor.pyi",
        "drawing/static/picture.js",
        "drawing/static/flame.css",
    ):
        assert root.joinpath(name).is_file(), f"{name} is missing"
    assert "site-packages" in str(root), f"this is not the installed package: {root}"


def modules() -> None:
    """All can be imported, or say which package they want."""
    for found in pkgutil.walk_packages(fg.__path__, "funcgrad.", onerror=lambda name: None):
        try:
            importlib.import_module(found.name)
        except ImportError as error:
            assert any(name in str(error) for name in OPTIONAL), f"{found.name}: {error}"


if __name__ == "__main__":
    for check in (files, derivatives, assignment, tensors, pictures, modules):
        check()
    installed = sorted(d.name.lower() for d in importlib.metadata.distributions())
    assert set(installed) <= {
        "funcgrad",
        "numpy",
        "typing_extensions",
        "typing-extensions",
        "pip",
        "setuptools",
    }, installed
    print(f"funcgrad {fg.__version__}, NumPy {np.__version__}, Python {sys.version.split()[0]}: whole")
