"""fixed_point and root: solutions of equations, differentiated by the implicit function theorem.

The derivative does not run through the iteration, so it costs the same however many steps that took, keeps
nothing of them, and is there for a solver that funcgrad can't see into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.errors import ArgumentError
from funcgrad.transforms.equations import (
    Equation,
    FixedPoint,
    Flat,
    Limits,
    Map,
    RootEquation,
    flattened,
    largest,
    like,
    solution,
)
from funcgrad.transforms.matrices import jacrev
from funcgrad.transforms.programs import without_derivatives, write_down
from funcgrad.transforms.wrapping import check_function, name_of

Solver = Callable[[Callable[[Any], Any], Any], Any]


def fixed_point(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int = 1000,
    solver: Solver | None = None,
    progress: bool = False,
) -> Any:
    """The x with `x = f(x, *params)`, by iteration from x0; derivatives in `params` and closures of `f`.

    Args:
        f: the function; it returns a pytree like x. It must contract near the solution (the derivative's
            eigenvalues are below 1 in size): the derivatives are found by iteration as well.
        x0: where to start: a pytree of floating arrays. The solution does not depend on it, so it gets no
            derivative.
        params: further arguments of `f`: pytrees of anything.
        rtol, atol: iteration ends when no element of x changes by more than atol + rtol * (the largest in x).
            By default both are the precision of the dtype to the power 3/4 (2e-12 for float64).
        max_steps: how many iterations to try.
        solver: does the work instead of plain iteration: `solver(g, x0)` returns the solution of x = g(x),
            where g is `f` with plain params. It may be anything; nothing in it is differentiated.
        progress: show a bar that counts the steps (it needs tqdm).

    Returns:
        The solution, with the structure of x0, to any order in forward and reverse mode, and under vmap
        (where iteration goes on until all examples have converged).

    Raises:
        ConvergenceError: no solution within max_steps, or NaN. ArgumentError: f(x) does not look like x.

    >>> import numpy as np, funcgrad as fg
    >>> root_of = lambda a: fg.fixed_point(lambda x, a: (x + a / x) / 2, 1.0, a)
    >>> float(root_of(9.0)), round(float(fg.grad(root_of)(9.0)), 6)
    (3.0, 0.166667)
    """
    limits = Limits("fixed_point", rtol, atol, max_steps, progress)
    return _solved(FixedPoint, f, x0, params, limits, solver, lambda f, x: limits.iterated(f, x))


def root(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int = 100,
    solver: Solver | None = None,
    progress: bool = False,
) -> Any:
    """The x with `f(x, *params) = 0`, by Newton from x0; derivatives in `params` and closures of `f`.

    Args:
        f: the function; it returns a pytree with as many real numbers as x has. Its derivative in x must not
            be singular at the solution. (Jacobians are dense: for up to some thousand unknowns.)
        x0, params, rtol, atol, max_steps, solver, progress: as for `fixed_point`; the solver finds x with
            g(x) = 0, and may be one of scipy.optimize's. Steps of Newton's method are halved while they make
            things worse.

    Returns:
        The solution, with the structure of x0, as for `fixed_point`.

    Raises:
        ConvergenceError: no solution within max_steps, or NaN. ArgumentError: f(x) has another number of
            elements, or
        x is complex. LinAlgError: the Jacobian is singular.

    >>> import numpy as np, funcgrad as fg
    >>> cube_root = lambda a: fg.root(lambda x: x ** 3 - a, 1.0)
    >>> round(float(cube_root(8.0)), 12), round(float(fg.grad(cube_root)(8.0)), 12)
    (2.0, 0.083333333333)
    """
    limits = Limits("root", rtol, atol, max_steps, progress)
    return _solved(RootEquation, f, x0, params, limits, solver, lambda f, x: newton(f, x, limits))


def _solved(
    kind: type[Equation],
    f: Callable[..., Any],
    x0: Any,
    params: Sequence[Any],
    limits: Limits,
    solver: Solver | None,
    solve: Callable[[Map, Flat], Flat],
) -> Any:
    check_function(f, limits.name)
    limits.check()
    if solver is not None:
        check_function(solver, f"{limits.name}: solver=")
    leaves, structure = tree.flatten(x0)
    start = [_start(leaf, limits.name) for leaf in leaves]
    if kind is RootEquation and any(leaf.dtype.kind == "c" for leaf in start):
        raise ArgumentError("root: x0 is complex; write the equation for its real and imaginary parts")
    values = tree.map(without_derivatives, tuple(params))
    check = Check(kind, structure, f, limits.name)

    if solver is None:
        x = solve(lambda x: check.outputs(f(tree.unflatten(structure, x), *values), x), start)
    else:
        x = check.solution(
            solver(lambda x: tree.map(without_derivatives, f(x, *values)), tree.unflatten(structure, start))
        )
    x = [leaf if isinstance(leaf, Tracer) else np.asarray(leaf) for leaf in x]
    equation, operands = _equation(kind, f, x, params, check, limits)
    outs = [o[()] if type(o) is np.ndarray and o.shape == () else o for o in solution(equation, x, operands)]
    return tree.unflatten(structure, outs)


def _equation(
    kind: type[Equation], f: Callable[..., Any], x: Flat, params: Sequence[Any], check: Check, limits: Limits
) -> tuple[Equation, Flat]:
    """What the solution x satisfies, and the operands that it depends on: params, and what `f` closes over."""
    leaves, structure = tree.flatten(tuple(params))
    n = len(x)

    def flat(both: Flat) -> list[Any]:
        arguments = tree.unflatten(structure, both[n:])
        return check.outputs(f(tree.unflatten(check.structure, both[:n]), *arguments), both[:n])

    recording = write_down(flat, [*x, *leaves])
    program = recording.program
    places = [
        next((k for k, leaf in enumerate(x) if leaf is operand), None) for operand in recording.operands
    ]

    def apply(x: Flat, operands: Flat) -> list[Any]:
        rest: Iterator[Any] = iter(operands)
        return program.filled(program([next(rest) if k is None else x[k] for k in places]))

    return kind(apply, limits), [o for o, k in zip(recording.operands, places, strict=True) if k is None]


class Check:
    """Does what `f` returns look like x?"""

    def __init__(self, kind: type[Equation], structure: tree.Structure, f: Any, transform: str) -> None:
        self.kind, self.structure, self.title = kind, structure, f"{transform}: {name_of(f)}"

    def outputs(self, out: Any, x: Flat) -> list[Any]:
        """The leaves of f(x)."""
        if self.kind is RootEquation:
            leaves = [_number(leaf, self.title) for leaf in tree.leaves(out)]
            if sum(leaf.size for leaf in leaves) != sum(leaf.size for leaf in x):
                raise ArgumentError(
                    f"{self.title} returned {sum(leaf.size for leaf in leaves)} numbers for {sum(leaf.size for leaf in x)} "
                    "unknowns; it needs as many equations as unknowns"
                )
            return leaves
        leaves = [_number(leaf, self.title) for leaf in self.solution(out)]
        for leaf, value in zip(leaves, x, strict=True):
            if leaf.shape != value.shape:
                raise ArgumentError(
                    f"{self.title} returned shape {leaf.shape} for x of shape {value.shape}; it must return a new x"
                )
        return leaves

    def solution(self, x: Any) -> list[Any]:
        """The leaves of a tree like x."""
        try:
            return tree.flatten_like(self.structure, x, what="what it returned")
        except ValueError as error:
            raise ArgumentError(f"{self.title}: {error}. It must look like x0.") from None


def _start(leaf: Any, transform: str) -> Any:
    leaf = without_derivatives(leaf)
    value = leaf if isinstance(leaf, Tracer) else np.asarray(leaf)
    if value.dtype.kind in "iub":
        value = value.astype(float)
    if value.dtype.kind not in "fc":
        raise ArgumentError(f"{transform}: x0 must hold numbers, not {type(leaf).__name__}")
    return value


def _number(leaf: Any, title: str) -> Any:
    value = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
    if value.dtype.kind not in "iubfc":
        raise ArgumentError(f"{title} must return numbers, not {type(leaf).__name__}")
    return value if value.dtype.kind in "fc" else value.astype(float)


def newton(f: Map, x: Flat, limits: Limits) -> Flat:
    """A root of `f`, a function between flat lists, by Newton's method with halved steps."""
    shapes, v = x, flattened(x)

    def residual(v: Any) -> Any:
        return flattened(f(like(shapes, v)))

    def twice(v: Any) -> Any:
        r = residual(v)
        return r, r

    change = np.inf
    for _ in limits.steps():
        jacobian, r = map(without_derivatives, jacrev(twice, has_aux=True)(v))
        try:
            step = -np.linalg.solve(jacobian, r)
        except np.linalg.LinAlgError:
            raise limits.failure("its Jacobian became singular") from None
        v, change, is_whole = descended(residual, v, step, size(r), limits)
        if is_whole and limits.allow(change, [v]):
            return like(shapes, v)
    raise limits.failure(f"after {limits.max_steps} steps it still changed by {change:.3g}")


def descended(
    residual: Callable[[Any], Any], v: Any, step: Any, before: float, limits: Limits
) -> tuple[Any, float, bool]:
    """v + step, or as much of the step as makes the residual smaller.

    How far that was, and whether it was all of it.
    """
    for halvings in range(20):
        new, change = v + step, largest([step])
        after = size(residual(new))
        if after <= before or halvings == 0 and limits.allow(change, [new]):
            return new, change, halvings == 0
        step = step / 2
    raise limits.failure(f"Newton's step does not make the residual, {before:.3g}, smaller")


def size(residual: Any) -> float:
    """The Euclidean length of all residuals together; inf where one is NaN."""
    length = float(np.linalg.norm(concrete(residual)))
    return length if np.isfinite(length) else np.inf
