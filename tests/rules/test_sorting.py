"""Sorting and order statistics at ties, NaN, infinities and the ends of their range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.errors import TracerWriteError
from tests.rules.samples.sorting import CONTINUOUS, METHODS

values = st.lists(st.integers(-3, 3), min_size=1, max_size=7).map(lambda v: np.array(v, float))

# ---- sorting ---------------------------------------------------------------------------------------------------------


@given(values)
def test_sorting_permutes_stably(x: Any) -> None:
    order = np.argsort(x, stable=True)
    expected = np.eye(len(x))[order]
    np.testing.assert_array_equal(jacrev(np.sort)(x), expected)
    np.testing.assert_array_equal(jacfwd(np.sort)(x), expected)
    np.testing.assert_array_equal(vmap(np.sort)(np.stack([x, -x])), np.sort([x, -x]))


def test_axes_of_sort() -> None:
    m = np.array([[3.0, 0.0], [2.0, 1.0]])
    assert grad(lambda m: np.sum(np.sort(m, axis=None) * np.arange(4.0)))(m).tolist() == [
        [3.0, 0.0],
        [2.0, 1.0],
    ]
    assert grad(lambda m: np.sum(np.sort(m) * [1.0, 10.0]))(m).tolist() == [[10.0, 1.0], [10.0, 1.0]]
    for axis in (0, -2):
        assert grad(lambda m, a=axis: np.sum(np.sort(m, axis=a) * [[1.0], [10.0]]))(m).tolist() == [
            [10, 1],
            [1, 10],
        ]
    t = jvp(
        lambda m: np.sort(m, axis=0),
        (np.array([[2.0, 1.0], [0.0, 5.0]]),),
        (np.array([[1.0, 2.0], [3.0, 4.0]]),),
    )[1]
    assert t.tolist() == [[3.0, 2.0], [1.0, 4.0]]
    rows = vmap(np.sort, in_axes=1, out_axes=1)(np.array([[3.0, 0.0], [1.0, 2.0], [2.0, 1.0]]))
    assert rows.tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]
    np.testing.assert_array_equal(
        hessian(lambda v: np.sum(np.sort(v) ** 3))(np.array([3.0, 1.0])), np.diag([18.0, 6.0])
    )


def test_sorting_by_argsort_and_with_python() -> None:
    x = np.array([3.0, 1.0, 2.0])
    assert grad(lambda v: v[np.argsort(v)] @ np.array([1.0, 10.0, 100.0]))(x).tolist() == [100.0, 1.0, 10.0]
    assert grad(lambda v: max(v) - min(v) + sorted(v)[1])(x).tolist() == [1.0, -1.0, 1.0]
    assert grad(lambda v: np.sum(np.searchsorted(np.array([1.0, 2.0]), v) * v))(
        np.array([1.5, 3.0])
    ).tolist() == [
        1.0,
        2.0,
    ]


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_not_taken_after_sorting_may_be_bad() -> None:
    x = np.array([4.0, 0.0, 1.0])
    assert grad(lambda v: np.sum(np.sort(np.sqrt(v))[1:]))(x).tolist() == [0.25, 0.0, 0.5]
    assert grad(lambda v: np.median(np.sqrt(v)))(x).tolist() == [0.0, 0.0, 0.5]
    assert grad(lambda v: np.partition(np.sqrt(v), 1)[1])(x).tolist() == [0.0, 0.0, 0.5]
    assert jvp(lambda v: np.median(np.sqrt(v)), (x,), (np.ones(3),))[1] == 0.5


@given(values, st.data())
def test_partition(x: Any, data: Any) -> None:
    k = data.draw(st.integers(-len(x), len(x) - 1))
    out, pull = vjp(lambda v: np.partition(v, k), x)
    assert out[k] == np.sort(x)[k]
    pulled = pull(np.arange(1.0, len(x) + 1))[0]
    assert pulled @ x == pytest.approx(out @ np.arange(1.0, len(x) + 1))
    assert sorted(pulled) == list(range(1, len(x) + 1))


def test_sort_complex() -> None:
    z = np.array([2 + 1j, 0j, 1j])
    assert grad(lambda z: np.sum(np.sort_complex(z).real * np.arange(3.0)))(z).tolist() == [2.0, 0.0, 1.0]
    out, pull = vjp(np.sort_complex, np.array([2.0, 1.0]))
    assert out.dtype == np.complex128
    assert pull(np.array([1j, 3.0 + 1j]))[0].tolist() == [3.0, 0.0]


def test_fields_are_refused() -> None:
    for function in (np.sort, lambda v, order: np.partition(v, 0, order=order)):
        with pytest.raises(ValueError, match="order"):
            grad(lambda v, f=function: np.sum(f(v, order="a")))(np.ones(3))


# ---- order statistics ------------------------------------------------------------------------------------------------


def test_median_with_ties_takes_the_stable_permutation() -> None:
    assert grad(np.median)(np.array([2.0, 1.0, 2.0])).tolist() == [1.0, 0.0, 0.0]
    assert grad(np.median)(np.array([2.0, 1.0, 2.0, 0.0])).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert grad(np.median)(np.array(7.0)) == 1.0


def test_infinities_beside_the_median() -> None:
    x = np.array([1.0, np.inf, 2.0, 3.0, np.inf])
    assert grad(np.median)(x).tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
    assert vmap(np.median)(np.stack([x, -x])).tolist() == [3.0, -3.0]
    assert grad(lambda v: np.quantile(v, 0.5))(x).tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_nan_is_the_median_of_nan() -> None:
    x = np.array([1.0, np.nan, 2.0])
    for f in (np.median, lambda v: np.quantile(v, 0.3)):
        out, pull = vjp(f, x)
        assert np.isnan(out)
        assert pull(np.float64(1))[0].tolist() == [0.0, 1.0, 0.0]
    assert np.isnan(vmap(np.median)(np.stack([x, np.arange(3.0)]))).tolist() == [True, False]
    assert grad(np.nanmedian)(np.array([np.nan, 3.0, 1.0, 2.0])).tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.filterwarnings("ignore")
def test_order_statistics_of_nothing() -> None:
    out, pull = vjp(np.median, np.zeros(0))
    assert np.isnan(out)
    assert pull(np.float64(1))[0].shape == (0,)
    assert vjp(lambda m: np.median(m, axis=1), np.zeros((0, 3)))[0].shape == (0,)


QUANTILES = {
    "lower": [0, 1, 0, 0], "higher": [0, 0, 1, 0], "midpoint": [0, 0.5, 0.5, 0], "nearest": [0, 0, 1, 0],
    "hazen": [0, 0.3, 0.7, 0], "median_unbiased": [0, 11 / 30, 19 / 30, 0], "linear": [0, 0.1, 0.9, 0],
    "weibull": [0, 0.5, 0.5, 0], "inverted_cdf": [0, 0, 1, 0],
}  # fmt: skip


@pytest.mark.parametrize("method", QUANTILES)
def test_methods_of_quantile(method: str) -> None:
    x = np.array([4.0, 1.0, 2.0, 7.0])
    f = lambda v: np.quantile(v, 0.3, method=method)
    np.testing.assert_allclose(grad(f)(x), QUANTILES[method], atol=1e-12)
    np.testing.assert_allclose(
        grad(lambda v: np.percentile(v, 30, method=method))(x), QUANTILES[method], atol=1e-12
    )
    np.testing.assert_allclose(
        vmap(grad(f))(np.stack([x, x[::-1]])), [QUANTILES[method], QUANTILES[method][::-1]], atol=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_value_of_numpy(method: str) -> None:
    m = np.cos(np.arange(24.0)).reshape(2, 3, 4)
    q = np.array([[0.0, 0.2], [0.71, 1.0]])
    for axis in (None, 0, -1, (0, -1)):
        for keepdims in (False, True):
            f = lambda m, a=axis, k=keepdims: np.quantile(m, q, axis=a, keepdims=k, method=method)
            np.testing.assert_allclose(vjp(f, m)[0], f(m), rtol=1e-13)
            assert vjp(f, m.astype(np.float32))[0].dtype == f(m.astype(np.float32)).dtype


def test_percentiles_by_rows() -> None:
    m = np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0]])
    f = lambda m: np.sum(np.percentile(m, [25, 75], axis=-1, keepdims=True))
    np.testing.assert_allclose(grad(f)(m), [[0.5, 0.5, 1.0], [0.5, 0.5, 1.0]])
    assert grad(lambda v: np.percentile(v, 30))(m[0]) == pytest.approx([0.0, 0.4, 0.6])


@pytest.mark.parametrize("method", CONTINUOUS)
def test_quantiles_follow_their_fraction(method: str) -> None:
    x = np.sort(np.cos(np.arange(9.0)))
    f = lambda q: np.quantile(x, q, method=method)
    h = 1e-7
    for q in (0.23, 0.5123, 0.81):
        assert grad(f)(q) == pytest.approx((f(q + h) - f(q - h)) / (2 * h), rel=1e-5)
        assert jvp(f, (q,), (1.0,))[1] == pytest.approx(grad(f)(q))
    np.testing.assert_allclose(
        grad(lambda q: np.sum(f(q)))(np.array([0.23, 0.81])), [grad(f)(0.23), grad(f)(0.81)]
    )
    np.testing.assert_allclose(vmap(grad(f))(np.array([0.23, 0.81])), [grad(f)(0.23), grad(f)(0.81)])


def test_the_ends_of_the_range() -> None:
    x = np.array([1.0, 3.0, 4.0])
    slope = grad(lambda q: np.quantile(x, q))
    assert (slope(0.0), slope(1.0), slope(0.5)) == (4.0, 2.0, 2.0)
    assert grad(lambda q: np.quantile(x, q, method="weibull"))(0.01) == 0.0
    assert grad(lambda q: np.quantile(x, q, method="lower"))(0.3) == 0.0
    assert grad(lambda q: np.percentile(x, q))(30.0) == pytest.approx(0.04)


def test_weights() -> None:
    m, w = np.array([[3.0, 1.0, 2.0], [5.0, np.nan, 7.0]]), np.array([1.0, 5.0, 1.0])
    f = lambda v: np.quantile(v, 0.5, weights=w, method="inverted_cdf")
    assert grad(f)(m[0]).tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_array_equal(vmap(f)(np.stack([m[0], -m[0]])), [1.0, -1.0])
    g = lambda v, w: np.sum(np.nanquantile(v, 0.5, axis=1, weights=w, method="inverted_cdf"))
    parts = grad(g, argnums=(0, 1))(m, np.stack([w, w]))
    assert parts[0].tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert not parts[1].any()
    with pytest.raises(ValueError, match="inverted_cdf"):
        grad(lambda v: np.quantile(v, 0.5, weights=w))(m[0])


@pytest.mark.parametrize(
    "function", [np.median, np.nanmedian, np.quantile, np.percentile, np.nanquantile, np.nanpercentile]
)
def test_what_numpy_refuses(function: Any) -> None:
    q = () if "median" in function.__name__ else (0.5,)
    with pytest.raises(TracerWriteError, match=function.__name__):
        grad(lambda v: function(v, *q, out=np.zeros(())))(np.ones(3))
    if q:
        with pytest.raises(TypeError, match="real"):
            grad(lambda v: abs(function(v, 0.5)))(np.ones(3, complex))
        with pytest.raises(ValueError, match="range"):
            grad(lambda v: function(v, 101.0))(np.ones(3))
        with pytest.raises(ValueError, match="method"):
            grad(lambda v: function(v, 0.5, method="best"))(np.ones(3))
