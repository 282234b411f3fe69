"""Reductions that ignore NaN: what they ignore contributes nothing, and may be bad before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jvp, vmap
from funcgrad.errors import TracerWriteError

NAN = np.nan
PAIRS = [
    (np.nansum, np.sum), (np.nanmean, np.mean), (np.nanprod, np.prod), (np.nanvar, np.var), (np.nanstd, np.std),
    (np.nanmax, np.max), (np.nanmin, np.min), (np.nanmedian, np.median),
]  # fmt: skip
each_pair = pytest.mark.parametrize(("function", "plain"), PAIRS, ids=lambda f: f.__name__)


@each_pair
def test_it_is_the_plain_function_of_the_numbers(function: Any, plain: Any) -> None:
    x = np.array([3.0, NAN, 1.0, 6.0, NAN])
    numbers = ~np.isnan(x)
    expected = np.zeros(5)
    expected[numbers] = grad(plain)(x[numbers])
    np.testing.assert_allclose(grad(function)(x), expected)
    assert jvp(function, (x,), (np.arange(5.0),))[1] == pytest.approx(expected @ np.arange(5))
    curvature = np.zeros((5, 5))
    curvature[np.ix_(numbers, numbers)] = hessian(plain)(x[numbers])
    np.testing.assert_allclose(hessian(function)(x), curvature, atol=1e-15)
    np.testing.assert_allclose(
        vmap(grad(function))(np.stack([x, x[::-1]])), [expected, grad(function)(x[::-1])]
    )


@pytest.mark.filterwarnings("ignore")
@each_pair
def test_nan_may_come_from_a_bad_place(function: Any, plain: Any) -> None:
    """sqrt at -1 is NaN, and so is its derivative."""
    x = np.array([[4.0, -1.0, 9.0], [1.0, 4.0, 16.0]])
    expected = np.zeros((2, 3))
    expected[0, [0, 2]] = grad(lambda v: plain(np.sqrt(v)))(x[0, [0, 2]])
    expected[1] = grad(lambda v: plain(np.sqrt(v)))(x[1])
    np.testing.assert_allclose(grad(lambda m: np.sum(function(np.sqrt(m), axis=-1)))(x), expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function", [f for f, _ in PAIRS if f not in (np.nansum, np.nanprod)], ids=lambda f: f.__name__
)
def test_nothing_but_nan(function: Any) -> None:
    m = np.array([[NAN, NAN], [1.0, 2.0]])
    come = grad(lambda m: np.nansum(function(m, axis=1)))(m)
    np.testing.assert_allclose(come[1], grad(function)(m[1]))
    assert come[0].tolist() in ([0.0, 0.0], [0.0, 1.0], [0.5, 0.5])


def test_ties_share_evenly_among_the_numbers() -> None:
    x = np.array([NAN, 2.0, 2.0, 1.0])
    assert grad(np.nanmax)(x).tolist() == [0.0, 0.5, 0.5, 0.0]
    assert grad(np.nanmin)(x).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert grad(lambda v: np.nanmax(v, where=[True, True, False, True], initial=0.0))(x).tolist() == [
        0,
        1,
        0,
        0,
    ]


@pytest.mark.filterwarnings("ignore")
def test_no_spread_among_the_numbers() -> None:
    x = np.array([1.0, NAN, 1.0])
    assert grad(np.nanstd)(x).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(hessian(np.nanstd)(x)[0, 0])


def test_running_sums_and_products() -> None:
    x = np.array([2.0, NAN, 0.0, 3.0])
    assert grad(lambda v: np.sum(np.nancumsum(v)))(x).tolist() == [4.0, 0.0, 2.0, 1.0]
    assert grad(lambda v: np.sum(np.nancumprod(v)))(x).tolist() == [2.0, 0.0, 8.0, 0.0]
    m = np.array([[1.0, NAN], [NAN, 2.0]])
    assert grad(lambda v: np.sum(np.nancumsum(v, axis=0)))(m).tolist() == [[2.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "function", [*(f for f, _ in PAIRS), np.nancumsum, np.nancumprod], ids=lambda f: f.__name__
)
def test_dtypes_stay_and_out_is_refused(function: Any) -> None:
    x = np.array([1.0, NAN, 2.0], np.float32)
    assert grad(lambda v: np.sum(function(v)))(x).dtype == np.float32
    with pytest.raises(TracerWriteError, match="out="):
        grad(lambda v: np.sum(function(v, out=np.zeros(()))))(x)
