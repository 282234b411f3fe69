"""Linear programs and assignments: the solution is where the active constraints meet.

While the active constraints stay the same, x solves a square linear system of them. A degenerate vertex,
where more constraints meet than there are unknowns, or fewer, has no derivative and is refused by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as so

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import NonDifferentiableError
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.optimize.calls import values, with_fields

optimize = Chapter("optimize")
optimize.rerun("rosen rosen_der rosen_hess rosen_hess_prod")
optimize.piecewise_constant(
    "linear_sum_assignment", signature="cost_matrix, maximize=False", operands="cost_matrix"
)


optimize.unsupported(
    "milp",
    "integers jump, and do not move",
    "Write scipy.optimize.linprog with the integers fixed at their best values (as bounds), or a smooth relaxation.",
)


def _bounds(bounds: Any, n: int) -> list[tuple[Any, Any]]:
    pairs = [bounds] * n if np.ndim(values(bounds)) == 1 else list(bounds)
    pairs = pairs * n if len(pairs) == 1 and n > 1 else pairs
    return [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in pairs]


def _stacked(rows: list[Any]) -> Any:
    return np.stack([r if isinstance(r, Tracer) else np.asarray(r, dtype=float) for r in rows])


@optimize.composite("linprog")
def linprog(c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None), method="highs", **options):
    given = values([c, A_ub, b_ub, A_eq, b_eq])
    found = so.linprog(*given, bounds=values(bounds), method=method, **options)
    c = as_operand(c)
    if found.x is None:
        return found
    x = _vertex(found, c, (A_ub, b_ub, A_eq, b_eq), bounds)
    fields = {"x": x, "fun": np.sum(c * x)}
    if A_ub is not None:
        fields["slack"] = as_operand(b_ub) - as_operand(A_ub) @ x
    if A_eq is not None:
        fields["con"] = as_operand(b_eq) - as_operand(A_eq) @ x
    return with_fields(found, **fields)


def _vertex(found: Any, c: Any, constraints: Any, bounds: Any) -> Any:
    """The solution of the system of active constraints."""
    a_ub, b_ub, a_eq, b_eq = constraints
    n, rows, right = found.x.size, [], []
    scale = 1e-9 * max(1.0, float(np.max(abs(found.x), initial=0)))
    if a_eq is not None:
        a_eq, b_eq = as_operand(a_eq), as_operand(b_eq)
        rows += [a_eq[i] for i in range(a_eq.shape[0])]
        right += [b_eq[i] for i in range(a_eq.shape[0])]
    if a_ub is not None:
        a_ub, b_ub = as_operand(a_ub), as_operand(b_ub)
        for i in np.flatnonzero(abs(np.asarray(found.slack)) <= scale):
            rows.append(a_ub[i])
            right.append(b_ub[i])
    for i, (low, high) in enumerate(_bounds(bounds, n)):
        for bound in (low, high):
            if np.isfinite(values(bound)) and abs(found.x[i] - values(bound)) <= scale:
                rows.append(np.eye(n)[i])
                right.append(as_operand(bound))
                break
    if len(rows) != n:
        raise NonDifferentiableError(
            f"scipy.optimize.linprog: {len(rows)} constraints are active at the solution of {n} unknowns. It is degenerate (or "
            "not unique), and x has no derivative there. Add a small quadratic term and use scipy.optimize.minimize, or move a "
            "constraint."
        )
    return np.linalg.solve(_stacked(rows), _stacked(right))


@optimize.composite("quadratic_assignment")
def quadratic_assignment(A, B, method="faq", options=None):
    a, b = as_operand(A), as_operand(B)
    found = so.quadratic_assignment(np.asarray(plain(a)), np.asarray(plain(b)), method, options)
    order = found.col_ind
    return with_fields(found, fun=np.sum(a * b[order][:, order]))
