"""Integrals of a density and its derivatives in shapes: what cdf derivatives are made of.

d/dtheta of F(x; theta) is the integral of d/dtheta of the density. It is computed by the double exponential
formula (H. Takahasi and M. Mori, "Double exponential formulas for numerical integration", Publications of the
RIMS 9 (1974), 721), with twice as many nodes until nothing changes; over the smaller tail, so that small
probabilities keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Trace, Tracer, bind
from funcgrad.transforms.derivatives import jvp
from funcgrad.transforms.opaque import OpaqueCall, Outputs, flat_call

Formula = Callable[..., Any]


class Elementary(OpaqueCall):
    """An elementwise function of operands of one shape; its partials are formulas of (*operands, out)."""

    def __init__(self, name: str, heart: Formula, partials: Sequence[Formula]) -> None:
        super().__init__(name)
        self.heart, self.partials = heart, partials

    def __call__(self, *operands: Any) -> Any:
        """The function of operands that broadcast."""
        return bind(self, flat_call(np.broadcast_arrays(*operands)))[0]

    def run(self, call: Call) -> list[Any]:
        """The function itself."""
        return [self.heart(*call.operands)]

    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        """The output, and what the partial derivatives are made of."""
        outs = bind(self, flat_call(operands))
        return outs, (list(operands), outs[0])

    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        """The cotangent times a partial derivative."""
        operands, out = residuals
        return [cts[0] * self.partials[i](*operands, out) for i in slots]

    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        """The sum of tangents times partial derivatives."""
        outs = bind(self, flat_call(operands))
        return outs, [sum(t * self.partials[i](*operands, outs[0]) for i, t in tangents.items())]

    def on_batch(self, trace: BatchTrace, call: Call, batched: Sequence[bool]) -> list[Any]:
        whole = next(x.shape for x, is_batched in zip(call.operands, batched, strict=True) if is_batched)
        return [
            trace.wrap(bind(self, flat_call([np.broadcast_to(x, whole) for x in call.operands]))[0], None)
        ]


def slope(f: Formula, k: int) -> Formula:
    """The partial derivative of an elementwise function in its operand k, as a function."""

    def partial(*operands: Any) -> Any:
        ts = [np.ones_like(x) if i == k else np.zeros_like(x) for i, x in enumerate(operands)]
        return jvp(f, tuple(operands), tuple(ts))[1]

    return partial


def integral(name: str, h: Formula, above: Callable[..., Any] | None = None, b: float = np.inf) -> Elementary:
    """The integral of h(t, *theta) from `lower` to `upper`, as a function of (lower, upper, *theta).

    Where `above(upper, *theta)`, it is minus the integral from `upper` to b: the same, if h integrates to
    zero, and less of it.
    """

    def heart(lower: Any, upper: Any, *theta: Any) -> Any:
        return _integrated(h, above, b, [np.asarray(v, float) for v in (lower, upper, *theta)])

    def partial(k: int) -> Formula:
        if k == 0:
            return lambda *values: -_at_end(h, values[0], values[2:-1])
        if k == 1:
            return lambda *values: _at_end(h, values[1], values[2:-1])
        return lambda *values: integral(name, slope(h, k - 1), above, b)(*values[:-1])

    return Elementary(name, heart, _Lazy(partial))


def _at_end(h: Formula, end: Any, theta: Any) -> Any:
    """The integrand at an end, which contributes nothing if it is infinite."""
    finite = np.isfinite(end)
    return np.where(finite, h(np.where(finite, end, 0.0), *theta), 0.0)


class _Lazy(Sequence[Formula]):
    """Partial derivatives, made when they are asked for."""

    def __init__(self, make: Callable[[int], Formula]) -> None:
        self.make = make

    def __getitem__(self, k: Any) -> Any:
        return self.make(k)

    def __len__(self) -> int:
        return 1 << 10


def _integrated(h: Formula, is_above: Any, b: float, operands: Sequence[Any]) -> Any:
    shape = np.broadcast_shapes(*(v.shape for v in operands))
    lower, upper, *theta = (np.broadcast_to(v, shape).reshape(-1) for v in operands)
    sign = np.ones(lower.shape)
    if is_above is not None:
        above = np.asarray(is_above(upper, *theta), bool)
        lower, upper = np.where(above, upper, lower), np.where(above, b, upper)
        sign = np.where(above, -1.0, 1.0)
    out = np.empty(lower.shape)
    kinds = np.isfinite(lower) * 2 + np.isfinite(upper)
    for kind in np.unique(kinds):
        chosen = kinds == kind
        out[chosen] = _sum(h, _NODES[int(kind)], lower[chosen], upper[chosen], [v[chosen] for v in theta])
    return (sign * out).reshape(shape)


def _finite(s: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Nodes and weights between a and b; near a they keep their distance from it."""
    u = np.pi * np.sinh(s)
    share, rest = 1 / (1 + np.exp(-u)), 1 / (1 + np.exp(u))
    t = np.where(u < 0, a + (b - a) * share, b - (b - a) * rest)
    return t, (b - a) * share * rest * np.pi * np.cosh(s)


def _from(s: Any, a: Any, b: Any) -> tuple[Any, Any]:
    u = np.exp(np.pi / 2 * np.sinh(s))
    return a + u, u * np.pi / 2 * np.cosh(s)


def _until(s: Any, a: Any, b: Any) -> tuple[Any, Any]:
    u = np.exp(np.pi / 2 * np.sinh(s))
    return b - u, u * np.pi / 2 * np.cosh(s)


def _everywhere(s: Any, a: Any, b: Any) -> tuple[Any, Any]:
    u = np.pi / 2 * np.sinh(s)
    zeros = np.zeros(np.shape(a))
    return np.sinh(u) + zeros, np.cosh(u) * np.pi / 2 * np.cosh(s) + zeros


_NODES = {0: _everywhere, 1: _until, 2: _from, 3: _finite}
REACH, LEVELS = 4.5, 7


def _sum(h: Formula, nodes: Formula, a: Any, b: Any, theta: Sequence[Any]) -> Any:
    """The trapezoidal rule in the transformed variable, halving the step until an element's digits stay."""
    step, total = 0.125, np.zeros(a.shape)
    open_ones = np.arange(a.size)  # the elements whose digits still change
    with np.errstate(all="ignore"):
        for level in range(LEVELS):
            count = int(REACH / step)
            s = np.arange(-count, count + 1) if level == 0 else np.arange(-count + 1, count, 2)
            t, weight = nodes((s * step)[:, None], a[open_ones], b[open_ones])
            values = h(t, *(np.broadcast_to(v[open_ones], t.shape) for v in theta)) * weight
            found = step * np.sum(np.where(np.isfinite(values), values, 0.0), axis=0)
            before = total[open_ones]
            total[open_ones] = found if level == 0 else 0.5 * before + found
            change = abs(total[open_ones] - before)
            open_ones = open_ones[(change > 1e-13 * abs(before)) & (change > 1e-290) | (level == 0)]
            if not open_ones.size:
                break
            step /= 2
    return total


def traced(*values: Any) -> bool:
    """Is there a tracer among these?"""
    return any(isinstance(v, Tracer) for v in values)
