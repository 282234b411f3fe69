"""Distances. One function per metric, along the last axis, serves its own name, `cdist` and `pdist`.

At distance 0 a metric that has a kink there has the slope 0, as a norm has: no NaN reaches the other
distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance
from scipy import special

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain

distance = Chapter("spatial.distance")
distance.piecewise_constant("is_valid_dm is_valid_y num_obs_dm num_obs_y")

Metric = Callable[..., Any]


def _double(x: Any) -> Any:
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    return x.astype(np.float64)


def _sum(x: Any, w: Any) -> Any:
    return np.sum(x if w is None else w * x, axis=-1)


def _quotient(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    return np.where(y == 0, 0, x / np.where(y == 0, 1, y))


def _root(x: Any) -> Any:
    """The square root, with the slope 0 at 0."""
    return np.where(x == 0, 0, np.sqrt(np.where(x == 0, 1, x)))


# ---- the metrics ---------------------------------------------------------------------------------------------------------


def _sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    return _sum((u - v) ** 2, w)


def _euclidean(u: Any, v: Any, w: Any = None) -> Any:
    if w is not None:
        return _root(_sqeuclidean(u, v, w))
    return np.linalg.norm(u - v, axis=-1)


def _cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return _sum(abs(u - v), w)


def _chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    gaps = abs(u - v)
    return np.max(gaps if w is None else np.where(w > 0, gaps, 0), axis=-1)


def _minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    if p <= 0:
        raise ValueError("p must be greater than 0")
    if p == np.inf:
        return _chebyshev(u, v, w)
    if p == 2:
        return _euclidean(u, v, w)
    gaps = abs(u - v)
    if w is not None:
        gaps = gaps * w ** (1 / p)
    if p == 1:
        return np.sum(gaps, axis=-1)
    top = np.max(gaps, axis=-1, keepdims=True)
    scale = np.where(top == 0, 1, top)
    total = np.sum(np.where(gaps == 0, 0, np.where(gaps == 0, 1, gaps / scale) ** p), axis=-1)
    return np.where(total == 0, 0, scale[..., 0] * np.where(total == 0, 1, total) ** (1 / p))


def _canberra(u: Any, v: Any, w: Any = None) -> Any:
    return _sum(_quotient(abs(u - v), abs(u) + abs(v)), w)


def _braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    return _sum(abs(u - v), w) / _sum(abs(u + v), w)


def _correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    weight = None if w is None else w / np.sum(w)
    mean = (
        (lambda x: np.mean(x, axis=-1, keepdims=True))
        if w is None
        else lambda x: np.sum(x * weight, axis=-1, keepdims=True)
    )
    if centered:
        u, v = u - mean(u), v - mean(v)
    uv, uu, vv = _sum(u * v, weight), _sum(u * u, weight), _sum(v * v, weight)
    return 1 - uv / np.sqrt(uu * vv)


def _cosine(u: Any, v: Any, w: Any = None) -> Any:
    return _correlation(u, v, w, centered=False)


def _seuclidean(u: Any, v: Any, V: Any) -> Any:
    return _euclidean(u, v, 1 / V)


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    gap = u - v
    return _root(np.sum((gap @ VI) * gap, axis=-1))


def _jensenshannon(u: Any, v: Any, base: Any = None, axis: int = -1, keepdims: bool = False) -> Any:
    p, q = u / np.sum(u, axis=axis, keepdims=True), v / np.sum(v, axis=axis, keepdims=True)
    m = (p + q) / 2
    total = np.sum(special.rel_entr(p, m) + special.rel_entr(q, m), axis=axis, keepdims=keepdims)
    return _root((total if base is None else total / math.log(base)) / 2)


METRICS: dict[str, Metric] = {
    "sqeuclidean": _sqeuclidean,
    "euclidean": _euclidean,
    "cityblock": _cityblock,
    "chebyshev": _chebyshev,
    "minkowski": _minkowski,
    "canberra": _canberra,
    "braycurtis": _braycurtis,
    "correlation": _correlation,
    "cosine": _cosine,
    "seuclidean": _seuclidean,
    "mahalanobis": _mahalanobis,
    "jensenshannon": _jensenshannon,
}
_ALIASES = {
    "sqe": "sqeuclidean", "sqeuclid": "sqeuclidean", "euclid": "euclidean", "eu": "euclidean", "e": "euclidean",
    "cblock": "cityblock", "cb": "cityblock", "c": "cityblock", "manhattan": "cityblock", "chebychev": "chebyshev",
    "cheby": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev", "mi": "minkowski", "m": "minkowski", "pnorm": "minkowski",
    "co": "correlation", "cos": "cosine", "se": "seuclidean", "s": "seuclidean", "mahal": "mahalanobis", "mah": "mahalanobis",
    "js": "jensenshannon",
}  # fmt: skip

# ---- one pair ------------------------------------------------------------------------------------------------------------


# Where SciPy gives a double for operands in single precision.
_DOUBLE = frozenset(["euclidean", "canberra", "braycurtis"])


def _of_two(name: str) -> Metric:
    def of_two(u, v, w=None, **named):
        u, v = _vector(u), _vector(v)
        out = METRICS[name](u, v, **({} if w is None else {"w": as_operand(w)}), **named)
        is_double = name in _DOUBLE or w is not None and name != "chebyshev" or named.get("p") == 2
        return out.astype(np.float64) if is_double else out

    return of_two


def _vector(x: Any) -> Any:
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    if x.ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    return x if x.dtype.kind in "fc" else x.astype(float)


for _name in ("sqeuclidean", "euclidean", "cityblock", "chebyshev", "canberra", "braycurtis", "cosine"):
    distance.composite(_name, _of_two(_name))


@distance.composite("minkowski")
def minkowski(u, v, p=2, w=None):
    return _of_two("minkowski")(u, v, w, p=p)


@distance.composite("correlation")
def correlation(u, v, w=None, centered=True):
    return _of_two("correlation")(u, v, w, centered=centered)


@distance.composite("seuclidean")
def seuclidean(u, v, V):
    return _seuclidean(*map(_double, map(_vector, (u, v, V))))


@distance.composite("mahalanobis")
def mahalanobis(u, v, VI):
    return _mahalanobis(_vector(u), _vector(v), as_operand(VI))


@distance.composite("jensenshannon")
def jensenshannon(p, q, base=None, axis=0, keepdims=False):
    return _jensenshannon(as_operand(p), as_operand(q), base, axis, keepdims)


# ---- of truth values, and of numbers between 0 and 1 ---------------------------------------------------------------------


def _unequal(u: Any, v: Any, w: Any, nonzero: bool) -> tuple[Any, Any]:
    """Where two vectors, or their truth values, are not equal, which is constant; and the weights."""
    u, v = (np.asarray(plain(_vector(x))) for x in (u, v))
    apart = (u != 0) ^ (v != 0) if nonzero else u != v
    return apart, np.ones(u.shape) if w is None else as_operand(w)


@distance.composite("hamming")
def hamming(u, v, w=None):
    apart, w = _unequal(u, v, w, False)
    return np.sum(w * apart) / np.sum(w)


@distance.composite("jaccard")
def jaccard(u, v, w=None):
    apart, w = _unequal(u, v, w, True)
    some = (np.asarray(plain(as_operand(u))) != 0) | (np.asarray(plain(as_operand(v))) != 0)
    return _quotient(np.sum(w * apart), np.sum(w * some))


def _counts(u: Any, v: Any, w: Any) -> tuple[Any, Any, Any]:
    """The weights of what only v has, only u has, and both have."""
    u, v = _double(_vector(u)), _double(_vector(v))
    return _sum((1 - u) * v, w), _sum(u * (1 - v), w), _sum(u * v, w)


def _of_neither(u: Any, v: Any, w: Any) -> Any:
    u, v = _double(_vector(u)), _double(_vector(v))
    return _sum((1 - u) * (1 - v), w)


@distance.composite("dice")
def dice(u, v, w=None):
    only_v, only_u, both = _counts(u, v, w)
    return (only_u + only_v) / (2 * both + only_u + only_v)


@distance.composite("rogerstanimoto")
def rogerstanimoto(u, v, w=None):
    only_v, only_u, both = _counts(u, v, w)
    apart = 2 * (only_u + only_v)
    return apart / (both + _of_neither(u, v, w) + apart)


@distance.composite("russellrao")
def russellrao(u, v, w=None):
    *_, both = _counts(u, v, w)
    whole = float(_vector(u).shape[0]) if w is None else np.sum(as_operand(w))
    return (whole - both) / whole


@distance.composite("sokalsneath")
def sokalsneath(u, v, w=None):
    only_v, only_u, both = _counts(u, v, w)
    apart = 2 * (only_u + only_v)
    return apart / (both + apart)


@distance.composite("yule")
def yule(u, v, w=None):
    only_v, only_u, both = _counts(u, v, w)
    half = only_u * only_v
    return _quotient(2 * half, both * _of_neither(u, v, w) + half)


# ---- all pairs -----------------------------------------------------------------------------------------------------------


def _metric(metric: Any, x: Any, given: dict[str, Any]) -> tuple[Metric, dict[str, Any]]:
    """The metric of that name, with the arguments that SciPy fills in from the data."""
    given = {key: value for key, value in given.items() if value is not None}
    if callable(metric):
        return _by_pairs(metric), given
    name = _ALIASES.get(str(metric).lower(), str(metric).lower())
    if name not in METRICS:
        raise NotImplementedError(
            f"scipy.spatial.distance with metric={metric!r} has no derivative: its distances are constant wherever they are "
            "smooth. Call it on funcgrad.stop_gradient(x)."
        )
    if name == "seuclidean" and "V" not in given:
        given["V"] = np.var(x, axis=0, ddof=1)
    if name == "mahalanobis" and "VI" not in given:
        given["VI"] = np.linalg.inv(np.cov(x.T)).T
    return METRICS[name], {
        key: value if np.isscalar(value) else _double(value) for key, value in given.items()
    }


def _by_pairs(metric: Metric) -> Metric:
    """A metric of the user's, which takes one pair."""

    def of_all(u: Any, v: Any, **given: Any) -> Any:
        u, v = np.broadcast_arrays(u, v)
        shape = u.shape[:-1]
        pairs = [metric(u[k], v[k], **given) for k in np.ndindex(*shape)]
        return np.stack(pairs).reshape(shape)

    return of_all


@distance.composite("cdist")
def cdist(XA, XB, metric="euclidean", out=None, **kwargs):
    a, b = _double(XA), _double(XB)
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if a.shape[1] != b.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    if out is not None:
        raise TypeError(
            "scipy.spatial.distance.cdist(out=...) would write a tracer into a plain array: leave out away"
        )
    both = np.concatenate([a, b]) if metric in ("seuclidean", "mahalanobis") else a
    found, given = _metric(metric, both, kwargs)
    return found(a[:, None], b, **given)


@distance.composite("pdist")
def pdist(X, metric="euclidean", out=None, **kwargs):
    x = _double(X)
    if x.ndim != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    if out is not None:
        raise TypeError(
            "scipy.spatial.distance.pdist(out=...) would write a tracer into a plain array: leave out away"
        )
    i, j = np.triu_indices(x.shape[0], 1)
    found, given = _metric(metric, x, kwargs)
    return found(x[i], x[j], **given)


@distance.composite("squareform")
def squareform(X, force="no", checks=True):
    x = as_operand(X)
    if force.lower() == "tomatrix" and x.ndim != 1:
        raise ValueError("Forcing 'tomatrix' but input X is not a distance vector.")
    if force.lower() == "tovector" and x.ndim != 2:
        raise ValueError("Forcing 'tovector' but input X is not a distance matrix.")
    if x.ndim == 2:
        return x[np.triu_indices(x.shape[0], 1)]
    n = int(np.ceil(np.sqrt(x.shape[0] * 2)))
    if n * (n - 1) != x.shape[0] * 2:
        raise ValueError(
            "Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n >= 2."
        )
    i, j = np.triu_indices(n, 1)
    places = np.full((n, n), -1)
    places[i, j] = places[j, i] = np.arange(x.shape[0])
    return np.where(places < 0, 0, x[places])


@distance.composite("directed_hausdorff")
def directed_hausdorff(u, v, rng=None, seed=None):
    """The distance of the two points that SciPy finds."""
    u, v = as_operand(u), as_operand(v)
    _, i, j = scipy.spatial.distance.directed_hausdorff(
        np.asarray(plain(u)), np.asarray(plain(v)), 0 if rng is None else rng
    )
    return _euclidean(_double(u[i]), _double(v[j])), i, j
