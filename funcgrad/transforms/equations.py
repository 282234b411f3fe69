"""Solutions of equations as opaque calls: derivatives follow from the equation, not the solver.

An equation holds a function `apply(x, operands)` between flat lists, and what its solution x satisfies:

    FixedPoint    x = apply(x, operands)        Root    apply(x, operands) = 0

With A and B the derivatives of `apply` in x and in the operands, the derivative of the solution in the
operands is (I - A)^-1 B for a fixed point, and -A^-1 B for a root (the implicit function theorem). For a
fixed point the inverse is found by iteration too: it is the solution of another, linear, equation, and so has
derivatives of its own, to any order. For a root a dense system is solved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.arrays.zeros import zeros
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import sweep
from funcgrad.core.engine.trace import Trace, Tracer, bind, concrete, lower
from funcgrad.core.memory.guard import SavedCopies
from funcgrad.errors import ArgumentError, ConvergenceError
from funcgrad.transforms.matrices import jacrev
from funcgrad.transforms.opaque import Outputs, PullCall, StandIn, flat_call
from funcgrad.transforms.programs import without_derivatives
from funcgrad.transforms.progress import shown
from funcgrad.transforms.transposition import node_of
from funcgrad.typed import override

Flat = Sequence[Any]
Map = Callable[[Flat], list[Any]]


class Limits(NamedTuple):
    """When an iteration has converged, and when it is given up. The default tolerance is eps**(3/4)."""

    name: str
    rtol: float | None
    atol: float | None
    max_steps: int
    progress: bool = False

    def check(self) -> None:
        """Refuse limits under which no iteration could succeed."""
        steps = self.max_steps
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
            raise ArgumentError(f"{self.name}: max_steps must be an int of at least 1, not {steps!r}")
        for name, tol in (("rtol", self.rtol), ("atol", self.atol)):
            if tol is not None and not tol >= 0:
                raise ArgumentError(
                    f"{self.name}: {name} must be at least 0, or None for the default, not {tol!r}"
                )

    def steps(self) -> Iterable[int]:
        """The steps that may be made, with a bar if one was asked for."""
        return shown(range(self.max_steps), self.name, progress=self.progress)

    def allow(self, change: float, x: Flat) -> bool:
        """Is this change of x small enough?"""
        default = max((precision(leaf) for leaf in x), default=0.0) ** 0.75
        rtol, atol = (default if tol is None else tol for tol in (self.rtol, self.atol))
        return change <= atol + rtol * largest(x)

    def failure(self, what: str) -> ConvergenceError:
        """The error for an iteration that is given up."""
        return ConvergenceError(
            f"{self.name} did not converge: {what}. Start closer to the solution, or give rtol=, max_steps= or solver=."
        )

    def iterated(self, step: Map, x: Flat) -> Flat:
        """x = step(x), until it stays."""
        change = math.inf
        for _ in self.steps():
            before, x = x, [without_derivatives(leaf) for leaf in step(x)]
            change = largest([a - b for a, b in zip(x, before, strict=True)])
            if not math.isfinite(change):
                raise self.failure("its values became NaN or inf")
            if self.allow(change, x):
                return x
        raise self.failure(f"after {self.max_steps} steps it still changed by {change:.3g}")


def largest(x: Flat) -> float:
    """The largest absolute value among all elements (of all examples, under vmap)."""
    return max((float(np.max(np.abs(concrete(leaf)), initial=0)) for leaf in x), default=0.0)


def precision(x: Any) -> float:
    """The distance from 1 to the next number of the dtype of `x`."""
    return float(np.finfo(x.dtype).eps)


# ---- derivatives of flat functions -----------------------------------------------------------------------------------


def pullback(fun: Map, values: Flat) -> Map:
    """The transposed derivative of `fun`, a function between flat lists, recorded once."""
    with ReverseTrace(SavedCopies()) as trace:
        leaves = [trace.leaf(v) for v in values]
        ends = [node_of(trace, o) for o in fun(leaves)]

    def pull(cts: Flat) -> list[Any]:
        leaf_cts = sweep([(n, ct) for n, ct in zip(ends, cts, strict=True) if n is not None])
        return [leaf_cts[leaf._node] if leaf._node in leaf_cts else zeros(leaf) for leaf in leaves]

    return pull


def pushforward(fun: Map, values: Flat) -> Map:
    """The derivative of `fun`, a function between flat lists. A tangent of None is zero."""

    def push(tangents: Flat) -> list[Any]:
        with ForwardTrace() as trace:
            tracers = [v if t is None else trace.wrap(v, t) for v, t in zip(values, tangents, strict=True)]
            return [tangent_of(trace, o) for o in fun(tracers)]

    return push


def tangent_of(trace: ForwardTrace, x: Any) -> Any:
    """The tangent of an output."""
    if isinstance(x, Tracer) and x._trace is trace and x._node is not None:
        return dense(x._node)
    return zeros(lower(trace, x))


def added(x: Flat, y: Flat) -> list[Any]:
    """The sum of two flat lists."""
    return [a + b for a, b in zip(x, y, strict=True)]


def flattened(x: Flat) -> Any:
    """All elements as one vector."""
    return np.concatenate([leaf.reshape(-1) for leaf in x])


def like(x: Flat, vector: Any) -> list[Any]:
    """The elements of a vector, in the shapes of x."""
    at, parts = 0, []
    for leaf in x:
        size = math.prod(leaf.shape)
        parts.append(vector[at : at + size].reshape(leaf.shape))
        at += size
    return parts


# ---- equations -------------------------------------------------------------------------------------------------------


class Equation:
    """What a solution satisfies."""

    def __init__(self, apply: Callable[[Flat, Flat], list[Any]], limits: Limits) -> None:
        self.apply, self.limits = apply, limits

    def forward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        """(I - A)^-1 rhs, or -A^-1 rhs."""
        raise NotImplementedError

    def backward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        """The same with A transposed."""
        raise NotImplementedError


class FixedPoint(Equation):
    """x = apply(x, operands)."""

    @override
    def forward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return self._solved(pushforward, x, operands, rhs)

    @override
    def backward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return self._solved(pullback, x, operands, rhs)

    def _solved(self, derivative: Callable[[Map, Flat], Map], x: Flat, operands: Flat, rhs: Flat) -> Flat:
        """u = rhs + derivative(u), by iteration: a fixed point itself, of rhs, x and operands."""
        n, m = len(rhs), len(x)

        def linear_map(inputs: Flat) -> Map:
            return derivative(lambda x: self.apply(x, inputs[n + m :]), inputs[n : n + m])

        inputs = [*rhs, *x, *operands]
        values = [without_derivatives(v) for v in inputs]
        map_of_values = linear_map(values)
        u = self.limits.iterated(lambda u: added(values[:n], map_of_values(u)), values[:n])
        equation = FixedPoint(lambda u, inputs: added(inputs[:n], linear_map(inputs)(u)), self.limits)
        return solution(equation, u, inputs)


class RootEquation(Equation):
    """apply(x, operands) = 0, for real x."""

    @override
    def forward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return like(x, np.linalg.solve(self.jacobian(x, operands), -flattened(rhs)))

    @override
    def backward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return like(rhs, np.linalg.solve(self.jacobian(x, operands).T, -flattened(rhs)))

    def jacobian(self, x: Flat, operands: Flat) -> Any:
        """The derivative of `apply` in x, as one matrix."""
        return jacrev(lambda v: flattened(self.apply(like(x, v), operands)))(flattened(x))


class BatchedEquation(Equation):
    """An equation for a whole batch: that of one example, on batch tracers."""

    def __init__(self, inner: Equation, trace: BatchTrace, flags: Sequence[bool]) -> None:
        super().__init__(self._apply, inner.limits)
        self.inner, self.trace, self.flags = inner, trace, flags

    def _apply(self, x: Flat, operands: Flat) -> list[Any]:
        return self._run(lambda x, operands, _: self.inner.apply(x, operands), x, operands, ())

    @override
    def forward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return self._run(self.inner.forward, x, operands, rhs)

    @override
    def backward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return self._run(self.inner.backward, x, operands, rhs)

    def _run(
        self, method: Callable[[Flat, Flat, Flat], Flat], x: Flat, operands: Flat, rhs: Flat
    ) -> list[Any]:
        with StandIn(self.trace) as batch:
            x, rhs = (batch.given(values, [True] * len(values)) for values in (x, rhs))
            return batch.taken(method(x, batch.given(operands, self.flags), rhs))


# ---- the call --------------------------------------------------------------------------------------------------------


class SolutionCall(PullCall):
    """The solution of an equation, as a function of its operands.

    The first of its own are the solution's `count` values.
    """

    def __init__(self, equation: Equation, count: int) -> None:
        super().__init__(equation.limits.name)
        self.equation, self.count = equation, count

    @override
    def run(self, call: Call) -> list[Any]:
        """The solution, which was found before."""
        return list(call.operands[: self.count])

    @override
    def fwd(self, operands: Flat, slots: Sequence[int], trace: Trace) -> Outputs:
        x = bind(self, flat_call(operands))
        return x, (x, operands[self.count :])

    @override
    def bwd(self, residuals: Any, cts: Flat, slots: Sequence[int]) -> Sequence[Any]:
        x, operands = residuals
        u = self.equation.backward(
            x, operands, [zeros(v) if ct is None else ct for ct, v in zip(cts, x, strict=True)]
        )
        where = [i - self.count for i in slots]

        def of_chosen(chosen: Flat) -> list[Any]:
            full = list(operands)
            for i, value in zip(where, chosen, strict=True):
                full[i] = value
            return self.equation.apply(x, full)

        return pullback(of_chosen, [operands[i] for i in where])(u)

    @override
    def jvp(self, operands: Flat, tangents: dict[int, Any], trace: Trace) -> Outputs:
        x, constants = bind(self, flat_call(operands)), operands[self.count :]
        push = pushforward(lambda constants: self.equation.apply(x, constants), constants)
        return x, self.equation.forward(
            x, constants, push([tangents.get(i + self.count) for i in range(len(constants))])
        )

    @override
    def on_batch(self, trace: BatchTrace, call: Call, batched: Sequence[bool]) -> list[Any]:
        x, constants = call.operands[: self.count], call.operands[self.count :]
        x = [
            v if b else np.broadcast_to(v, (trace.size, *np.shape(v)))
            for v, b in zip(x, batched, strict=False)
        ]
        batched_call = SolutionCall(BatchedEquation(self.equation, trace, batched[self.count :]), self.count)
        return [trace.wrap(v, None) for v in bind(batched_call, flat_call([*x, *constants]))]


def solution(equation: Equation, x: Flat, operands: Flat) -> Flat:
    """x, with its derivatives in the operands; x itself comes without any."""
    if all(without_derivatives(v) is v or is_batch_of_values(v) for v in operands):
        return x
    return bind(SolutionCall(equation, len(x)), flat_call([*x, *operands]))


def is_batch_of_values(x: Any) -> bool:
    """Is nothing but vmap at work on x?"""
    while isinstance(x, Tracer) and isinstance(x._trace, BatchTrace):
        x = x._value
    return not isinstance(x, Tracer)
