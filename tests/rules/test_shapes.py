"""Shapes, orders, repetition: beyond the samples, every form in which people call them."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jvp, vjp, vmap
from funcgrad.errors import BatchedControlFlowError
from tests.rules.moving import assert_moves, raises_as_numpy

shapes = st.lists(st.integers(1, 3), max_size=4).map(tuple)
orders = st.permutations(range(3))

# ---- moving ----------------------------------------------------------------------------------------------------------

CALLS = {
    "reshape to a number": (lambda x: np.reshape(x, -1), (2, 3)),
    "reshape in Fortran order": (lambda x: np.reshape(x, (3, -1), order="F"), (2, 3)),
    "reshape, method with several numbers": (lambda x: x.reshape(3, 1, 2, order="F"), (2, 3)),
    "flatten in Fortran order": (lambda x: x.flatten("F"), (2, 3)),
    "ravel": (lambda x: x.ravel(), (2, 3)),
    "squeeze": (lambda x: x.squeeze(), (1, 3, 1)),
    "squeeze one negative axis": (lambda x: np.squeeze(x, -1), (1, 3, 1)),
    "expand in front and behind": (lambda x: np.expand_dims(x, (0, -1)), (2, 3)),
    "transpose by negative axes": (lambda x: np.transpose(x, (-1, 0, 1)), (2, 3, 4)),
    "transpose, method with several numbers": (lambda x: x.transpose(2, 0, 1), (2, 3, 4)),
    "transpose by an array": (lambda x: np.transpose(x, np.array([1, 0])), (2, 3)),
    "T": (lambda x: x.T, (2, 3, 4)),
    "mT": (lambda x: x.mT, (2, 3, 4)),
    "permute_dims": (lambda x: np.permute_dims(x, (1, 0)), (2, 3)),
    "swapaxes, method": (lambda x: x.swapaxes(-1, 0), (2, 3, 4)),
    "moveaxis of several": (lambda x: np.moveaxis(x, [0, -1], [-1, 0]), (2, 3, 4)),
    "rollaxis to the end": (lambda x: np.rollaxis(x, 0, 3), (2, 3, 4)),
    "rollaxis backwards": (lambda x: np.rollaxis(x, -1, -2), (2, 3, 4)),
    "flip all": (np.flip, (2, 3)),
    "flip negative axes": (lambda x: np.flip(x, (-1, 0)), (2, 3, 2)),
    "fliplr": (np.fliplr, (2, 3)),
    "flipud": (np.flipud, (2, 3)),
    "roll flattened": (lambda x: np.roll(x, 4), (2, 3)),
    "roll by tuples": (lambda x: np.roll(x, (1, -2), axis=(0, -1)), (2, 3)),
    "roll one shift along two axes": (lambda x: np.roll(x, 1, axis=(0, 1)), (2, 3)),
    "roll twice along one axis": (lambda x: np.roll(x, (1, 1), axis=(1, 1)), (2, 3)),
    "rot90 backwards": (lambda x: np.rot90(x, -1), (2, 3)),
    "rot90 with swapped axes": (lambda x: np.rot90(x, 3, (1, 0)), (2, 3)),
    "rot90 of the outer axes": (lambda x: np.rot90(x, axes=(-1, 0)), (2, 3, 4)),
    "broadcast_to": (lambda x: np.broadcast_to(x, (4, 2, 3)), (2, 1)),
    "broadcast a scalar": (lambda x: np.broadcast_to(x, 3), ()),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, np.zeros((3, 1)))[0], (2,)),
    "tile the last axis": (lambda x: np.tile(x, 2), (2, 3)),
    "tile into new axes": (lambda x: np.tile(x, (2, 1, 3)), (2, 3)),
    "tile a scalar": (lambda x: np.tile(x, (2, 2)), ()),
    "repeat flattened": (lambda x: np.repeat(x, 3), (2, 3)),
    "repeat along a negative axis": (lambda x: x.repeat(2, axis=-1), (2, 3)),
    "repeat each by its count": (lambda x: np.repeat(x, np.array([1, 0, 2]), axis=1), (2, 3)),
    "repeat by a list of one": (lambda x: np.repeat(x, [2], axis=0), (2, 3)),
    "resize to more": (lambda x: np.resize(x, (3, 3)), (4,)),
    "resize to less": (lambda x: np.resize(x, 3), (2, 2)),
    "atleast_1d": (np.atleast_1d, ()),
    "atleast_2d": (np.atleast_2d, (3,)),
    "atleast_3d of a vector": (np.atleast_3d, (3,)),
    "atleast_3d of a matrix": (np.atleast_3d, (2, 3)),
    "copy": (lambda x: x.copy(), (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize(("function", "shape"), CALLS.values(), ids=CALLS)
def test_elements_are_moved(function: Any, shape: tuple[int, ...]) -> None:
    assert_moves(function, *shape)


@given(shapes, st.sampled_from("CF"), st.randoms(use_true_random=False))
def test_reshape_to_any_shape(shape: tuple[int, ...], order: Any, random: Any) -> None:
    factors = [n for n in shape if n > 1] + [1] * random.randint(0, 2)
    random.shuffle(factors)
    assert_moves(lambda x: np.reshape(x, factors, order=order), *shape)


@given(orders)
def test_transpose_by_any_order(axes: list[int]) -> None:
    assert_moves(lambda x: np.transpose(x, axes), 2, 3, 4)
    assert_moves(lambda x: np.transpose(x, [a - 3 for a in axes]), 2, 3, 4)
    assert_moves(lambda x: np.moveaxis(x, range(3), axes), 2, 3, 4)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-3, 2)), min_size=1, max_size=4))
def test_roll_by_any_shifts(moves: list[tuple[int, int]]) -> None:
    shift, axis = zip(*moves, strict=True)
    assert_moves(lambda x: np.roll(x, shift, axis), 2, 3, 4)


@given(shapes, st.lists(st.integers(0, 3), max_size=4))
def test_tile_any_number_of_times(shape: tuple[int, ...], counts: list[int]) -> None:
    assert_moves(lambda x: np.tile(x, counts), *shape)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=3), st.integers(-3, -1))
def test_repeat_by_any_counts(counts: list[int], axis: int) -> None:
    assert_moves(lambda x: np.repeat(x, counts, axis), 3, 3, 3)


@pytest.mark.skipif("copy" not in inspect.signature(np.reshape).parameters, reason="since NumPy 2.1")
def test_reshape_with_and_without_a_copy() -> None:
    assert_moves(lambda x: np.reshape(x, (3, 2), copy=True), 2, 3)
    raises_as_numpy(lambda x: np.reshape(x.T, 6, copy=False), np.ones((2, 3)))


# ---- several arrays, constants among them ----------------------------------------------------------------------------


def test_atleast_of_several_gives_a_tuple_with_the_plain_ones_as_they_are() -> None:
    def f(x: Any) -> Any:
        outs = np.atleast_2d(x, 3.0, [1.0, 2.0])
        assert type(outs) is tuple
        assert [o.shape for o in outs] == [(1, 1), (1, 1), (1, 2)]
        assert type(outs[1]) is np.ndarray
        return np.sum(outs[0])

    assert grad(f)(2.0) == 1.0


def test_broadcast_arrays_sums_what_was_repeated() -> None:
    def f(x: Any, y: Any) -> Any:
        a, b = np.broadcast_arrays(x, y)
        assert a.shape == b.shape == (2, 3)
        return np.sum(a * b)

    x, y = np.array([1.0, 2.0, 3.0]), np.array([[4.0], [5.0]])
    dx, dy = grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(dx, [9.0, 9.0, 9.0])
    np.testing.assert_array_equal(dy, [[6.0], [6.0]])


def test_shape_functions_are_differentiated_twice() -> None:
    f = lambda x: np.sum(np.tile(np.transpose(x.reshape(2, 3)), 2)[1] ** 3)
    x = np.arange(1.0, 7.0)
    expected = np.diag(np.where(np.isin(np.arange(6), [1, 4]), 12 * x, 0.0))
    np.testing.assert_array_equal(hessian(f)(x), expected)


# ---- the order in memory ---------------------------------------------------------------------------------------------

LAYOUTS = {
    "C": lambda cube: cube,
    "Fortran": np.asfortranarray,
    "transposed": lambda cube: cube.T,
    "mixed": lambda cube: cube.transpose(1, 0, 2),
    "reversed": lambda cube: cube[::-1],
    "strided": lambda cube: cube[:, ::2],
    "transposed and strided": lambda cube: cube.T[:, :1],
    "vector": lambda cube: cube[0, 0],
    "empty": lambda cube: cube[:0],
}


def cubes() -> Any:
    """Positions, values and tangents, before they are laid out."""
    rng = np.random.default_rng(0)
    return np.arange(24).reshape(2, 3, 4), rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4))


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_ravel_in_every_order_of_every_layout(layout: Any, order: Any) -> None:
    positions, x, t = map(layout, cubes())
    for function in (lambda v: np.ravel(v, order), lambda v: v.flatten(order)):
        value, tangent = jvp(function, (x,), (t,))
        np.testing.assert_array_equal(value, function(x))
        np.testing.assert_array_equal(tangent, function(t))
        ct = np.random.default_rng(1).normal(size=x.size)
        expected = np.zeros(24)
        expected[function(positions)] = ct
        pulled = grad(lambda v, function=function, ct=ct: np.sum(function(v) * ct))(x)
        np.testing.assert_array_equal(pulled, expected[positions])


@pytest.mark.parametrize("layout", [f for name, f in LAYOUTS.items() if name != "empty"])
def test_reshape_in_the_order_of_the_layout(layout: Any) -> None:
    x = layout(cubes()[1])
    function = lambda v: np.reshape(v, (-1, 2), order="A")
    np.testing.assert_array_equal(vjp(function, x)[0], function(x))


def test_memory_order_under_vmap_is_that_of_one_example() -> None:
    batch = cubes()[1]
    np.testing.assert_array_equal(vmap(lambda v: v.ravel("A"))(batch), [v.ravel() for v in batch])
    turned = batch.transpose(0, 2, 1)
    np.testing.assert_array_equal(vmap(lambda v: v.ravel("A"))(turned), [v.ravel("A") for v in turned])
    np.testing.assert_array_equal(vmap(lambda v: v.ravel("K"))(turned), [v.ravel("K") for v in turned])


# ---- the edges -------------------------------------------------------------------------------------------------------


def test_resize_of_nothing_gives_zeros() -> None:
    value, pull = vjp(lambda x: np.resize(x, (2, 2)), np.zeros(0))
    np.testing.assert_array_equal(value, np.zeros((2, 2)))
    assert pull(np.ones((2, 2)))[0].shape == (0,)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_arrays_have_empty_gradients(shape: tuple[int, ...]) -> None:
    for function in (
        np.ravel,
        np.transpose,
        np.flip,
        np.atleast_3d,
        lambda x: np.tile(x, 2),
        lambda x: np.roll(x, 1),
        lambda x: np.repeat(x, 2),
    ):
        assert grad(lambda x, function=function: np.sum(function(x)))(np.zeros(shape)).shape == shape
    assert vmap(np.ravel)(np.zeros((2, *shape))).shape == (2, math.prod(shape))


def test_vmap_over_no_examples() -> None:
    assert vmap(lambda x: np.transpose(np.tile(x, 2)))(np.zeros((0, 2, 3))).shape == (0, 6, 2)


def test_shifts_and_counts_that_differ_between_examples() -> None:
    x, shifts = np.arange(3.0), np.array([0, 1, 2])
    np.testing.assert_array_equal(vmap(np.roll)(np.stack([x] * 3), shifts), [np.roll(x, k) for k in shifts])
    with pytest.raises(BatchedControlFlowError, match="examples"):
        vmap(np.repeat)(np.stack([x] * 3), shifts)


REFUSED = {
    "reshape to the wrong size": lambda x: np.reshape(x, (4, 2)),
    "reshape by two unknowns": lambda x: np.reshape(x, (-1, -1)),
    "reshape in an unknown order": lambda x: np.reshape(x, 6, order="X"),
    "reshape without a shape": lambda x: np.reshape(x),
    "squeeze what is longer than 1": lambda x: np.squeeze(x, 0),
    "squeeze an axis out of range": lambda x: np.squeeze(x, 2),
    "expand an axis out of range": lambda x: np.expand_dims(x, 4),
    "transpose by too few axes": lambda x: np.transpose(x, (0,)),
    "transpose by a repeated axis": lambda x: np.transpose(x, (0, 0)),
    "swap an axis out of range": lambda x: np.swapaxes(x, 0, 2),
    "move to a repeated axis": lambda x: np.moveaxis(x, (0, 1), (0, 0)),
    "roll an axis out of range": lambda x: np.rollaxis(x, 0, 4),
    "matrix_transpose of a vector": lambda x: np.matrix_transpose(x[0]),
    "fliplr of a vector": lambda x: np.fliplr(x[0]),
    "rot90 of one axis": lambda x: np.rot90(x, 1, (0, 0)),
    "broadcast to fewer": lambda x: np.broadcast_to(x, (3,)),
    "broadcast what doesn't fit": lambda x: np.broadcast_arrays(x, np.zeros(2)),
    "repeat a negative count": lambda x: np.repeat(x, -1),
    "repeat by too few counts": lambda x: np.repeat(x, [1, 2], axis=1),
    "repeat by fractions": lambda x: np.repeat(x, np.array([1.5, 2.0, 1.0]), axis=1),
    "resize to a negative shape": lambda x: np.resize(x, (-1, 2)),
    "an unknown keyword": lambda x: np.reshape(x, 6, orders="C"),
}  # fmt: skip


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(function: Any) -> None:
    raises_as_numpy(function, np.ones((2, 3)))


def test_raveled_as_it_lies_in_memory() -> None:
    """order="K" of every layout, repeated elements (strides of 0) among them."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        x = rng.normal(size=(1, 2, 3, 4)).transpose(rng.permutation(4))[
            :: rng.choice([1, -1]), ..., :: rng.choice([1, -1])
        ]
        axes = tuple(rng.permutation(5))
        flat = lambda x, axes=axes: np.broadcast_to(x, (2, *x.shape)).transpose(axes).ravel(order="K")
        found, _ = jvp(flat, (x,), (x,))
        np.testing.assert_array_equal(found, flat(x))
