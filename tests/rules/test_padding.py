"""np.pad in every mode, by every width, against NumPy itself."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jacrev, jvp, vjp, vmap
from funcgrad.errors import UnsupportedFunctionError
from tests.rules.moving import assert_moves, raises_as_numpy

COPYING = ["edge", "wrap", "reflect", "symmetric"]
LINEAR = [
    *[(mode, {}) for mode in [*COPYING, "constant", "mean", "linear_ramp"]],
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {"reflect_type": "odd"}),
    ("mean", {"stat_length": 2}),
]
CHOOSING = [
    (mode, options) for mode in ("maximum", "minimum", "median") for options in ({}, {"stat_length": 2})
]
FILLED = [
    ("constant", {"constant_values": ((1.0, 2.0), (3.0, 4.0))}),
    ("constant", {"constant_values": 5}),
    ("linear_ramp", {"end_values": ((1.0, -2.0), (3.0, 4.0))}),
]


@pytest.mark.parametrize(("mode", "options"), [*LINEAR, *CHOOSING, *FILLED])
def test_values_are_numpys_for_every_width(mode: Any, options: Any) -> None:
    rng = np.random.default_rng(0)
    for n, before, behind in product((1, 2, 4), (0, 1, 2, 5), (0, 1, 3, 7)):
        x = rng.normal(size=(n, 2))
        width = ((before, behind), (1, 2))
        np.testing.assert_allclose(
            vjp(lambda v, width=width: np.pad(v, width, mode, **options), x)[0],
            np.pad(x, width, mode, **options),
            rtol=1e-13,
            atol=1e-13,
        )


@pytest.mark.parametrize(("mode", "options"), LINEAR)
def test_the_tangent_is_padded_as_the_value_is(mode: Any, options: Any) -> None:
    rng = np.random.default_rng(1)
    for n, before, behind in product((1, 2, 4), (0, 1, 5), (0, 2, 7)):
        x, t = rng.normal(size=(2, n, 3))
        pad = lambda v, b=before, a=behind: np.pad(v, ((b, a), (2, 1)), mode, **options)
        tangent = jvp(pad, (x,), (t,))[1]
        np.testing.assert_allclose(tangent, pad(t), rtol=1e-13, atol=1e-13)
        ct = rng.normal(size=tangent.shape)
        assert np.sum(vjp(pad, x)[1](ct)[0] * t) == pytest.approx(np.sum(ct * tangent), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("mode", COPYING)
def test_copies_collect_their_gradients(mode: Any) -> None:
    assert_moves(lambda x: np.pad(x, 2, mode), 3)
    assert_moves(lambda x: np.pad(x, ((5, 0), (1, 9)), mode), 2, 3)


def test_widths_in_every_notation() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for width in (1, (1, 2), ((1, 2), (0, 3)), ((1,), (2,)), np.array([[1, 2], [3, 4]]), [(2, 1)]):
        np.testing.assert_array_equal(
            vjp(lambda v, w=width: np.pad(v, w, "edge"), x)[0], np.pad(x, width, "edge")
        )


def test_widths_by_axis() -> None:
    x = np.arange(6.0).reshape(2, 3)
    expected = np.pad(x, ((0, 0), (1, 2)), "edge")
    np.testing.assert_array_equal(vjp(lambda v: np.pad(v, {-1: (1, 2)}, "edge"), x)[0], expected)


def test_traced_constants_reach_the_corners_that_they_fill() -> None:
    # (NumPy tells us of a traced constant only if the array is traced as well.)
    f = lambda c: np.pad(np.zeros_like(c, shape=(1, 1)), 1, constant_values=c.reshape(2, 2))
    counts = jacrev(f)(np.arange(4.0)).sum(axis=(0, 1))
    # the last axis is padded last, corners included
    np.testing.assert_array_equal(counts, [1.0, 1.0, 3.0, 3.0])


def test_traced_end_values() -> None:
    f = lambda e: np.sum(np.pad(np.full_like(e, 4.0), (4, 2), "linear_ramp", end_values=e))
    gradient = grad(f)(np.ones(2))
    np.testing.assert_allclose(gradient, [1 + 3 / 4 + 2 / 4 + 1 / 4, 1 + 1 / 2], rtol=1e-15)


def test_an_extreme_goes_to_the_largest_and_is_split_among_ties() -> None:
    gradient = grad(lambda x: np.sum(np.pad(x, (2, 0), "maximum")))
    np.testing.assert_array_equal(gradient(np.array([1.0, 3.0, 2.0])), [1.0, 3.0, 1.0])
    np.testing.assert_array_equal(gradient(np.array([3.0, 1.0, 3.0])), [2.0, 1.0, 2.0])


def test_second_derivatives() -> None:
    x = np.array([1.0, 2.0, 3.0])
    come = hessian(lambda v: np.sum(np.pad(v, (2, 1), "reflect", reflect_type="odd") ** 2))(x)
    matrix = np.pad(np.eye(3), ((2, 1), (0, 0)), "reflect", reflect_type="odd")
    np.testing.assert_allclose(come, 2 * matrix.T @ matrix, rtol=1e-14)


def test_precision_and_integers_are_kept() -> None:
    single = np.ones(3, np.float32)
    for mode in (*COPYING, "mean", "linear_ramp", "constant", "median"):
        value, pull = vjp(lambda v, mode=mode: np.pad(v, 1, mode), single)
        assert value.dtype == np.float32
        assert pull(value)[0].dtype == np.float32
    whole = np.array([[1, 2, 4], [7, 5, 0]])
    for mode in ("mean", "linear_ramp", "maximum", "edge"):
        come = vmap(lambda v, mode=mode: np.pad(v, 2, mode))(whole)
        np.testing.assert_array_equal(come, [np.pad(v, 2, mode) for v in whole])
        assert come.dtype == whole.dtype


def test_an_infinite_element_does_not_spoil_the_border() -> None:
    x = np.array([1.0, np.inf, 2.0, 3.0, 5.0])
    value = vjp(lambda v: np.pad(v, 1, "reflect", reflect_type="odd"), x)[0]
    np.testing.assert_array_equal(value, np.pad(x, 1, "reflect", reflect_type="odd"))


def test_a_function_as_mode_is_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"np\.pad .* np\.concatenate"):
        grad(lambda x: np.sum(np.pad(x, 1, lambda *args: None)))(np.ones(3))


REFUSED = {
    "an unknown mode": lambda x: np.pad(x, 1, "mirror"),
    "an option of another mode": lambda x: np.pad(x, 1, "edge", constant_values=1),
    "a negative width": lambda x: np.pad(x, -1),
    "half a width": lambda x: np.pad(x, 0.5),
    "widths for other axes": lambda x: np.pad(x, ((1, 1),) * 3),
    "nothing to copy": lambda x: np.pad(x[:0], 1, "edge"),
    "nothing to compare": lambda x: np.pad(x, 1, "maximum", stat_length=0),
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(function: Any) -> None:
    raises_as_numpy(function, np.ones((2, 3)))
