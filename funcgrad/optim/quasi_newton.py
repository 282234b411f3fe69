"""L-BFGS: steps along the gradient times an inverse Hessian that is estimated from the last steps.

Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 7.4 and 7.5. One function, `advance`,
works on vectors and is beneath the pure form here and the optimizer of `funcgrad.torch`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import NonDifferentiableError
from funcgrad.optim.rules import check
from funcgrad.optim.wolfe import MAX_TRIALS, Trial, search
from funcgrad.transforms.derivatives import value_and_grad

Evaluate = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclasses.dataclass
class Memory:
    """What is kept between calls: counts, last direction and step length, pairs of steps and changes."""

    func_evals: int = 0
    n_iter: int = 0
    d: Any = None
    t: float = 0.0
    old_dirs: list[Any] = dataclasses.field(default_factory=list)  # changes of the gradient
    old_stps: list[Any] = dataclasses.field(default_factory=list)  # the steps that made them
    ro: list[float] = dataclasses.field(default_factory=list)
    H_diag: float = 1.0
    prev_flat_grad: Any = None
    prev_loss: float = 0.0


class Reached(NamedTuple):
    """Where steps led: vector, value and gradient there (None if not computed), the value at the start."""

    x: np.ndarray
    value: float
    gradient: Any
    first: float


def advance(evaluate: Evaluate, x: np.ndarray, memory: Memory, h: Any) -> Reached:
    """Up to `max_iter` steps from the real vector `x`. `memory` is changed.

    `evaluate(x)` gives value and gradient, and may move `x`, in place. `h` has lr, max_iter, max_eval,
    tolerance_grad, tolerance_change, history_size, line_search (None: steps of length lr; "strong_wolfe").
    """
    value, gradient = evaluate(x)
    first, calls, known = value, 1, True
    memory.func_evals += 1
    flat = _largest(gradient) <= h.tolerance_grad
    for n in range(1, h.max_iter + 1):
        if flat:
            break
        memory.n_iter += 1
        direction = _direction(memory, gradient, h.history_size)
        slope = float(gradient @ direction)
        length = h.lr * (min(1.0, 1.0 / np.abs(gradient).sum()) if memory.n_iter == 1 else 1.0)
        memory.d, memory.t, memory.prev_flat_grad, memory.prev_loss = direction, length, gradient, value
        if slope > -h.tolerance_change:
            break
        if h.line_search is not None:
            now, trials = _searched(
                evaluate, x, Trial(0.0, value, gradient, slope), memory, h.max_eval - calls
            )
            value, gradient, memory.t = now.value, now.gradient, now.length
        else:
            trials = int(n != h.max_iter)  # the next call begins with the value after the last step
            known = bool(trials)
        x = x + (memory.t * direction).astype(x.dtype)
        if h.line_search is None and trials:
            value, gradient = evaluate(x)
        flat = _largest(gradient) <= h.tolerance_grad
        calls, memory.func_evals = calls + trials, memory.func_evals + trials
        if calls >= h.max_eval or memory.t * _largest(direction) <= h.tolerance_change:
            break
        if abs(value - memory.prev_loss) < h.tolerance_change and trials:
            break
    return Reached(x, value, gradient if known else None, first)


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0))


def _searched(
    evaluate: Evaluate, x: np.ndarray, start: Trial, memory: Memory, left: int
) -> tuple[Trial, int]:
    direction = memory.d

    def at(length: float) -> Trial:
        value, gradient = evaluate(x + (length * direction).astype(x.dtype))
        return Trial(length, value, gradient, float(gradient @ direction))

    return search(at, start, memory.t, _largest(direction), min(MAX_TRIALS, left))


def _direction(memory: Memory, gradient: np.ndarray, history_size: int) -> np.ndarray:
    """Minus the gradient times the estimated inverse Hessian, after the last step has entered the estimate."""
    if memory.n_iter == 1:
        return -gradient
    change, step = gradient - memory.prev_flat_grad, memory.d * np.asarray(memory.t, memory.d.dtype)
    product = float(change @ step)
    if product > 1e-10:
        if len(memory.ro) == history_size:
            for old in (memory.old_dirs, memory.old_stps, memory.ro):
                del old[0]
        memory.old_dirs.append(change)
        memory.old_stps.append(step)
        memory.ro.append(1.0 / product)
        memory.H_diag = product / float(change @ change)
    direction, weights = -gradient, []
    triples = list(zip(memory.old_dirs, memory.old_stps, memory.ro))
    for change, step, ro in reversed(triples):
        weights.append(float(step @ direction) * ro)
        direction = direction - np.asarray(weights[-1], direction.dtype) * change
    direction = direction * np.asarray(memory.H_diag, direction.dtype)
    for (change, step, ro), weight in zip(triples, reversed(weights)):
        direction = direction + np.asarray(weight - float(change @ direction) * ro, direction.dtype) * step
    return direction


# ---- on pytrees ------------------------------------------------------------------------------------------------------
class LBFGSState(NamedTuple):
    """What L-BFGS keeps between updates: its memory, and the value and gradient (a vector) at the parameters."""

    memory: Memory
    value: float
    gradient: Any


@dataclasses.dataclass(frozen=True)
class LBFGS:
    """L-BFGS for functions without noise; an update makes `max_iter` steps.

    `line_search` is "strong_wolfe", or None for steps of length `lr`. The parameters are a pytree of
    floating-point or complex arrays. The steps themselves are not differentiated; for the derivative of a
    minimum see `fixed_point` and `root`.

    >>> from funcgrad import optim
    >>> def rosenbrock(x):
    ...     return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    >>> optimizer, x = optim.LBFGS(), np.zeros(4)
    >>> state = optimizer.init(x)
    >>> for _ in range(4):
    ...     x, state = optimizer.update(rosenbrock, state, x)
    >>> np.round(x, 6)
    array([1., 1., 1., 1.])
    """

    lr: float = 1.0
    max_iter: int = 20
    max_eval: int | None = None
    tolerance_grad: float = 1e-7
    tolerance_change: float = 1e-9
    history_size: int = 100
    line_search: str | None = "strong_wolfe"

    def __post_init__(self) -> None:
        check(vars(self))
        if self.line_search not in (None, "strong_wolfe"):
            raise ValueError(
                f"optim.LBFGS: line_search must be 'strong_wolfe' or None, found {self.line_search!r}"
            )
        if self.max_eval is None:
            object.__setattr__(self, "max_eval", self.max_iter * 5 // 4)

    def init(self, params: Any) -> LBFGSState:
        """The state to begin with."""
        vector(params)
        return LBFGSState(Memory(), float("nan"), None)

    def update(self, fun: Callable[[Any], Any], state: LBFGSState, params: Any) -> tuple[Any, LBFGSState]:
        """The parameters after up to `max_iter` steps that make `fun(params)` smaller, and the next state.

        `fun` gives a real scalar. Raises NonDifferentiableError for tracers, and for parameters that are no
        floating-point or complex numbers.
        """
        x, restored = vector(params)
        memory = dataclasses.replace(
            state.memory,
            **{name: list(getattr(state.memory, name)) for name in ("old_dirs", "old_stps", "ro")},
        )
        both = value_and_grad(fun)

        def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradients = both(restored(x))
            return float(value), vector(tree.map(np.conj, gradients))[0].astype(x.dtype)

        end = advance(evaluate, x, memory, self)
        at_end = evaluate(end.x) if end.gradient is None else (end.value, end.gradient)
        return restored(end.x), LBFGSState(memory, *at_end)


def vector(params: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """A tree as one real vector (complex numbers as two), and the way back."""
    if any(isinstance(leaf, Tracer) for leaf in tree.leaves(params)):
        raise NonDifferentiableError(
            "optim.LBFGS: its steps are not differentiated. Differentiate the minimum implicitly, with funcgrad.root of the "
            "gradient, or step with another optimizer."
        )
    flat, unravel = tree.ravel(params)
    if flat.dtype.kind not in "fc":
        raise NonDifferentiableError(
            f"optim.LBFGS: parameters must be floating-point or complex, found {flat.dtype}"
        )
    return flat.view(flat.real.dtype), lambda x: unravel(x.view(flat.dtype))


class Minimum(NamedTuple):
    """What `minimize` found: parameters, value, gradient, number of calls, and whether it converged."""

    params: Any
    value: float
    gradient: Any
    calls: int
    converged: bool


def minimize(
    fun: Callable[[Any], Any], params: Any, *, max_iter: int = 500, tolerance: float = 1e-6, **options: Any
) -> Minimum:
    """The minimum of a real scalar `fun(params)` near `params` (a pytree), by L-BFGS with strong Wolfe steps.

    It has `converged` when no element of the gradient is larger than `tolerance`. `options` are those of
    `LBFGS`. It stops early, not converged, where no step makes `fun` smaller. Raises as `LBFGS.update`.

    >>> from funcgrad import optim
    >>> found = optim.minimize(lambda p: np.sum((p["x"] - np.arange(3.0)) ** 4) + p["y"] ** 2, {"x": np.zeros(3), "y": 1.0})
    >>> found.converged
    True
    """
    optimizer = LBFGS(
        max_iter=max_iter, max_eval=max_iter * 5, tolerance_grad=tolerance, tolerance_change=0.0, **options
    )
    params, state = optimizer.update(fun, optimizer.init(params), params)
    converged = bool(_largest(state.gradient) <= tolerance)
    gradient = vector(params)[1](state.gradient)
    return Minimum(params, state.value, tree.map(np.conj, gradient), state.memory.func_evals, converged)
