"""Sums, means, extremes and spreads where they are not smooth, empty, masked or hard to compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, value_and_grad, vjp, vmap
from funcgrad.errors import TracerWriteError

M = np.array([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]])
MASK = np.array([[True, True, False], [False, True, True]])
REDUCTIONS = [np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min]
named = pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)

# ---- options ---------------------------------------------------------------------------------------------------------

AXES = [None, 0, 1, -1, -2, (0,), (-1,), (0, 1), (-1, 0), (1, 0), ()]


@named
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_every_form_of_axis_means_what_numpy_means(function: Any, axis: Any, keepdims: bool) -> None:
    """The derivative along axes is that of the same reduction, element by element, of the reduced slices."""
    options = {"axis": axis, "keepdims": keepdims}
    ct = np.sin(np.arange(1.0, 1 + np.size(function(M, **options)))).reshape(np.shape(function(M, **options)))
    come = vjp(lambda m: function(m, **options), M)[1](ct)[0]
    expected = np.zeros_like(M)
    reduced = (0, 1) if axis is None else {a % 2 for a in ((axis,) if isinstance(axis, int) else axis)}
    for place in np.ndindex(*(1 if i in reduced else n for i, n in enumerate(M.shape))):
        at = tuple(slice(None) if i in reduced else slice(k, k + 1) for i, k in enumerate(place))
        weight = ct.reshape([1 if i in reduced else n for i, n in enumerate(M.shape)])[place]
        expected[at] = weight * grad(lambda v: function(v))(M[at])
    np.testing.assert_allclose(come, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (np.sum, MASK * [[1.0], [2.0]]),
        (np.mean, MASK / 2 * [[1.0], [2.0]]),
        (np.prod, [[5.0, 1.0, 0.0], [0.0, 12.0, 6.0]]),
        (np.var, [[-2.0, 2.0, 0.0], [0.0, -3.0, 3.0]]),
        (np.std, [[-0.5, 0.5, 0.0], [0.0, -1.0, 1.0]]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_where_leaves_out(function: Any, expected: Any) -> None:
    weights = np.array([[1.0], [2.0]])
    f = lambda m: np.sum(function(m, axis=1, keepdims=True, where=MASK) * weights)
    np.testing.assert_allclose(grad(f)(M), expected, rtol=1e-13)
    assert jvp(f, (M,), (M,))[1] == pytest.approx(np.sum(M * expected))
    # A column that is masked differently in each example of a batch.
    masks = np.stack([MASK, ~MASK, MASK])
    batched = vmap(lambda m, mask: function(m, axis=1, where=mask))(np.stack([M, M, M**2]), masks)
    loop = [function(m, axis=1, where=mask) for m, mask in zip([M, M, M**2], masks, strict=True)]
    np.testing.assert_allclose(batched, loop)


@pytest.mark.filterwarnings("ignore")  # of NumPy, about log(0) and the like
@named
def test_what_where_leaves_out_may_be_bad(function: Any) -> None:
    """Nothing comes back through a masked element, though its own derivative is infinite or NaN."""
    x = np.array([1.0, 0.0, 4.0, np.nan])
    mask = np.array([True, False, True, False])
    options = {"initial": -9.0 if function is np.max else 9.0} if function in (np.max, np.min) else {}
    f = lambda v: function(np.log(v), where=mask, **options)
    expected = np.zeros(4)
    expected[mask] = grad(lambda v: function(np.log(v)))(x[mask])
    np.testing.assert_allclose(grad(f)(x), expected)
    assert jvp(f, (x,), (np.ones(4),))[1] == pytest.approx(expected.sum())


@pytest.mark.filterwarnings("ignore")  # of NumPy, about log(0) and the like
@named
def test_a_row_that_is_masked_later_may_be_bad(function: Any) -> None:
    rows = np.array([[1.0, 4.0, 9.0], [0.0, np.nan, 0.0], [0.0, 0.0, 0.0]])
    kept = np.array([True, False, False])
    come = grad(lambda m: np.sum(np.where(kept, function(np.sqrt(m), axis=1), 0.0)))(rows)
    expected = np.zeros((3, 3))
    expected[0] = grad(lambda v: function(np.sqrt(v)))(rows[0])
    np.testing.assert_allclose(come, expected)
    np.testing.assert_allclose(grad(lambda m: function(np.sqrt(m), axis=-1)[0])(rows), expected)


@named
def test_out_is_refused(function: Any) -> None:
    with pytest.raises(TracerWriteError, match=rf"np\.{function.__name__}\(\.\.\., out=a\)"):
        grad(lambda v: function(v, out=np.zeros(())))(M)


@named
def test_an_unknown_option_is_an_error(function: Any) -> None:
    with pytest.raises(TypeError, match="axes"):
        grad(lambda v: function.__call__(v, axes=0))(M)
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        grad(lambda v: np.sum(function(v, axis=2)))(M)


def test_dtypes_go_forth_and_back() -> None:
    for dtype in (np.float16, np.float32, np.complex64):
        x = np.ones(3, dtype)
        for function in (np.sum, np.mean, np.prod, np.cumsum):
            out, pull = vjp(lambda v, f=function: f(v, dtype=np.complex128), x)
            assert out.dtype == np.complex128
            assert pull(np.ones(out.shape, out.dtype))[0].dtype == dtype
    assert grad(np.mean)(np.ones(4, np.float16)).tolist() == [0.25] * 4
    many = np.ones(100_000, np.float16)  # more than a float16 can count
    np.testing.assert_allclose(grad(np.mean)(many), np.full(100_000, 1e-5, np.float16))


@pytest.mark.filterwarnings("ignore")
def test_the_mean_of_a_half_precision_array_is_computed_in_single() -> None:
    x = (1000 + np.arange(64)).astype(np.float16)
    np.testing.assert_allclose(grad(np.var)(x), 2 / 64 * (np.arange(64) - 31.5), rtol=2e-3)


# ---- empty and scalar ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.var, np.std], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_reductions_of_nothing_have_empty_gradients(function: Any, shape: tuple[int, ...]) -> None:
    assert grad(lambda v: function(v))(np.zeros(shape)).shape == shape
    assert jacrev(lambda v: function(v, axis=0))(np.zeros(shape)).shape == (*shape[1:], *shape)
    assert jvp(lambda v: function(v, axis=0), (np.zeros(shape),), (np.zeros(shape),))[1].shape == shape[1:]


def test_reductions_of_a_scalar() -> None:
    f = lambda t: (
        np.sum(t) + np.mean(t) + np.prod(t) + np.max(t) + np.cumsum(t)[0] - np.ptp(t) + np.average(t)
    )
    assert grad(f)(2.0) == 6.0
    assert grad(grad(lambda t: np.var(t) + np.prod(t) ** 2))(2.0) == 2.0
    np.testing.assert_array_equal(vmap(grad(f))(np.ones(3)), np.full(3, 6.0))


# ---- maximum and minimum ---------------------------------------------------------------------------------------------


def test_ties_share_evenly() -> None:
    m = np.array([[1.0, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(jacrev(lambda m: np.max(m, axis=1))(m)[0], [[0.5, 0.5], [0.0, 0.0]])
    np.testing.assert_array_equal(jacfwd(lambda m: np.max(m, axis=1))(m)[0], [[0.5, 0.5], [0.0, 0.0]])
    np.testing.assert_array_equal(vmap(grad(np.max))(m), [[0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_array_equal(grad(np.min)(np.array([3.0, -1.0, -1.0, -1.0])), [0, 1 / 3, 1 / 3, 1 / 3])


def test_initial_is_one_of_the_candidates() -> None:
    f = lambda v, start: np.max(v, initial=start)
    x = np.array([1.0, 3.0, 3.0])
    for start, parts, share in [
        (2.0, [0, 0.5, 0.5], 0),
        (3.0, [0, 1 / 3, 1 / 3], 1 / 3),
        (4.0, [0, 0, 0], 1),
    ]:
        come = grad(f, argnums=(0, 1))(x, start)
        np.testing.assert_allclose(come[0], parts)
        assert come[1] == pytest.approx(share)
        assert jvp(f, (x, start), (np.ones(3), 1.0))[1] == pytest.approx(1)
    assert grad(lambda v: np.min(v, initial=1.5))(x).tolist() == [1.0, 0.0, 0.0]
    assert grad(lambda v: np.max(v, where=[True, True, False], initial=-9.0))(x).tolist() == [0.0, 1.0, 0.0]


def test_nan_is_the_extreme() -> None:
    x = np.array([np.nan, 1.0, np.nan])
    for function in (np.max, np.min):
        assert grad(function)(x).tolist() == [0.5, 0.0, 0.5]
        assert jvp(function, (x,), (np.array([3.0, 7.0, 1.0]),))[1] == 2.0
        assert grad(lambda v, f=function: f(v, where=[False, True, False], initial=1.0))(x).tolist() == [
            0,
            0.5,
            0,
        ]
        np.testing.assert_array_equal(vmap(grad(function))(np.stack([x, x * 0 + 1])), [[0.5, 0, 0.5]] * 2)


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_chosen_may_be_bad() -> None:
    x = np.array([0.0, 4.0])
    assert grad(lambda v: np.max(np.sqrt(v)))(x).tolist() == [0.0, 0.25]
    assert jvp(lambda v: np.max(np.sqrt(v)), (x,), (np.ones(2),))[1] == 0.25
    np.testing.assert_array_equal(hessian(lambda v: np.max(v) ** 2)(np.array([1.0, 3.0])), [[0, 0], [0, 2]])


# ---- variance and standard deviation ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "options", [{}, {"axis": 0}, {"keepdims": True}, {"where": [True, True, True]}], ids=str
)
def test_no_spread_has_slope_zero_and_no_curvature(options: dict[str, Any]) -> None:
    f = lambda v: np.sum(np.std(v, **options))
    x = np.full(3, 1.7)
    np.testing.assert_array_equal(grad(f)(x), np.zeros(3))
    assert jvp(f, (x,), (np.arange(3.0),))[1] == 0
    assert np.isnan(hessian(f)(x)).all()
    assert np.isnan(jvp(grad(f), (x,), (np.ones(3),))[1]).all()
    np.testing.assert_allclose(hessian(np.var)(x), 2 / 3 * (np.eye(3) - 1 / 3), atol=1e-15)


def test_a_row_without_spread_leaves_the_others_alone() -> None:
    m = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 6.0]])
    expected = (m[1] - 3) / 3 / np.std(m[1])
    np.testing.assert_allclose(grad(lambda m: np.std(m, axis=1).sum())(m), [np.zeros(3), expected])
    curvature = hessian(lambda m: np.std(m, axis=1)[1])(m)[1, :, 1]
    np.testing.assert_allclose(
        curvature, (np.eye(3) - 1 / 3) / 3 / np.std(m[1]) - np.outer(expected, expected) / np.std(m[1])
    )


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-155, 1e155, 1e200, 1e300])
def test_the_slope_of_a_spread_does_not_depend_on_its_scale(scale: float) -> None:
    x = np.array([1.0, 2.0, 6.0])
    for f in (np.std, lambda v: np.std(v, ddof=1, where=[True, True, True])):
        np.testing.assert_allclose(grad(f)(scale * x), grad(f)(x), rtol=1e-13)
        assert jvp(f, (scale * x,), (x,))[1] == pytest.approx(jvp(f, (x,), (x,))[1])
    rows = np.stack([scale * x, x, np.ones(3)])
    come = grad(lambda m: np.sum(np.std(m, axis=1)))(rows)
    np.testing.assert_allclose(come, [grad(np.std)(x), grad(np.std)(x), np.zeros(3)], rtol=1e-13)
    np.testing.assert_allclose(vmap(grad(np.std))(rows), come, rtol=1e-13)
    if 1e-160 < scale < 1e160:
        np.testing.assert_allclose(hessian(np.std)(scale * x) * scale, hessian(np.std)(x), atol=1e-13)


@pytest.mark.filterwarnings("ignore")
def test_one_value_has_no_sample_deviation() -> None:
    assert grad(np.std)(np.array([1.0])).tolist() == [0.0]
    for function in (np.std, np.var):
        assert np.isnan(grad(lambda v, f=function: f(v, ddof=1))(np.array([1.0]))).tolist() == [True]


def test_degrees_of_freedom() -> None:
    x = np.array([1.0, 2.0, 6.0])
    d = x - 3
    for options in ({"ddof": 1}, {"correction": 1}):
        np.testing.assert_allclose(grad(lambda v, o=options: np.var(v, **o))(x), d)
        np.testing.assert_allclose(grad(lambda v, o=options: np.std(v, **o))(x), d / 2 / np.std(x, ddof=1))
    np.testing.assert_allclose(grad(lambda v: np.var(v, ddof=0.5))(x), 2 * d / 2.5)


def test_a_given_mean_does_not_move() -> None:
    x, mean = np.array([[1.0, 2.0, 6.0]]), np.array([[2.0]])
    f = lambda v, m: np.var(v, axis=1, mean=m)[0]
    parts = grad(f, argnums=(0, 1))(x, mean)
    np.testing.assert_allclose(parts[0], 2 / 3 * (x - 2))
    np.testing.assert_allclose(parts[1], [[-2.0]])
    traced = grad(lambda v: f(v, np.mean(v, axis=1, keepdims=True)))(x)
    np.testing.assert_allclose(traced, grad(lambda v: np.var(v))(x), atol=1e-15)


def test_complex_spread_is_real() -> None:
    z = np.array([1 + 1j, 2j, 3.0])
    d = z - z.mean()
    np.testing.assert_allclose(grad(np.var)(z), 2 / 3 * d.conj())
    np.testing.assert_allclose(grad(np.std)(z), d.conj() / 3 / np.std(z))
    t = jvp(np.var, (z,), (np.array([1j, 1.0, 0.0]),))[1]
    assert t.dtype == np.float64
    assert t == pytest.approx(np.sum(2 / 3 * d.conj() * [1j, 1.0, 0.0]).real)


# ---- averages --------------------------------------------------------------------------------------------------------


def test_average_also_returns_the_weights() -> None:
    x, w = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    assert grad(lambda v: np.average(v, weights=w, returned=True)[0])(x).tolist() == [0.25, 0.75]
    assert grad(lambda w: np.average(x, weights=w, returned=True)[1])(w).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(grad(lambda w: np.average(x, weights=w))(w), (x - 1.75) / 4)
    (average, total), _ = vjp(lambda m: np.average(m, axis=1, returned=True), M)
    np.testing.assert_array_equal(total, [3.0, 3.0])
    assert average.shape == (2,)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"weights": [1.0, -1.0, 0.0]}, ZeroDivisionError, "sum to zero"),
        ({"weights": [1.0, 2.0]}, TypeError, "axis="),
        ({"weights": [1.0, 2.0], "axis": 0}, ValueError, "don't fit axis 0"),
    ],
)
def test_weights_that_do_not_fit_are_refused(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error):
        np.average(np.ones(3), **options)
    with pytest.raises(error, match=message):
        grad(lambda v: np.average(v, **options))(np.ones(3))


# ---- running sums ----------------------------------------------------------------------------------------------------


@given(st.integers(0, 5), st.integers(1, 3))
def test_running_sums(rows: int, columns: int) -> None:
    x = np.sin(np.arange(1.0, 1 + rows * columns)).reshape(rows, columns)
    ct = np.cos(np.arange(x.size, dtype=float))
    np.testing.assert_allclose(vjp(np.cumsum, x)[1](ct)[0].ravel(), np.cumsum(ct[::-1])[::-1])
    pulled = vjp(lambda v: np.cumsum(v, axis=-2), x)[1](ct.reshape(x.shape))[0]
    np.testing.assert_allclose(pulled, np.cumsum(ct.reshape(x.shape)[::-1], axis=0)[::-1])


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1 has it first")
def test_cumulative_sum_can_begin_with_zero() -> None:
    f = lambda v: np.cumulative_sum(v, include_initial=True) @ np.array([1.0, 2.0, 3.0])
    assert value_and_grad(f)(np.array([1.0, 5.0]))[1].tolist() == [5.0, 3.0]
    with pytest.raises(ValueError, match="axis"):
        grad(lambda m: np.cumulative_sum(m).sum())(M)


# ---- a mask that is a single truth value -----------------------------------------------------------------------------

MASKED = (
    np.sum, np.prod, np.mean, np.var, np.std, np.max, np.min,
    np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin,
)  # fmt: skip


@pytest.mark.parametrize("reduce", MASKED, ids=lambda f: f.__name__)
def test_where_may_be_one_value_for_all(reduce: Any) -> None:
    options = (
        {"initial": 0.0} if "max" in reduce.__name__ else {"initial": 9.0} if "min" in reduce.__name__ else {}
    )
    v = np.array([1.0, 2.0, 4.0])
    expected = grad(lambda v: reduce(v, **options))(v)
    for where in (True, np.True_, 1, [True], np.array(True)):
        f = lambda v: reduce(v, where=where, **options)
        np.testing.assert_allclose(grad(f)(v), expected)
        np.testing.assert_allclose(hessian(f)(v), hessian(lambda v: reduce(v, **options))(v), atol=1e-15)
