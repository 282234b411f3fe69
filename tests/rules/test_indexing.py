"""Reading by position: repeated and negative ones, modes, masks, oblong diagonals, triangles."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.errors import (
    BatchedControlFlowError,
    NonDifferentiableError,
    TracerError,
    TracerWriteError,
    UnsupportedFunctionError,
)
from tests.rules.moving import assert_moves, raises_as_numpy

_POSITIONS = np.array([[0, -1], [1, 1]])

CALLS = {
    "windows": (lambda x: sliding_window_view(x, 2, axis=-1), (2, 3)),
    "windows of both axes": (lambda x: sliding_window_view(x, (2, 1)), (2, 3)),
    "integer": (lambda x: x[1], (2, 3)),
    "chained": (lambda x: x[-1][1], (2, 3)),
    "ellipsis": (lambda x: x[..., 1], (2, 3)),
    "ellipsis for nothing": (lambda x: x[..., 0, 0], (2, 3)),
    "None": (lambda x: x[:, None, 1:], (2, 3)),
    "backwards": (lambda x: x[::-2], (5, 2)),
    "repeated": (lambda x: x[[0, 0, 1]], (3,)),
    "pairs": (lambda x: x[[0, 1, 0], [2, 0, 2]], (2, 3)),
    "array beside an integer": (lambda x: x[:, [0, 0], 1], (2, 2, 2)),
    "arrays apart": (lambda x: x[[0, 0], :, [1, 0]], (2, 2, 2)),
    "arrays that broadcast": (lambda x: x[[[0], [1]], [0, 2]], (2, 3)),
    "mask": (lambda x: x[np.array([[True, False, True], [False, True, True]])], (2, 3)),
    "slice and mask": (lambda x: x[:, np.array([True, False, True])], (2, 3)),
    "mask of nothing": (lambda x: x[np.zeros((2, 3), bool)], (2, 3)),
    "empty list": (lambda x: x[[]], (2, 3)),
    "empty slice": (lambda x: x[5:], (2, 3)),
    "True": (lambda x: x[True], (2, 3)),
    "take flattened": (lambda x: np.take(x, [4, -1]), (2, 3)),
    "take a matrix of positions": (lambda x: np.take(x, _POSITIONS, axis=1), (2, 3)),
    "take along a negative axis": (lambda x: x.take([1, 1, 0], axis=-1), (2, 3)),
    "take one": (lambda x: np.take(x, 1, axis=0), (2, 3)),
    "take wrapped around": (lambda x: np.take(x, [4, -5, 0], mode="wrap"), (3,)),
    "take clipped": (lambda x: np.take(x, [4, -5, 1], axis=1, mode="clip"), (2, 3)),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.array([[0, -1, 0], [2, 1, 2]]), -1), (2, 3)),
    "take_along_axis, broadcast": (lambda x: np.take_along_axis(x, np.array([[1, 0]]), 1), (2, 3)),
    "take_along_axis, flattened": (lambda x: np.take_along_axis(x, np.array([5, 0, 0]), None), (2, 3)),
    "compress": (lambda x: np.compress([True, False, True], x, axis=1), (2, 3)),
    "compress flattened by a short mask": (lambda x: np.compress([False, True], x), (2, 3)),
    "compress, method": (lambda x: x.compress([0, 1], axis=0), (2, 3)),
    "extract": (lambda x: np.extract(np.arange(6).reshape(2, 3) % 2, x), (2, 3)),
    "diagonal": (np.diagonal, (3, 3)),
    "diagonal of chosen axes": (lambda x: np.diagonal(x, 1, axis1=-1, axis2=0), (2, 3, 4)),
    "diagonal, method": (lambda x: x.diagonal(-1), (3, 3)),
    "diag of a matrix": (lambda x: np.diag(x, 1), (2, 3)),
    "unpacked": (lambda x: np.stack([*x][::-1]), (3,)),
    "item": (lambda x: x.item(4), (2, 3)),
    "tolist": (lambda x: np.stack([np.stack(row) for row in x.tolist()]) if hasattr(x, "_node") else x, (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize(("function", "shape"), CALLS.values(), ids=CALLS)
def test_elements_are_moved(function: Any, shape: tuple[int, ...]) -> None:
    assert_moves(lambda x: np.asarray(function(x)) if type(x) is np.ndarray else function(x), *shape)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(-5, 5))
def test_diagonals_of_every_matrix(rows: int, columns: int, offset: int) -> None:
    assert_moves(lambda x: np.diagonal(x, offset), rows, columns)
    trace = grad(lambda x: np.trace(x, offset))(np.ones((rows, columns)))
    np.testing.assert_array_equal(trace, np.eye(rows, columns, offset))


@given(st.lists(st.integers(-3, 2), max_size=5), st.integers(-2, 1))
def test_take_any_positions(positions: list[int], axis: int) -> None:
    assert_moves(lambda x: np.take(x, np.array(positions, int), axis), 3, 3)


# ---- matrices from diagonals, triangles ------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
def test_diag_of_a_vector_and_diagonal_undo_each_other(k: int) -> None:
    v, ct = np.arange(1.0, 4.0), np.random.default_rng(0).normal(size=(3 + abs(k),) * 2)
    value, pull = vjp(lambda v: np.diag(v, k), v)
    np.testing.assert_array_equal(value, np.diag(v, k))
    np.testing.assert_array_equal(pull(ct)[0], np.diagonal(ct, k))
    np.testing.assert_array_equal(
        jvp(lambda v: np.diagflat(v.reshape(3, 1), k), (v,), (2 * v,))[1], np.diag(2 * v, k)
    )
    np.testing.assert_array_equal(
        vmap(lambda v: np.diag(v, k))(np.stack([v, -v])), [np.diag(v, k), np.diag(-v, k)]
    )
    assert (
        np.diag(v.astype(np.float32), k).dtype == vjp(lambda v: np.diag(v, k), v.astype(np.float32))[0].dtype
    )


def test_trace_of_chosen_axes_in_another_dtype() -> None:
    x = np.ones((2, 2, 3))
    weights = np.array([1.0, 2.0])
    come = grad(lambda a: np.sum(np.trace(a, axis1=1, axis2=2) * weights))(x)
    np.testing.assert_array_equal(come, weights[:, None, None] * np.eye(2, 3))
    value, pull = vjp(lambda a: np.trace(a, dtype=np.float64), np.eye(2, dtype=np.float32))
    assert value.dtype == np.float64
    assert pull(value)[0].dtype == np.float32


@pytest.mark.parametrize("k", [-1, 0, 2])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (2, 3, 2), (3,)])
def test_triangles_keep_what_they_keep(shape: tuple[int, ...], k: int) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    for function in (np.tril, np.triu):
        value, pull = vjp(lambda x, function=function: function(x, k), x)
        np.testing.assert_array_equal(value, function(x, k))
        kept = function(np.ones(shape), k)
        ct = np.random.default_rng(1).normal(size=kept.shape)
        np.testing.assert_allclose(pull(ct)[0], (ct * kept).reshape(-1, *shape).sum(axis=0), rtol=1e-15)


def test_what_a_triangle_drops_is_a_zero_by_structure() -> None:
    x = np.array([[4.0, 0.0], [0.0, 4.0]])
    for transform in (
        lambda f: grad(lambda x: np.sum(f(x))),
        lambda f: lambda x: np.diagonal(jacfwd(f)(x).reshape(4, 4)).reshape(2, 2),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):
            come = transform(lambda x: np.tril(np.triu(np.sqrt(x))))(x)
        np.testing.assert_array_equal(come, np.eye(2) / 4)


def test_positions_asked_of_a_tracer() -> None:
    def f(x: Any) -> Any:
        for function in (np.tril_indices_from, np.triu_indices_from, np.diag_indices_from):
            for came, expected in zip(function(x), function(np.ones((3, 3))), strict=True):
                np.testing.assert_array_equal(came, expected)
        return np.sum(x[np.triu_indices_from(x, 1)] ** 2)

    np.testing.assert_array_equal(grad(f)(np.ones((3, 3))), 2 * np.triu(np.ones((3, 3)), 1))


def test_positions_are_converted_under_vmap() -> None:
    flat = np.array([1, 5, 3])
    rows, columns = vmap(lambda i: np.unravel_index(i, (2, 3)))(flat)
    np.testing.assert_array_equal([rows, columns], np.unravel_index(flat, (2, 3)))
    np.testing.assert_array_equal(
        vmap(lambda r, c: np.ravel_multi_index((r, c), (2, 3)))(rows, columns), flat
    )


@pytest.mark.parametrize("trim", ["fb", "f", "B"])
@pytest.mark.parametrize("x", [[0.0, 2.0, 0.0, 3.0, 0.0, 0.0], [1.0, 2.0], [0.0, 0.0], []])
def test_zeros_at_the_ends_are_trimmed(x: Any, trim: Any) -> None:
    x = np.array(x)
    value, pull = vjp(lambda x: np.trim_zeros(x, trim), x)
    np.testing.assert_array_equal(value, np.trim_zeros(x, trim))
    marks = np.arange(1, x.size + 1)
    kept = np.trim_zeros(np.where(x != 0, marks, 0), trim)
    if kept.any():
        start = kept[kept > 0][0] - np.flatnonzero(kept)[0]
        expected = np.isin(marks, np.arange(start, start + kept.size))
        np.testing.assert_array_equal(pull(np.ones(kept.size))[0], expected)


@pytest.mark.skipif("axis" not in inspect.signature(np.trim_zeros).parameters, reason="since NumPy 2.2")
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_zeros_at_the_borders_of_a_matrix_are_trimmed(axis: Any) -> None:
    x = np.pad(np.array([[0.0, 1.0], [2.0, 0.0]]), ((1, 2), (0, 1)))
    value, pull = vjp(lambda x: np.trim_zeros(x, axis=axis), x)
    np.testing.assert_array_equal(value, np.trim_zeros(x, axis=axis))
    np.testing.assert_array_equal(np.trim_zeros(pull(value)[0], axis=axis), value)
    with pytest.raises(TracerError):
        vmap(np.trim_zeros)(x)


# ---- positions that come from the data -------------------------------------------------------------------------------


def test_positions_and_masks_from_values() -> None:
    m = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
    best = grad(lambda m: np.sum(m[np.argmax(m, axis=0), np.arange(3)]))(m)
    np.testing.assert_array_equal(best, [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    sorted_rows = grad(lambda m: np.sum(np.take_along_axis(m, np.argsort(m, axis=-1), -1)[:, 0]))(m)
    np.testing.assert_array_equal(sorted_rows, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    large = grad(lambda m: np.sum(m[m > 2.5] ** 2))(m)
    np.testing.assert_array_equal(large, np.where(m > 2.5, 2 * m, 0))
    table = np.array([10.0, 20.0, 30.0])
    assert grad(lambda t: table[t.astype(int)] * t)(1.5) == 20.0


def test_positions_that_differ_between_examples() -> None:
    x, positions = np.arange(12.0).reshape(3, 4), np.array([1, 0, 3])
    for function in (
        lambda r, i: np.take(r, i),
        lambda r, i: r[i],
        lambda r, i: np.take_along_axis(r, i[None], 0)[0],
    ):
        np.testing.assert_array_equal(vmap(function)(x, positions), x[np.arange(3), positions])
        come = vmap(grad(lambda r, i, function=function: function(r, i) ** 2))(x, positions)
        expected = np.zeros_like(x)
        expected[np.arange(3), positions] = 2 * x[np.arange(3), positions]
        np.testing.assert_array_equal(come, expected)
    wrapped = vmap(lambda r, i: np.take(r, i + 4, mode="wrap") + np.take(r, i + 4, mode="clip"))(x, positions)
    np.testing.assert_array_equal(wrapped, x[np.arange(3), positions] + x[:, 3])
    with pytest.raises(BatchedControlFlowError):
        vmap(lambda r, c: np.compress(c, r))(x, x > 5)


def test_many_repeated_positions_add_up() -> None:
    rng = np.random.default_rng(0)
    x, index = rng.normal(size=(20, 3)), rng.integers(0, 20, size=4000)
    weights = rng.normal(size=(4000, 3))
    expected = np.stack([np.bincount(index, w, minlength=20) for w in weights.T], axis=1)
    np.testing.assert_allclose(
        grad(lambda x: np.sum(x[index] * weights))(x), expected, rtol=1e-11, atol=1e-11
    )
    transposed = grad(lambda x: np.sum(x[:, index] * weights.T))(np.asfortranarray(x.T))
    np.testing.assert_allclose(transposed, expected.T, rtol=1e-11, atol=1e-11)


def test_reading_is_differentiated_twice() -> None:
    x = np.array([1.0, 2.0, 3.0])
    f = lambda x: np.sum(x[[0, 0, 1]] ** 3) * x[2]
    expected = [[12.0 * 3, 0.0, 6.0], [0.0, 12.0 * 3, 12.0], [6.0, 12.0, 0.0]]
    np.testing.assert_array_equal(hessian(f)(x), expected)
    np.testing.assert_array_equal(jacrev(jacrev(f))(x), expected)
    np.testing.assert_array_equal(jacfwd(jacfwd(f))(x), expected)


def test_an_index_list_may_be_changed_afterwards() -> None:
    def f(x: Any) -> Any:
        index = np.array([0, 1])
        taken = x[index]
        index[:] = 2
        return np.sum(taken**2)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0, 3.0])), [2.0, 4.0, 0.0])


# ---- refusals --------------------------------------------------------------------------------------------------------

REFUSED = {
    "a position out of range": lambda x: x[2],
    "positions out of range": lambda x: x[[0, -3]],
    "too many indices": lambda x: x[0, 0, 0],
    "a fraction": lambda x: x[0.5],
    "a mask of another shape": lambda x: x[np.array([True, False, True])],
    "take out of range": lambda x: np.take(x, 6),
    "take in an unknown mode": lambda x: np.take(x, 1, mode="mirror"),
    "take along no such axis": lambda x: np.take(x, 1, axis=2),
    "take_along_axis of another rank": lambda x: np.take_along_axis(x, np.array([0]), 0),
    "compress by a matrix": lambda x: np.compress([[True]], x),
    "compress beyond the end": lambda x: np.compress([False, False, True], x, axis=0),
    "trim at other ends": lambda x: np.trim_zeros(x[0], "x"),
    "diagonal of a vector": lambda x: np.diagonal(x[0]),
    "diagonal of one axis": lambda x: np.diagonal(x, axis1=0, axis2=-2),
    "diag of a cube": lambda x: np.diag(x[None]),
    "diag_indices of an oblong matrix": lambda x: np.diag_indices_from(x),
}  # fmt: skip


if np.lib.NumpyVersion(np.__version__) < "2.1.0":  # which takes any letters
    del REFUSED["trim at other ends"]


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(function: Any) -> None:
    raises_as_numpy(function, np.ones((2, 3)))


def test_a_traced_fraction_as_index_says_what_to_write() -> None:
    with pytest.raises(NonDifferentiableError, match=r"x\[i\.astype\(int\)\]"):
        grad(lambda x: x[x[0]])(np.ones(2))


def test_the_method_trace() -> None:
    x = np.arange(8.0).reshape(2, 2, 2)
    np.testing.assert_array_equal(
        grad(lambda x: x.trace(axis1=0, axis2=2).sum())(x), [[[1, 0]] * 2, [[0, 1]] * 2]
    )
    np.testing.assert_array_equal(vmap(lambda x: x.trace(1))(x), x[:, 0, 1])


def test_out_says_what_to_write() -> None:
    for call in (lambda x: np.take(x, [0], out=np.ones(1)), lambda x: np.compress([True], x, out=np.ones(1))):
        with pytest.raises(TracerWriteError, match=r"a = np\..*zeros_like"):
            grad(lambda x, call=call: np.sum(call(x)))(np.ones(2))


def test_a_plain_array_at_traced_positions_is_an_error_not_a_wrong_number() -> None:
    table = np.arange(4.0)
    with pytest.raises(TracerError):
        vmap(lambda i: table[i])(np.array([0, 2]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: sliding_window_view(x, 9), ValueError, "no window of 9"),
        (lambda x: sliding_window_view(x, (2, 2)), ValueError, "2 window sizes for 1 axes"),
        (
            lambda x: sliding_window_view(x, 2, writeable=True),
            UnsupportedFunctionError,
            "Write into x itself",
        ),
    ],
)
def test_windows_that_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        grad(lambda x: np.sum(call(x)))(np.ones(4))
