"""vdot, outer, kron, cross: all ranks, axes and dtypes, in both modes and under vmap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.linear import assert_multilinear, numbers

dtypes = st.sampled_from([np.float64, np.complex128])
sizes = st.integers(0, 3)


def lengths_that_cross() -> list[tuple[int, int]]:
    """Vectors in the plane are deprecated: a NumPy to come may refuse them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            np.cross([1.0, 2.0], [3.0, 4.0])
    except ValueError:
        return [(3, 3)]
    return [(3, 3), (2, 3), (3, 2), (2, 2)]


# ---- products of flattened operands ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(sizes, max_size=2), st.lists(sizes, max_size=2), dtypes, dtypes)
def test_outer_kron_vdot(left: Any, right: Any, first: Any, second: Any) -> None:
    a, b = numbers(tuple(left), first), numbers(tuple(right), second)
    assert_multilinear(np.outer, a, b)
    assert_multilinear(np.kron, a, b)
    assert_multilinear(np.vdot, a, numbers((a.size,), second))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))], ids=str)
def test_cross(shapes: Any) -> None:
    a, b = (numbers(shape, complex) for shape in shapes)
    assert_multilinear(np.cross, a, b)
    assert_multilinear(np.linalg.cross, a, b)
    assert_multilinear(lambda a, b: np.cross(a, b, axisc=0), a, b)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2), st.integers(0, 2), st.sampled_from(lengths_that_cross()), st.data())
def test_cross_along_any_axes(rank_a: int, rank_b: int, lengths: Any, data: Any) -> None:
    axisa, axisb = (data.draw(st.integers(-rank - 1, rank)) for rank in (rank_a, rank_b))
    axisc = data.draw(st.integers(-1 - max(rank_a, rank_b), max(rank_a, rank_b))) if 3 in lengths else -1
    shape_a, shape_b = (
        [data.draw(st.sampled_from([1, 4])) for _ in range(rank)] for rank in (rank_a, rank_b)
    )
    for shape, axis, length in ((shape_a, axisa, lengths[0]), (shape_b, axisb, lengths[1])):
        shape.insert(axis % (len(shape) + 1), length)
    function = lambda a, b: np.cross(a, b, axisa, axisb, axisc)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of vectors in the plane
        assert_multilinear(function, numbers(tuple(shape_a)), numbers(tuple(shape_b), complex))
