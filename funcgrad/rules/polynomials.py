"""Polynomials as arrays of coefficients, highest power first. (np.poly1d can't hold tracers.)"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.declare import composite, custom
from funcgrad.core.engine.trace import concrete
from funcgrad.errors import user_line


def _coefficients(p: Any) -> Any:
    """`p` as a one-dimensional array."""
    return np.atleast_1d(as_array(p.coeffs if isinstance(p, np.poly1d) else p))


# ---- values ----------------------------------------------------------------------------------------------------------


def _polyval(p: Any, x: Any) -> Any:
    x = as_array(x)
    value = np.zeros_like(x)
    for coefficient in as_array(p.coeffs if isinstance(p, np.poly1d) else p):
        value = value * x + coefficient
    return value


def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError(f"np.vander needs one dimension, not {x.ndim}")
    x = x.astype(np.promote_types(x.dtype, int))
    n = x.shape[0] if N is None else operator.index(N)
    if n < 0:
        raise ValueError(f"np.vander(N={n}) at {user_line()}: a matrix has 0 columns or more")
    powers = [np.ones_like(x)]
    while len(powers) < n:
        powers.append(powers[-1] * x)
    powers = powers[:n]
    if not powers:
        return np.zeros((x.shape[0], 0), x.dtype)
    return np.stack(powers if increasing else powers[::-1], axis=1)


composite(np.polyval, _polyval)
composite(np.vander, _vander)

# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _aligned(a1: Any, a2: Any) -> tuple[Any, Any]:
    """Two polynomials as equally long arrays."""
    a1, a2 = _coefficients(a1), _coefficients(a2)
    n = max(a1.shape[0], a2.shape[0])
    return _longer(a1, n), _longer(a2, n)


def _longer(p: Any, n: int) -> Any:
    missing = n - p.shape[0]
    return np.concatenate([np.zeros(missing, p.dtype), p]) if missing else p


def _polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = _aligned(a1, a2)
    return a1 + a2


def _polysub(a1: Any, a2: Any) -> Any:
    a1, a2 = _aligned(a1, a2)
    return a1 - a2


def _without_leading_zeros(p: Any) -> Any:
    """`p` from its first coefficient that is not 0; all of it under vmap, where examples differ."""
    p = _coefficients(p)
    if is_batched(p):
        return p
    live = np.flatnonzero(concrete(p))
    return p[min(live[0] if live.size else p.shape[0], p.shape[0] - 1) :]


def _polydiv(u: Any, v: Any) -> Any:
    u, v = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    n, steps = v.shape[0], max(u.shape[0] - v.shape[0] + 1, 0)
    rest, scale = u.astype(np.result_type(u, v)), 1.0 / v[0]
    quotient = []
    for k in range(steps):
        quotient.append(scale * rest[k])
        rest = np.concatenate([rest[:k], rest[k : k + n] - quotient[-1] * v, rest[k + n :]])
    return np.stack(quotient) if quotient else np.zeros(1, rest.dtype), _remainder(rest, steps)


def _remainder(rest: Any, steps: int) -> Any:
    """What division left, without leading zeros: as many as there were steps, up to rounding."""
    if is_batched(rest):
        return rest[min(steps, rest.shape[0] - 1) :]
    while rest.shape[0] > 1 and np.isclose(concrete(rest[0]), 0, rtol=1e-14):
        rest = rest[1:]
    return rest


composite(np.polyadd, _polyadd)
composite(np.polysub, _polysub)
composite(np.polymul, lambda a1, a2: np.convolve(_without_leading_zeros(a1), _without_leading_zeros(a2)))
composite(np.polydiv, _polydiv)

# ---- calculus --------------------------------------------------------------------------------------------------------


def _polyder(p: Any, m: int = 1) -> Any:
    m = int(m)
    if m < 0:
        raise ValueError(f"np.polyder takes derivatives of order 0 or more, not {m}; see np.polyint")
    p = _coefficients(p)
    for _ in range(m):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    m = int(m)
    if m < 0:
        raise ValueError(f"np.polyint takes integrals of order 0 or more, not {m}; see np.polyder")
    p = _coefficients(p)
    constants = np.zeros(m) if k is None else np.atleast_1d(as_array(k))
    if constants.shape[0] == 1:
        constants = np.broadcast_to(constants, (m,))
    if constants.shape[0] < m:
        raise ValueError(f"np.polyint needs one constant or {m}, not {constants.shape[0]}")
    for i in range(m):
        p = np.concatenate([p / np.arange(p.shape[0], 0, -1), constants[i : i + 1]])
    return p


composite(np.polyder, _polyder)
composite(np.polyint, _polyint)

# ---- roots -----------------------------------------------------------------------------------------------------------


def _roots_pull(ct, p, out):
    # 0 = dp(r) + p'(r) dr. At a root of higher order p'(r) is 0, and there is no derivative.
    slopes = np.polyval(np.polyder(p), out)
    return -(ct / slopes) @ np.vander(out, p.size)


custom(np.roots, _roots_pull)


def _poly(seq_of_zeros: Any) -> Any:
    zeros = np.atleast_1d(as_array(seq_of_zeros))
    if zeros.ndim == 2:
        zeros = np.linalg.eigvals(zeros)
    p = np.ones(1, zeros.dtype)
    for zero in zeros:
        p = np.concatenate([p, np.zeros(1, p.dtype)]) - zero * np.concatenate([np.zeros(1, p.dtype), p])
    return p.real if zeros.dtype.kind == "c" and not is_batched(zeros) and _are_pairs(concrete(zeros)) else p


def _are_pairs(zeros: Any) -> bool:
    """Are these numbers pairs of conjugates (or real), so that their polynomial is real?"""
    return bool((np.sort(zeros) == np.sort(zeros.conj())).all())


composite(np.poly, _poly)

# ---- fits ------------------------------------------------------------------------------------------------------------


def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    count = int(deg) + 1
    if count < 1 or x.ndim != 1 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0] or x.size == 0:
        raise TypeError(
            f"np.polyfit needs deg >= 0 (not {deg}) and as many x (shape {x.shape}) as y (shape {y.shape})"
        )
    rcond = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    powers = np.vander(x, count)
    if w is not None:
        w = as_array(w) + 0.0
        powers, y = powers * w.reshape(-1, 1), y * (w if y.ndim == 1 else w.reshape(-1, 1))
    scale = np.sqrt((powers * powers).sum(axis=0))
    powers = powers / scale
    c, residuals, rank, singular = np.linalg.lstsq(powers, y, rcond)
    c = (c.T / scale).T
    if not full and not is_batched(rank) and concrete(rank) != count:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=3)
    if full:
        return c, residuals, rank, singular, rcond
    return (c, _covariance(powers, scale, residuals, y, cov)) if cov else c


def _covariance(powers: Any, scale: Any, residuals: Any, y: Any, cov: Any) -> Any:
    """The covariance of the coefficients of a fit."""
    base = np.linalg.inv(powers.T @ powers) / np.outer(scale, scale)
    base = base if y.ndim == 1 else base[:, :, np.newaxis]
    if cov == "unscaled":
        return base
    free = y.shape[0] - scale.shape[0]
    if free <= 0:
        raise ValueError("the number of data points must exceed the order of the fit to scale its covariance")
    return base * residuals / free


composite(np.polyfit, _polyfit)
