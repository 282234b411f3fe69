"""Initial value problems as one system of equations: Radau's collocation on SciPy's own steps.

SciPy solves the problem, by any of its methods. On the steps that it has taken, the solution also solves the
equations of Radau IIA with four stages (order 7, and right for stiff problems): Y_i = y + h sum_j A_ij f(t +
c_j h, Y_j) in each step, of which the last stage is the next y. By the implicit function theorem, that system
has the derivatives of the solution, to any order: in y0, in the times, in arguments and in what f closes
over. Forward mode runs through the steps once, reverse mode once backwards; all slopes of f are computed at
once. (Hairer and Wanner, "Solving Ordinary Differential Equations II", IV.5. No step is repeated, nothing is
integrated backwards, and what is kept is the solution.) Slopes are dense matrices: for systems of up to some
hundred unknowns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import FuncgradError
from funcgrad.scipy.implicit import solved, written
from funcgrad.scipy.optimize.calls import values
from funcgrad.transforms.derivatives import jvp
from funcgrad.transforms.vectorize import vmap

Function = Callable[..., Any]


def radau(stages: int) -> tuple[Any, Any]:
    """The nodes c (of which the last is 1) and the matrix A of Radau IIA."""
    from scipy.special import roots_jacobi

    c = np.append((1 + roots_jacobi(stages - 1, 1, 0)[0]) / 2, 1.0) if stages > 1 else np.ones(1)
    powers = np.arange(stages)
    vandermonde = c[:, None] ** powers
    return c, (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(vandermonde)


C, A = radau(4)
S = len(C)


def vector(x: Any) -> Any:
    """What f returns, as a vector: it may be a list of numbers."""
    x = as_operand(x)
    return (x if isinstance(x, Tracer) else np.asarray(x)).reshape(-1)


def at_stages(f: Function, t: Any, y: Any) -> Any:
    """f(t, y) for all stages: t has the shape (steps, stages), y (steps, stages, n)."""
    n = y.shape[-1]
    flat_t, flat_y = t.reshape(-1), y.reshape(-1, n)
    try:
        out = vmap(lambda t, y: vector(f(t, y)) + 0.0)(flat_t, flat_y)
    except (FuncgradError, TypeError, ValueError):  # f asks for values, or for more than one example has
        out = np.stack([vector(f(flat_t[k], flat_y[k])) + 0.0 for k in range(flat_t.shape[0])])
    return out.reshape(y.shape)


class Collocated:
    """The equations on one grid. Their operands are y0, the times of the grid, and what f depends on.

    `f(t, y, given)` is for all stages at once.
    """

    def __init__(self, f: Function, n: int, count: int) -> None:
        self.f, self.n, self.count = f, n, count

    def residual(self, y: Any, y0: Any, grid: Any, given: Any) -> Any:
        """Y - y - h A f."""
        h, t = stage_times(grid)
        before = np.concatenate([y0[None], y[:-1, -1]])
        return y - before[:, None] - h[:, None, None] * np.einsum("ij,kjn->kin", A, self.f(t, y, given))

    def blocks(self, y: Any, grid: Any, given: Any) -> Any:
        """For each step the inverse of its own block, I - h A (x) df/dy, as a matrix of size stages * n."""
        h, t = stage_times(grid)
        along = lambda unit: jvp(lambda y: self.f(t, y, given), (y,), (np.broadcast_to(unit, y.shape),))[1]
        slopes = np.moveaxis(vmap(along)(np.eye(self.n)), 0, -1)
        size = S * self.n
        coupled = np.einsum("k,ij,kjmn->kimjn", h, A, slopes).reshape(self.count, size, size)
        return np.linalg.inv(np.eye(size) - coupled)

    def _hands(self, blocks: Any) -> Any:
        """What a change of y before a step does to its stages."""
        return blocks.reshape(self.count, S * self.n, S, self.n).sum(axis=2)

    def forward(self, blocks: Any, rhs: Any) -> Any:
        """The solution for a right side: a step hands its last stage on to the next."""
        own, hands = (blocks @ rhs.reshape(self.count, -1, 1))[..., 0], self._hands(blocks)
        last, parts = np.zeros(self.n), []
        for k in range(self.count):
            now = own[k] + hands[k] @ last
            parts.append(now)
            last = now[-self.n :]
        return np.stack(parts).reshape(self.count, S, self.n)

    def backward(self, blocks: Any, ct: Any) -> Any:
        """The transposed system, from the last step to the first."""
        ct, hands = ct.reshape(self.count, -1), self._hands(blocks)
        more, parts = np.zeros(self.n), []
        for k in range(self.count - 1, -1, -1):
            whole = np.concatenate([ct[k][: -self.n], ct[k][-self.n :] + more])
            parts.append(whole)
            more = whole @ hands[k]
        wholes = np.stack(parts[::-1])
        return (wholes[:, None, :] @ blocks)[:, 0].reshape(self.count, S, self.n)


def stage_times(grid: Any) -> tuple[Any, Any]:
    """The lengths of the steps, and the times of the stages."""
    h = grid[1:] - grid[:-1]
    return h, grid[:-1, None] + h[:, None] * C


def polished(steps: Collocated, y: Any, y0: Any, grid: Any, given: Any) -> Any:
    """The solution of the equations near SciPy's, by Newton's method with the slopes there; all plain."""
    blocks = steps.blocks(y, grid, given)
    before, name = np.inf, "scipy.integrate: the solution of an initial value problem"
    for k in range(30):
        change = steps.forward(blocks, steps.residual(y, y0, grid, given))
        size = float(np.max(abs(change), initial=0))
        if not np.isfinite(size):
            raise FloatingPointError(f"{name} became NaN or inf")
        y = y - change
        if size <= 1e-11 * max(1.0, float(np.max(abs(y), initial=0))) or size > 0.5 * before and k > 3:
            break
        if size > 0.1 * before:
            blocks = steps.blocks(y, grid, given)
        before = size
    return y


def solved_on(f: Function, y0: Any, grid: Any, guess: Any, name: str) -> Any:
    """All stages, of shape (steps, stages, n), with their derivatives; f(t, y) closes over what it likes."""
    plain_grid = np.asarray(values(grid))
    times = stage_times(plain_grid)[1]
    given, call = written(lambda t, y: at_stages(f, t, y), [times, guess])
    steps = Collocated(lambda t, y, given: call([t, y], given), guess.shape[-1], guess.shape[0])
    y = polished(steps, guess, np.asarray(values(y0)), plain_grid, values(given))

    def blocks(x: Any, operands: Any) -> Any:
        return steps.blocks(x, operands[1], operands[2:])

    return solved(
        name,
        y,
        [y0, grid, *given],
        lambda x, y0, grid, *given: steps.residual(x, y0, grid, given),
        lambda x, operands, rhs: steps.forward(blocks(x, operands), rhs),
        lambda x, operands, rhs: steps.backward(blocks(x, operands), rhs),
    )


def interpolated(t: Any, grid: Any, y0: Any, stages: Any) -> Any:
    """The polynomials of the steps at the times t: shape (n, len(t))."""
    plain = np.asarray(values(grid))
    forwards = plain[-1] >= plain[0]
    order = plain if forwards else -plain
    at = np.asarray(values(t)) if forwards else -np.asarray(values(t))
    k = np.clip(np.searchsorted(order, at, side="right") - 1, 0, len(plain) - 2)
    u = (t - grid[k]) / (grid[k + 1] - grid[k])
    nodes = np.append(0.0, C)
    before = np.concatenate([y0[None], stages[:-1, -1]])
    known = np.concatenate([before[:, None], stages], axis=1)[k]
    total: Any = 0.0
    for i, c in enumerate(nodes):
        others = np.delete(nodes, i)
        basis = np.prod(np.stack([(u - o) / (c - o) for o in others]), axis=0)
        total = total + basis[:, None] * known[:, i]
    return total.T
