"""Memory has tests of its own: a stray reference doubles it while every number stays right."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jacrev, jvp, value_and_grad, vjp, vmap

N = 100_000
X = np.linspace(0.1, 1.0, N)


def peak(f: Callable[[], Any]) -> float:
    """The most memory held while `f` runs, beyond what was held before, in arrays of N doubles."""
    f()  # plans and caches are made once
    gc.collect()
    tracemalloc.start()
    result = f()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return most / X.nbytes


def kept(f: Callable[[], Any]) -> float:
    """The memory that is held as long as the result of `f` lives, in arrays of N doubles."""
    f()
    gc.collect()
    tracemalloc.start()
    result = f()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del result
    return held / X.nbytes


def linear(x: Any) -> Any:
    for k in range(50):
        x = (x.reshape(-1, 10).T * (1.0 + k)).reshape(-1)
    return x.sum()


def sines(x: Any) -> Any:
    for _ in range(50):
        x = np.sin(x.reshape(10, -1)).reshape(-1)
    return x.sum()


@pytest.mark.parametrize("transform", [grad, value_and_grad])
def test_linear_operations_keep_nothing(transform: Any) -> None:
    assert peak(lambda: transform(linear)(X)) <= 4


def test_linear_operations_keep_nothing_for_a_pullback() -> None:
    assert kept(lambda: vjp(linear, X)) <= 0.2  # its nodes


def test_a_sine_keeps_its_operand_and_a_reshape_nothing() -> None:
    assert peak(lambda: grad(sines)(X)) <= 55
    assert 49 <= kept(lambda: vjp(sines, X)) <= 51


def test_a_residual_that_two_operations_need_is_kept_once() -> None:
    def f(x: Any) -> Any:
        y = np.exp(x)
        return np.sum(np.sin(y) * np.cos(y) * y)

    # y; sin y, cos y; their product
    assert kept(lambda: vjp(f, X)) <= 4.1


def test_an_output_that_its_own_partial_needs_is_kept_once() -> None:
    assert kept(lambda: vjp(lambda x: np.sum(np.exp(x)), X)) <= 1.1
    assert kept(lambda: vjp(lambda x: np.sum(np.sqrt(x)), X)) <= 1.1


def test_the_sweep_frees_as_it_goes() -> None:
    """Forward, 20 residuals are alive; backward, no second 20 join them."""

    def f(x: Any) -> Any:
        for _ in range(20):
            x = np.sin(x)
        return np.sum(x)

    assert peak(lambda: grad(f)(X)) <= 24


def test_masks_are_kept_as_booleans() -> None:
    f = lambda x: np.sum(np.where(x > 0.5, x, 2 * x))
    assert kept(lambda: vjp(f, X)) <= 0.3


def test_a_constant_is_kept_where_its_partial_needs_it() -> None:
    """A pullback copies it, since the user may overwrite it; a gradient is done before that."""
    assert kept(lambda: vjp(lambda x: np.sum(x * X), X)) <= 1.1
    assert kept(lambda: vjp(lambda x: np.sum(x + X), X)) <= 0.1
    assert peak(lambda: grad(lambda x: np.sum(x * X))(X)) <= 2.1


def test_forward_mode_keeps_no_tape() -> None:
    def f(x: Any) -> Any:
        for _ in range(50):
            x = np.sin(x)
        return np.sum(x)

    assert peak(lambda: jvp(f, (X,), (X,))) <= 8


def test_reading_a_large_array_in_pieces_needs_one_buffer() -> None:
    f = lambda x: sum(np.sum(x[k::10]) for k in range(10))
    assert peak(lambda: grad(f)(X)) <= 4
    assert kept(lambda: vjp(f, X)) <= 0.1


def test_many_uses_of_one_value_need_one_sum() -> None:
    def f(x: Any) -> Any:
        total = x
        for k in range(1, 30):
            total = total + x * float(k)
        return np.sum(total)

    assert peak(lambda: grad(f)(X)) <= 7


def test_a_jacobian_in_chunks_needs_less() -> None:
    n = 100
    x = np.linspace(0.1, 1, n)
    w = np.ones((n, 300))
    f = lambda x: np.tanh(np.sin(x[:, None] * w)).sum(axis=1)
    whole = peak(lambda: jacrev(f)(x))
    chunked = peak(lambda: jacrev(f, chunk_size=10)(x))
    assert chunked < whole / 5


def test_nothing_is_kept_after_a_transform() -> None:
    """Only the result: an unswept tape, aux, or a name left over would show here."""
    runs = {
        "grad": lambda: grad(sines)(X),
        "second order": lambda: jvp(grad(lambda x: np.sum(np.sin(x) ** 2)), (X,), (X,))[1],
        "vmap": lambda: vmap(np.sin)(X),
    }
    for name, run in runs.items():
        assert kept(run) <= 1.1, name
