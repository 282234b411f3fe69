"""Integrals of the user's functions, in their limits, their arguments and what the functions close over.

The value is SciPy's. Its derivatives are those of a sum over nodes: where the integrand is resolved, so is
its derivative. The nodes are those of Gauss and Kronrod on intervals that are halved until the integrand is
resolved nearly to rounding; the ends of the first and the last one move with the limits. An infinite interval
is mapped to a finite one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.integrate as si
from scipy.special import roots_legendre

from funcgrad import tree
from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.batch import BatchTrace, BatchTracer, is_batched
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.errors import BatchedControlFlowError, FuncgradError, user_line
from funcgrad.scipy.declare import Chapter, step
from funcgrad.scipy.mirror import FUNCTIONALS
from funcgrad.scipy.optimize.calls import as_args, plainly, values, with_fields
from funcgrad.transforms.derivatives import jvp
from funcgrad.transforms.vectorize import vmap

integrate = Chapter("integrate")
Function = Callable[..., Any]

# Only values are asked for: an integral within the integrand of another one need not bring its derivatives.
ONLY_VALUES: ContextVar[bool] = ContextVar("only_values", default=False)


def valued(function: Function) -> Function:
    """The user's function on plain values, within which nobody computes derivatives."""

    def call(*args: Any) -> Any:
        token = ONLY_VALUES.set(True)
        try:
            return values(function(*args))
        finally:
            ONLY_VALUES.reset(token)

    return call


def _silent(function: Function) -> Function:
    """The function, where only the values of the integrals within it are asked for."""

    def call(*args: Any) -> Any:
        token = ONLY_VALUES.set(True)
        try:
            return function(*args)
        finally:
            ONLY_VALUES.reset(token)

    return call


# ---- the examples of a vmap ----------------------------------------------------------------------------------------------


def batch_of(*things: Any) -> BatchTrace | None:
    """The vmap over which these differ; None, if there is none."""
    found: set[BatchTrace] = set()
    for x in tree.leaves(things):
        while isinstance(x, Tracer):
            if isinstance(x, BatchTracer):
                found.add(x._trace)
            x = x._value
    if len(found) > 1:
        raise BatchedControlFlowError(
            f"an integral at {user_line()} differs between the examples of two vmaps. Loop over the examples of one of them."
        )
    return found.pop() if found else None


def example(x: Any, k: int) -> Any:
    """The plain value of one example."""
    return tree.map(lambda leaf: concrete(leaf)[k] if is_batched(leaf) else concrete(leaf), x)


def for_examples(trace: BatchTrace, solve: Callable[[Callable[[Any], Any]], Any]) -> Any:
    """solve(pick) for each example, where pick(x) is the plain value of x in it; the results as a tracer."""
    return trace.wrap(
        np.stack([np.asarray(solve(lambda x, k=k: example(x, k))) for k in range(trace.size)]), None
    )


@step("known x", {"x": lambda ct: ct}, push=lambda t: t["x"])
def known_value(known, x):
    """`known` as the value of x, which it is but for the errors of a numerical method."""
    return np.array(known)


def with_value(value: Any, x: Any) -> Any:
    """x, with SciPy's own value."""
    value = value if isinstance(value, Tracer) else np.asarray(value)
    return known_value(value, x.astype(value.dtype)) if isinstance(x, Tracer) else value


# ---- nodes ---------------------------------------------------------------------------------------------------------------


def _kronrod() -> tuple[Any, Any]:
    """The 21 nodes and weights of Gauss and Kronrod on (-1, 1)."""
    from scipy.integrate._rules import GaussKronrodQuadrature

    x, w = GaussKronrodQuadrature(21).nodes_and_weights
    return np.asarray(x), np.asarray(w)


try:
    NODES, WEIGHTS = _kronrod()
except ImportError:  # an older SciPy
    NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


class Interval:
    """An interval as the image of a plain one: x(u) and dx/du. Limits that differ under vmap are mapped."""

    def __init__(self, a: Any, b: Any) -> None:
        low, high = everywhere(a), everywhere(b)
        self.a, self.b, self.kind = a, b, (bool(np.isinf(low).all()), bool(np.isinf(high).all()))
        self.is_mapped, self.sign = is_batched(a) or is_batched(b), 1.0
        if any(self.kind) and (low > high).all():
            self.a, self.b, self.kind, self.sign = b, a, self.kind[::-1], -1.0
        self.is_finite = not any(self.kind)
        self.ends = (float(low), float(high)) if self.is_finite and not self.is_mapped else (0.0, 1.0)

    def x(self, u: Any) -> Any:
        """The point that belongs to u."""
        if self.is_finite:
            return self.a + (self.b - self.a) * u if self.is_mapped else u
        if self.kind == (False, True):
            return self.a + (1 - u) / u
        if self.kind == (True, False):
            return self.b - (1 - u) / u
        return (2 * u - 1) / (u * (1 - u))

    def slope(self, u: Any) -> Any:
        """dx/du"""
        if self.is_finite:
            return (self.b - self.a) + 0 * u if self.is_mapped else np.ones_like(u)
        if self.kind == (True, True):
            return self.sign * (2 * u * u - 2 * u + 1) / (u * (1 - u)) ** 2
        return self.sign / (u * u)


def everywhere(x: Any) -> Any:
    """The plain values of all examples."""
    return np.asarray(concrete(as_operand(x)))


def resolved(f: Function, interval: Interval, points: Any, tol: float) -> list[tuple[float, float]]:
    """Intervals on which the nodes resolve the integrand."""
    low, high = interval.ends
    given = () if points is None or interval.is_mapped else np.ravel(values(points))
    inner = sorted({float(p) for p in given}, reverse=low > high)
    edges = [low, *(p for p in inner if min(low, high) < p < max(low, high)), high]

    def integrand(u: float) -> Any:
        with np.errstate(all="ignore"):
            value = everywhere(f(interval.x(u))) * everywhere(interval.slope(np.asarray(u)))
        return np.where(np.isfinite(value), value, 0)

    found: list[tuple[float, float]] = []
    todo = [(p, q, _panel(integrand, p, q), 0) for p, q in zip(edges[:-1], edges[1:])]
    total = 0.0
    while todo and len(found) + len(todo) < 400:
        p, q, whole, depth = todo.pop()
        halves = [(*h, _panel(integrand, *h), depth + 1) for h in ((p, (p + q) / 2), ((p + q) / 2, q))]
        total = max(total, float(np.max(abs(whole), initial=0)))
        if (
            np.max(abs(whole - halves[0][2] - halves[1][2]), initial=0) <= tol * max(total, 1e-300)
            or depth > 40
        ):
            found.append((p, q))
        else:
            todo += halves
    return sorted([*found, *((p, q) for p, q, _, _ in todo)], reverse=low > high)


def _panel(integrand: Function, p: float, q: float) -> Any:
    half = (q - p) / 2
    return half * sum(w * integrand(p + half * (x + 1)) for x, w in zip(NODES, WEIGHTS))


def at_all(f: Function, xs: Any) -> Any:
    """f at all nodes: at once, or one after the other where it asks for values."""
    try:
        return vmap(lambda x: as_operand(f(x)) + 0.0)(xs)
    except (FuncgradError, TypeError):
        return np.stack([as_operand(f(xs[k])) + 0.0 for k in range(xs.shape[0])])


def integral(f: Function, a: Any, b: Any, points: Any = None, tol: float = 1e-13) -> Any:
    """The sum over nodes, with derivatives."""
    interval = Interval(a, b)
    nodes, weights = [], []
    low, high = interval.ends
    moves = interval.is_finite and not interval.is_mapped
    for p, q in resolved(_silent(f), interval, points, tol):
        left = interval.a if moves and p == low else p
        right = interval.b if moves and q == high else q
        half = (right - left) / 2
        nodes.append(left + half * (NODES + 1))
        weights.append(half * WEIGHTS)
    if not nodes:
        return 0.0 * as_operand(f(a))
    u, w = np.concatenate(nodes), np.concatenate(weights)
    w = w * interval.slope(u)
    found = at_all(f, interval.x(u))
    return np.tensordot(w, found, axes=1) if found.ndim > 1 else np.sum(w * found)


# ---- quad and its family -------------------------------------------------------------------------------------------------


def _weighted(f: Function, weight: Any, wvar: Any, a: Any, b: Any) -> tuple[Function, Any]:
    """The integrand with its weight, and what is added to its integral."""
    if weight is None:
        return f, 0.0
    if weight in ("cos", "sin"):
        wave = np.cos if weight == "cos" else np.sin
        return (lambda x: f(x) * wave(wvar * x)), 0.0
    if weight == "cauchy":
        middle = f(wvar)
        log = np.log((b - wvar) / (wvar - a))
        return (lambda x: (f(x) - middle) / (x - wvar)), middle * log
    alpha, beta = wvar
    end = lambda x: (x - a) ** alpha * (b - x) ** beta
    if weight == "alg":
        return (lambda x: f(x) * end(x)), 0.0
    logs = {
        "alg-loga": lambda x: np.log(x - a),
        "alg-logb": lambda x: np.log(b - x),
        "alg-log": lambda x: np.log(x - a) * np.log(b - x),
    }
    return (lambda x: f(x) * end(x) * logs[weight](x)), 0.0


@integrate.functional("quad")
def quad(
    func, a, b, args=(), full_output=0, points=None, weight=None, wvar=None, complex_func=False, **options
):
    args = as_args(args)
    named = {"weight": weight, "complex_func": complex_func, **options}
    silent = _silent(func)

    def solve(pick: Any) -> Any:
        f = lambda *given: pick(silent(*given))
        return si.quad(
            f, pick(a), pick(b), pick(args), full_output, points=pick(points), wvar=pick(wvar), **named
        )

    trace = batch_of(a, b, args, wvar, silent(_inside(a, b), *args))
    found = solve(values) if trace is None else (for_examples(trace, lambda pick: solve(pick)[0]), 0.0)
    if ONLY_VALUES.get():
        return found
    f, more = _weighted(lambda x: as_operand(func(x, *args)), weight, wvar, a, b)
    return (with_value(found[0], integral(f, a, b, points) + more), *found[1:])


def _inside(a: Any, b: Any) -> float:
    """A point of the interval."""
    low, high = float(everywhere(a).flat[0]), float(everywhere(b).flat[0])
    if np.isfinite(low) and np.isfinite(high):
        return 0.4 * low + 0.6 * high
    return low + 0.7 if np.isfinite(low) else high - 0.7 if np.isfinite(high) else 0.3


@integrate.functional("fixed_quad")
def fixed_quad(func, a, b, args=(), n=5):
    x, w = roots_legendre(n)
    half = (b - a) / 2
    return half * np.sum(w * as_operand(func(half * (x + 1) + a, *as_args(args))), axis=-1), None


integrate.rerun("dblquad tplquad nquad qmc_quad")
FUNCTIONALS.update(getattr(si, name) for name in ("dblquad", "tplquad", "nquad", "qmc_quad"))


@integrate.functional("quad_vec")
def quad_vec(f, a, b, points=None, full_output=False, args=(), **options):
    args = as_args(args)
    given = {key: v for key, v in options.items() if key != "workers"} | (
        {"args": values(args)} if args else {}
    )
    found = si.quad_vec(
        valued(f), values(a), values(b), points=values(points), full_output=full_output, **given
    )
    out = integral(lambda x: as_operand(f(x, *args)), a, b, points)
    return (with_value(found[0], out), *found[1:])


@integrate.functional("cubature")
def cubature(f, a, b, args=(), points=None, **options):
    args = as_args(args)
    a, b = as_operand(a), as_operand(b)
    given = {key: v for key, v in options.items() if key != "workers"}
    found = si.cubature(plainly(f), values(a), values(b), args=values(args), points=points, **given)
    if np.isinf(values(a)).any() or np.isinf(values(b)).any() or points:
        raise NotImplementedError(
            "scipy.integrate.cubature over an infinite region, or with points, has no derivative rule: map it"
        )
    total: Any = 0.0
    for region in found.regions:
        nodes, weights = _in_box(region, a, b)
        total = total + np.tensordot(weights, as_operand(f(nodes, *args)), axes=1)
    return with_fields(found, estimate=with_value(found.estimate, total))


def _in_box(region: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Nodes and weights in a box whose outer sides are those of the region of integration."""
    low, high = np.asarray(values(a)), np.asarray(values(b))
    axes, weights = [], []
    for k in range(len(low)):
        left = a[k] if region.a[k] == low[k] else region.a[k]
        right = b[k] if region.b[k] == high[k] else region.b[k]
        half = (right - left) / 2
        axes.append(left + half * (NODES + 1))
        weights.append(half * WEIGHTS)
    grid = np.meshgrid(*[np.arange(len(NODES))] * len(axes), indexing="ij")
    nodes = np.stack([x[g.reshape(-1)] for x, g in zip(axes, grid)], axis=-1)
    return nodes, math.prod(w[g.reshape(-1)] for w, g in zip(weights, grid))


# ---- elementwise: many integrals, many sums ------------------------------------------------------------------------------


def _double_exponential() -> tuple[Any, Any, Any]:
    """Nodes on (0, 1) as distances from either end, and weights (Takahasi and Mori, 1974)."""
    t = np.arange(-3.6, 3.6 + 1e-9, 1 / 32)
    s = np.pi / 2 * np.sinh(t)
    return 1 / (1 + np.exp(-2 * s)), 1 / (1 + np.exp(2 * s)), np.pi / 4 * np.cosh(t) / np.cosh(s) ** 2 / 32


@integrate.functional("tanhsinh")
def tanhsinh(f, a, b, args=(), log=False, preserve_shape=False, **options):
    args = as_args(args)
    given = {key: v for key, v in options.items() if key != "callback"}
    found = si.tanhsinh(
        plainly(f), values(a), values(b), args=values(args), log=log, preserve_shape=preserve_shape, **given
    )
    if log or preserve_shape:
        raise NotImplementedError(
            "scipy.integrate.tanhsinh with log or preserve_shape has no derivative rule"
        )
    a, b, *given_args = (as_operand(x) for x in (a, b, *args))
    low, high = np.isinf(values(a)), np.isinf(values(b))
    if np.any(low != low.flat[0]) or np.any(high != high.flat[0]):
        raise NotImplementedError(
            "scipy.integrate.tanhsinh over finite and infinite intervals together has no derivative rule"
        )
    a, b = (np.asarray(x)[..., None] if not isinstance(x, Tracer) else x[..., None] for x in (a, b))
    u, v, w = _double_exponential()
    if not low.any() and not high.any():
        x, slope = a + (b - a) * u, (b - a) * np.ones_like(u)
    elif high.all() and not low.any():
        x, slope = a + u / v, 1 / v**2
    elif low.all() and not high.any():
        x, slope = b - v / u, 1 / u**2
    else:
        x, slope = np.log(u / v), 1 / (u * v)
    terms = as_operand(f(x, *[np.expand_dims(as_operand(g), -1) for g in given_args])) * slope * w
    terms = np.where(np.isfinite(terms), terms, 0)
    return with_fields(found, integral=with_value(found.integral, np.sum(terms, axis=-1)))


@integrate.functional("nsum")
def nsum(f, a, b, step=1, args=(), log=False, **options):
    """Directly; an infinite sum by Euler's and Maclaurin's formula behind its first 64 terms."""
    args = as_args(args)
    found = si.nsum(
        plainly(f), values(a), values(b), step=values(step), args=values(args), log=log, **options
    )
    low, high, gap = (np.asarray(values(x), dtype=float) for x in (a, b, step))
    if log or low.ndim or high.ndim or gap.ndim or np.isinf(low):
        raise NotImplementedError(
            "scipy.integrate.nsum with log, or with arrays of limits, has no derivative rule: one sum at a time"
        )
    given = [np.expand_dims(as_operand(g), -1) for g in args]
    count = min(int((high - low) // gap) + 1, 100000) if np.isfinite(high) else 64
    terms = as_operand(f(low + gap * np.arange(count), *given))
    total = np.sum(terms, axis=-1)
    if np.isinf(high):
        total = total + _tail(lambda k: as_operand(f(k, *args)), low + gap * count, gap)
    return with_fields(found, sum=with_value(found.sum, total))


def _tail(f: Function, start: float, gap: float) -> Any:
    first = f(start)
    slope = lambda k: jvp(f, (k,), (np.ones_like(k),))[1]
    third = lambda k: jvp(lambda k: jvp(slope, (k,), (np.ones_like(k),))[1], (k,), (np.ones_like(k),))[1]
    start_ = np.asarray(start)
    corrections = first / 2 - gap * slope(start_) / 12 + gap**3 * third(start_) / 720
    return integral(f, start, np.inf) / gap + corrections
