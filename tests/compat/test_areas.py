"""The areas in which autograd's own programs move, each against finite differences or a value known by hand."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as onp
import pytest

import funcgrad as fg
import funcgrad.compat.autograd as ag
import funcgrad.compat.autograd.numpy as np
from funcgrad.compat.autograd.core import vspace
from funcgrad.compat.autograd.extend import VSpace, defvjp, primitive
from funcgrad.compat.autograd.test_util import check_grads

X, Y = onp.array([[0.3, -1.2, 2.0], [0.7, 0.9, -0.4]]), onp.array([0.5, 1.5, 0.25])
P = onp.array([[2.0, 0.5, 0.1], [0.5, 3.0, -0.2], [0.1, -0.2, 1.5]])  # positive definite
Z = X + 1j * onp.array([[0.2, 0.1, -0.3], [1.0, -0.5, 0.6]])

# ---- NumPy, one line a function ------------------------------------------------------------------------------------------
OF_NUMPY = {
    "abs": (np.abs, X),
    "arctan2": (np.arctan2, X, Y),
    "broadcast": (lambda x, y: x * y + y, X, Y),
    "clip": (lambda x: np.clip(x, -1, 1), X),
    "concatenate": (lambda x, y: np.concatenate([x, y[None]]), X, Y),
    "cross": (np.cross, X, Y),
    "cumsum": (lambda x: np.cumsum(x, 1), X),
    "diag": (np.diag, P),
    "dot": (np.dot, X, Y),
    "einsum": (lambda x, y: np.einsum("ij,j->i", x, y), X, Y),
    "exp": (np.exp, X),
    "expand_dims": (lambda x: np.expand_dims(x, 1), X),
    "index": (lambda x: x[1, ::2], X),
    "kron": (np.kron, X, Y),
    "logaddexp": (np.logaddexp, X, Y),
    "max": (lambda x: np.max(x, axis=0), X),
    "mean": (np.mean, X),
    "outer": (np.outer, Y, Y),
    "pad": (lambda x: np.pad(x, 1, "constant"), X),
    "power": (np.power, Y, onp.abs(X)),
    "prod": (np.prod, X),
    "repeat": (lambda x: np.repeat(x, 2, axis=0), X),
    "roll": (lambda x: np.roll(x, 1), X),
    "sort": (np.sort, X),
    "stack": (lambda x: np.stack([x, 2 * x]), X),
    "std": (np.std, X),
    "tensordot": (np.tensordot, X, P, 1),
    "tile": (lambda x: np.tile(x, 2), X),
    "trace": (np.trace, P),
    "transpose": (lambda x: x.T, X),
    "tril": (np.tril, P),
    "var": (lambda x: np.var(x, axis=1, ddof=1), X),
    "vstack": (lambda x: np.vstack([x, x]), X),
    "where": (lambda x: np.where(x > 0, x**2, -x), X),
    "fft": (lambda x: np.abs(np.fft.fft(x)) ** 2, X),
    "inv": (np.linalg.inv, P),
    "det": (np.linalg.det, P),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], P),
    "solve": (np.linalg.solve, P, Y),
    "norm": (np.linalg.norm, X),
    "cholesky": (lambda a: np.linalg.cholesky(a + a.T), P),
    "pinv": (np.linalg.pinv, X),
    "svd": (lambda x: np.linalg.svd(x)[1], X),
    "eigh": (lambda a: np.linalg.eigh(a + a.T)[0], P),
}


@pytest.mark.parametrize("name", OF_NUMPY)
def test_functions_of_numpy_in_both_modes(name: str) -> None:
    function, *args = OF_NUMPY[name]
    arrays = tuple(i for i, x in enumerate(args) if isinstance(x, onp.ndarray))
    onp.random.seed(0)  # noqa: NPY002 (the checks draw from it)
    check_grads(function, arrays, order=1)(*args)


OF_SCIPY = {
    "logsumexp": lambda s, x: s.special.logsumexp(x, axis=1),
    "erf": lambda s, x: s.special.erf(x),
    "gammaln": lambda s, x: s.special.gammaln(x**2 + 1),
    "logit": lambda s, x: s.special.logit(0.5 + 0.1 * x),
    "jn": lambda s, x: s.special.jn(2, x),
    "norm": lambda s, x: s.stats.norm.logpdf(x, 0.1, 1.5),
    "t": lambda s, x: s.stats.t.logpdf(x, 2.5),
    "sqrtm": lambda s, x: s.linalg.sqrtm(x @ x.T),
    "triangular": lambda s, x: s.linalg.solve_triangular(P, x.T, lower=True),
    "convolve": lambda s, x: s.signal.convolve(x, x[:1]),
    "normals": lambda s, x: s.stats.multivariate_normal.logpdf(x, Y, P),
}


@pytest.mark.parametrize("name", OF_SCIPY)
def test_functions_of_scipy(name: str) -> None:
    import funcgrad.compat.autograd.scipy as scipy

    onp.random.seed(0)  # noqa: NPY002
    check_grads(lambda x: OF_SCIPY[name](scipy, x), modes=["rev"], order=1)(X)


# ---- numbers -------------------------------------------------------------------------------------------------------------
def test_complex_numbers() -> None:
    onp.testing.assert_allclose(ag.holomorphic_grad(lambda z: z**3)(0.5 + 2j), 3 * (0.5 + 2j) ** 2)
    onp.testing.assert_allclose(ag.grad(lambda z: np.sum(np.abs(z) ** 2))(Z), 2 * onp.conj(Z))
    for f in (
        np.real,
        np.imag,
        np.conj,
        np.angle,
        lambda z: z * z,
        lambda z: 1 / z,
        lambda z: np.exp(1j * z),
    ):
        onp.random.seed(0)  # noqa: NPY002
        check_grads(f, order=1)(Z)


@pytest.mark.parametrize("dtype", [onp.float16, onp.float32, onp.float64, onp.longdouble, onp.complex64])
def test_gradients_have_the_dtype_of_the_argument(dtype: Any) -> None:
    assert ag.grad(lambda x: np.real(np.sum(x**2)))(Y.astype(dtype)).dtype == dtype
    assert type(ag.grad(lambda x: x**2)(2)) is onp.float64


def test_conversions_keep_what_they_can() -> None:
    assert ag.grad(lambda x: x * np.int64(x))(2.5) == 2
    onp.testing.assert_array_equal(
        ag.grad(lambda x: np.sum(Y[x.astype(int)] * x))(onp.array([1.2, 2.9])), [1.5, 0.25]
    )


def test_logic_is_followed_and_has_no_slope() -> None:
    f = lambda x: (x**2 if x > 0 and not x < -1 or x == 5 else -x) + (3.0 if bool(np.isfinite(x)) else 0.0)
    assert ag.grad(f)(2.0) == 4
    assert ag.grad(f)(-2.0) == -1
    with pytest.warns(UserWarning, match="independent"):
        assert ag.grad(lambda x: np.sum((x > 1) * 1.0))(2.0) == 0


# ---- containers ----------------------------------------------------------------------------------------------------------
Pair = namedtuple("Pair", "a b")


def test_lists_tuples_and_dicts_go_in_and_come_out() -> None:
    f = lambda t: np.sum(t["a"] * t["b"][0]) + t["b"][1] ** 2
    tree = {"a": Y, "b": [2.0, 3.0]}
    found = ag.grad(f)(tree)
    onp.testing.assert_allclose(found["a"], 2 * onp.ones(3))
    assert [float(v) for v in found["b"]] == [float(Y.sum()), 6.0]
    assert ag.grad(lambda p: p.a * p.b)(Pair(2.0, 3.0)) == Pair(3.0, 2.0)
    assert ag.grad(lambda t: t[0] * sum(v for v in t[1]))((2.0, [3.0, 4.0])) == (7.0, [2.0, 2.0])
    onp.testing.assert_allclose(
        ag.make_vjp(lambda x: {"s": x, "t": (x, 2 * x)})(Y)[0]({"s": Y, "t": (Y, Y)}), 4 * Y
    )
    for value in ([1.0, 2.0], (1.0, {"k": Y}), {"z": 1j, "y": [X]}):
        space = vspace(value)
        assert len(list(space.standard_basis())) == space.size
        assert vspace(space.zeros()) == space


def test_spaces_of_classes_of_ones_own() -> None:
    class Celsius:
        def __init__(self, degrees: float) -> None:
            self.degrees = degrees

    class CelsiusSpace(VSpace):
        size = 1

        def zeros(self) -> Any:
            return Celsius(0.0)

    CelsiusSpace.register(Celsius)
    assert vspace(Celsius(3.0)).zeros().degrees == 0
    with pytest.raises(TypeError, match="no number"):
        vspace(object())


# ---- derivatives of every kind -------------------------------------------------------------------------------------------
def test_jacobians_and_products() -> None:
    f = lambda x: np.sin(x) * np.sum(x)
    jacobian = onp.cos(Y)[:, None] * onp.eye(3) * Y.sum() + onp.sin(Y)[:, None]
    onp.testing.assert_allclose(ag.jacobian(f)(Y), jacobian)
    assert ag.jacobian(lambda x: np.outer(x, x))(Y).shape == (3, 3, 3)
    onp.testing.assert_allclose(ag.tensor_jacobian_product(f)(Y, Y), Y @ jacobian)
    onp.testing.assert_allclose(ag.make_jvp(f)(Y)(Y)[1], jacobian @ Y)
    cube = lambda x: np.sum(x**3)
    onp.testing.assert_allclose(ag.hessian(cube)(Y), onp.diag(6 * Y))
    onp.testing.assert_allclose(ag.hessian_vector_product(cube)(Y, Y), 6 * Y**2)
    of_list = ag.hessian_vector_product(lambda p: np.sum(p[0] ** 3) + np.sum(p[1] ** 2) * np.sum(p[0]))(
        [Y, Y], [Y, 2 * Y]
    )
    onp.testing.assert_allclose(of_list[0], 6 * Y**2 + 4 * np.sum(Y**2))
    onp.testing.assert_allclose(of_list[1], 2 * Y * np.sum(Y) + 4 * Y * np.sum(Y))
    onp.testing.assert_allclose(ag.make_hvp(cube)(Y)[0](Y), 6 * Y**2)
    onp.testing.assert_array_equal(ag.hessian(np.std)(onp.array([3.5])), [[0.0]])


def test_derivatives_are_named_and_nest() -> None:
    def loss(w: Any, x: Any = 2.0) -> Any:
        """A loss."""
        return w * x

    derivative = ag.grad(loss)
    assert derivative.__name__ == "grad_of_loss_wrt_argnum_0"
    assert "A loss." in str(derivative.__doc__)
    assert ag.grad_named(loss, "x")(3.0, 5.0) == 3
    assert (
        ag.grad(lambda x: x * ag.grad(lambda y: x * y)(2.0))(3.0) == 6
    )  # no derivative is taken for the other
    with pytest.raises(fg.errors.ArgumentError, match="argnum"):
        ag.grad(loss, "w")


def test_graphs_with_joins_dead_ends_and_reuse() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        np.sin(y)  # nobody uses it
        z = y * y + y
        return z * y + x

    assert ag.grad(f)(3.0) == 3 * (2 * 3.0) ** 2 * 2 + 2 * (2 * 3.0) * 2 + 1
    assert ag.grad(lambda x: x)(3.0) == 1
    assert ag.grad(lambda x, y: x * 0 + y, 1)(1.0, 2.0) == 1


def test_a_primitive_may_be_called_with_keywords_and_several_outputs() -> None:
    split = primitive(lambda x, *, at: (x[:at], x[at:], "halves"))
    defvjp(split, lambda ans, x, at: lambda g: np.concatenate([g[0], g[1]]))
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(split(x, at=1)[1] ** 2))(Y), [0, 3.0, 0.5])


# ---- beside objects of others --------------------------------------------------------------------------------------------
class Labelled:
    """Computes by itself, and wraps what comes out."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [x.data if isinstance(x, Labelled) else x for x in inputs]
        return Labelled(getattr(ufunc, method)(*plain, **kwargs))


@pytest.mark.parametrize("gradient", [ag.grad, fg.grad])
def test_operators_leave_what_has_its_own_protocol_to_it(gradient: Any) -> None:
    labelled: Any = Labelled(Y)
    for f, slope in (
        (lambda x: x * labelled, Y),
        (lambda x: x - labelled, onp.ones(3)),
        (lambda x: x**labelled, Y * Y ** (Y - 1)),
        (lambda x: onp.multiply(labelled, x), Y),
    ):
        onp.testing.assert_allclose(gradient(lambda x, f=f: np.sum(f(x).data))(Y), slope)


@pytest.mark.parametrize("gradient", [ag.grad, fg.grad])
def test_arrays_of_xarray(gradient: Any) -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    da = xarray.DataArray(Y, dims="a")
    onp.testing.assert_allclose(gradient(lambda x: (x * da).sum())(Y), Y)
    onp.testing.assert_allclose(gradient(lambda x: np.sum((da * x).data))(Y), Y)
