"""funcgrad.math and funcgrad.cmath: Python's results and errors; on tracers values with derivatives."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.cmath
import funcgrad.math
from funcgrad import grad, jvp, value_and_grad, vmap
from funcgrad.testing import check_grads

MODULES = {"math": (math, funcgrad.math), "cmath": (cmath, funcgrad.cmath)}
NAMES = [(m, name) for m, (plain, _) in MODULES.items() for name in dir(plain) if not name.startswith("__")]
of_each_name = pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda part: part)
ODD = [
    0.0,
    -0.0,
    1,
    True,
    -1,
    2.5,
    -3.5,
    1e308,
    -1e-320,
    math.inf,
    -math.inf,
    math.nan,
    1j,
    "1",
    None,
    np.float32(0.3),
    [1.0, 2],
]

# Where each is differentiated: arguments of the function, all of them real numbers.
POINTS: dict[str, tuple[tuple[float, ...], ...]] = {
    **dict.fromkeys(("acos", "asin", "atanh"), ((0.3,), (-0.7,))),
    **dict.fromkeys(
        ("asinh", "atan", "cbrt", "cos", "cosh", "degrees", "erf", "erfc", "exp", "exp2"), ((0.3,), (-2.6,))
    ),
    **dict.fromkeys(
        ("expm1", "fabs", "radians", "sin", "sinh", "tan", "tanh", "gamma", "lgamma"), ((0.3,), (-2.6,))
    ),
    **dict.fromkeys(("log", "log10", "log1p", "log2", "sqrt"), ((0.3,), (2.6,))),
    "acosh": ((1.3,), (7.0,)),
    **dict.fromkeys(("atan2", "copysign", "fmod", "hypot"), ((1.3, 0.7), (-5.2, 1.1), (2.5, -0.4))),
    **dict.fromkeys(("nextafter", "remainder"), ((1.3, 0.7), (-5.2, 1.1), (2.5, -0.4))),
    "pow": ((1.3, 0.7), (0.2, -1.5)),
    "fma": ((1.3, 0.7, -2.0),),
}
UNARY_COMPLEX = [name for m, name in NAMES if m == "cmath" and name in POINTS]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What comes of a call, to the last bit; or of an error its type and its text."""
    try:
        return repr(function(*args))
    except Exception as error:  # noqa: BLE001 (any that Python raises)
        return type(error), str(error)


@of_each_name
def test_plain_numbers_have_pythons_results_and_errors(module: str, name: str) -> None:
    plain, ours = (getattr(m, name) for m in MODULES[module])
    if not callable(plain):
        assert repr(plain) == repr(ours)
        return
    assert ours.__name__ == name
    for count in range(3):
        for args in itertools.product(ODD, repeat=count):
            assert outcome(ours, *args) == outcome(plain, *args)


def test_the_modules_have_the_names_of_pythons() -> None:
    for plain, ours in MODULES.values():
        assert set(ours.__all__) == {name for name in dir(plain) if not name.startswith("__")}


@pytest.mark.parametrize("name", [name for name in POINTS if hasattr(math, name)])
def test_derivatives(name: str) -> None:
    ours, plain = getattr(funcgrad.math, name), getattr(math, name)
    for point in POINTS[name]:
        args = tuple(map(np.float64, point))
        value, _ = value_and_grad(ours)(*point)
        assert value == plain(*point)
        check_grads(ours, args, order=2)
    columns = [np.array(column) for column in zip(*POINTS[name])]
    np.testing.assert_array_equal(vmap(ours)(*columns), [plain(*point) for point in POINTS[name]])
    np.testing.assert_allclose(
        vmap(grad(ours))(*columns), [grad(ours)(*point) for point in POINTS[name]], rtol=1e-14
    )


@pytest.mark.parametrize("name", UNARY_COMPLEX)
def test_complex_derivatives(name: str) -> None:
    ours, plain = getattr(funcgrad.cmath, name), getattr(cmath, name)
    points = np.array([0.3 + 0.4j, -1.2 + 0.1j, 2.0 - 0.7j])
    for z in points:
        found, slope = jvp(ours, (z,), (np.complex128(1.0),))
        assert found == plain(complex(z))
        assert slope == pytest.approx((plain(z + 1e-6) - plain(z - 1e-6)) / 2e-6, rel=1e-8)
        check_grads(ours, (z,), order=2)
    np.testing.assert_array_equal(vmap(ours)(points), [plain(z) for z in points])
    # real, where the output is complex
    check_grads(lambda x: ours(x).real + ours(x).imag, (np.float64(-0.7),), order=2)


def test_gamma_functions_have_the_derivatives_of_mpmath() -> None:
    mpmath = pytest.importorskip("mpmath")
    for x in (-20.3, -2.6, -0.01, 0.2, 1.4616, 3.0, 40.5, 160.0):
        slope: Any = funcgrad.math.lgamma
        for order in (0, 1, 2):
            slope = grad(slope)
            assert slope(x) == pytest.approx(float(mpmath.psi(order, x)), rel=1e-12, abs=1e-14)
        assert grad(funcgrad.math.gamma)(x) == pytest.approx(float(mpmath.diff(mpmath.gamma, x)), rel=1e-10)


F = funcgrad.math
COMPOUND: list[tuple[Callable[..., Any], tuple[float, ...]]] = [
    (lambda m, x: m.fsum([x, 2 * x, x * x]), (0.3,)),
    (lambda m, x: m.fsum(v * x for v in range(4)), (0.3,)),
    (lambda m, x, y: m.prod([x, y, x], start=2), (0.3, -0.7)),
    (lambda m, x, y: m.dist([x, y, 1.0], (0.5, x * y, 2.0)), (0.3, -0.7)),
    (lambda m, x, y: m.hypot(x, y, 2.0), (0.3, -0.7)),
    (lambda m, x: m.hypot(x), (-0.3,)),
    (lambda m, x: m.log(x, 3), (0.3,)),
    (lambda m, x: m.log(3.0, x), (0.3,)),
    (lambda m, x: m.ldexp(x, 3) * x, (0.3,)),
    (lambda m, x: m.frexp(x * 9)[0] * m.frexp(x * 9)[1], (0.3,)),
    (lambda m, x: m.modf(x)[0] ** 2 * m.modf(x)[1], (-3.3,)),
    (lambda m, x: x * m.floor(x) + m.ceil(x) * x**2 + m.trunc(x) * x**3, (3.3,)),
    (lambda m, x: x if m.isclose(x, 1.0, rel_tol=0.5) and m.isfinite(x) else x * x, (0.7,)),
    (lambda m, x: m.factorial(int(x)) * m.comb(5, m.floor(x)) * x, (2.7,)),
]
if hasattr(math, "sumprod"):
    COMPOUND.append((lambda m, x, y: m.sumprod([x, y], [y, 2.0]), (0.3, -0.7)))


@pytest.mark.parametrize(("body", "args"), COMPOUND)
def test_functions_of_lists_and_integers(body: Callable[..., Any], args: tuple[float, ...]) -> None:
    value, _ = value_and_grad(lambda *args: body(F, *args))(*args)
    assert value == pytest.approx(body(math, *args), rel=3e-16)
    check_grads(lambda *args: body(F, *args), tuple(map(np.float64, args)), order=2)


def test_parts_of_complex_numbers() -> None:
    c = funcgrad.cmath
    z = 0.3 - 0.4j
    assert c.polar(z) == cmath.polar(z)
    assert jvp(lambda z: c.polar(z)[0], (z,), (1.0 + 0j,))[0] == abs(z)
    check_grads(lambda z: c.phase(z) * c.polar(z)[0], (np.complex128(z),), order=2)
    check_grads(lambda r, phi: c.rect(r, phi), (np.float64(2.0), np.float64(0.3)), order=2)
    check_grads(lambda z: c.log(z, 2), (np.complex128(z),), order=2)


def test_domain_errors_are_raised_on_tracers_too() -> None:
    for function, x, error in (
        (F.sqrt, -1.0, ValueError),
        (F.exp, 1e4, OverflowError),
        (F.log, 0.0, ValueError),
    ):
        with pytest.raises(error):
            grad(function)(x)
    with pytest.raises(TypeError, match="real number"):
        jvp(F.sin, (1j,), (1j,))
    with pytest.raises(TypeError):
        grad(F.sin)(np.ones(2))


def test_single_precision_computes_in_double_as_pythons_does() -> None:
    x = np.float32(0.3)
    value, slope = map(np.asarray, value_and_grad(F.sin)(x))
    assert value == math.sin(x)
    assert slope == np.float32(math.cos(x))
    assert slope.dtype == np.float32
