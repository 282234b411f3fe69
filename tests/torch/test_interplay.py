"""Tensors with NumPy and with functional transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch

torch: Any = funcgrad.torch

A = np.array([1.0, 2.0])
EXPRESSIONS = {
    "a * x": [1, 2], "x * a": [1, 2], "a + x": [1, 1], "a - x": [-1, -1], "a / x": [-1 / 9, -2 / 16], "a @ x": [1, 2],
    "x @ a": [1, 2],
    "np.sum(x)": [1, 1], "np.exp(x)": np.exp([3, 4]).tolist(), "np.dot(a, x)": [1, 2], "np.float64(2) * x": [2, 2],
    "np.concatenate([x, x])": [2, 2], "np.where(a > 1, x, 0)": [0, 1], "np.multiply(a, x)": [1, 2], "np.mean(x)": [0.5, 0.5],
}  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_numpy_on_tensors_gives_tensors_with_gradients(expression: str) -> None:
    x = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    out: Any = eval(expression, {"np": np, "a": A, "x": x})
    assert isinstance(out, torch.Tensor)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), EXPRESSIONS[expression], rtol=1e-12)


def test_a_tensor_that_a_differentiated_function_closes_over() -> None:
    t = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    found = fg.grad(lambda x: np.sum(x * t * t))(np.array([3.0, 4.0]))
    assert isinstance(found, torch.Tensor)
    found.sum().backward()
    assert t.grad.tolist() == [2, 4]


def test_transforms_of_functions_of_tensors() -> None:
    t = torch.tensor([1.0, 2.0])
    assert fg.grad(lambda x: (x * x).sum())(t).tolist() == [2, 4]  # type: ignore[operator]
    assert fg.vmap(lambda x: x * 2)(t).tolist() == [2, 4]
    assert fg.jacrev(lambda x: x**2)(t).tolist() == [[2, 0], [0, 4]]
    assert fg.grad(lambda x: (x * t).sum())(np.array([3.0, 4.0])).tolist() == [1, 2]


def test_no_grad_inside_a_transform_counts_and_outside_does_not() -> None:
    def f(x: Any) -> Any:
        with torch.no_grad():
            shift = x**2
        return x**3 - shift

    assert torch.func.grad(f)(torch.tensor(2.0)).item() == 12
    with torch.no_grad():
        assert torch.func.grad(lambda x: x**3)(torch.tensor(2.0)).item() == 12


def test_gradients_flow_through_a_transform_to_a_tensor() -> None:
    w = torch.tensor(2.0, requires_grad=True)
    inner = torch.func.grad(lambda x: w * x**2)(torch.tensor(3.0))
    assert inner.item() == 12
    inner.backward()
    assert w.grad.item() == 6


CLOSED_OVER = {
    "value_and_grad": lambda f, x: fg.value_and_grad(lambda x: np.sum(f(x)))(x)[0],
    "vjp": lambda f, x: fg.vjp(f, x)[0].sum(),
    "jvp": lambda f, x: fg.jvp(f, (x,), (x,))[0].sum(),
    "linearize": lambda f, x: fg.linearize(f, x)[0].sum(),
    "vmap": lambda f, x: fg.vmap(lambda r: np.sum(f(r)))(np.stack([x, x])).sum() / 2,
    "vmap to another axis": lambda f, x: fg.vmap(f, out_axes=1)(np.stack([x, x])).sum() / 2,
    "jacobian": lambda f, x: (fg.jacobian(f)(x) @ x).sum(),
    "grad": lambda f, x: (fg.grad(lambda x: np.sum(f(x)))(x) * x).sum(),
}


@pytest.mark.parametrize("transform", CLOSED_OVER)
def test_values_of_functions_that_close_over_a_tensor_are_tensors(transform: str) -> None:
    t = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    found = CLOSED_OVER[transform](lambda x: x * t, np.array([3.0, 4.0]))
    assert isinstance(found, torch.Tensor)
    assert found.item() == 11
    found.backward()
    assert t.grad.tolist() == [3, 4]
