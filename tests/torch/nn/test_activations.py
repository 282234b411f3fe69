"""Activations: against the original, at kinks too; their derivatives against differences, in all modes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.directions import check_directions
from tests.torch.nn.layers import arrays, check_errors, check_layer

KINKS = np.array([[-7.0, -3.0, -1.0, -0.5, 0.0, 0.25], [0.5, 1.0, 3.0, 6.0, 7.0, 25.0]])

MODULES: list[tuple[str, dict[str, Any]]] = [
    ("ReLU", {}),
    ("ReLU", {"inplace": True}),
    ("ReLU6", {}),
    ("LeakyReLU", {}),
    ("LeakyReLU", {"negative_slope": 0.2, "inplace": True}),
    ("PReLU", {}),
    ("PReLU", {"num_parameters": 6, "init": 0.1}),
    ("RReLU", {}),
    ("RReLU", {"lower": 0.2, "upper": 0.4}),
    ("ELU", {}),
    ("ELU", {"alpha": 1.5}),
    ("SELU", {}),
    ("CELU", {"alpha": 2.0}),
    ("GELU", {}),
    ("GELU", {"approximate": "tanh"}),
    ("SiLU", {}),
    ("Mish", {}),
    ("Softplus", {}),
    ("Softplus", {"beta": 3.0, "threshold": 10.0}),
    ("Softsign", {}),
    ("Softshrink", {}),
    ("Softshrink", {"lambd": 1.0}),
    ("Hardshrink", {}),
    ("Hardtanh", {}),
    ("Hardtanh", {"min_val": -2.0, "max_val": 0.5}),
    ("Hardsigmoid", {}),
    ("Hardswish", {}),
    ("Sigmoid", {}),
    ("LogSigmoid", {}),
    ("Tanh", {}),
    ("Tanhshrink", {}),
    ("Threshold", {"threshold": 0.5, "value": 20.0}),
    ("Softmax", {"dim": 1}),
    ("Softmax", {}),
    ("LogSoftmax", {"dim": 0}),
    ("Softmin", {"dim": -1}),
    ("GLU", {}),
    ("GLU", {"dim": 1}),
]
ONCE = ("Hardsigmoid", "Softsign")  # the original has no second derivative, or takes seconds to find it
IDS = [f"{name}-{k}" for k, (name, _) in enumerate(MODULES)]


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


def call(layer: Any, x: Any) -> Any:
    """The layer on its input (on a copy of it, if it works in place)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return layer(x.clone() if getattr(layer, "inplace", False) else x)


@pytest.mark.parametrize(("name", "settings"), MODULES, ids=IDS)
def test_as_the_original(torch: Any, name: str, settings: dict[str, Any]) -> None:
    for inputs in ([KINKS], arrays((3, 6, 4)), arrays((4, 6), dtype=np.float32)):
        # whose slope is 1/6 in single precision there
        double = inputs[0].dtype == np.float64 and name != "Hardsigmoid"
        tolerance = 1e-9 if double else 1e-5
        check_layer(
            torch,
            lambda nn: getattr(nn, name)(**settings),
            inputs,
            call=call,
            tolerance=tolerance,
            second=name not in ("Hardsigmoid", "Softsign"),
        )


@pytest.mark.parametrize(("name", "settings"), MODULES, ids=IDS)
def test_derivatives(name: str, settings: dict[str, Any]) -> None:
    layer = getattr(ft.nn, name)(**settings).double().eval()
    x = ft.tensor(arrays((2, 6))[0] * 1.7)
    check_directions(lambda x: call(layer, x), x.numpy())
    rows = (
        ft.func.vmap(lambda row: call(layer, row[None])[0])(x)
        if name not in ("GLU", "LogSoftmax")
        else call(layer, x)
    )
    np.testing.assert_allclose(rows.detach().numpy(), call(layer, x).detach().numpy())


def test_infinities_and_nan(torch: Any) -> None:
    x = np.array([[np.nan, np.inf, -np.inf, 1e30, -1e30, 0.0]])
    for name, settings in MODULES:
        if name not in ("GLU", "RReLU") and settings.get("num_parameters", 1) == 1:
            found, expected = [
                call(getattr(lib.nn, name)(**settings).double(), lib.tensor(x)).detach().numpy()
                for lib in (ft, torch)
            ]
            np.testing.assert_allclose(found, expected, err_msg=name)


def test_softmax_over_channels(torch: Any) -> None:
    check_layer(torch, lambda nn: nn.Softmax2d(), arrays((2, 3, 2, 2)))
    check_layer(torch, lambda nn: nn.Softmax2d(), arrays((3, 2, 2)))


def test_in_place_by_name(same: Any) -> None:
    same("""
F, start = torch.nn.functional, torch.tensor([-2.0, -0.5, 0.0, 0.5, 3.0], requires_grad=True)
for name, args in (("relu_", ()), ("elu_", (0.5,)), ("selu_", ()), ("celu_", (0.5,)), ("leaky_relu_", (0.25,)),
                   ("rrelu_", (0.25, 0.5)), ("hardtanh_", (-1.0, 2.0)), ("threshold_", (0.25, 9.0))):
    x = start * 1; out = getattr(F, name)(x, *args); print(name, out is x, out, x.grad_fn.name(), x._version)
    print(torch.autograd.grad(out.sum(), start)[0])
""")


def test_gumbel_softmax(same: Any) -> None:
    same("""
F = torch.nn.functional
x = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 3.0]], requires_grad=True)
torch.manual_seed(0); print(F.gumbel_softmax(x, tau=0.5).sum(1).detach().round())
y = F.gumbel_softmax(x, hard=True); print(y.sum(1).detach().round(), y.requires_grad)
print(sorted(set(y.detach().round().flatten().tolist())))
""")


@pytest.mark.parametrize(
    "run",
    [
        lambda t: t.nn.functional.gelu(t.ones(2), approximate="cubic"),
        lambda t: t.nn.functional.softshrink(t.ones(2), -1.0),
        lambda t: t.nn.functional.glu(t.ones(3)),
        lambda t: t.nn.Hardtanh(1.0, 0.0),
        lambda t: t.nn.Softmax2d()(t.ones(2)),
        lambda t: t.nn.functional.celu(t.ones(2), 0.0),
        lambda t: t.nn.PReLU(3)(t.ones(2, 2)),
        lambda t: t.nn.functional.hardtanh(t.ones(2), 1.0, 0.0),
    ],
)
def test_errors(torch: Any, run: Any) -> None:
    check_errors(torch, run)
