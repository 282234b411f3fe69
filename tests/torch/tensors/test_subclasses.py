"""Subclasses of Tensor: kept as `__torch_function__` says; the library's own give plain tensors."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad.torch

torch: Any = funcgrad.torch


class Mine(torch.Tensor):
    """A subclass that changes nothing."""


class Logged(torch.Tensor):
    """A subclass that sees what is called."""

    seen: list[str] = []  # noqa: RUF012 (shared on purpose)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Silent(torch.Tensor):
    """A subclass that leaves everything to others."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


EXPRESSIONS = {
    "x + 1": Mine, "2 * x": Mine, "torch.sin(x)": Mine, "x.sum()": Mine, "x[0]": Mine, "x.max(0)[1]": Mine, "x.detach()": Mine,
    "torch.cat([x, p])": Mine, "p + x": Mine, "p @ x": Mine, "x.add_(1)": Mine, "Mine([1.0, 2.0])": Mine, "x.view(1, 2)": Mine,
    "p * 2": torch.Tensor, "torch.nn.Parameter(p) * 2": torch.Tensor,
}  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_type_of_the_result(expression: str) -> None:
    space = {"torch": torch, "x": torch.ones(2).as_subclass(Mine), "p": torch.ones(2), "Mine": Mine}
    assert type(eval(expression, space)) is EXPRESSIONS[expression]


def test_gradients_flow_through_a_subclass() -> None:
    w = torch.ones(2, requires_grad=True)
    x = w.as_subclass(Mine)
    (x * x).sum().backward()
    assert w.grad.tolist() == [2, 2]
    assert repr(x.detach()) == "Mine([1., 1.])"


def test_a_subclass_sees_what_is_called() -> None:
    Logged.seen.clear()
    torch.mul((torch.ones(2).as_subclass(Logged) + 1).sin(), 2)
    assert Logged.seen == ["add", "sin", "mul"]


def test_what_nobody_implements_is_refused() -> None:
    with pytest.raises(TypeError, match=r"all __torch_function__ handlers returned NotImplemented: Silent"):
        torch.ones(2).as_subclass(Silent).exp()
    with torch.DisableTorchFunctionSubclass():
        assert type(torch.ones(2).as_subclass(Silent).exp()) is torch.Tensor


def test_as_subclass_wants_a_subclass() -> None:
    with pytest.raises(TypeError, match="expected a subclass"):
        torch.ones(2).as_subclass(int)


def test_bits_as_another_dtype() -> None:
    x = torch.tensor([1.0, 2.0])
    bits = x.view(torch.int32)
    assert bits.tolist() == [1065353216, 1073741824]
    bits[0] = 0
    assert x.tolist() == [0, 2]
    assert [tuple(x.view(t).shape) for t in (torch.float64, torch.int16, torch.float32)] == [(1,), (4,), (2,)]
    with pytest.raises(RuntimeError, match="must be divisible"):
        torch.ones(3).view(torch.float64)
    with pytest.raises(RuntimeError, match="have no derivative"):
        torch.ones(2, requires_grad=True).view(torch.float64)
