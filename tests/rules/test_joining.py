"""Joining and taking apart, in every form; constants, numbers and several dtypes among the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jvp, vjp, vmap
from tests.rules.moving import assert_moves, raises_as_numpy

CALLS = {
    "concatenate with itself": (lambda x: np.concatenate([x, x]), (2, 3)),
    "concatenate along a negative axis": (lambda x: np.concatenate([x, x[:, :1]], axis=-1), (2, 3)),
    "concatenate flattened": (lambda x: np.concatenate((x, x[0]), axis=None), (2, 3)),
    "concatenate the rows of a matrix": (np.concatenate, (2, 3)),
    "concatenate with nothing": (lambda x: np.concatenate([x, x[:0]]), (2,)),
    "stack in front": (lambda x: np.stack([x, x]), (2, 3)),
    "stack behind": (lambda x: np.stack([x, x], axis=-1), (2, 3)),
    "stack the rows of a matrix": (lambda x: np.stack(x, axis=1), (2, 3)),
    "vstack": (lambda x: np.vstack([x, x]), (3,)),
    "hstack of vectors": (lambda x: np.hstack([x, x]), (3,)),
    "hstack of matrices": (lambda x: np.hstack([x, x]), (2, 3)),
    "dstack": (lambda x: np.dstack([x, x]), (3,)),
    "column_stack": (lambda x: np.column_stack([x, x]), (3,)),
    "block": (lambda x: np.block([[x, x], [x[::-1], x]]), (2, 3)),
    "block of different ranks": (lambda x: np.block([x, x[0]]), (1, 3)),
    "block of a deep list": (lambda x: np.block([[[x, x]], [[x, x]]]), ()),
    "append flattened": (lambda x: np.append(x, x[0]), (2, 3)),
    "append along an axis": (lambda x: np.append(x, x, axis=-1), (2, 3)),
    "insert at several places": (lambda x: np.insert(x, [1, 3], x[0, :2]), (2, 3)),
    "insert at one place several times": (lambda x: np.insert(x, [1, 1], x[0, :2]), (2, 3)),
    "insert a column": (lambda x: np.insert(x, 1, x[:, 0], axis=1), (2, 3)),
    "insert at a negative place": (lambda x: np.insert(x, -1, x[0], axis=0), (2, 3)),
    "insert by a slice": (lambda x: np.insert(x, slice(0, 2), x[:, :2], axis=1), (2, 3)),
    "insert one value broadcast": (lambda x: np.insert(x, [0, 2], x[0, 0], axis=1), (2, 3)),
    "delete one": (lambda x: np.delete(x, 1), (2, 3)),
    "delete several": (lambda x: np.delete(x, [0, -1], axis=-1), (2, 3)),
    "delete by a slice": (lambda x: np.delete(x, slice(0, 2), axis=1), (2, 3)),
    "delete by a mask": (lambda x: np.delete(x, np.array([True, False, True]), axis=1), (2, 3)),
    "split evenly": (lambda x: np.split(x, 2, axis=-1)[1], (2, 4)),
    "split at places": (lambda x: np.split(x, [1, 3], axis=-1)[1], (2, 4)),
    "split beyond the end": (lambda x: np.split(x, [1, 9])[1], (4,)),
    "split at negative places": (lambda x: np.split(x, [-3, -1])[1], (5,)),
    "array_split unevenly": (lambda x: np.array_split(x, 3)[0], (5, 2)),
    "array_split into more than there are": (lambda x: np.array_split(x, 3)[1], (2,)),
    "hsplit of a vector": (lambda x: np.hsplit(x, 2)[0], (4,)),
    "hsplit of a matrix": (lambda x: np.hsplit(x, 2)[1], (2, 4)),
    "vsplit": (lambda x: np.vsplit(x, [1])[1], (3, 2)),
    "dsplit": (lambda x: np.dsplit(x, 2)[1], (1, 2, 4)),
    "meshgrid": (lambda x: np.meshgrid(x, np.zeros(2))[0], (3,)),
    "meshgrid, second": (lambda x: np.meshgrid(np.zeros(2), x)[1], (3,)),
    "meshgrid by matrix indices": (lambda x: np.meshgrid(np.zeros(2), x, np.zeros(2), indexing="ij")[1], (3,)),
    "sparse meshgrid": (lambda x: np.meshgrid(np.zeros(2), x, sparse=True, copy=False)[1], (3,)),
    "ix_": (lambda x: np.ix_(np.arange(2), x)[1], (3,)),
}  # fmt: skip


@pytest.mark.parametrize(("function", "shape"), CALLS.values(), ids=CALLS)
def test_elements_are_moved(function: Any, shape: tuple[int, ...]) -> None:
    assert_moves(function, *shape)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(-2, 1))
def test_concatenate_and_split_undo_each_other(sizes: list[int], axis: int) -> None:
    shapes = [[2, 2] for _ in sizes]
    for shape, size in zip(shapes, sizes, strict=True):
        shape[axis] = size
    rng = np.random.default_rng(0)
    parts, cts = [[rng.normal(size=s) for s in shapes] for _ in range(2)]
    value, pull = vjp(lambda *xs: np.concatenate(xs, axis), *parts)
    pulled = pull(np.concatenate(cts, axis))
    for p, ct in zip(pulled, cts, strict=True):
        np.testing.assert_array_equal(p, ct)
    split = lambda x: np.split(x, np.cumsum(sizes)[:-1], axis)
    np.testing.assert_array_equal(vjp(split, value)[1](cts)[0], np.concatenate(cts, axis))


def test_constants_and_numbers_stand_between_traced_arrays() -> None:
    f = lambda x: np.sum(np.hstack([x, 3.0, [4.0, 5.0], x[:1]]) * np.arange(6.0))
    np.testing.assert_array_equal(grad(f)(np.ones(2)), [5.0, 1.0])
    value, tangent = jvp(lambda t: np.stack([t, 1, 2 * t]), (3.0,), (1.0,))
    np.testing.assert_array_equal(value, [3.0, 1.0, 6.0])
    np.testing.assert_array_equal(tangent, [1.0, 0.0, 2.0])


def test_only_some_examples_are_batched() -> None:
    x, y = np.arange(6.0).reshape(3, 2), np.array([10.0, 20.0])
    come = vmap(lambda a, b: np.concatenate([b, a, b]), in_axes=(0, None))(x, y)
    np.testing.assert_array_equal(come, [np.concatenate([y, a, y]) for a in x])
    np.testing.assert_array_equal(
        vmap(lambda a: np.stack([a, y], -1), out_axes=1)(x)[:, 2], np.stack([x[2], y], -1)
    )


def test_precision_of_the_parts_is_their_own() -> None:
    single, double = np.ones(2, np.float32), np.ones(2)
    value, pull = vjp(lambda a, b: np.concatenate([a, b, np.array([1, 2])]), single, double)
    assert value.dtype == np.float64
    assert [ct.dtype for ct in pull(value)] == [np.float32, np.float64]
    value, pull = vjp(lambda a, b: np.stack([a, 1j * b]), double, double)
    assert value.dtype == np.complex128
    cts = pull(np.array([[1 + 2j, 3], [4, 5 + 6j]]))
    np.testing.assert_array_equal(cts, [[1.0, 3.0], [0.0, -6.0]])
    value, pull = vjp(lambda a: np.concatenate([a, a], dtype=np.float32), double)
    assert value.dtype == np.float32
    assert pull(value)[0].dtype == np.float64


def test_insert_casts_to_the_dtype_of_the_array() -> None:
    value, pull = vjp(lambda a, v: np.insert(a, 1, v), np.ones(2, np.float32), np.array(0.5))
    assert value.dtype == np.float32
    assert [ct.dtype for ct in pull(value)] == [np.float32, np.float64]


def test_insert_in_both_arguments() -> None:
    weights = np.arange(5.0)
    f = lambda a, v: np.sum(np.insert(a, [1, 2], v) * weights)
    da, dv = grad(f, argnums=(0, 1))(np.ones(3), np.ones(2))
    np.testing.assert_array_equal(da, [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(dv, [1.0, 3.0])


def test_the_pieces_may_be_used_each_on_its_own() -> None:
    f = lambda x: sum(
        k * np.sum(p) for k, p in zip((1.0, 10.0, 100.0), np.split(x, [1, 3], axis=-1), strict=True)
    )
    np.testing.assert_array_equal(grad(f)(np.ones((2, 4))), [[1.0, 10.0, 10.0, 100.0]] * 2)
    second = hessian(lambda x: np.prod(np.array_split(x, 2)[1]))(np.array([9.0, 2.0, 3.0, 5.0]))
    np.testing.assert_array_equal(second[2:, 2:], [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(second[:2], 0.0)


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="since NumPy 2.1")
def test_unstack_gives_a_tuple() -> None:
    def f(x: Any) -> Any:
        parts = np.unstack(x, axis=-1)
        assert type(parts) is tuple
        return sum(k * np.sum(p) for k, p in enumerate(parts))

    np.testing.assert_array_equal(grad(f)(np.ones((2, 3))), [[0.0, 1.0, 2.0]] * 2)


def test_meshgrid_in_both_axes_and_ix_with_a_mask() -> None:
    def f(x: Any, y: Any) -> Any:
        grids = np.meshgrid(x, y)
        assert type(grids) is tuple
        return np.sum(grids[0] * grids[1])

    dx, dy = grad(f, argnums=(0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(dx, [12.0, 12.0])
    np.testing.assert_array_equal(dy, [3.0, 3.0, 3.0])

    def g(x: Any) -> Any:
        rows, columns = np.ix_(x > 1, [0, 1])
        return np.sum(x[rows] * columns)

    np.testing.assert_array_equal(grad(g)(np.array([1.0, 2.0, 3.0])), [0.0, 1.0, 1.0])


REFUSED = {
    "concatenate nothing": lambda x: np.concatenate([x, np.ones((2, 2))]),
    "concatenate different ranks": lambda x: np.concatenate([x, x[0]]),
    "concatenate along no such axis": lambda x: np.concatenate([x, x], axis=2),
    "stack different shapes": lambda x: np.stack([x, x[0]]),
    "stack along no such axis": lambda x: np.stack([x, x], axis=4),
    "block of different depths": lambda x: np.block([[x], x]),
    "block of a tuple": lambda x: np.block([(x, x)]),
    "block with an empty list": lambda x: np.block([[x], []]),
    "append another rank": lambda x: np.append(x, x[0], axis=0),
    "insert beyond the end": lambda x: np.insert(x, 9, 0.0),
    "delete beyond the end": lambda x: np.delete(x, 9, axis=0),
    "split unevenly": lambda x: np.split(x, 2, axis=1),
    "split into nothing": lambda x: np.array_split(x, 0),
    "hsplit of a number": lambda x: np.hsplit(x[0, 0], 1),
    "vsplit of a vector": lambda x: np.vsplit(x[0], 1),
    "dsplit of a matrix": lambda x: np.dsplit(x, 1),
    "meshgrid by other indices": lambda x: np.meshgrid(x, x, indexing="yx"),
    "ix_ of a matrix": lambda x: np.ix_(x),
}  # fmt: skip


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(function: Any) -> None:
    raises_as_numpy(function, np.ones((2, 3)))
