"""Elementwise functions beyond the samples: complex numbers, broadcasting, precision, several results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jvp, vjp, vmap
from funcgrad.errors import TracerConversionError, TracerWriteError
from funcgrad.testing import check_grads

finite = st.floats(-5, 5)
complexes = st.builds(complex, finite, finite)


def holomorphic(function: Any, order: int = 1) -> Any:
    for _ in range(order):
        function = grad(function, holomorphic=True)
    return function


# ---- complex numbers -------------------------------------------------------------------------------------------------

HOLOMORPHIC = [
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh,
    np.arctanh, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.square, np.reciprocal,
    np.sinc, lambda z: z**3, lambda z: z**1.5, lambda z: z ** (1 + 2j), lambda z: (1 + 2j) ** z, lambda z: 1 / z,
]  # fmt: skip


@pytest.mark.parametrize("function", HOLOMORPHIC)
@pytest.mark.parametrize("z", [0.3 + 0.2j, 2 + 1j, -2 - 1j, 0.1 - 3j])
def test_holomorphic_functions_turn_with_the_step(function: Any, z: complex) -> None:
    """The derivative is the same along every direction, and so is the second."""
    for order in (1, 2):
        slope, h = holomorphic(function, order)(z), 1e-6
        below = holomorphic(function, order - 1)
        for step in (h, 1j * h):
            difference = (below(np.complex128(z + step)) - below(np.complex128(z - step))) / (2 * step)
            assert abs(slope - difference) < 1e-7 * max(1, abs(slope))


CUTS = {
    np.sqrt: -2, np.log: -2, np.log1p: -3, np.arctanh: 3, np.arcsin: 3, np.arccos: -3, np.arccosh: -3, np.arcsinh: 3j,
    np.arctan: 3j, np.power: -2,
}  # fmt: skip


@pytest.mark.parametrize("function", CUTS)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_both_sides_of_a_branch_cut(function: Any, zero: float) -> None:
    """A zero's sign says on which side of the cut a number lies; the slope follows the value there."""
    at, h = CUTS[function], 1e-6
    if isinstance(at, complex):
        place, step = (lambda s: complex(zero, at.imag + s)), 1j
    else:
        place, step = (lambda s: complex(at + s, zero)), 1
    f = (lambda z: z**1.5) if function is np.power else function
    difference = (f(np.complex128(place(h))) - f(np.complex128(place(-h)))) / (2 * h * step)
    assert abs(holomorphic(f)(place(0.0)) - difference) < 1e-8


def test_slopes_of_large_complex_numbers_do_not_overflow() -> None:
    z = 3e200 + 4e200j
    np.testing.assert_allclose(holomorphic(np.arcsinh)(z), 1 / z)
    np.testing.assert_allclose(holomorphic(np.tanh)(800 + 1j), 0)
    np.testing.assert_allclose(holomorphic(np.tan)(1 + 20j), 4 * np.exp(2j * (1 + 20j)), rtol=1e-12)
    assert holomorphic(np.arctan)(z) == 0


@given(complexes, complexes)
def test_real_and_imaginary_parts(z: complex, w: complex) -> None:
    """grad at x + iy is df/dx - i df/dy."""
    assert grad(lambda z: (z * w).real)(z) == w
    assert grad(lambda z: (z * w).imag)(z) == -1j * w
    assert grad(lambda z: (np.conj(z) * w).real)(z) == np.conj(w)
    assert grad(lambda z: (z.conj() * z).real)(z) == pytest.approx(2 * np.conj(z))
    assert jvp(np.conj, (z,), (w,))[1] == np.conj(w)
    assert jvp(np.real, (z,), (w,))[1] == w.real
    assert jvp(np.imag, (z,), (w,))[1] == w.imag


@pytest.mark.parametrize("z", [3 + 4j, -1e-200 + 2e-200j, 3e200 - 4e200j, 1.5e308 + 1.5e308j, 5 + 0j])
def test_the_modulus_points_along_the_number(z: complex) -> None:
    direction = (z / 4) / abs(z / 4)
    assert grad(np.abs)(z) == pytest.approx(np.conj(direction))
    assert jvp(np.abs, (z,), (1j,))[1] == pytest.approx(direction.imag)


def test_the_modulus_at_zero_and_infinity() -> None:
    assert grad(np.abs)(0j) == 0
    assert [grad(np.abs)(complex(np.inf, y)) for y in (0.0, 3.0)] == [1, 1]
    assert grad(np.abs)(complex(2.0, -np.inf)) == 1j
    np.testing.assert_array_equal(grad(lambda z: np.sum(np.abs(z)))(np.array([0j, 3 - 4j])), [0, 0.6 + 0.8j])
    with np.errstate(all="ignore"):
        assert np.isnan(grad(lambda x: grad(lambda y: np.abs(y + 0j))(x))(0.0))


def test_curvature_of_the_modulus() -> None:
    np.testing.assert_allclose(
        hessian(lambda v: np.abs(v[0] + 1j * v[1]) ** 4)(np.array([1.0, 2.0])), [[28, 16], [16, 52]]
    )
    check_grads(lambda z: np.abs(z) * np.sign(z).real, (np.array([1 + 2j, -0.5j]),), 2)


@given(complexes.filter(lambda z: abs(z) > 0.1))
def test_sign_and_angle_agree(z: complex) -> None:
    """The direction z/|z| is exp(i angle)."""
    for t in (1.0 + 0j, 1j):
        angle, turn = jvp(np.angle, (z,), (t,))
        assert jvp(np.sign, (z,), (t,))[1] == pytest.approx(1j * turn * np.exp(1j * angle), abs=1e-12)


def test_angle_of_real_numbers_is_constant() -> None:
    v = np.array([-2.0, 0.0, -0.0, 3.0, np.nan])
    for numbers in (v, v.astype(np.float32)):
        out, pull = vjp(np.angle, numbers)
        np.testing.assert_array_equal(out, np.angle(numbers))
        assert out.dtype == np.angle(numbers).dtype
        np.testing.assert_array_equal(pull(np.ones_like(out))[0], np.zeros(5))
    assert grad(lambda z: np.angle(z, deg=True))(1j) == pytest.approx(-180 / np.pi)


def test_real_parameters_through_complex_numbers_have_real_gradients() -> None:
    slope = grad(lambda t: np.abs(np.exp(1j * t) + 1) ** 2)(0.5)
    assert slope.dtype == np.float64
    assert slope == pytest.approx(-2 * np.sin(0.5))
    np.testing.assert_array_equal(
        grad(lambda v: (v[0] + 1j * v[1]).imag ** 2 + (v[0] * 1j * v[1]).real)(np.array([1.0, 2.0])), [0, 4]
    )


def test_an_infinite_slope_of_the_imaginary_part_leaves_the_real_part_alone() -> None:
    with np.errstate(divide="ignore"):
        slope = grad(lambda v: np.sqrt((v[0] + v[1] * 1j).imag))(np.array([1.0, 0.0]))
    np.testing.assert_array_equal(slope, [0, np.inf])


def test_real_if_close() -> None:
    assert grad(lambda z: np.real_if_close(z) ** 2)(3 + 1e-15j) == 6
    assert grad(lambda z: np.real_if_close(z).imag)(3 + 1j) == -1j
    assert grad(np.real_if_close)(3.0) == 1


# ---- broadcasting ----------------------------------------------------------------------------------------------------

PAIRS = [
    np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power, np.hypot, np.arctan2, np.logaddexp,
    np.logaddexp2, np.maximum, np.minimum, np.fmax, np.fmin, np.remainder, np.fmod, np.copysign,
]  # fmt: skip
SHAPES = [((3,), (2, 1)), ((), (3,)), ((1, 3), (2, 1, 1)), ((2, 1), (2, 3)), ((0,), (1,)), ((1,), ())]


@pytest.mark.parametrize("function", PAIRS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_each_gradient_has_its_operands_shape(function: Any, shapes: Any) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.uniform(0.6, 1.4, shape) for shape in shapes)
    ct = rng.normal(size=np.broadcast_shapes(*shapes))
    for_x, for_y = vjp(function, x, y)[1](ct)
    assert (for_x.shape, for_y.shape) == shapes
    full_x, full_y = np.broadcast_arrays(x, y)
    dense_x, dense_y = vjp(function, full_x.copy(), full_y.copy())[1](ct)
    assert for_x.sum() == pytest.approx(dense_x.sum())
    assert for_y.sum() == pytest.approx(dense_y.sum())


def test_lists_and_numbers_as_operands() -> None:
    np.testing.assert_array_equal(
        grad(lambda a: np.sum([1.0, 2.0] * a - (3.0, 4.0) + a / [2.0, 4.0]))(np.ones(2)), [1.5, 2.25]
    )
    assert grad(lambda t: np.hypot(3, t))(4.0) == 0.8
    assert grad(lambda t: np.arctan2(np.array([3], np.int8), t)[0])(4.0) == pytest.approx(-3 / 25)


def test_slopes_in_the_divisor() -> None:
    assert [grad(f, argnums=1)(-19.0, 3.0) for f in (np.remainder, np.fmod, lambda x, y: x % y)] == [7, 6, 7]
    # 1.0/0.1 rounds to 10, but 0.1 goes into 1.0 only 9 times
    assert grad(np.fmod, argnums=1)(1.0, 0.1) == -9
    assert grad(np.remainder, argnums=1)(1.0, 0.1) == -9
    quotient_and_rest = lambda x, y: np.sum(np.divmod(x, y)[1] + divmod(x, y)[0])
    for_x, for_y = grad(quotient_and_rest, argnums=(0, 1))(np.array([7.0, -7.0]), 3.0)
    np.testing.assert_array_equal(for_x, [1, 1])
    assert for_y == 1
    assert jvp(lambda y: divmod(7.0, y), (3.0,), (1.0,))[1][1] == -2


# ---- several results -------------------------------------------------------------------------------------------------


def test_numbers_taken_apart() -> None:
    v = np.array([1.5, -6.25])
    (fraction, whole), pull = vjp(np.modf, v)
    np.testing.assert_array_equal(pull((np.array([1.0, 2.0]), np.ones(2)))[0], [1, 2])
    assert (fraction[0], whole[1]) == (0.5, -6)
    np.testing.assert_array_equal(grad(lambda v: np.sum(np.frexp(v)[0]))(v), [0.5, 0.125])
    mantissa_t, exponent_t = jvp(np.frexp, (v,), (np.ones(2),))[1]
    np.testing.assert_array_equal(mantissa_t, [0.5, 0.125])
    assert not np.asarray(exponent_t.astype(bool) if exponent_t.dtype.names is None else 0).any()
    rebuilt = lambda v: np.sum(np.ldexp(*np.frexp(v)))
    np.testing.assert_array_equal(grad(rebuilt)(v), [1, 1])
    np.testing.assert_array_equal(vmap(grad(rebuilt))(v), [1, 1])


def test_ldexp_scales_also_at_zero() -> None:
    assert grad(lambda t: np.ldexp(t, 1))(0.0) == 2
    np.testing.assert_array_equal(jacfwd(lambda t: np.ldexp(t, np.array([-1, 0, 3])))(0.0), [0.5, 1, 8])


def test_unwrap_passes_everything_on() -> None:
    v = np.array([[0.0, 3.0, 7.0, -9.0], [1.0, 5.0, 9.0, 2.0]])
    for options in ({}, {"axis": 0}, {"period": 4.0}, {"discont": 5.0}):
        out, pull = vjp(lambda v: np.unwrap(v, **options), v)
        np.testing.assert_array_equal(out, np.unwrap(v, **options))
        np.testing.assert_array_equal(pull(v)[0], v)
    np.testing.assert_array_equal(vmap(np.unwrap)(v), np.unwrap(v))


# ---- options of ufuncs -----------------------------------------------------------------------------------------------


def test_where_leaves_elements_out() -> None:
    v, mask = np.array([0.0, 4.0]), np.array([False, True])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(
            grad(lambda v: np.sum(np.sqrt(v, where=mask, out=np.zeros_like(v))))(v), [0, 0.25]
        )


def test_dtype_and_out() -> None:
    slope = grad(lambda v: np.sum(np.multiply(v, v, dtype=np.float64)))(np.array([1.0, 2.0], np.float32))
    assert slope.dtype == np.float32
    np.testing.assert_array_equal(slope, [2, 4])

    def into(v: Any) -> Any:
        out = np.zeros_like(v)
        np.exp(v, out=out)
        return np.sum(out)

    np.testing.assert_allclose(grad(into)(np.array([0.0, 1.0])), [1, np.e])
    with pytest.raises(TracerWriteError, match=r"np.exp\(..., out=a\)"):
        grad(lambda v: np.sum(np.exp(v, out=np.zeros(2))))(np.ones(2))


def test_methods_of_ufuncs() -> None:
    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(grad(np.add.reduce)(v), np.ones(3))
    np.testing.assert_array_equal(grad(np.multiply.reduce)(v), [6, 3, 2])
    np.testing.assert_array_equal(grad(lambda v: np.sum(np.multiply.outer(v, v)))(v), 12 * np.ones(3))
    np.testing.assert_allclose(grad(np.hypot.reduce)(v), v / np.linalg.norm(v))


# ---- precision -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_gradients_have_the_dtype_of_their_input(dtype: Any) -> None:
    v = np.array([0.5, 2.0], dtype)
    loss = lambda v: np.sum(
        np.clip(v, 0, 1) + np.maximum(v, 2) * np.power(v, 2) + np.tanh(v) * np.arange(2.0) + np.hypot(v, 1)
    )
    assert grad(loss)(v).dtype == dtype
    assert grad(lambda t: t * 3 + np.float64(2) * t)(dtype(2)).dtype == dtype
    exact = grad(loss)(v.astype(float))
    np.testing.assert_allclose(grad(loss)(v).astype(float), exact, rtol=5e-3 if dtype is np.float16 else 1e-6)


def test_casts_there_and_back() -> None:
    assert grad(lambda v: np.sum(v.astype(np.float32)) * 3)(np.ones(2)).dtype == np.float64
    assert grad(lambda z: z.real.astype(np.float64) + np.float64(2) * z.imag)(np.complex64(1 + 2j)) == 1 - 2j
    np.testing.assert_array_equal(grad(lambda v: np.sum(v.astype(int) * v))(np.array([1.5, 2.5])), [1, 2])
    assert grad(lambda t: t.astype(complex).real)(2.0) == 1
    with pytest.raises(TypeError, match="Cannot cast"):
        grad(lambda v: np.sum(v.astype(np.float32, casting="safe")))(np.ones(2))


def test_emath_widens_where_it_must() -> None:
    v = np.array([-4.0, 9.0])
    np.testing.assert_allclose(grad(lambda v: np.sum(np.emath.sqrt(v)).real)(v), [0, 1 / 6])
    np.testing.assert_allclose(grad(lambda v: np.sum(np.emath.sqrt(v)).imag)(v), [-1 / 4, 0])
    assert grad(lambda t: np.emath.log(t).real)(-2.0) == -0.5
    assert grad(np.emath.sqrt)(4.0) == 0.25
    assert grad(lambda t: np.emath.power(-8.0, t).real)(1 / 3) == pytest.approx(
        (np.exp(1j * np.pi / 3) * 2 * np.log(-8 + 0j)).real
    )


def test_pythons_own_mathematics_is_refused() -> None:
    with pytest.raises(TracerConversionError, match="complex"):
        grad(lambda t: complex(t).real)(1.0)


def test_division_by_the_number_zero_is_numpys() -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        for zero in (0, 0.0, np.float64(0.0)):
            assert grad(lambda x: x / zero)(1.0) == np.inf
            assert jvp(lambda x: x / zero, (1.0,), (1.0,))[1] == np.inf
        assert np.isnan(hessian(lambda x: np.var(x, ddof=1))(np.ones(1)))


def test_a_quotient_of_large_numbers_keeps_its_second_derivative() -> None:
    """1 / y**2 underflows where the product with what it multiplies does not: log(sum(exp(x))), unshifted."""
    for shift in (0.0, 300.0, 600.0):
        x = shift + np.array([0.0, -1.0, 0.5])
        p = np.exp(x - shift) / np.sum(np.exp(x - shift))
        found = hessian(lambda x: np.log(np.sum(np.exp(x))))(x)
        np.testing.assert_allclose(found, np.diag(p) - np.outer(p, p), rtol=1e-12)
    assert grad(grad(grad(lambda x: np.log1p(np.exp(x)))))(600.0) == 0
    assert grad(lambda y: 1e-320 / y)(1e-310) == pytest.approx(-1e300, rel=1e-3)
