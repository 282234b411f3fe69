"""Special values, complex arguments, and when the rules are loaded."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import special

from funcgrad import extend, grad, hessian, jacrev, jvp, vjp, vmap
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.libraries import load_late
from funcgrad.errors import NonDifferentiableError, RuleError
from funcgrad.testing import check_grads

# ---- loading ---------------------------------------------------------------------------------------------------------


def run(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_scipy_is_not_loaded_by_funcgrad() -> None:
    assert (
        run("import sys, funcgrad; print('scipy' in sys.modules, 'funcgrad.scipy' in sys.modules)")
        == "False False"
    )


def test_the_rules_are_loaded_when_a_tracer_meets_the_first_function() -> None:
    program = """
import sys, funcgrad
from scipy import special
print("funcgrad.scipy.special" in sys.modules, float(special.expit(0.0)), end=" ")
print(float(funcgrad.grad(special.expit)(0.0)), "funcgrad.scipy.special" in sys.modules)
"""
    assert run(program) == "False 0.5 0.25 True"


def test_a_ufunc_without_a_rule_is_still_refused_when_the_rules_have_been_loaded() -> None:
    program = """
import numpy as np, funcgrad
from scipy import special
for _ in range(2):
    try:
        funcgrad.grad(np.frompyfunc(abs, 1, 1))(1.0)
    except funcgrad.errors.UnsupportedFunctionError as error:
        print(str(error)[:31])
"""
    assert run(program) == "abs (vectorized) has no derivat\nabs (vectorized) has no derivat"


def test_a_refused_function_may_be_declared_by_a_user() -> None:
    load_late()
    before = CATALOGUE[special.stdtridf]
    try:
        extend.elementwise(special.stdtridf, None, lambda x: 3 * x)
        assert grad(special.stdtridf, argnums=1)(0.6, 0.5) == pytest.approx(1.8)
    finally:
        extend.unsupported(special.stdtridf, "it is put back")
        CATALOGUE[special.stdtridf] = before
    with pytest.raises(RuleError, match="funcgrad has a rule for it"):
        extend.elementwise(special.expit, lambda x: x)
    with pytest.raises(RuleError, match="2 formulas for 3 operands"):
        extend.elementwise(special.btdtria, None, None)
    assert CATALOGUE[special.btdtria].status == "unsupported"


# ---- the ends of domains, tails, removable singularities -------------------------------------------------------------


def slopes(function: Any, *args: float) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return [float(g) for g in grad(function, argnums=tuple(range(len(args))))(*args)]


def test_logistic_tails() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [float(grad(special.expit)(x)) for x in (800.0, -800.0, np.inf)] == [0, 0, 0]
        assert [float(grad(special.log_expit)(x)) for x in (-800.0, 800.0, -np.inf)] == [1, 0, 1]
        np.testing.assert_array_equal(
            hessian(lambda x: np.sum(special.expit(x)))(np.array([800.0, -800.0])), np.zeros((2, 2))
        )
        assert grad(grad(special.log_expit))(800.0) == 0


def test_entropies_at_zero() -> None:
    assert grad(special.xlogy, argnums=1)(0.0, 0.0) == 0
    assert grad(special.xlog1py, argnums=1)(0.0, -1.0) == 0
    assert grad(grad(special.xlogy, argnums=1), argnums=1)(0.0, 0.0) == 0
    assert grad(special.rel_entr, argnums=1)(0.0, 0.0) == 0
    assert grad(special.kl_div, argnums=1)(0.0, 0.0) == 1
    assert slopes(special.kl_div, 2.0, 2.0) == [0, 0]
    with np.errstate(divide="ignore"):
        assert grad(special.entr)(0.0) == np.inf


def test_a_masked_logarithm_contributes_nothing() -> None:
    p = np.array([0.0, 0.5])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            grad(lambda p: np.sum(np.where(p > 0, special.entr(p), 0 * p)))(p), [0, np.log(2) - 1], rtol=1e-15
        )


def test_box_cox_at_zero() -> None:
    log2 = np.log(2.0)
    assert grad(special.boxcox, argnums=1)(2.0, 0.0) == pytest.approx(log2**2 / 2, rel=1e-15)
    assert grad(grad(special.boxcox, argnums=1), argnums=1)(2.0, 0.0) == pytest.approx(log2**3 / 3, rel=1e-14)
    assert grad(special.boxcox1p, argnums=1)(1.0, 0.0) == pytest.approx(log2**2 / 2, rel=1e-15)
    assert grad(special.inv_boxcox, argnums=1)(2.0, 0.0) == pytest.approx(-2 * np.e**2, rel=1e-14)
    assert grad(special.boxcox, argnums=1)(0.0, 2.0) == pytest.approx(0.25)
    assert grad(special.exprel)(0.0) == 0.5
    assert grad(grad(special.exprel))(0.0) == pytest.approx(1 / 3, rel=1e-15)


def test_losses_at_their_corners() -> None:
    assert [slopes(special.huber, 1.0, r) for r in (0.5, -0.5, 3.0, -3.0)] == [
        [0, 0.5],
        [0, -0.5],
        [2, 1],
        [2, -1],
    ]
    assert slopes(special.pseudo_huber, 0.0, 0.0) == [0, 0]
    assert slopes(special.pseudo_huber, 0.0, 3.0) == [3, 0]


def test_poles_of_gamma() -> None:
    assert [float(grad(special.rgamma)(-float(k))) for k in range(4)] == pytest.approx(
        [1, -1, 2, -6], rel=1e-15
    )
    assert slopes(special.poch, 0.0, 1.0)[0] == pytest.approx(1)
    assert grad(lambda x: special.poch(x, 2.0))(-3.0) == pytest.approx(-5)
    assert grad(special.binom, argnums=1)(3.0, 5.0) == pytest.approx(6 * 1 / 120 * 1, rel=1e-14)
    assert np.isnan(grad(special.gammaln)(-2.0))


def test_densities_at_the_ends() -> None:
    second = lambda f: float(grad(grad(f))(0.0))
    assert [second(lambda x, a=a: special.gammainc(a, x)) for a in (1.0, 2.0, 3.0)] == [-1, 1, 0]
    assert [second(lambda x, a=a: special.betainc(a, 2.0, x)) for a in (1.0, 2.0, 3.0)] == [-2, 6, 0]
    assert [second(lambda x, a=a: special.betainc(2.0, a, 1 - x)) for a in (1.0, 2.0, 3.0)] == [2, -6, 0]
    assert grad(special.gammainc, argnums=1)(200.0, 200.0) == pytest.approx(0.02819772768592082, rel=1e-14)
    assert grad(special.bdtr, argnums=2)(5, 5, 0.3) == 0
    assert grad(special.bdtr, argnums=2)(-1, 5, 0.3) == 0
    assert grad(special.tklmbda)(5.0, 0.4) == 0
    assert [float(grad(special.kolmogorov)(x)) for x in (-1.0, 0.0, 1e-3)] == [0, 0, 0]


def test_normal_tails() -> None:
    assert grad(special.log_ndtr)(-1e5) == pytest.approx(1e5 + 1e-5, rel=1e-15)
    assert grad(grad(special.log_ndtr))(-1e5) == pytest.approx(-1 + 1e-10, rel=1e-15)
    assert grad(special.ndtri_exp)(-1000.0) == pytest.approx(
        1 / float(grad(special.log_ndtr)(special.ndtri_exp(-1000.0)))
    )


def test_removable_singularities() -> None:
    si = lambda x: special.sici(x)[0]
    shi = lambda x: special.shichi(x)[0]
    assert [float(grad(si)(0.0)), float(grad(grad(grad(si)))(0.0))] == pytest.approx([1, -1 / 3])
    assert grad(grad(grad(shi)))(0.0) == pytest.approx(1 / 3)
    assert grad(special.spence)(1.0) == pytest.approx(-1, rel=1e-15)
    assert grad(grad(special.spence))(1.0) == pytest.approx(0.5)
    assert grad(special.ellipk)(0.0) == pytest.approx(np.pi / 8, rel=1e-15)
    assert grad(lambda x: special.eval_legendre(5, x))(1.0) == pytest.approx(15)
    assert grad(lambda x: np.real(special.lambertw(x)))(0.0) == 1
    assert grad(special.jv, argnums=1)(0.0, 0.0) == 0


# ---- complex numbers -------------------------------------------------------------------------------------------------

ANALYTIC = {
    "gamma": mp.gamma, "loggamma": mp.loggamma, "rgamma": mp.rgamma, "psi": mp.digamma, "erf": mp.erf, "erfc": mp.erfc,
    "erfcx": lambda z: mp.exp(z * z) * mp.erfc(z), "wofz": lambda z: mp.exp(-z * z) * mp.erfc(-1j * z),
    "dawsn": lambda z: mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z), "exp1": mp.e1,
    "log_ndtr": lambda z: mp.log(mp.erfc(-z / mp.sqrt(2)) / 2), "spence": lambda z: mp.polylog(2, 1 - z),
    "lambertw": mp.lambertw, "zeta": mp.zeta, "expm1": mp.expm1,
}  # fmt: skip
POINTS = [0.7 + 0.4j, 1.5 - 2.5j, 3.0 + 0.2j]


@pytest.mark.parametrize("name", ANALYTIC)
def test_complex_derivatives(name: str) -> None:
    slope: Any = getattr(special, name)
    for order in (1, 2):
        slope = grad(slope, holomorphic=True)
        for z in POINTS:
            exact = complex(mp.diff(ANALYTIC[name], z, order))
            assert abs(slope(z) - exact) < 1e-11 * abs(exact)


@pytest.mark.parametrize(
    "name", ["jv", "yv", "iv", "kv", "hankel1", "hankel2", "hankel1e", "hankel2e", "kve"]
)
def test_complex_bessel_functions(name: str) -> None:
    check_grads(lambda z: getattr(special, name)(1.5, z), (0.8 + 0.6j,), order=2)


def test_what_is_scaled_by_a_real_factor_has_no_complex_derivative() -> None:
    for name in ("ive", "jve", "yve"):
        with pytest.raises(
            NonDifferentiableError, match=rf"scipy\.special\.{name} is scaled by a real factor"
        ):
            grad(lambda z, name=name: getattr(special, name)(1.0, z), holomorphic=True)(1 + 1j)
    with pytest.raises(NonDifferentiableError, match="airye is scaled"):
        grad(lambda z: special.airye(z)[2], holomorphic=True)(1 + 1j)


def test_complex_results_of_real_operands() -> None:
    for f in (special.kelvin, special.modfresnelp, special.modfresnelm):
        check_grads(f, (1.3,), order=2)


def test_several_results_at_once() -> None:
    x = np.array([0.3, 1.2])
    value, pull = vjp(special.airy, x)
    ai, aip, _, bip = special.airy(x)
    np.testing.assert_allclose(pull((np.ones(2), np.zeros(2), 2 * np.ones(2), np.zeros(2)))[0], aip + 2 * bip)
    assert isinstance(value, tuple)
    np.testing.assert_allclose(vmap(jacrev(lambda x: special.airy(x)[1]))(x), x * ai)
    sn, cn, dn, _ = special.ellipj(0.5, 0.3)
    np.testing.assert_allclose(
        jvp(special.ellipj, (0.5, 0.3), (1.0, 0.0))[1][:3], [cn * dn, -sn * dn, -0.3 * sn * cn]
    )


# ---- functions of scipy.special that dispatch because they are made of ufuncs ------------------------------------------


def test_functions_made_of_ufuncs() -> None:
    assert grad(lambda x: special.jvp(2, x))(3.0) == pytest.approx(special.jvp(2, 3.0, 2))
    assert grad(lambda x: special.kvp(2, x))(3.0) == pytest.approx(special.kvp(2, 3.0, 2))
    assert grad(special.sinc)(0.3) == pytest.approx(float(grad(np.sinc)(0.3)))
    assert grad(lambda x: np.real(special.lambertw(x, -1)))(-0.2) == pytest.approx(
        float(mp.diff(lambda x: mp.re(mp.lambertw(x, -1)), -0.2))
    )


def test_keywords_and_methods_of_ufuncs() -> None:
    x = np.array([0.3, 1.2])
    mask = np.array([True, False])
    np.testing.assert_allclose(
        grad(lambda x: np.sum(special.gamma(x, where=mask, out=np.zeros_like(x))))(x),
        [grad(special.gamma)(0.3), 0],
    )
    np.testing.assert_allclose(
        grad(lambda x: np.sum(special.xlogy.outer(x, x)))(x),
        grad(lambda x: np.sum(special.xlogy(x[:, None], x)))(x),
    )


@pytest.mark.parametrize("x", [1e-310, -1e-310, 1e-300])
def test_bessel_functions_keep_their_series_at_subnormal_numbers(x: float) -> None:
    for first in (special.j0, lambda x: special.jv(0.0, x)):
        assert grad(grad(grad(first)))(x) == pytest.approx(0.375 * x, rel=1e-12, abs=0)
    assert grad(grad(special.j1))(x) == pytest.approx(-0.375 * x, rel=1e-12, abs=0)
    assert jvp(lambda x: jvp(special.j1, (x,), (1.0,))[1], (x,), (1.0,))[1] == pytest.approx(
        -0.375 * x, rel=1e-12, abs=0
    )
