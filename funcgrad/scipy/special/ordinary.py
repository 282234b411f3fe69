"""scipy.special without ufuncs: sums of exponentials, factorials, spherical Bessel, Legendre.

Spherical Bessel functions have (2n + 1) j_n' = n j_{n-1} - (n + 1) j_{n+1}, the same for y, with other signs
for i and k (DLMF 10.51), without a quotient that cancels near 0. Legendre functions are powers of the sine
times Gegenbauer polynomials (DLMF 14.7.11), whose derivatives have rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine import declare
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.nn.kernels.basic import LOGSUMEXP
from funcgrad.scipy.declare import Chapter

special = Chapter("special")
special.rerun(
    "softmax log_softmax lambertw zeta polygamma diric comb perm factorial2 jvp yvp ivp kvp h1vp h2vp softplus assoc_laguerre",
    float_factorial=math.factorial,
)
special.piecewise_constant("stirling2 bernoulli euler")


def floating(x: Any) -> Any:
    """`x` as an array of floats or complex numbers."""
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


# ---- sums of exponentials ------------------------------------------------------------------------------------------------


@special.composite("logsumexp")
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """The largest term is taken out as a constant; terms of weight 0 are left out, unless the weight is traced."""
    a = floating(a)
    axes = tuple(range(a.ndim)) if axis is None else axis
    b = None if b is None else np.broadcast_arrays(floating(b), a)[0]
    if b is not None:
        a = np.broadcast_to(a, np.broadcast_shapes(a.shape, b.shape))
        kept, a = a, np.where(b == 0, -np.inf, a)
    if a.dtype.kind == "c" or b is not None and b.dtype.kind == "c":
        return _complex_sum(a, b, axes, keepdims, return_sign)
    if b is None:
        out = _log_of_sum(a, axes, keepdims)
        return (out, np.sign(np.exp(out * 0))) if return_sign else out
    top = _top(a, axes)
    if isinstance(b, Tracer):  # the slope in a weight of 0 is not 0
        a = np.where(np.logical_and(b == 0, kept - top < 700), kept, a)
    total = np.sum(b * np.exp(a - top), axis=axes, keepdims=True)
    sign = np.sign(total)
    if not return_sign:
        total = np.where(total < 0, np.nan, total)
    out = np.log(abs(total)) + top
    if not keepdims:
        out, sign = np.squeeze(out, axis=axes), np.squeeze(sign, axis=axes)
    return (out, sign) if return_sign else out


def _top(a: Any, axes: Any) -> Any:
    from funcgrad.transforms.elementwise import stop_gradient

    top = np.max(stop_gradient(a.real), axis=axes, keepdims=True)
    return np.where(np.isfinite(top), top, 0)


def _log_of_sum(a: Any, axes: Any, keepdims: bool) -> Any:
    """One primitive for all terms: logaddexp.reduce would record one for each, and is left for sums of none."""
    return LOGSUMEXP(a, axes, keepdims) if a.size else np.logaddexp.reduce(a, axis=axes, keepdims=keepdims)


def _complex_sum(a: Any, b: Any, axes: Any, keepdims: bool, return_sign: bool) -> Any:
    top = _top(a, axes)
    terms = np.exp(a - top) if b is None else b * np.exp(a - top)
    total = np.sum(terms, axis=axes, keepdims=keepdims)
    top = top if keepdims else np.squeeze(top, axis=axes)
    if return_sign:
        size = abs(total)
        return np.log(size) + top, total / size
    return np.log(total) + top


# ---- factorials ----------------------------------------------------------------------------------------------------------


@special.composite("factorial")
def factorial(n, exact=False, extend="zero"):
    if exact:
        raise TypeError("scipy.special.factorial(exact=True) takes integers, not a tracer: leave exact away")
    n = floating(n)
    n = n.astype(np.complex128 if n.dtype.kind == "c" else np.float64)  # as SciPy computes
    out = sp.gamma(n + 1)
    return out if extend == "complex" else np.where(n < 0, 0, out)


@special.composite("multigammaln")
def multigammaln(a, d):
    if not np.isscalar(d) or np.floor(d) != d:
        raise ValueError("d should be a positive integer (dimension)")
    a = floating(a).astype(np.float64)
    if np.any(a <= 0.5 * (d - 1)):
        raise ValueError(f"condition a ({concrete(a)}) > 0.5 * (d-1) ({0.5 * (d - 1):f}) not met")
    return d * (d - 1) * 0.25 * math.log(math.pi) + sum(sp.gammaln(a - 0.5 * j) for j in range(d))


# ---- spherical Bessel functions ------------------------------------------------------------------------------------------


def _spherical(name: str, before: int, after: int) -> None:
    """Declare a function with (2n + 1) f_n' = before n f_{n-1} + after (n + 1) f_{n+1}."""
    ufunc = getattr(_ufuncs, f"_spherical_{name}", None)
    if ufunc is None:
        return

    def slope(n: Any, z: Any) -> Any:
        down = ufunc(np.maximum(n - 1, 0), z)
        return (before * n * down + after * (n + 1) * ufunc(n + 1, z)) / (2 * n + 1)

    if ufunc not in CATALOGUE:
        declare.elementwise(ufunc, None, lambda x, y: slope(x, y), name=f"scipy.special.spherical_{name}")

    @special.composite(f"spherical_{name}")
    def body(n, z, derivative=False):
        n, z = np.asarray(n, dtype=np.dtype("long")), floating(z)
        out = slope(n, z) if derivative else ufunc(n, z)
        return out.astype(getattr(sp, f"spherical_{name}")(1, np.ones(1, z.dtype), derivative).dtype)


_spherical("jn", 1, -1)
_spherical("yn", 1, -1)
_spherical("in", 1, 1)
_spherical("kn", -1, -1)


# ---- Legendre functions --------------------------------------------------------------------------------------------------


def _legendre(n: int, m: int, x: Any, sine: Any) -> Any:
    """P_n^m(x) with the phase of Condon and Shortley, where sine = sqrt(1 - x**2)."""
    size = abs(m)
    if size > n:
        return 0 * x
    odd = math.prod(range(1, 2 * size, 2))
    out = (-1) ** size * odd * sine**size * sp.eval_gegenbauer(n - size, size + 0.5, x)
    return out if m >= 0 else (-1) ** size * math.factorial(n - size) / math.factorial(n + size) * out


def _normal(n: int, m: int) -> float:
    return (
        math.sqrt((2 * n + 1) / (4 * math.pi) * math.factorial(n - m) / math.factorial(n + m))
        if abs(m) <= n
        else 0.0
    )


def _degrees(n: Any, m: Any, title: str) -> tuple[int, int]:
    n, m = np.asarray(n), np.asarray(m)
    if n.ndim or m.ndim:
        raise NotImplementedError(
            f"{title} with arrays of degrees has no derivative rule: call it for each degree"
        )
    return int(n), int(m)


def _with_slopes(f: Callable[[Any], Any], x: Any, count: int) -> Any:
    """f(x) and its first derivatives, stacked, in double precision as SciPy gives them."""
    from funcgrad.transforms.derivatives import jvp

    x, fs = floating(x).astype(np.float64), [f]
    for _ in range(count):
        fs.append(lambda x, before=fs[-1]: jvp(before, (x,), (np.ones_like(x),))[1])
    return np.stack([each(x) for each in fs])


def multi_ufunc(name: str, body: Callable[..., Any]) -> None:
    """Put a function that takes tracers in the place of one of SciPy's objects that are called as functions."""
    theirs = getattr(sp, name, None)
    if theirs is None:
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        is_traced = any(isinstance(x, Tracer) for x in (*args, *kwargs.values()))
        return body(*args, **kwargs) if is_traced else theirs(*args, **kwargs)

    call.__name__, call.__doc__ = (
        name,
        (theirs.__doc__ or "").partition("\n    Examples\n")[0].replace(">>> ", ""),
    )
    special.replaces(name, call)


def _inside(z: Any, branch_cut: int, title: str) -> None:
    if branch_cut != 2 or (np.abs(np.asarray(concrete(z))) > 1).any():
        raise NotImplementedError(f"{title} has a derivative rule only within [-1, 1]")


def legendre_p(n, z, *, diff_n=0):
    n, _ = _degrees(n, 0, "scipy.special.legendre_p")
    return _with_slopes(lambda z: sp.eval_legendre(n, z), z, diff_n)


def assoc_legendre_p(n, m, z, *, branch_cut=2, norm=False, diff_n=0):
    title = "scipy.special.assoc_legendre_p"
    n, m = _degrees(n, m, title)
    _inside(z, branch_cut, title)
    scale = _normal(n, m) * math.sqrt(2 * math.pi) if norm else 1.0
    return _with_slopes(lambda z: scale * _legendre(n, m, z, np.sqrt(1 - z * z) if m else 1.0), z, diff_n)


def sph_legendre_p(n, m, theta, *, diff_n=0):
    n, m = _degrees(n, m, "scipy.special.sph_legendre_p")
    return _with_slopes(lambda x: _normal(n, m) * _legendre(n, m, np.cos(x), np.sin(x)), theta, diff_n)


def sph_harm_y(n, m, theta, phi, *, diff_n=0):
    title = "scipy.special.sph_harm_y"
    n, m = _degrees(n, m, title)
    if diff_n:
        raise NotImplementedError(
            f"{title}(diff_n={diff_n}) has no derivative rule: leave diff_n away, and use funcgrad.jvp"
        )
    return sph_legendre_p(n, m, theta)[0] * np.exp(1j * m * floating(phi))


def _orders(m: int) -> list[int]:
    """Orders as SciPy has them: a negative order at a negative index."""
    return [*range(m + 1), *range(-m, 0)]


def legendre_p_all(n, z, *, diff_n=0):
    return np.stack([legendre_p(k, z, diff_n=diff_n) for k in range(n + 1)], axis=1).astype(floating(z).dtype)


def assoc_legendre_p_all(n, m, z, *, branch_cut=2, norm=False, diff_n=0):
    rows = [
        np.stack(
            [assoc_legendre_p(k, j, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n) for j in _orders(m)],
            axis=1,
        )
        for k in range(n + 1)
    ]
    return np.stack(rows, axis=1).astype(floating(z).dtype)


def sph_legendre_p_all(n, m, theta, *, diff_n=0):
    rows = [
        np.stack([sph_legendre_p(k, j, theta, diff_n=diff_n) for j in _orders(m)], axis=1)
        for k in range(n + 1)
    ]
    return np.stack(rows, axis=1).astype(floating(theta).dtype)


def sph_harm_y_all(n, m, theta, phi, *, diff_n=0):
    return np.stack(
        [np.stack([sph_harm_y(k, j, theta, phi, diff_n=diff_n) for j in _orders(m)]) for k in range(n + 1)]
    )


for _body in (
    legendre_p, assoc_legendre_p, sph_legendre_p, sph_harm_y,
    legendre_p_all, assoc_legendre_p_all, sph_legendre_p_all, sph_harm_y_all,
):  # fmt: skip
    multi_ufunc(_body.__name__, _body)


# ---- ellipsoidal harmonics -----------------------------------------------------------------------------------------------


@special.composite("ellip_normal")
def ellip_normal(h2, k2, n, p):
    """Closed for degrees 0 and 1 (Dassios, "Ellipsoidal Harmonics", 2012)."""
    if n > 1:
        raise NotImplementedError(
            "scipy.special.ellip_normal has a derivative rule for the degrees 0 and 1 only"
        )
    h2, k2 = floating(h2).astype(np.float64), floating(k2).astype(np.float64)
    if n == 0:
        return 4 * np.pi * (1 + 0 * h2)
    return 4 * np.pi / 3 * (h2 * k2, h2 * (k2 - h2), k2 * (k2 - h2))[p - 1]
