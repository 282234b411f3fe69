"""Reading, writing and adding at every kind of index under vmap: against a loop over the examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import at, grad, vmap
from funcgrad.core.memory.indexing import GETITEM
from funcgrad.errors import BatchedControlFlowError

SHAPE, SIZE = (3, 4, 2, 3), 4
BATCH = np.random.default_rng(0).normal(size=(SIZE, *SHAPE))


class Batched:
    """Stands for an index that differs between the examples; `shape` is its shape in one example."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __repr__(self) -> str:
        return f"Batched{self.shape}"


def mask(n: int) -> Any:
    """A mask with two live positions."""
    return np.arange(n) % (n - 1) == 0


KINDS = [
    lambda n: 1,
    lambda n: -1,
    lambda n: np.int64(0),
    lambda n: np.array(1),
    lambda n: slice(None),
    lambda n: slice(0, n - 1),
    lambda n: slice(None, None, -1),
    lambda n: [0, -1],
    lambda n: np.array([[n - 1], [0]]),
    lambda n: np.array([[1, 1]]),
    mask,
    lambda n: Batched(()),
    lambda n: Batched((2,)),
    lambda n: Batched((2, 1)),
]


@st.composite
def indices(draw: Any) -> tuple[Any, ...]:
    """An index of up to four axes, with None and an Ellipsis among them."""
    items: list[Any] = []
    for n in SHAPE[: draw(st.integers(1, 4))]:
        if draw(st.integers(0, 7)) == 0:
            items.append(None)
        items.append(draw(st.sampled_from(KINDS))(n))
    if draw(st.integers(0, 3)) == 0:
        items.append(...)
    return tuple(items)


def filled(index: tuple[Any, ...], positions: Any) -> tuple[Any, ...]:
    """The index with positions in the place of what is batched."""
    rest = iter(positions)
    return tuple(next(rest) if isinstance(i, Batched) else i for i in index)


def positions_for(index: tuple[Any, ...]) -> list[Any]:
    """Random positions for all examples."""
    rng = np.random.default_rng(1)
    return [rng.integers(-2, 2, size=(SIZE, *i.shape)) for i in index if isinstance(i, Batched)]


def loop(function: Any, *batches: Any) -> Any:
    """The function for each example by itself."""
    return np.stack([function(*(b[k] for b in batches)) for k in range(SIZE)])


def fits(index: tuple[Any, ...]) -> bool:
    """Does NumPy take this index (do the arrays in it broadcast)?"""
    try:
        BATCH[0][filled(index, [p[0] for p in positions_for(index)])]
    except IndexError:
        return False
    return True


@given(indices().filter(fits))
def test_reading(index: tuple[Any, ...]) -> None:
    positions = positions_for(index)
    read = lambda x, *p: GETITEM(x, filled(index, p))
    np.testing.assert_array_equal(vmap(read)(BATCH, *positions), loop(read, BATCH, *positions))
    if positions:
        table = BATCH[0]
        come = vmap(lambda *p: read(table, *p))(*positions)
        np.testing.assert_array_equal(come, loop(lambda *p: read(table, *p), *positions))


@given(indices().filter(fits))
def test_writing(index: tuple[Any, ...]) -> None:
    positions = positions_for(index)

    def write(x: Any, v: Any, *p: Any) -> Any:
        out = np.copy(x)
        out[filled(index, p)] = v
        return out

    region = BATCH[0][filled(index, [p[0] for p in positions])].shape
    rng = np.random.default_rng(2)
    for shape in {region, region[1:], region[:-1] + (1,) * bool(region), ()}:
        values = rng.normal(size=(SIZE, *shape))
        # Where an index names a position twice, any order of writing is NumPy's; so write the same everywhere
        # then.
        values = (
            values
            if len(set(region)) == 0 or not positions_repeat(index, positions)
            else np.full_like(values, 7.0)
        )
        np.testing.assert_array_equal(
            vmap(write)(BATCH, values, *positions), loop(write, BATCH, values, *positions)
        )


def positions_repeat(index: tuple[Any, ...], positions: Any) -> bool:
    names = np.arange(BATCH[0].size).reshape(SHAPE)
    read = [names[filled(index, [p[k] for p in positions])] for k in range(SIZE)]
    return any(np.unique(r).size < r.size for r in read)


@given(indices().filter(fits))
def test_gradients(index: tuple[Any, ...]) -> None:
    positions = positions_for(index)
    read = lambda x, *p: np.sum(GETITEM(x, filled(index, p)) ** 2)
    pulled = lambda x, *p: grad(read)(x, *p)
    np.testing.assert_allclose(
        vmap(pulled)(BATCH, *positions), loop(pulled, BATCH, *positions), rtol=1e-13, atol=1e-13
    )
    add = lambda x, v, *p: at(x)[filled(index, p)].add(v)
    values = np.arange(1.0, SIZE + 1)
    np.testing.assert_allclose(
        vmap(add)(BATCH, values, *positions), loop(add, BATCH, values, *positions), rtol=1e-13, atol=1e-13
    )


def test_an_index_of_an_outer_vmap_in_an_inner_one() -> None:
    table, rows, columns = BATCH[0, :, :, 0, 0], np.array([0, 2]), np.array([1, 3, 1])
    come = vmap(lambda i: vmap(lambda j: GETITEM(table, (i, j)))(columns))(rows)
    np.testing.assert_array_equal(come, table[rows[:, None], columns])
    come = vmap(lambda i: vmap(lambda x: x[i])(table))(columns)
    np.testing.assert_array_equal(come, table[:, columns].T)
    come = vmap(lambda i: grad(lambda x: np.sum(vmap(lambda j: x[i, j] ** 2)(columns)))(table))(rows)
    expected = np.zeros((2, *table.shape))
    for k, i in enumerate(rows):
        np.add.at(expected[k, i], columns, 2 * table[i, columns])
    np.testing.assert_array_equal(come, expected)


def test_a_mask_that_differs_between_examples() -> None:
    x = np.arange(6.0).reshape(2, 3)
    same_count = np.array([[True, False, True], [False, True, True]])
    np.testing.assert_array_equal(vmap(lambda v, m: v[m])(x, same_count), [[0.0, 2.0], [4.0, 5.0]])
    with pytest.raises(BatchedControlFlowError, match="different shapes"):
        vmap(lambda v, m: v[m])(x, x > 1)

    def write(v: Any, m: Any, new: Any) -> Any:
        v[m] = new
        return v

    written = vmap(write, (0, 0, None))(x, same_count, 9.0)
    np.testing.assert_array_equal(written, np.where(same_count, 9.0, x))
    expected = [write(v.copy(), m, new) for v, m, new in zip(x, same_count, x[:, :2])]
    np.testing.assert_array_equal(vmap(write)(x, same_count, x[:, :2]), expected)
    np.testing.assert_array_equal(vmap(write, (0, 0, None))(x, same_count, x[0, :2]), [[0, 1, 1], [3, 0, 1]])
    with pytest.raises(BatchedControlFlowError, match=r"np\.where\(mask, v, x\)"):
        vmap(write)(x, x > 1, x[:, :2])


def test_a_mask_of_the_wrong_length_and_a_position_out_of_range_are_errors() -> None:
    x = np.ones((2, 3))
    for index in (np.array([True, False]), 3, [0, 3]):
        with pytest.raises(IndexError):
            vmap(lambda v, index=index: v[index])(x)
    with pytest.raises(IndexError):
        vmap(lambda v, i: v[i])(x, np.array([0, 3]))


def test_one_number_may_go_wherever_a_mask_of_each_example_says() -> None:
    x = np.array([[1.0, 2.0, 5.0], [3.0, -4.0, 0.0]])

    def cut(v: Any) -> Any:
        v = v * 2
        v[v > 1] = 7.0
        return v

    def first(v: Any) -> Any:
        v = v * 2
        v[v > 1] = v[0]
        return v

    for f in (cut, first):
        np.testing.assert_array_equal(vmap(f)(x), [f(v) for v in x])
        np.testing.assert_array_equal(
            vmap(f, in_axes=1, out_axes=1)(x), np.stack([f(v) for v in x.T], axis=1)
        )
        np.testing.assert_array_equal(vmap(vmap(f))(x[None]), [[f(v) for v in x]])
    np.testing.assert_array_equal(vmap(grad(lambda v: np.sum(cut(v) ** 2)))(x), np.where(x > 0.5, 0, 8 * x))
    np.testing.assert_array_equal(grad(lambda x: np.sum(vmap(cut)(x) ** 2))(x), np.where(x > 0.5, 0, 8 * x))
    np.testing.assert_array_equal(vmap(lambda v: at(v)[v > 1].set(0.0))(x), np.where(x > 1, 0, x))
