"""Correlations and histograms, against their definitions and at their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacrev, jvp, vjp, vmap
from funcgrad.errors import BatchedControlFlowError

M = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 5.0]])

# ---- correlations ----------------------------------------------------------------------------------------------------


def test_covariance() -> None:
    f = lambda m: np.sum(np.cov(m) * [[1.0, 2.0], [3.0, 4.0]])
    expected = [[-19 / 3, -17 / 6, 55 / 6], [-34 / 3, -29 / 6, 97 / 6]]
    np.testing.assert_allclose(grad(f)(M), expected)
    np.testing.assert_allclose(grad(lambda m: f(m.T))(M.T), np.transpose(expected))
    np.testing.assert_allclose(vmap(np.cov)(np.stack([M, M**2])), [np.cov(M), np.cov(M**2)])
    assert grad(lambda v: np.cov(v))(M[0]) == pytest.approx(grad(lambda v: np.var(v, ddof=1))(M[0]))


@pytest.mark.parametrize(
    "options", [{}, {"bias": True}, {"ddof": 0}, {"rowvar": False}, {"dtype": np.float32}], ids=str
)
def test_options_of_covariance(options: dict[str, Any]) -> None:
    value = vjp(lambda m: np.cov(m, **options), M)[0]
    np.testing.assert_allclose(value, np.cov(M, **options), rtol=1e-6 if "dtype" in options else 1e-13)
    assert value.dtype == np.cov(M, **options).dtype
    single = M[:1]
    np.testing.assert_allclose(
        vjp(lambda m: np.cov(m, rowvar=False, bias=True), single)[0], np.cov(single, rowvar=False, bias=True)
    )


def test_weights_of_observations() -> None:
    often, much = np.array([1, 2, 3]), np.array([0.5, 1.0, 2.0])
    repeated = np.repeat(M, often, axis=1)
    come = grad(lambda m: np.cov(m, fweights=often)[0, 1])(M)
    expected = grad(lambda m: np.cov(np.repeat(m, often, axis=1))[0, 1])(M)
    np.testing.assert_allclose(come, expected)
    np.testing.assert_allclose(vjp(lambda m: np.cov(m, fweights=often), M)[0], np.cov(repeated))
    value, pull = vjp(lambda w: np.cov(M, aweights=w, ddof=0), much)
    np.testing.assert_allclose(value, np.cov(M, aweights=much, ddof=0))
    np.testing.assert_allclose(pull(np.ones((2, 2)))[0] @ much, 0, atol=1e-12)  # only proportions matter
    with pytest.raises(ValueError, match="aweights"):
        grad(lambda m: np.cov(m, aweights=[1.0, 2.0]).sum())(M)


def test_correlation() -> None:
    a, b = np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.0, 2.0])
    expected = [0.1870439059166, -0.2805658588748, 0.09352195295828]
    np.testing.assert_allclose(grad(lambda a: np.corrcoef(a, b)[0, 1])(a), expected)
    np.testing.assert_allclose(jacrev(lambda a: np.corrcoef(a, b)[0, 0])(a), np.zeros(3), atol=1e-15)
    assert grad(lambda a: np.corrcoef(a))(a).tolist() == [0.0, 0.0, 0.0]


def test_a_perfect_correlation_keeps_its_curvature() -> None:
    """corrcoef clips what rounding lifts above 1; the exact function, which counts, has a maximum there."""
    b = np.array([1.0, 2.0, 4.0])
    h = hessian(lambda a: np.corrcoef(a, b)[0, 1])(3 * b)
    d = (b - b.mean()) / np.linalg.norm(b - b.mean())
    ones = np.full((3, 3), 1 / 3)
    np.testing.assert_allclose(
        h, -(np.eye(3) - ones - np.outer(d, d)) / np.sum((3 * (b - b.mean())) ** 2), atol=1e-14
    )


@pytest.mark.filterwarnings("ignore")
def test_a_constant_has_no_correlation() -> None:
    assert np.isnan(grad(lambda a: np.corrcoef(a, M[0])[0, 1])(np.ones(3))).all()


# ---- counting --------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(0, 8))
def test_bincount_is_linear_in_its_weights(x: list[int], minlength: int) -> None:
    index = np.array(x, int)
    w = np.sin(np.arange(1.0, 1 + len(x)))
    out, pull = vjp(lambda w: np.bincount(index, w, minlength=minlength), w)
    ct = np.cos(np.arange(len(out)))
    np.testing.assert_array_equal(pull(ct)[0], ct[index])
    np.testing.assert_allclose(jvp(lambda w: np.bincount(index, w), (w,), (w,))[1], np.bincount(index, w))


def test_bincount_under_vmap() -> None:
    index = np.array([[0, 1, 1], [2, 2, 0]])
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    expected = [np.bincount(i, v, minlength=3) for i, v in zip(index, w, strict=True)]
    np.testing.assert_array_equal(vmap(lambda i, v: np.bincount(i, v))(index, w), expected)
    np.testing.assert_array_equal(
        vmap(lambda i: np.bincount(i, minlength=4))(index), [[1, 2, 0, 0], [1, 0, 2, 0]]
    )
    come = vmap(grad(lambda v, i: np.bincount(i, v) @ np.array([1.0, 10.0, 100.0])))(w, index)
    np.testing.assert_array_equal(come, [[1, 10, 10], [100, 100, 1]])
    with pytest.raises(ValueError, match="negative"):
        vmap(lambda i: np.bincount(i))(-index)


# ---- histograms ------------------------------------------------------------------------------------------------------

X = np.array([1.0, 2.0, 2.0, 2.9, 7.0])


def test_histograms_follow_their_weights() -> None:
    f = lambda w: np.histogram(X, bins=2, range=(0.0, 3.0), weights=w)[0] @ np.array([1.0, 10.0])
    assert grad(f)(np.ones(5)).tolist() == [1.0, 10.0, 10.0, 10.0, 0.0]
    assert jvp(f, (np.ones(5),), (np.arange(5.0),))[1] == 60.0
    rows = vmap(grad(f))(np.ones((2, 5)))
    assert rows.tolist() == [[1.0, 10.0, 10.0, 10.0, 0.0]] * 2
    density = lambda w: np.histogram(X, [0.0, 2.0, 3.0], weights=w, density=True)[0]
    np.testing.assert_allclose(jacrev(density)(np.ones(5))[1], np.array([-3 / 16, 1 / 16, 1 / 16, 1 / 16, 0]))


def test_counts_are_constant_and_edges_follow_the_data() -> None:
    counts, edges = vjp(lambda x: np.histogram(x, 3), X)[0]
    assert counts.tolist() == [4, 0, 1]
    np.testing.assert_allclose(edges, [1, 3, 5, 7])
    np.testing.assert_allclose(jacrev(lambda x: np.histogram_bin_edges(x, 3))(X)[1], [2 / 3, 0, 0, 0, 1 / 3])
    assert not grad(lambda x: np.sum(np.histogram(x, 3, (0.0, 9.0))[1]))(X).any()
    slope = grad(lambda b: np.histogram(X, b, density=True)[0][0])(np.array([0.0, 2.5, 8.0]))
    np.testing.assert_allclose(slope, [3 / 5 / 2.5**2, -3 / 5 / 2.5**2, 0])


@pytest.mark.parametrize("bins", [1, 4, "auto", "sturges", [0.0, 2.0, 2.5, 7.0], [3.0, 4.0]], ids=str)
@pytest.mark.parametrize("options", [{}, {"density": True}, {"range": (1.5, 6.0)}], ids=str)
def test_histograms_count_as_numpy_does(bins: Any, options: dict[str, Any]) -> None:
    with np.errstate(all="ignore"):
        came, expected = (
            vjp(lambda x: np.histogram(x, bins, **options), X)[0],
            np.histogram(X, bins, **options),
        )
    for c, e in zip(came, expected, strict=True):
        np.testing.assert_allclose(c, e)
        assert c.dtype == e.dtype


def test_equal_values_have_a_bin_around_them() -> None:
    for x in (np.ones(3), np.zeros(0)):
        for c, e in zip(vjp(lambda x: np.histogram(x, 2), x)[0], np.histogram(x, 2), strict=True):
            np.testing.assert_array_equal(c, e)


def test_histograms_in_several_dimensions() -> None:
    y = np.array([0.0, 1.0, 0.5, 3.0, 2.0])
    f = lambda w: np.histogram2d(X, y, bins=[2, [0.0, 1.0, 3.0]], weights=w)[0]
    np.testing.assert_array_equal(jacrev(f)(np.ones(5)).sum(axis=(0, 1)), np.ones(5))
    came, expected = (
        vjp(lambda x: np.histogram2d(x, y, 3, density=True), X)[0],
        np.histogram2d(X, y, 3, density=True),
    )
    for c, e in zip(came, expected, strict=True):
        np.testing.assert_allclose(c, e)
    sample = np.stack([X, y, X * y], axis=1)
    counts, edges = vjp(lambda s: np.histogramdd(s, (2, 3, 2)), sample)[0]
    np.testing.assert_array_equal(counts, np.histogramdd(sample, (2, 3, 2))[0])
    assert [len(e) for e in edges] == [3, 4, 3]
    with pytest.raises(ValueError, match="2 bins for a sample of 3"):
        grad(lambda s: np.histogramdd(s, (2, 3))[1][0].sum())(sample)


def test_what_histograms_refuse() -> None:
    with pytest.raises(ValueError, match="3 weights for 5 values"):
        grad(lambda x: np.histogram(x, weights=np.ones(3))[1].sum())(X)
    with pytest.raises(ValueError, match="monotonically"):
        grad(lambda x: np.histogram(x, [2.0, 1.0])[1].sum())(X)
    with pytest.raises(BatchedControlFlowError, match="'auto'"):
        vmap(lambda x: np.histogram(x, "auto")[1])(np.stack([X, X]))
    counts, edges = vmap(lambda x: np.histogram(x, 3))(np.stack([X, 2 * X]))
    assert counts.tolist() == [[4, 0, 1]] * 2
    np.testing.assert_allclose(edges[1], [2, 6, 10, 14])
