"""Every point of docs/conventions.md holds. Each test names the points that it covers; none may be left out."""

import math
import pathlib
import re

import numpy as np
import pytest

from funcgrad import (
    elementwise_grad,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.errors import NonDifferentiableError, OutputError, TracerConversionError, TracerWriteError

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "conventions.md"
COVERED: set[str] = set()


def covers(*points):
    """Says which points of the page a test is about."""
    COVERED.update(points)
    return lambda test: test


def both_modes(fun, x):
    """The derivative of a scalar function of a scalar, which is the same in both modes."""
    pulled, pushed = grad(fun)(x), jvp(fun, (x,), (1.0,))[1]
    np.testing.assert_equal(pushed, pulled)
    return pulled


# ---- complex numbers -------------------------------------------------------------------------------------------------
@covers("No conjugation")
@pytest.mark.parametrize(
    ("fun", "expected"),
    [
        (lambda z: z.real**2 + 3 * z.imag, lambda z: 2 * z.real - 3j),
        (lambda z: abs(z) ** 2, lambda z: 2 * np.conj(z)),
        (lambda z: (z * z).real, lambda z: 2 * z),
    ],
)
def test_the_gradient_of_a_real_function_is_not_conjugated(fun, expected):
    z = 1.0 + 2.0j
    np.testing.assert_allclose(grad(fun)(z), expected(z))


@covers("Descent")
def test_a_step_against_the_conjugate_descends():
    def distance(z):
        return abs(z - (3 - 1j)) ** 2

    z = 1.0 + 2.0j
    assert distance(z - 0.1 * np.conj(grad(distance)(z))) < distance(z)


@covers("Holomorphic functions")
def test_holomorphic_functions_have_a_complex_derivative():
    z = 0.5 + 0.25j
    np.testing.assert_allclose(grad(np.sin, holomorphic=True)(z), np.cos(z))
    with pytest.raises(OutputError, match="holomorphic=True"):
        grad(np.sin)(z)


@covers("Real among complex")
def test_a_real_operand_has_a_real_gradient():
    gradient = grad(lambda x: abs(np.exp(1j * x) + 1) ** 2)(0.5)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, -2 * np.sin(0.5))


# ---- dtypes ----------------------------------------------------------------------------------------------------------
@covers("Same dtype")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_a_gradient_has_the_dtype_of_its_input(dtype):
    x = np.ones(3, dtype)
    constant = np.arange(3.0)  # double precision
    assert grad(lambda x: np.sum(abs(x) ** 2 * constant))(x).dtype == dtype
    out, tangent = jvp(lambda x: np.sum(abs(x)), (x,), (x,))
    assert tangent.dtype == out.dtype


@covers("Python numbers")
def test_python_ints_are_promoted():
    gradient = grad(lambda x: x**3)(2)
    assert gradient == 12
    assert gradient.dtype == np.float64


@covers("Integer arrays")
def test_integer_arrays_are_refused_with_a_way_out():
    with pytest.raises(NonDifferentiableError, match=r"astype\(float\)"):
        grad(np.sum)(np.arange(3))
    gradient = grad(lambda n, x: np.sum(x[n]), argnums=(0, 1), allow_int=True)(np.array([0, 2]), np.ones(3))
    assert gradient[0].shape == (2,)
    assert "float0" in str(gradient[0].dtype)
    np.testing.assert_array_equal(gradient[1], [1, 0, 1])


# ---- kinks -----------------------------------------------------------------------------------------------------------
@covers("abs and sign")
def test_abs_has_slope_0_at_0():
    assert both_modes(np.abs, 0.0) == 0
    assert both_modes(np.sign, 0.5) == both_modes(np.sign, 0.0) == 0


@covers("Ties between operands")
@pytest.mark.parametrize("choose", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_tie_between_operands_is_split(choose):
    assert grad(choose, argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)
    assert both_modes(lambda x: np.clip(x, 2.0, 3.0), 2.0) == 0.5


@covers("Ties in a reduction")
@pytest.mark.parametrize("reduce", [np.max, np.min])
def test_a_tie_in_a_reduction_is_split(reduce):
    np.testing.assert_array_equal(grad(reduce)(np.full(4, 7.0)), np.full(4, 0.25))


@covers("Sorting")
def test_order_statistics_follow_the_stable_permutation():
    weights = np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(grad(lambda x: np.sort(x) @ weights)(np.array([5.0, 3.0, 5.0])), [2, 1, 4])
    np.testing.assert_array_equal(grad(np.median)(np.array([5.0, 3.0, 4.0])), [0, 0, 1])


@covers("Norms at 0")
@pytest.mark.parametrize(
    "size", [np.linalg.norm, np.std, lambda x: np.hypot(x[0], x[1]), lambda x: abs(x[0] + 1j * x[1])]
)
def test_a_norm_has_slope_0_at_0_and_no_curvature(size):
    origin = np.zeros(2)
    np.testing.assert_array_equal(grad(size)(origin), origin)
    assert np.isnan(hessian(size)(origin)).all()


@covers("Norms at 0")
def test_a_row_of_zeros_leaves_the_other_rows_alone():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(grad(lambda x: np.linalg.norm(x, axis=1).sum())(rows), [[0.6, 0.8], [0, 0]])


@covers("Roots at 0")
@pytest.mark.parametrize("root", [np.sqrt, np.cbrt])
def test_a_root_is_infinitely_steep_at_0(root):
    assert both_modes(root, 0.0) == np.inf


@covers("Powers at 0")
def test_powers_are_exact_at_0_at_every_order():
    assert [grad(lambda x, n=n: x**n)(0.0) for n in (0.0, 1.0, 2.0, 3.0)] == [0, 1, 0, 0]
    assert [grad(grad(lambda x, n=n: x**n))(0.0) for n in (0.0, 1.0, 2.0, 3.0)] == [0, 0, 2, 0]
    assert both_modes(lambda y: 0.0**y, 0.0) == 0


@covers("Angles at the origin")
def test_an_angle_has_no_slope_at_the_origin():
    with np.errstate(invalid="ignore"):
        assert np.isnan(both_modes(lambda x: np.arctan2(x, 0.0), 0.0))
        assert np.isnan(grad(np.angle)(0j))


# ---- digits ----------------------------------------------------------------------------------------------------------
@covers("Tails")
def test_derivatives_keep_their_digits_in_the_tails():
    tail = 4 * math.exp(-40)  # sech(20)**2, up to a relative e**-40
    np.testing.assert_allclose(both_modes(np.tanh, 20.0), tail, rtol=1e-14)
    np.testing.assert_allclose(grad(grad(np.tanh))(20.0), -2 * tail, rtol=1e-14)
    np.testing.assert_allclose(both_modes(np.expm1, -40.0), math.exp(-40), rtol=1e-14)
    np.testing.assert_allclose(both_modes(lambda x: np.logaddexp(x, 0.0), -40.0), math.exp(-40), rtol=1e-14)


@covers("Removable singularities")
def test_removable_singularities_are_removed():
    assert both_modes(np.sinc, 0.0) == 0
    np.testing.assert_allclose(grad(grad(np.sinc))(0.0), -(np.pi**2) / 3, rtol=1e-14)
    np.testing.assert_allclose(grad(grad(np.i0))(0.0), 0.5, rtol=1e-14)
    assert both_modes(lambda x: np.logaddexp(x, x), 0.0) == 1


@covers("Overflow and underflow")
def test_huge_and_tiny_operands_are_scaled_first():
    np.testing.assert_allclose(grad(np.hypot, argnums=(0, 1))(3e200, 4e200), (0.6, 0.8))
    np.testing.assert_allclose(both_modes(np.arcsinh, 1e200), 1e-200)
    np.testing.assert_allclose(grad(np.arctan2, argnums=(0, 1))(1e-200, 1e-200), (5e199, -5e199))


# ---- zeros by structure ----------------------------------------------------------------------------------------------
NOT_TAKEN = {
    "where": lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0)),
    "a slice": lambda x: np.sum(np.sqrt(x)[1:]),
    "an index": lambda x: np.sum(np.sqrt(x)[[1, 2]]),
    "a mask": lambda x: np.sum(np.sqrt(x)[x > 0]),
    "where= of a sum": lambda x: np.sum(np.sqrt(x), where=x > 0),
    "maximum": lambda x: np.sum(np.maximum(np.sqrt(x), 0.5)),
}


def overwritten(x):
    y = np.sqrt(x)
    y[0] = 7
    return np.sum(y)


@covers("What is not taken")
@pytest.mark.parametrize(
    "fun", [*NOT_TAKEN.values(), overwritten], ids=[*NOT_TAKEN, "an overwritten element"]
)
def test_what_is_not_taken_contributes_nothing(fun):
    x = np.array([0.0, 1.0, 4.0])  # the slope of sqrt is infinite at 0
    np.testing.assert_array_equal(grad(fun)(x), [0, 0.5, 0.25])
    np.testing.assert_array_equal(jvp(fun, (x,), (np.ones(3),))[1], 0.75)


@covers("Zero times infinity")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_zero_times_infinity_is_not_declared_zero():
    assert np.isnan(grad(lambda x: np.sqrt(x) * np.sqrt(2 * x))(0.0))  # the truth is the root of 2


@covers("Squares of roots")
def test_squares_of_roots_are_smooth():
    np.testing.assert_array_equal(hessian(lambda x: np.linalg.norm(x) ** 2)(np.zeros(2)), 2 * np.eye(2))
    assert grad(lambda x: np.sqrt(x) ** 2)(0.0) == 1


@covers("Rows of a Jacobian")
@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_rows_are_independent(jacobian):
    np.testing.assert_array_equal(jacobian(np.sqrt)(np.array([0.0, 1.0])), [[np.inf, 0], [0, 0.5]])


# ---- matrices --------------------------------------------------------------------------------------------------------
@covers("Symmetric matrices")
@pytest.mark.parametrize(
    "fun",
    [lambda x: np.sum(np.linalg.cholesky(x) ** 3), lambda x: np.linalg.eigh(x).eigenvalues @ [1.0, 3.0]],
)
def test_gradients_in_symmetric_matrices_are_symmetric(fun):
    gradient = grad(fun)(np.array([[2.0, 0.5], [0.5, 1.0]]))
    np.testing.assert_allclose(gradient, gradient.T)
    assert gradient[0, 1] != 0


@covers("Equal eigenvalues")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_equal_eigenvalues_give_the_truth_or_nan():
    np.testing.assert_allclose(grad(lambda x: np.sum(np.linalg.eigh(x).eigenvalues))(np.eye(2)), np.eye(2))
    assert np.isnan(grad(lambda x: np.linalg.eigh(x).eigenvectors[0, 0])(np.eye(2))).any()
    assert np.isfinite(grad(lambda x: np.linalg.eigh(x).eigenvectors[0, -1])(np.diag([1.0, 1.0, 2.0]))).all()


@covers("Phases and bases")
def test_a_gauge_has_no_gradient():
    a = np.array([[2.0, 1 + 1j], [1 - 1j, 5.0]])
    assert np.isnan(grad(lambda a: np.linalg.eigh(a).eigenvectors[1, 0].imag)(a)).any()
    assert np.isfinite(grad(lambda a: np.abs(np.linalg.eigh(a).eigenvectors[1, 0]))(a)).all()
    tall = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0], [13.0, 17.0]])
    assert np.isnan(grad(lambda a: np.linalg.svd(a).U[0, -1])(tall)).any()
    t = jvp(lambda a: np.linalg.eigh(a).eigenvectors, (a,), (np.array([[0, 1j], [-1j, 1]]),))[1]
    v = np.linalg.eigh(a).eigenvectors
    np.testing.assert_allclose(np.diagonal(v.conj().T @ t), 0, atol=1e-14)


@covers("Rank")
def test_the_rank_is_held():
    a = np.outer([1.0, 2.0], [1.0, 2.0])
    along = jvp(np.linalg.pinv, (a,), (a,))[1]
    np.testing.assert_allclose(along, -np.linalg.pinv(a))
    np.testing.assert_array_equal(grad(lambda a: np.linalg.matrix_rank(a) * np.sum(a))(a), np.ones((2, 2)))


@covers("Singular matrices, zeros in products")
def test_determinants_and_products_are_exact_where_they_vanish():
    np.testing.assert_allclose(grad(np.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])), [[4, -2], [-2, 1]])
    np.testing.assert_array_equal(grad(np.prod)(np.array([0.0, 2.0, 3.0])), [6, 0, 0])
    np.testing.assert_array_equal(grad(lambda x: np.cumprod(x)[2])(np.array([2.0, 0.0, 3.0])), [0, 6, 0])


# ---- what comes back -------------------------------------------------------------------------------------------------
@covers("Unused inputs")
def test_an_unused_input_has_a_gradient_of_zeros():
    gradient = grad(lambda x, y: np.sum(x), argnums=1)(np.ones(2), np.ones(3, np.float32))
    np.testing.assert_array_equal(gradient, np.zeros(3))
    assert gradient.dtype == np.float32


@covers("Hidden tracers")
def test_a_tracer_hidden_in_an_object_array_is_refused():
    with pytest.raises((OutputError, TracerConversionError)):
        grad(lambda x: np.array([x, x], dtype=object).sum())(1.0)
    with pytest.raises((OutputError, TracerConversionError)):
        vjp(lambda x: np.array([x, None], dtype=object), 1.0)


@covers("Matrices and masks")
def test_matrices_and_masked_arrays_are_refused():
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(NonDifferentiableError, match="masked"):
        grad(np.sum)(masked)
    with pytest.raises(NonDifferentiableError, match="masked"):
        grad(lambda x: np.sum(x * masked))(np.ones(2))


@covers("None")
def test_none_stands_for_a_zero_tangent():
    assert jvp(lambda x, y: x * y, (2.0, 3.0), (None, 1.0))[1] == 2


@covers("Your arrays stay yours")
def test_arguments_are_untouched_and_gradients_may_be_overwritten():
    def halved(x):
        x /= 2
        return np.sum(x * x)

    x = np.array([2.0, 4.0])
    gradient = grad(halved)(x)
    np.testing.assert_array_equal(x, [2, 4])
    np.testing.assert_array_equal(gradient, [1, 2])
    broadcast = grad(np.sum)(x)
    broadcast[0] = 5
    np.testing.assert_array_equal(broadcast, [5, 1])


# ---- Python ----------------------------------------------------------------------------------------------------------
@covers("Control flow")
def test_control_flow_sees_values():
    def collatz_like(x):
        steps = 0
        while x > 1:
            x = x / 2 if int(x) % 2 == 0 else x / 3
            steps += 1
        return x

    assert grad(collatz_like)(6.0) == 1 / 6
    assert both_modes(lambda x: x * int(x), 2.5) == 2


@covers("Control flow")
def test_comparisons_give_plain_masks():
    def masked(x):
        positive = x > 0
        assert type(positive) is np.ndarray
        return np.sum(x[positive])

    np.testing.assert_array_equal(grad(masked)(np.array([-1.0, 2.0])), [0, 1])


@covers("Conversions")
@pytest.mark.parametrize(
    "convert",
    [float, math.sin, lambda x: np.array([x, x]), np.asarray, np.float64],
    ids=["float", "math.sin", "array", "asarray", "float64"],
)
def test_conversions_that_lose_the_derivative_are_refused(convert):
    with pytest.raises(TracerConversionError):
        grad(lambda x: np.sum(convert(x)))(1.0)


@covers("Writing into plain arrays")
@pytest.mark.parametrize(
    "write",
    [
        lambda a, x: np.copyto(a, x),
        lambda a, x: np.add.at(a, [0, 1], x),
        lambda a, x: np.add(x, x, out=a),
        lambda a, x: np.sum(x, out=a[0]),
    ],
)
def test_writing_into_a_plain_array_is_refused(write):
    with pytest.raises(TracerWriteError):
        grad(lambda x: write(np.zeros(2), x))(np.ones(2))


@covers("Writing into plain arrays")
def test_item_assignment_into_a_plain_array_is_refused():
    def fill(x):
        a = np.zeros(2)
        a[0] = x
        return np.sum(a)

    with pytest.raises(TracerWriteError, match=r"a\[index\] = x at .*@funcgrad.adapt"):
        grad(fill)(1.0)


@covers("Writing into tracers")
def test_item_assignment_into_a_traced_array_works():
    def powers(x):
        y = np.zeros(4, like=x)
        y[0] = 1
        for i in range(1, 4):
            y[i] = y[i - 1] * x
        return np.sum(y)

    assert value_and_grad(powers)(2.0) == (15, 1 + 2 * 2 + 3 * 4)


def used_then_overwritten(a):
    def fun(x):
        y = np.sum(x * a)
        a[0] = 5
        return y

    return fun


@covers("Plain arrays that change")
def test_a_small_array_may_change_after_its_use():
    np.testing.assert_array_equal(grad(used_then_overwritten(np.ones(3)))(np.ones(3)), np.ones(3))


@covers("Plain arrays that change")
def test_a_large_array_is_read_only_while_it_is_in_use():
    a = np.ones(10_000)
    with pytest.raises(ValueError, match="read-only"):
        grad(used_then_overwritten(a))(np.ones(10_000))
    a[0] = 5  # as before


@covers("Constants")
def test_stop_gradient_makes_a_constant_at_every_level():
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3
    assert grad(grad(lambda x: x**2 * stop_gradient(x)))(3.0) == 6


@covers("Batches")
def test_vmap_and_elementwise_grad_agree():
    x = np.linspace(-1, 1, 5)
    np.testing.assert_allclose(vmap(grad(np.tanh))(x), elementwise_grad(np.tanh)(x))


@covers("Objects of other libraries")
def test_what_numpy_makes_an_array_of_counts_as_that():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0, 3.0])

    np.testing.assert_array_equal(grad(lambda x: np.sum(x * Column()))(np.ones(3)), [1, 2, 3])


def test_no_point_of_the_page_is_left_out():
    points = re.findall(r"^\*\*(.+?)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(points) == len(set(points))
    assert set(points) == COVERED


# ---- other libraries -------------------------------------------------------------------------------------------------
@covers("Objects of other libraries")
def test_labels_that_are_no_positions_are_refused():
    pd = pytest.importorskip("pandas")
    w = np.array([1.0, 2.0])
    np.testing.assert_array_equal(grad(lambda w: np.sum(w * pd.Series([3.0, 4.0])))(w), [3, 4])
    with pytest.raises(NonDifferentiableError, match=r"Write x\.to_numpy\(\)"):
        grad(lambda w: np.sum(w * pd.Series([3.0, 4.0], index=[1, 0])))(w)
