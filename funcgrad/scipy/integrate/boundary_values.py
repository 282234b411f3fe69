"""solve_bvp: collocation and boundary conditions hold at SciPy's solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate as si

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.integrate.quadrature import valued, with_value
from funcgrad.scipy.optimize.calls import solved, values, with_fields

integrate = Chapter("integrate")


class Spline:
    """The solution between the nodes: cubic, with the slopes that the equation gives."""

    def __init__(self, sol: Any, x: Any, y: Any, slopes: Any) -> None:
        self.sol, self.x, self.y, self.slopes = sol, x, y, slopes

    def __carries_tracer__(self) -> bool:
        return True

    def __call__(self, t: Any, nu: int = 0) -> Any:
        if nu:
            raise NotImplementedError(
                "the solution of solve_bvp has no derivative rule for nu=1: use funcgrad.jvp in t"
            )
        t = as_operand(t)
        plain = np.asarray(values(t), dtype=float)
        k = np.clip(np.searchsorted(self.x, plain, side="right") - 1, 0, len(self.x) - 2)
        h = self.x[k + 1] - self.x[k]
        u = (t - self.x[k]) / h
        a, b, p, q = self.y[:, k], self.y[:, k + 1], self.slopes[:, k], self.slopes[:, k + 1]
        out = (
            (2 * u**3 - 3 * u**2 + 1) * a
            + (3 * u**2 - 2 * u**3) * b
            + h * ((u**3 - 2 * u**2 + u) * p + (u**3 - u**2) * q)
        )
        return with_value(self.sol(plain), out)


def _stacked(parts: Any, y: Any) -> Any:
    """What fun and bc return: an array, or a list of arrays."""
    out = as_operand(parts)
    return out.reshape(y.shape) if out.size == y.size else out


@integrate.functional("solve_bvp")
def solve_bvp(fun, bc, x, y, p=None, S=None, fun_jac=None, bc_jac=None, **options):
    if S is not None:
        raise NotImplementedError(
            "scipy.integrate.solve_bvp with a singular term S has no derivative rule: write it into fun"
        )
    found = si.solve_bvp(
        valued(fun), valued(bc), values(x), values(y), values(p), None, fun_jac and valued(fun_jac), bc_jac and valued(bc_jac),
        **options,
    )  # fmt: skip
    nodes, n, m = found.x, *found.y.shape
    given = (lambda x, y, p: fun(x, y, p)) if p is not None else (lambda x, y, _: fun(x, y))
    ends = (lambda a, b, p: bc(a, b, p)) if p is not None else (lambda a, b, _: bc(a, b))
    h = np.diff(nodes)

    def equations(u: Any) -> Any:
        y, p = u[: n * m].reshape(n, m), u[n * m :]
        f = _stacked(given(nodes, y, p), y)
        middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
        f_middle = _stacked(given(nodes[:-1] + 0.5 * h, middle, p), middle)
        inside = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * f_middle)
        return np.concatenate([inside.reshape(-1), as_operand(ends(y[:, 0], y[:, -1], p)).reshape(-1)])

    start = np.concatenate([found.y.reshape(-1), np.zeros(0) if found.p is None else found.p])
    u = solved(equations, start, ())
    out, parameters = u[: n * m].reshape(n, m), None if found.p is None else u[n * m :]
    slopes = _stacked(given(nodes, out, parameters), out)
    spline = Spline(found.sol, nodes, out, slopes)
    return with_fields(
        found, y=with_value(found.y, out), p=parameters, yp=with_value(found.yp, slopes), sol=spline
    )
