"""The lane of loops writes and pulls back what the general way does, and leaves to that what is unusual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.core.arrays.methods import ArrayMethods
from funcgrad.core.memory import inplace, mutation, reads, views
from funcgrad.core.memory.indexing import GETITEM

SQUARE = np.linspace(0.5, 1.7, 12).reshape(3, 4)


def elements(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(3):
        for j in range(4):
            y[i, j] = x[i, j] * 2
            y[i, j] += y[i - 1, j - 1] * x[i, -1]
    return y


def rows(x: Any) -> Any:
    y = x * 1
    for i in range(1, 3):
        y[i] = y[i - 1] * x[0]
        y[i] += x[i]
        y[i, 1:] -= y[i, :-1]
    return y


def slices(x: Any) -> Any:
    y = np.copy(x)
    y[:, 1] = y[:, 0]
    y[1:] = y[:-1]  # reads what it writes
    y[::-1, :2] *= x[:, 2:]
    y[np.int64(0)] = 7.0
    return y


def broadcast(x: Any) -> Any:
    y = x * 1
    y[:2] = x[0]
    y[:, 1:] = x[1, 1]
    y[2:3] = x[:1, :1]
    return y


def overwritten(x: Any) -> Any:
    y = np.sqrt(x - 0.5)  # infinitely steep in the corner, which is overwritten
    y[0, 0] = 1.0
    y[2] = np.array([1.0, 2.0, 3.0, 4.0])
    y[2, 1:3] = x[0, :2]
    return y


def seen_by_views(x: Any) -> Any:
    y = x * 1
    y[0, 0] = x[2, 2]
    row, column = y[1], y[:, 2]
    y[1] = x[0] * 3
    y[:, 2] += row[0]
    return np.concatenate([row, column])


def rows_with_names(x: Any) -> Any:
    y = x * 1
    first, middle = y[0], y[1:, 1:3]
    for row in y:
        row *= x[1]
        first -= row[::-1]
    middle[0] += first[:2]
    middle[..., 0] = y[0, 3]
    y[2][1:] /= y[1][:3]
    return np.concatenate([y.reshape(-1), first, middle[1]])


def saved_before(x: Any) -> Any:
    y = x * 1
    y[0, 1] = 2.0
    squares = y * y
    y[0] = x[1]
    return squares + y


PROGRAMS = [elements, rows, slices, broadcast, overwritten, seen_by_views, rows_with_names, saved_before]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_both_ways_are_one(program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    value, pull = vjp(program, SQUARE)
    np.testing.assert_array_equal(value, program(SQUARE.copy()))
    ct = np.cos(np.arange(value.size)).reshape(value.shape)
    (found,) = pull(ct)
    monkeypatch.setattr(inplace, "assign", mutation.assign)
    batch = np.stack([SQUARE, SQUARE + 0.25])
    of_each = vmap(program)(batch)
    monkeypatch.setattr(ArrayMethods, "__setitem__", mutation.assign)
    monkeypatch.setattr(ArrayMethods, "__getitem__", lambda x, index: GETITEM(x, index))
    monkeypatch.setattr(views, "FEW", 0)  # what is read of views is looked up anew, as that of large ones is
    (expected,) = vjp(program, SQUARE)[1](ct)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(of_each, vmap(program)(batch), rtol=1e-13)
    np.testing.assert_allclose(of_each[1], program(batch[1].copy()), rtol=1e-13)
    direction = np.sin(np.arange(12.0)).reshape(3, 4)
    interior = SQUARE + 0.1
    _, t = jvp(program, (interior,), (direction,))
    assert np.sum(vjp(program, interior)[1](ct)[0] * direction) == pytest.approx(np.sum(ct * t), rel=1e-12)


@pytest.mark.parametrize("read", [np.s_[:, 0], np.s_[-1], np.s_[...]], ids=["a column", "a row", "all"])
def test_the_cotangent_of_rows_stays_in_one_buffer(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    buffer_for = reads.buffer_for
    monkeypatch.setattr(reads, "buffer_for", lambda *args: made.append(args) or buffer_for(*args))

    def f(x: Any) -> Any:
        y = np.zeros((50, 4), like=x)
        for i in range(1, 50):
            y[i] += y[i - 1] * x[0]
            y[i] += x[1]
        return np.sum(y[read])

    gradient = grad(f)(SQUARE)
    assert len(made) < 10
    direction = np.cos(SQUARE)
    np.testing.assert_allclose(np.sum(gradient * direction), jvp(f, (SQUARE,), (direction,))[1], rtol=1e-12)


def test_a_value_that_broadcasts_to_nothing_gets_nothing() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y[1:] = np.sin(y * y)  # one element, to no place
        return np.sum(y)

    np.testing.assert_array_equal(grad(f)(np.array([2.0])), [1.0])


def test_an_error_leaves_the_array_as_it_was() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        for index, v in ((7, 1.0), ((0, 9), 1.0), (slice(0, 2), np.ones(3)), (0, np.ones(5))):
            with pytest.raises((IndexError, ValueError)):
                y[index] = v
        return np.sum(y)

    np.testing.assert_array_equal(grad(f)(SQUARE), np.ones((3, 4)))


@pytest.mark.parametrize("bound", [np.array(1), np.int32(1)], ids=["array", "int32"])
def test_a_bound_that_changes_later(bound: Any) -> None:
    def f(x: Any) -> Any:
        k = bound.copy()
        y = x * 1
        y[k:] = 0.0
        part = x[:k]
        k += 2
        return np.sum(y) + np.sum(part * part)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0, 3.0])), [3.0, 0.0, 0.0])


# ---- arrays without axes, and numbers --------------------------------------------------------------------------------

OF_ONE: dict[str, Callable[[Any], Any]] = {
    "astype": lambda x: x.astype(complex), "copy": np.copy, "where": lambda x: np.where(x > 0, x, x), "sin": np.sin,
    "reshape": lambda x: np.reshape(x, ()), "flip": np.flip, "zeros_like": np.zeros_like, "transpose": np.transpose,
    "x[...]": lambda x: x[...], "x[()]": lambda x: x[()], "positive": lambda x: +x, "sum": np.sum, "mean": np.mean,
    "squeeze": np.squeeze, "real": np.real,
}  # fmt: skip


@pytest.mark.parametrize("function", OF_ONE.values(), ids=OF_ONE)
@pytest.mark.parametrize(
    "made", [lambda x: np.array(x, like=x), lambda x: np.copy(x)[()]], ids=["array", "number"]
)
def test_arrays_without_axes_are_written_into_where_numpys_are(function: Any, made: Any) -> None:
    def updated(x: Any) -> Any:
        before = made(x)
        after = function(before)
        kept = after
        after += 1.0
        return np.stack([np.real(kept), np.real(before), np.real(after)])

    x = np.array(0.5)
    expected = updated(x.copy())
    np.testing.assert_array_equal(vjp(updated, x)[0], expected)
    np.testing.assert_array_equal(jvp(updated, (x,), (x,))[0], expected)
    np.testing.assert_array_equal(vmap(updated)(np.array([0.5, 0.5])), [expected, expected])


# ---- forward mode ----------------------------------------------------------------------------------------------------
def _overlapping(x):
    y = x.copy()
    y[1:] = y[:-1]
    y[0] = 2.0 * y[2]
    y[:2] = y[1:3]
    return y


def _filled(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[-1 - i]
    y[1] = 5.0
    return y


def _through_views(x):
    y = np.stack([x, 2.0 * x])
    row = y[0]
    row[1] = row[0] * row[2]
    y[1] = row
    y[1, :2] += y[0, 1:]
    first = y[:, 0]
    y[0] = 0.0
    return first * y[1, 0]


def _kept(x):
    y = x * 1.0
    before = y * y
    y[:] = 3.0 * before
    return before + y


def _of_constants(x):
    y = x * x
    y[0] = np.float64(4.0)
    y[1:] = np.array([1.0, 2.0])
    return y * x


@pytest.mark.parametrize("f", [_overlapping, _filled, _through_views, _kept, _of_constants])
def test_forward_mode_writes_as_reverse_mode_does(f):
    x, t = np.array([0.5, -1.2, 2.0]), np.array([1.0, -0.5, 0.3])
    value, pushed = jvp(f, (x,), (t,))
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(pushed, jacrev(f)(x) @ t)
    np.testing.assert_array_equal(t, [1.0, -0.5, 0.3])  # the tangent that was given is nobody's buffer
    np.testing.assert_allclose(jacfwd(f)(x), jacrev(f)(x))
    np.testing.assert_allclose(jacfwd(jacfwd(f))(x), jacrev(jacrev(f))(x), atol=1e-12)


def test_what_does_not_fit_leaves_the_tangent_as_it_was():
    def f(x):
        y = x * 2.0
        with pytest.raises(ValueError, match="broadcast"):
            y[:2] = x
        with pytest.raises(IndexError):
            y[7] = x[0]
        return y

    np.testing.assert_array_equal(jvp(f, (np.ones(3),), (np.ones(3),))[1], 2 * np.ones(3))


def test_masked_tangents_keep_their_zeros():
    def f(x):
        return np.sqrt(1.5 * np.where(x > 0, x, 0.0)) + np.sum(
            np.maximum(x, 0.0) * np.array([[1.0], [2.0]]), axis=0
        )

    with np.errstate(all="raise"):
        pushed = jvp(f, (np.array([4.0, -1.0]),), (np.ones(2),))[1]
    np.testing.assert_allclose(pushed, [1.5 / (2 * np.sqrt(6.0)) + 3.0, 0.0])
