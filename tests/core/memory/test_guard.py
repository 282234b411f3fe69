"""Plain arrays saved by rules: later changes are harmless or an error, and all come back unchanged."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, linearize, vjp, vmap
from funcgrad.core.memory.guard import LOCKS, SMALL

LARGE = SMALL // 8 + 1  # elements
ONES = np.ones(LARGE)
USES: dict[str, Callable[[Any, Any], Any]] = {
    "x * a": lambda x, a: x * a, "a / x": lambda x, a: a / x, "x ** a": lambda x, a: x**a, "x @ a": lambda x, a: x @ a,
    "np.where": lambda x, a: np.where(a > 0.5, x, a), "np.hypot": np.hypot, "einsum": lambda x, a: np.einsum("i,i->i", x, a),
    "convolve": lambda x, a: np.convolve(x, a[:3]), "interp": lambda x, a: np.interp(0.5 * x, np.arange(3.0), a[:3]),
    "maximum": np.maximum, "inner": np.inner, "of a view": lambda x, a: x * a[::-1], "item": lambda x, a: x * a[0],
}  # fmt: skip


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("n", [5, LARGE], ids=["small", "large"])
def test_what_was_used_counts(use: Callable[[Any, Any], Any], n: int) -> None:
    x, kept = np.linspace(1, 2, n), np.linspace(0.6, 1.4, n)
    expected = grad(lambda x: np.sum(use(x, kept)))(x)

    locked: list[Any] = []

    def changed_later(x: Any) -> Any:
        a = kept.copy()
        out = use(x, a)
        if a.flags.writeable:
            a[...] = np.nan
        else:
            locked.append(a)
        return np.sum(out)

    np.testing.assert_array_equal(grad(changed_later)(x), expected)
    assert n == LARGE or not locked
    assert all(a.flags.writeable for a in locked)
    tangents = np.ones(n)
    np.testing.assert_allclose(jvp(changed_later, (x,), (tangents,))[1], np.sum(expected), rtol=1e-12)


def locked_in(fun: Callable[[Any], Any], a: Any) -> tuple[Any, bool]:
    """What `fun` gives, and whether `a` was read-only at its end."""
    seen: list[bool] = []

    def watched(x: Any) -> Any:
        out = fun(x)
        seen.append(not a.flags.writeable)
        return out

    return grad(watched)(ONES), seen[0]


def test_a_large_array_is_locked_as_long_as_the_function_runs() -> None:
    a = 2 * ONES
    product = lambda x: np.sum(x * a)
    gradient, was_locked = locked_in(product, a)
    assert was_locked
    assert a.flags.writeable
    assert not LOCKS.held
    np.testing.assert_array_equal(gradient, a)
    a[0] = 5.0
    assert grad(product)(ONES)[0] == 5.0  # closed over, and changed between two calls


def test_views_and_their_owners_are_locked_and_unlocked_together() -> None:
    a = np.ones((LARGE, 2))
    view = a[:, 0][::-1]
    _, was_locked = locked_in(lambda x: np.sum(x * view), a)
    assert was_locked
    assert a.flags.writeable
    assert view.flags.writeable
    view[0] = 2.0
    assert a[-1, 0] == 2.0


def test_arrays_that_the_user_has_made_read_only_stay_so() -> None:
    a = ONES.copy()
    a.flags.writeable = False
    locked_in(lambda x: np.sum(x * a), a)
    assert not a.flags.writeable


def test_an_error_unlocks() -> None:
    a = ONES.copy()

    def fails(x: Any) -> Any:
        raise KeyError(x * a)

    twice = lambda x: jvp(grad(fails), (x,), (x,))
    for transform in (grad(fails), twice, vmap(grad(fails), axis_size=1, in_axes=None)):
        with pytest.raises(KeyError):
            transform(ONES)
        assert a.flags.writeable
        assert not LOCKS.held


def test_an_array_stays_locked_until_the_last_of_several_transforms_has_returned() -> None:
    a = ONES.copy()

    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            first = np.sum(y * a)  # locked for the inner transform
            return first, x * a  # and for the outer one

        _, product = grad(inner, has_aux=True)(ONES)
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 100.0
        return np.sum(product)

    np.testing.assert_array_equal(grad(outer)(ONES), ONES)
    assert a.flags.writeable
    assert not LOCKS.held


def test_a_view_waits_for_its_owner() -> None:
    a = np.ones(2 * LARGE)
    view = a[:LARGE]

    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return np.sum(y * view), np.sum(x) * a

        product = grad(inner, has_aux=True)(ONES)[1]
        assert not view.flags.writeable
        return np.sum(product)

    grad(outer)(ONES)
    assert a.flags.writeable
    assert view.flags.writeable
    assert not LOCKS.held


def test_generators_that_are_left_halfway() -> None:
    a = ONES.copy()

    def products(x: Any) -> Any:
        while True:
            x = x * a
            yield x

    steps: list[Any] = []

    def f(x: Any) -> Any:
        steps.append(products(x))
        next(steps[-1])
        return np.sum(next(steps[-1]))

    np.testing.assert_array_equal(grad(f)(ONES), a * a)
    assert a.flags.writeable
    assert not LOCKS.held


def test_threads_that_share_an_array() -> None:
    a, together = 3 * ONES, Barrier(2)
    found: list[Any] = []

    def f(x: Any) -> Any:
        out = np.sum(x * a)
        together.wait()
        return out

    threads = [Thread(target=lambda: found.append([grad(f)(ONES) for _ in range(5)])) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert a.flags.writeable
    assert not LOCKS.held
    np.testing.assert_array_equal(found, np.broadcast_to(a, (2, 5, LARGE)))


def test_a_tape_that_outlives_the_function_has_copies() -> None:
    a = 2 * ONES
    _, pull = vjp(lambda x: x * a, ONES)
    _, push = linearize(lambda x: x * a, ONES)
    a[...] = np.nan
    np.testing.assert_array_equal(pull(ONES)[0], 2 * ONES)
    np.testing.assert_array_equal(push(ONES), 2 * ONES)
