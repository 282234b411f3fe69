"""Choices: what is not taken contributes nothing, and equal operands share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy._core import umath

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.errors import BatchedControlFlowError, TracerWriteError

BOTH = pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
few = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0])


# ---- ties and kinks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_tie_is_shared_in_both_modes(function: Any) -> None:
    assert grad(function, argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)
    assert jvp(function, (2.0, 2.0), (1.0, 0.0))[1] == 0.5
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    larger = [0, 0.5, 1] if function in (np.maximum, np.fmax) else [1, 0.5, 0]
    for_x, for_y = grad(lambda x, y: np.sum(function(x, y)), argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(for_x, larger)
    np.testing.assert_array_equal(for_y, larger[::-1])
    np.testing.assert_array_equal(vmap(grad(function))(x, y), larger)


def test_fmax_and_fmin_pass_over_nan() -> None:
    for function in (np.fmax, np.fmin):
        assert grad(function, argnums=(0, 1))(np.nan, 2.0) == (0, 1)
        assert grad(function, argnums=(0, 1))(2.0, np.nan) == (1, 0)
    assert grad(np.maximum)(np.nan, 2.0) == 1


def test_absolute_values_at_zero() -> None:
    for function in (np.abs, np.fabs, lambda t: abs(t)):
        assert [grad(function)(x) for x in (0.0, -0.0, -3.0, 3.0)] == [0, 0, -1, 1]
        assert grad(grad(function))(0.0) == 0
    assert grad(lambda t: (t + np.abs(t)) / 2)(0.0) == grad(lambda t: np.maximum(t, 0.0))(0.0) == 0.5


def test_signs_are_constant() -> None:
    assert grad(np.sign)(0.0) == grad(np.sign)(3.0) == 0
    assert grad(lambda t: np.copysign(t, -1.0))(3.0) == -1
    assert grad(lambda t: np.copysign(3.0, t))(3.0) == 0
    assert grad(lambda t: np.copysign(t, -1.0))(0.0) == 0
    assert grad(lambda t: np.heaviside(t, 0.5) + t)(0.3) == 1
    assert grad(lambda h: np.sum(np.heaviside(np.array([-1.0, 0.0, 0.0, 1.0]), h)))(0.5) == 2


def test_clip_shares_at_its_bounds() -> None:
    v = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    for_v, low, high = grad(lambda v, lo, hi: np.sum(np.clip(v, lo, hi)), argnums=(0, 1, 2))(v, 0.0, 1.0)
    np.testing.assert_array_equal(for_v, [0, 0.5, 1, 0.5, 0])
    assert (low, high) == (1.5, 1.5)
    assert grad(lambda t: np.clip(t, 2.0, 1.0))(1.5) == 0  # crossed bounds: constant
    assert grad(lambda hi: np.clip(1.5, 2.0, hi))(1.0) == 1
    assert grad(lambda t: np.clip(t, t, t))(1.0) == 1


SINCE_2_1 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0 wants a_min and a_max"
)


@pytest.mark.parametrize(
    "clip",
    [
        lambda v: np.clip(v, -0.5, 0.5), lambda v: v.clip(-0.5, 0.5), lambda v: v.clip(min=-0.5, max=0.5),
        pytest.param(lambda v: np.clip(v, min=-0.5, max=0.5), marks=SINCE_2_1), lambda v: np.clip(v, a_min=-0.5, a_max=0.5),
        lambda v: np.clip(np.clip(v, None, 0.5), -0.5, None), lambda v: umath.clip(v, -0.5, 0.5),
        lambda v: np.minimum(np.maximum(v, -0.5), 0.5),
    ],
)  # fmt: skip
def test_every_way_to_clip(clip: Any) -> None:
    v = np.array([-1.0, 0.1, 2.0])
    np.testing.assert_array_equal(clip(v), [-0.5, 0.1, 0.5])
    np.testing.assert_array_equal(grad(lambda v: np.sum(clip(v)))(v), [0, 1, 0])
    np.testing.assert_array_equal(jvp(clip, (v,), (np.ones(3),))[1], [0, 1, 0])
    np.testing.assert_array_equal(vmap(grad(clip))(v), [0, 1, 0])


def test_clip_of_a_plain_array_between_traced_bounds() -> None:
    v = np.array([-1.0, 0.1, 2.0])
    assert grad(lambda hi: np.sum(v.clip(None, hi)))(0.5) == 1
    assert grad(lambda hi: np.sum(v.clip(0.0, hi)))(0.5) == 1
    np.testing.assert_array_equal(
        grad(lambda v: np.sum(np.clip(v, np.array([[-1.0], [0.0]]), 5.0)))(np.array([-0.5, 0.5])), [1, 2]
    )


def test_clip_takes_its_bounds_once() -> None:
    with pytest.raises(ValueError, match="not as both"):
        grad(lambda t: np.clip(t, 0.0, 1.0, min=0.5))(1.0)


def test_clip_without_bounds_copies() -> None:
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        np.testing.assert_array_equal(grad(lambda v: np.sum(np.clip(v)))(np.ones(3)), np.ones(3))
    np.testing.assert_array_equal(grad(lambda v: np.sum(np.clip(v, None, None)))(np.ones(3)), np.ones(3))


@given(few, few, few)
def test_weights_of_a_choice_add_up_to_one(x: float, y: float, z: float) -> None:
    """Moving all operands together moves the result as much: true at ties and crossed bounds too."""
    for function, args in ((np.maximum, (x, y)), (np.fmin, (x, y)), (umath.clip, (x, y, z))):
        assert jvp(function, args, (1.0,) * len(args))[1] == 1
        weights = grad(function, argnums=tuple(range(len(args))))(*args)
        assert sum(weights) == 1
        assert all(w >= 0 for w in weights)


# ---- what is not taken -----------------------------------------------------------------------------------------------

BAD = {
    "infinite slope": (np.sqrt, 0.0),
    "overflow": (np.exp, 1000.0),
    "not a number": (np.log, -1.0),
    "pole": (np.reciprocal, 0.0),
    "infinite factor": (lambda t: t * np.where(t > 0.5, np.inf, 2.0), 1.0),
}


@pytest.mark.parametrize("name", BAD)
@BOTH
def test_a_branch_not_taken_contributes_nothing(name: str, jacobian: Any) -> None:
    function, bad = BAD[name]
    v, mask = np.array([bad, 0.3, bad]), np.array([False, True, False])
    with np.errstate(all="ignore"):
        expected = np.diag([0, grad(function)(0.3), 0])
        filled = lambda v: np.where(mask, v, 0.3)
        for choice in (
            lambda v: np.where(mask, function(v), 0.0),
            lambda v: np.where(~mask, 7.0, function(v)),
            lambda v: np.select([mask], [function(v)], 0.0),
            lambda v: np.choose(mask.astype(int), [v * 0 + 5.0, function(v)]) - 0 * filled(v),
            lambda v: np.where(mask, np.sin(function(v)), 0.0) * 0 + np.where(mask, function(v), 0.0),
            lambda v: np.where(mask.reshape(3, 1), function(v).reshape(3, 1), 0.0)[:, 0],
        ):
            np.testing.assert_allclose(jacobian(choice)(v), expected)


@BOTH
def test_the_loser_of_a_maximum_contributes_nothing(jacobian: Any) -> None:
    v = np.array([0.0, 4.0])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(jacobian(lambda v: np.maximum(np.sqrt(v), 1.0))(v), [[0, 0], [0, 0.25]])
        np.testing.assert_array_equal(
            jacobian(lambda v: np.clip(np.sqrt(v), 1.0, 3.0))(v), [[0, 0], [0, 0.25]]
        )
        np.testing.assert_array_equal(
            jacobian(lambda v: np.nan_to_num(1 / v, posinf=9.0))(v), [[0, 0], [0, -1 / 16]]
        )


def test_second_order_beside_a_branch_not_taken() -> None:
    f = lambda v: np.sum(np.where(v > 0, np.sqrt(v), 0.0))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(hessian(f)(np.array([0.0, 4.0])), [[0, 0], [0, -1 / 32]])
        np.testing.assert_allclose(
            vmap(grad(grad(lambda t: np.where(t > 0, np.sqrt(t), 0.0))))(np.array([0.0, 4.0])), [0, -1 / 32]
        )


def test_zeros_that_are_not_structural_stay_honest() -> None:
    with np.errstate(all="ignore"):
        assert grad(lambda t: np.sqrt(t) ** 2)(0.0) != 0
        assert np.isnan(jvp(lambda t: np.sqrt(t) * 0.0, (0.0,), (1.0,))[1])


@pytest.mark.parametrize(
    "mask", [True, False, np.True_, np.array(True), [True, False], np.array([1, 0]), np.array([0.0, 2.0])]
)
def test_conditions_of_every_kind(mask: Any) -> None:
    x, y = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    out, pull = vjp(lambda x, y: np.where(mask, x, y), x, y)
    np.testing.assert_array_equal(out, np.where(mask, x, y))
    taken = np.broadcast_to(np.asarray(mask).astype(bool), 2)
    for part, expected in zip(pull(np.array([1.0, 2.0])), (taken, ~taken), strict=True):
        np.testing.assert_array_equal(part, expected * [1, 2])


def test_where_with_one_argument_gives_plain_indices() -> None:
    def f(v: Any) -> Any:
        (found,) = np.where(v > 0)
        assert type(found) is np.ndarray
        return np.sum(found * 1.0 + v[found])

    np.testing.assert_array_equal(grad(f)(np.array([-1.0, 2.0, 3.0])), [0, 1, 1])


def test_where_broadcasts_and_keeps_dtypes() -> None:
    mask = np.array([[True, False, True], [False, False, True]])
    assert grad(lambda t: np.sum(np.where(mask, t, 0.0)))(1.0) == 3
    np.testing.assert_array_equal(grad(lambda v: np.sum(np.where(mask, v, 0.0)))(np.ones(3)), [1, 0, 2])
    slope = grad(lambda v: np.sum(np.where(v > 0, v, np.zeros(2))))(np.ones(2, np.float32))
    assert slope.dtype == np.float32


def test_a_condition_is_not_differentiated() -> None:
    assert grad(lambda t: np.where(t, 2.0 * t, 3.0))(5.0) == 2


# ---- one of many -----------------------------------------------------------------------------------------------------


def test_piecewise() -> None:
    v = np.array([-2.0, 3.0, 0.0])
    f = lambda v: np.piecewise(v, [v < 0, v > 1], [lambda u: -u, lambda u: u**2, 5.0])
    np.testing.assert_array_equal(grad(lambda v: np.sum(f(v)))(v), [-1, 6, 0])
    np.testing.assert_array_equal(jvp(f, (v,), (np.ones(3),))[1], [-1, 6, 0])
    np.testing.assert_array_equal(hessian(lambda v: np.sum(f(v)))(v), np.diag([0, 2, 0]))
    assert grad(lambda t: np.piecewise(t, [t < 0, t >= 0], [lambda u: -u, lambda u: u * u]))(3.0) == 6
    scaled = lambda v: np.piecewise(v, v > 0, [lambda u, k, power=1: k * u**power, 0.0], 3.0, power=2)
    np.testing.assert_array_equal(grad(lambda v: np.sum(scaled(v)))(v), [0, 18, 0])


def test_the_conditions_of_piecewise_may_be_one_array() -> None:
    v = np.array([-2.0, 3.0])
    both = np.array([[True, False], [False, True]])
    np.testing.assert_array_equal(
        grad(lambda v: np.sum(np.piecewise(v, both, [lambda u: -u, lambda u: u * u])))(v), [-1, 6]
    )
    np.testing.assert_array_equal(
        grad(lambda v: np.sum(np.piecewise(v, [True, False], [lambda u: -u, 0.0])))(v), [-1, 0]
    )


def test_piecewise_hands_each_function_its_own_elements() -> None:
    v = np.array([-2.0, 3.0, 5.0])
    f = lambda v: np.sum(np.piecewise(v, [v < 0, v >= 0], [lambda u: u, lambda u: u - np.mean(u)]) ** 2)
    np.testing.assert_allclose(grad(f)(v), [-4, -2, 2])


def test_piecewise_refuses_what_numpy_refuses() -> None:
    with pytest.raises(ValueError, match="2 or 3 functions, not 1"):
        grad(lambda v: np.sum(np.piecewise(v, [v < 0, v > 1], [np.sin])))(np.ones(2))
    centred = lambda v: np.sum(np.piecewise(v, v > 0, [lambda u: u - u.mean(), 0.0]) ** 2)
    with pytest.raises(BatchedControlFlowError, match=r"by itself\. Write np\.where"):
        vmap(grad(centred))(np.array([[1.0, 2.0], [1.0, -2.0]]))


def test_piecewise_under_vmap_beneath_other_transforms() -> None:
    x = np.array([[1.0, 2.0, -0.5], [-1.0, 4.0, np.nan]])
    f = lambda v: np.piecewise(v, [v < 0, v > 1], [lambda u: -(u**3), np.sqrt, 0.5])
    for d in (jacrev(f), jacfwd(f), hessian(lambda v: np.nansum(f(v) ** 2))):
        np.testing.assert_allclose(vmap(d)(x), [d(v) for v in x], rtol=1e-12)
    np.testing.assert_array_equal(vmap(grad(lambda v: np.sum(f(v))))(x[:, :0]), x[:, :0])
    of_one = lambda v: np.piecewise(v, v > 0, [lambda u: u**2, 0.0])
    np.testing.assert_array_equal(vmap(of_one)(x), [of_one(v) for v in x])


def test_choose() -> None:
    v = np.array([1.0, 2.0, 4.0])
    with np.errstate(all="ignore"):
        slope = grad(lambda v: np.sum(np.choose(np.array([0, 1, 0]), [np.sqrt(v), np.log(v - 1)])))
        np.testing.assert_allclose(slope(v), [0.5, 1, 0.25])
    np.testing.assert_array_equal(
        jacrev(lambda m: np.choose([1, 0, 1], m))(np.ones((2, 3))).sum(axis=0), [[0, 1, 0], [1, 0, 1]]
    )
    np.testing.assert_array_equal(
        jacrev(lambda v: np.choose(np.array([-1, 5]), v, mode="clip"))(v), [[1, 0, 0], [0, 0, 1]]
    )
    np.testing.assert_array_equal(
        jacrev(lambda v: np.choose(np.array([-1, 5]), v, mode="wrap"))(v), [[0, 0, 1], [0, 0, 1]]
    )
    with pytest.raises(ValueError, match=r"outside 0\.\.\.2"):
        grad(lambda v: np.sum(np.choose(np.array([3]), v)))(v)
    with pytest.raises(TracerWriteError):
        grad(lambda v: np.sum(np.choose(np.array([1]), v, out=np.zeros(1))))(v)


def test_select_takes_the_first_that_holds() -> None:
    v = np.array([1.0, 2.0, 4.0])
    f = lambda v: np.sum(np.select([v > 3, v > 1], [v * v, 3 * v], default=np.sqrt(v)))
    np.testing.assert_allclose(grad(f)(v), [0.5, 3, 8])
    with pytest.raises(ValueError, match="not 1 and 2"):
        grad(lambda v: np.sum(np.select([v > 3], [v, v])))(v)
    with pytest.raises(TypeError, match="boolean conditions, not int64"):
        grad(lambda v: np.sum(np.select([np.array([1, 0, 1])], [v])))(v)


def test_nan_to_num() -> None:
    v = np.array([1.0, np.nan, np.inf, -np.inf])
    for options in ({}, {"nan": 3.0}, {"posinf": 5.0, "neginf": -5.0}):
        out, pull = vjp(lambda v: np.nan_to_num(v, **options), v)
        np.testing.assert_array_equal(out, np.nan_to_num(v, **options))
        np.testing.assert_array_equal(pull(np.full(4, 2.0))[0], [2, 0, 0, 0])
    z = np.array([complex(np.nan, 1), complex(2, np.inf)])
    out, pull = vjp(np.nan_to_num, z)
    np.testing.assert_array_equal(out, np.nan_to_num(z))
    np.testing.assert_array_equal(pull(np.array([1 + 1j, 1 + 1j]))[0], [1j, 1])

    def in_place(v: Any) -> Any:
        w = v * 1.0
        np.nan_to_num(w, copy=False)
        return np.sum(w * w)

    np.testing.assert_array_equal(grad(in_place)(np.array([3.0, np.nan])), [6, 0])


def test_no_warning_where_nothing_is_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda v: np.sum(np.where(v <= 0, np.exp(np.minimum(v, 0)), 1 + v)))(np.array([1000.0, -1.0]))
        grad(lambda v: np.sum(np.maximum(v, 0.0) + np.clip(v, -1, 1)))(np.array([0.0, 1.0, -1.0]))


def test_piecewise_under_vmap_gives_each_function_what_its_condition_takes_in_each_example():
    x = np.array([[1.0, 2.0, 5.0], [3.0, -4.0, 0.0]])

    def f(v):
        return np.piecewise(v, [v > 1, v < 0], [lambda u: u - u.mean(), lambda u: u**2, 7.0])

    np.testing.assert_array_equal(vmap(f)(x), [f(v) for v in x])
    np.testing.assert_array_equal(vmap(vmap(f))(x[None]), [[f(v) for v in x]])
    np.testing.assert_array_equal(vmap(f)(x[:0]), x[:0])
    slopes = [grad(lambda v: np.sum(f(v) ** 2))(v) for v in x]
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(f)(x) ** 2))(x), slopes, atol=1e-12)
