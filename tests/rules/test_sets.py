"""Set functions take each element from where its value first stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, jacrev, tree, vjp, vmap
from funcgrad.errors import BatchedControlFlowError

values = st.lists(st.integers(-2, 2), max_size=6).map(lambda v: np.array(v, float))


@given(values)
def test_unique(x: Any) -> None:
    _, index = np.unique(x, return_index=True)
    np.testing.assert_array_equal(jacrev(np.unique)(x), np.eye(len(x))[index])
    for function in (np.unique_values, np.unique_counts, np.unique_inverse, np.unique_all):
        came, expected = vjp(function, x)[0], function(x)
        assert type(came) is type(expected)
        for c, e in zip(tree.leaves(came), tree.leaves(expected), strict=True):
            np.testing.assert_array_equal(c, e)


@given(values, values)
def test_two_sets(x: Any, y: Any) -> None:
    for function in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d):
        out, pull = vjp(function, x, y)
        np.testing.assert_array_equal(out, function(x, y))
        in_x, in_y = pull(np.ones(len(out)))
        assert np.sum(in_x) + np.sum(in_y) == len(out)
        assert in_x @ x + in_y @ y == np.sum(out)


def test_options_of_unique() -> None:
    m = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])
    rows = jacrev(lambda m: np.unique(m, axis=0))(m)
    np.testing.assert_array_equal(rows[1, 0], [[1, 0], [0, 0], [0, 0]])
    outs = vjp(lambda m: np.unique(m, return_index=True, return_inverse=True, return_counts=True), m)[0]
    for c, e in zip(
        outs, np.unique(m, return_index=True, return_inverse=True, return_counts=True), strict=True
    ):
        np.testing.assert_array_equal(c, e)
    nans = np.array([np.nan, 1.0, np.nan])
    assert grad(lambda v: np.sum(np.unique(v)))(nans).tolist() == [1.0, 1.0, 0.0]
    assert vjp(lambda v: np.unique(v, equal_nan=False), nans)[0].shape == (3,)


def test_intersections_tell_where() -> None:
    x, y = np.array([3.0, 1.0, 2.0]), np.array([2.0, 3.0])
    outs = vjp(lambda x: np.intersect1d(x, y, return_indices=True), x)[0]
    for c, e in zip(outs, np.intersect1d(x, y, return_indices=True), strict=True):
        np.testing.assert_array_equal(c, e)


def test_what_has_no_derivative() -> None:
    x = np.array([2.0, 1.0])
    assert grad(lambda v: np.sum(v * np.isin(v, [1.0])))(x).tolist() == [0.0, 1.0]
    assert grad(lambda v: v[np.lexsort((v,))[0]])(x).tolist() == [0.0, 1.0]
    assert vmap(lambda v: np.isin(v, [1.0]))(np.stack([x, x])).tolist() == [[False, True]] * 2


def test_examples_of_a_batch_have_sets_of_different_sizes() -> None:
    for f in (np.unique, np.unique_values, lambda v: np.union1d(v, v)):
        with pytest.raises(BatchedControlFlowError, match=r"np\.un"):
            vmap(f)(np.ones((2, 3)))
