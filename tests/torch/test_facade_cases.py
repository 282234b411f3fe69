"""Hooks, writes, reused graphs, higher orders, lifetimes: where PyTorch errs, refuses or is matched.

Gradients at single points are in test_cases.py.
"""

from __future__ import annotations

import gc
import math
import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch as torch

F64 = torch.float64
nan, inf = math.nan, math.inf
F = torch.nn.functional


def t64(x: Any, **options: Any) -> Any:
    return torch.tensor(x, dtype=F64, **options)


def leaf(x: Any) -> Any:
    return t64(x, requires_grad=True)


def gradient(f: Callable[..., Any], *xs: Any, **options: Any) -> Any:
    """The gradients of the sum of f, at leaves."""
    found = torch.autograd.grad(f(*xs).sum(), xs, **options)
    return found if len(xs) > 1 else found[0]


# ---- single points -----------------------------------------------------------------------------------------------------
def test_zero_times_an_infinite_slope_is_not_another_number() -> None:
    found = gradient(lambda x: x.sqrt() * 0, leaf([0.0])).item()
    assert math.isnan(found) or found == 0
    found = gradient(lambda x: x.sqrt() ** 2, leaf([0.0])).item()
    assert math.isnan(found) or found == 1


@pytest.mark.skipif(not hasattr(F, "scaled_dot_product_attention"), reason="not built yet")
def test_attention_to_nothing() -> None:
    q, k, v = leaf([[1.0, 2.0]]), leaf([[1.0, 0.0], [0.0, 1.0]]), leaf([[1.0, 2.0], [3.0, 4.0]])
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.tensor([[False, False]]))
    assert out.tolist() == [[0, 0]]
    for found in torch.autograd.grad(out.sum(), (q, k, v)):
        assert not found.any()


def test_second_derivative_of_logaddexp_far_from_the_bend() -> None:
    a, b = leaf(0.0), leaf(800.0)
    (first,) = torch.autograd.grad(torch.logaddexp(a, b), a, create_graph=True)
    (second,) = torch.autograd.grad(first, a)
    assert second.item() == pytest.approx(0, abs=1e-300)


def test_logaddexp_is_exact_far_from_the_bend() -> None:
    assert np.logaddexp(21.0, 0.0) - 21 == pytest.approx(7.58e-10, rel=1e-3)
    second = fg.grad(fg.grad(lambda x: np.logaddexp(x, 0.0)))
    assert second(20.0) == pytest.approx(2.061153613e-9, rel=1e-8)


@pytest.mark.skipif(not hasattr(F, "softplus"), reason="not built yet")
def test_softplus_keeps_its_threshold() -> None:
    x = leaf(21.0)
    assert (F.softplus(x) - 21).item() == 0
    assert torch.autograd.grad(F.softplus(x), x)[0].item() == 1


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected")
def test_anomaly_mode_sees_values_that_are_not_numbers() -> None:
    x = leaf([-1.0])
    with (
        torch.autograd.detect_anomaly(),
        pytest.warns(UserWarning, match="made nan values in the forward pass"),
    ):
        torch.log(x).sum().backward()
    assert x.grad.tolist() == [-1]


# ---- products, ties, duplicates, matrices ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "hessian", [torch.autograd.functional.hessian, lambda f, x: torch.func.hessian(f)(x)]
)
def test_hessian_of_a_product_in_half_precision(hessian: Any) -> None:
    x = torch.tensor([0.03, 1.0, 1.0, 1.0], dtype=torch.float16)
    assert hessian(lambda x: 4000 * x.prod(), x)[0, 1].item() == 4000


def test_ties_are_split() -> None:
    for f in (torch.maximum, torch.minimum, lambda x, y: torch.clamp(x, max=y)):
        assert [g.item() for g in gradient(f, leaf([1.0]), leaf([1.0]))] == [0.5, 0.5]


def test_of_a_scatter_to_one_place_the_last_counts() -> None:
    x, v = leaf([0.0, 1.0]), leaf([1.0, 2.0])
    y = x.scatter(0, torch.tensor([0, 0]), v)
    assert y.tolist() == [2, 1]
    assert [g.tolist() for g in torch.autograd.grad(y.sum(), (x, v))] == [[0, 1], [0, 1]]


SINGULAR = [
    [[1.0, 2.0], [2.0, 4.0]],
    np.zeros((3, 3)).tolist(),
    [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]],
]


@pytest.mark.parametrize("matrix", SINGULAR, ids=["rank 1", "zeros", "rank 2"])
def test_determinants_of_singular_matrices(matrix: Any) -> None:
    x = leaf(matrix)
    plain = gradient(torch.det, x)
    graph = gradient(torch.det, x, create_graph=True)
    np.testing.assert_allclose(plain.numpy(), graph.detach().numpy(), rtol=1e-12, atol=1e-15)
    n = len(matrix)
    cofactors = [
        [
            (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(np.array(matrix), i, 0), j, 1))
            for j in range(n)
        ]
        for i in range(n)
    ]
    np.testing.assert_allclose(plain.numpy(), cofactors, atol=1e-12)
    (second,) = torch.autograd.grad(graph.sum(), x)
    assert torch.isfinite(second).all()


def test_matrices_taken_as_symmetric_have_symmetric_gradients() -> None:
    found = gradient(torch.linalg.cholesky, leaf([[2.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(found.numpy(), [[0.2788, 0.1494], [0.1494, 0.4082]], atol=5e-5)


@pytest.mark.parametrize("f", [torch.sum, torch.mean, torch.prod])
def test_gradients_of_nothing_are_nothing(f: Any) -> None:
    found = gradient(f, leaf([]))
    assert found.tolist() == []
    assert found.dtype is F64


def test_scatter_reduce() -> None:
    source, one_place = leaf([0.0, 1.0, 2.0]), torch.tensor([0, 0, 0])
    out = torch.ones(1, dtype=F64).scatter_reduce(0, one_place, source, "prod")
    assert torch.autograd.grad(out.sum(), source)[0].tolist() == [2, 0, 0]
    segments = torch.tensor([0, 0, 1])
    source = leaf([3.0, 1.0, 2.0])
    out = torch.zeros(2, dtype=F64).scatter_reduce(0, segments, source, "amax")
    assert torch.autograd.grad(out.sum(), source)[0].tolist() == [1, 0, 1]


# ---- writes and graphs used again --------------------------------------------------------------------------------------
def _two_losses() -> tuple[Any, Any, Any, Any]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)).double()
    out = model(t64([[1.0, 2.0]]))
    return model, torch.optim.SGD(model.parameters(), lr=0.1), (out * 2).sum(), (out**2).sum()


def test_a_step_between_two_losses_is_named() -> None:
    _, optimizer, first, second = _two_losses()
    first.backward(retain_graph=True)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        second.backward()
    assert os.path.basename(__file__) in str(caught.value)


def test_a_step_between_two_losses_is_allowed_when_asked_for() -> None:
    model, _, first, second = _two_losses()
    expected = torch.autograd.grad(second, list(model.parameters()))
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        model, optimizer, first, second = _two_losses()
        first.backward(retain_graph=True)
        optimizer.step()
        found = torch.autograd.grad(second, list(model.parameters()))
    assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))


def test_a_write_through_data_does_not_reach_the_graph() -> None:
    x = leaf([1.0, 1.0])
    y = x * x
    x.data.mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert x.tolist() == [5, 5]


def _scale(g: Any) -> None:
    g.mul_(100)


@pytest.mark.parametrize("hooked", ["a", "b", "s"])
def test_a_hook_that_writes_spoils_nobody(hooked: str) -> None:
    x = leaf([1.0])
    tensors = {"a": x * 1, "b": x * 1}
    tensors["s"] = tensors["a"] + tensors["b"]
    tensors[hooked].register_hook(_scale)
    given = torch.ones(1, dtype=F64)
    tensors["s"].backward(gradient=given)
    assert x.grad.item() == 2
    assert given.item() == 1


def test_hooks_stay_and_retained_grads_move_with_a_write() -> None:
    x, seen = leaf([1.0]), []
    a = x * 1
    a.register_hook(lambda g: seen.append(g.item()))
    a.retain_grad()
    a.mul_(2)
    (a * 3).sum().backward()
    assert (seen, a.grad.item()) == ([6], 3)


def test_a_view_made_without_grad_is_not_written_to_with_it() -> None:
    base = leaf([1.0, 2.0]) * 1
    with torch.no_grad():
        view = base[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.mul_(2)


def test_a_graph_that_keeps_nothing_goes_twice() -> None:
    a = leaf([1.0, 2.0])
    y = a.sum()
    y.backward()
    y.backward()
    assert a.grad.tolist() == [2, 2]


def test_memory_that_overlaps_is_not_written_to() -> None:
    y = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        y[1:] = y[:-1]
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.zeros(1).expand(3).add_(1)
    assert y.tolist() == [0, 1, 2, 3]


# ---- orders, functions of one's own, modes, lifetimes ------------------------------------------------------------------
class KeepsOnContext(torch.autograd.Function):
    """(2x)**2, whose backward uses what forward has put on ctx."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.e = 2 * x
        return ctx.e**2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 4 * ctx.e * g


def test_what_is_kept_on_ctx_is_not_silently_constant() -> None:
    x = leaf(3.0)
    y = KeepsOnContext.apply(x)
    (first,) = torch.autograd.grad(y**2, x, create_graph=True)
    assert first.item() == 1728
    with pytest.raises(RuntimeError, match=r"ctx\.e"):
        torch.autograd.grad(first, x)


class Square(torch.autograd.Function):
    """x**2, with what it needs saved as it should be."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_a_function_twice_and_differentiated_twice() -> None:
    x = leaf(2.0)
    y = Square.apply(Square.apply(x))
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    del y
    gc.collect()
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (32, 48)


class Nested(torch.autograd.Function):
    """x**2, whose backward differentiates by itself."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (slope,) = torch.autograd.grad(inner * inner, inner)
        return slope * g


def test_differentiating_inside_a_backward_leaves_nothing_behind() -> None:
    left = []
    for _ in range(100):
        x = leaf(3.0)
        y = Nested.apply(x)
        y.backward()
        assert x.grad.item() == 6
        left += [weakref.ref(x), weakref.ref(y)]
        del x, y
    gc.collect()
    assert not any(r() is not None for r in left)


def test_a_decorated_generator_keeps_its_mode_to_itself() -> None:
    @torch.no_grad()
    def numbers() -> Any:
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    seen = []
    for inside in numbers():
        seen.append((inside, torch.is_grad_enabled()))
    assert seen == [(False, True), (False, True)]


ARRAY = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: ARRAY * x, [1, 2]),
        (lambda x: x * ARRAY, [1, 2]),
        (np.exp, np.exp([3, 4])),
        (np.sum, [1, 1]),
        (lambda x: ARRAY @ x, [1, 2]),
    ],
    ids=["array * tensor", "tensor * array", "np.exp", "np.sum", "array @ tensor"],
)
def test_numpy_is_differentiable(f: Any, expected: Any) -> None:
    x = leaf([3.0, 4.0])
    out = f(x)
    assert isinstance(out, torch.Tensor)
    np.testing.assert_allclose(torch.autograd.grad(out.sum(), x)[0].numpy(), expected, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected")
def test_anomaly_mode_names_the_line_in_a_second_backward() -> None:
    x = leaf([0.0])
    with torch.autograd.detect_anomaly():
        (first,) = torch.autograd.grad((x**1.5).sum(), x, create_graph=True)
        with (
            pytest.raises(RuntimeError, match="nan values") as caught,
            pytest.warns(UserWarning, match="Traceback of forward"),
        ):
            torch.autograd.grad((first * torch.tensor([0.0], dtype=F64)).sum(), x)
    assert os.path.basename(__file__) in str(caught.value)


def test_a_backward_that_differentiates_itself_accumulates_on_itself() -> None:
    x = leaf([1.0])
    (x**3).backward(create_graph=True)
    x.grad.backward()
    assert x.grad.item() == 9
