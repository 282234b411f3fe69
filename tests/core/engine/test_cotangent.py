"""What a cotangent may be, and how it is made to fit the value it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from funcgrad import grad, jacfwd, jacrev, vjp
from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.cotangent import (
    Masked,
    dense,
    fit,
    fit_shape,
    select,
)
from funcgrad.core.memory.plain import LARGE

f8 = np.dtype(float)


def masked(value: list[float], live: list[bool]) -> Masked:
    return Masked(np.array(value), np.array(live))


# ---- fit -------------------------------------------------------------------------------------------------------------


@given(nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3), st.integers(0, 99))
def test_fitting_is_the_transpose_of_broadcasting(shapes: Any, seed: int) -> None:
    shape, result = shapes.input_shapes[0], shapes.result_shape
    rng = np.random.default_rng(seed)
    t, ct = rng.normal(size=shape), rng.normal(size=result)
    fitted = fit(ct, Spec(shape, f8))
    assert fitted.shape == shape
    assert np.sum(ct * np.broadcast_to(t, result)) == pytest.approx(np.sum(fitted * t))


@given(nps.mutually_broadcastable_shapes(num_shapes=1, max_dims=4, max_side=3))
def test_a_cotangent_that_is_too_small_is_repeated(shapes: Any) -> None:
    """A rule may leave the repetition to the core: the cotangent of a sum is one number for all."""
    (shape,) = shapes.input_shapes
    np.testing.assert_array_equal(fit(np.float64(2.0), Spec(shape, f8)), np.full(shape, 2.0))
    reduced = np.ones([1 for _ in shape])
    np.testing.assert_array_equal(fit_shape(reduced, shape), np.ones(shape))


def test_a_large_cotangent_is_repeated_without_memory() -> None:
    repeated = fit(np.float64(2.0), Spec((LARGE + 1,), f8))
    assert repeated.strides == (0,)


@pytest.mark.parametrize(
    ("given_dtype", "wanted", "value", "expected"),
    [
        (np.float64, np.float32, 1.5, 1.5),
        (np.complex128, np.float64, 1.5 + 2j, 1.5),
        (np.complex128, np.float32, 1.5 + 2j, 1.5),
        (np.complex128, np.complex64, 1.5 + 2j, 1.5 + 2j),
        (np.float64, np.complex64, 1.5, 1.5),
        (np.float32, np.float64, 1.5, 1.5),
    ],
)
def test_fitting_casts_to_the_dtype_of_the_value(
    given_dtype: Any, wanted: Any, value: Any, expected: Any
) -> None:
    fitted = fit(np.full(3, value, given_dtype), Spec((3,), np.dtype(wanted)))
    assert fitted.dtype == wanted
    np.testing.assert_array_equal(fitted, expected)


def test_python_numbers_are_cotangents_too() -> None:
    assert fit(1.0, Spec((), f8)).dtype == f8
    np.testing.assert_array_equal(fit(2, Spec((2, 2), f8)), np.full((2, 2), 2.0))


@given(nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
def test_broadcasting_operands_have_cotangents_of_their_own_shape(shapes: Any) -> None:
    x, y = (np.ones(s, np.float32) for s in shapes.input_shapes)
    out, pull = vjp(lambda x, y: x * y + np.float64(1.0), x, y)
    for c, v in zip(pull(np.ones_like(out)), (x, y), strict=True):
        assert (c.shape, c.dtype) == (v.shape, v.dtype)
        np.testing.assert_array_equal(c, np.size(out) / max(np.size(v), 1))


# ---- zeros by structure ----------------------------------------------------------------------------------------------


def test_a_mask_keeps_zeros_from_meeting_infinities() -> None:
    ct = masked([1.0, 0.0], [True, False]).times(np.array([2.0, np.inf]))
    np.testing.assert_array_equal(ct.value, [2, 0])
    np.testing.assert_array_equal(dense(ct), [2, 0])


def test_a_plain_zero_times_infinity_is_not_hidden() -> None:
    """Only a zero by structure is one: sqrt(x) * sqrt(2 x) at 0 has no derivative that this form could give."""
    assert np.isnan(grad(lambda x: np.sqrt(x) * np.sqrt(2 * x))(0.0))
    assert grad(lambda x: np.sqrt(x) * np.sqrt(x))(0.0) == 1.0  # a square
    assert np.isnan(grad(lambda x: 0.0 * np.sqrt(x))(0.0))


def test_a_mask_goes_where_elements_go() -> None:
    ct = masked([1.0, 0.0, 0.0, 4.0], [True, False, False, True])
    moved = ct.through(lambda c: c.reshape(2, 2).T)
    np.testing.assert_array_equal(moved.live, [[True, False], [False, True]])
    summed = ct.through(lambda c: c.reshape(2, 2).sum(axis=0))
    np.testing.assert_array_equal(summed.live, [True, True])
    one, other = ct.through(lambda c: (c[:2], c[2:]))
    np.testing.assert_array_equal(one.live, [True, False])
    np.testing.assert_array_equal(other.live, [False, True])


def test_select_masks_by_a_mask_that_broadcasts() -> None:
    ct = select(np.array([True, False]), np.ones((3, 2)))
    np.testing.assert_array_equal(ct.value, [[1, 0]] * 3)
    assert ct.live.shape == ct.shape == (3, 2)
    assert ct.dtype == f8


BRANCHES = {
    "where": lambda x: np.where(x > 0, np.sqrt(x), 0.0),
    "mask, then where": lambda x: np.where(x > 0, np.sqrt(x) * 2 + 1, x),
    "through a reshape": lambda x: np.where(x.reshape(-1, 1) > 0, np.sqrt(x).reshape(-1, 1), 0.0)[:, 0],
    "through a sum": lambda x: np.where(x > 0, np.sqrt(x) + 0.0, 0.0) + np.where(x > 0, 0.0, 1.0),
    "slice": lambda x: np.concatenate([np.sqrt(x)[1:], np.zeros(1)]),
    "index": lambda x: np.stack([np.sqrt(x)[i] for i in (1, 2)] + [x[0]]),
    "where=": lambda x: np.sum(np.sqrt(x), where=x > 0) + x * 0.0,
}


@pytest.mark.parametrize("name", BRANCHES)
@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_what_is_not_taken_contributes_nothing(name: str, jacobian: Any) -> None:
    with np.errstate(all="ignore"):
        came = jacobian(BRANCHES[name])(np.array([0.0, 1.0, 4.0]))
    assert np.isfinite(came).all()
    assert came.any()


def test_two_branches_that_are_both_taken_somewhere() -> None:
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(x), np.sqrt(-x)))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(grad(f)(np.array([4.0, -4.0])), [0.25, -0.25])
        np.testing.assert_allclose(
            grad(lambda x: np.sum(grad(f)(x)))(np.array([4.0, -4.0])), [-1 / 32, -1 / 32]
        )


def test_masks_of_a_sum_keep_what_both_mask() -> None:
    """x[0] never reaches the output through sqrt; x[1] does, once."""
    f = lambda x: np.sum(np.sqrt(x)[1:2]) + np.sum(np.where([False, True, True], np.sqrt(x), 0.0))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(grad(f)(np.array([0.0, 1.0, 4.0])), [0, 1, 0.25])


def test_a_mask_survives_a_change_of_dtype() -> None:
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0).astype(np.float64))
    with np.errstate(divide="ignore"):
        came = grad(f)(np.array([0.0, 4.0], np.float32))
    assert came.dtype == np.float32
    np.testing.assert_array_equal(came, [0, 0.25])
