"""odeint and solve_ivp: the values are SciPy's, the derivatives those of the equations in collocation.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate as si

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.integrate.collocation import C, interpolated, solved_on, stage_times, vector
from funcgrad.scipy.integrate.quadrature import ONLY_VALUES, valued, with_value
from funcgrad.scipy.optimize.calls import as_args, solved, start, values, with_fields

integrate = Chapter("integrate")
Function = Callable[..., Any]


def _real(f: Function, y0: Any) -> tuple[Function, Any, Callable[[Any], Any]]:
    """A complex system as a real one, of twice the size; and the way back, along the last axis."""
    if y0.dtype.kind != "c":
        return f, y0, lambda y: y
    n = y0.shape[0]
    joined = lambda y: y[..., :n] + 1j * y[..., n:]

    def real(t: Any, y: Any) -> Any:
        out = vector(f(t, joined(y)))
        return np.concatenate([out.real, out.imag])

    return real, np.concatenate([y0.real, y0.imag]), joined


def _floating(x: Any) -> Any:
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _finer(ts: Any, extra: Any) -> Any:
    """The steps, and times that must be ends of steps too; those too near to another are left out."""
    ts, extra = np.asarray(ts), np.asarray(extra)
    forwards = ts[-1] >= ts[0]
    whole = np.unique(np.concatenate([ts, extra]))
    whole = whole[(whole >= min(ts[0], ts[-1])) & (whole <= max(ts[0], ts[-1]))]
    wanted = np.isin(whole, np.append(extra, [ts[0], ts[-1]]))
    gap = 1e-9 * abs(ts[-1] - ts[0])
    keep = [0]
    for k in range(1, len(whole)):
        if whole[k] - whole[keep[-1]] > gap:
            keep.append(k)
        elif wanted[k] and not wanted[keep[-1]]:
            keep[-1] = k
    return whole[keep] if forwards else whole[keep][::-1]


def _moving(grid: Any, anchors: Any) -> Any:
    """The grid whose anchors (the user's times, in order) may be tracers; between them it scales."""
    if not any(isinstance(a, Tracer) for a in anchors):
        return grid
    plain = np.array([float(values(a)) for a in anchors])
    order = np.argsort(plain)
    weights = np.stack([np.interp(grid, plain[order], row[order]) for row in np.eye(len(plain))], axis=1)
    return weights @ np.stack([as_operand(a) + 0.0 for a in anchors])


# ---- odeint --------------------------------------------------------------------------------------------------------------


@integrate.functional("odeint")
def odeint(func, y0, t, args=(), Dfun=None, full_output=0, tfirst=False, **options):
    args = as_args(args)
    y0, t = _floating(y0), as_operand(t)
    given = values(options) | {"tfirst": tfirst, "full_output": full_output}
    found = si.odeint(valued(func), start(y0), values(t), values(args), Dfun and valued(Dfun), **given)
    if ONLY_VALUES.get():
        return found
    value = found[0] if full_output else found
    f = (lambda t, y: func(t, y, *args)) if tfirst else (lambda t, y: func(y, t, *args))
    times = np.asarray(values(t), dtype=float)
    tol = {key: options.get(key) or 1.49012e-8 for key in ("rtol", "atol")}
    steps = si.solve_ivp(
        valued(f), (times[0], times[-1]), np.atleast_1d(start(y0)), "LSODA", dense_output=True, **tol
    )
    grid = _finer(steps.sol.ts, times)
    stages = _stages(
        f,
        vector(y0),
        _moving(grid, [t[k] for k in range(len(times))]),
        grid,
        steps.sol,
        "scipy.integrate.odeint",
    )
    nodes = np.concatenate([vector(y0)[None], stages[:, -1]])
    out = with_value(
        value, nodes[np.searchsorted(grid, times) if grid[-1] >= grid[0] else np.searchsorted(-grid, -times)]
    )
    return (out, found[1]) if full_output else out


def _stages(f: Function, y0: Any, moving: Any, grid: Any, sol: Any, name: str) -> Any:
    times = stage_times(grid)[1]
    guess = np.moveaxis(sol(times.reshape(-1)).reshape(-1, *times.shape), 0, -1)
    if guess.dtype.kind == "c":
        guess = np.concatenate([guess.real, guess.imag], axis=-1)
    return solved_on(f, y0, moving, guess, name)


# ---- solve_ivp -----------------------------------------------------------------------------------------------------------


class Solution:
    """What solve_ivp returns for dense output: SciPy's values, with derivatives, in the time too."""

    def __init__(self, sol: Any, grid: Any, y0: Any, stages: Any, joined: Callable[[Any], Any]) -> None:
        self.sol, self.grid, self.y0, self.stages, self.joined = sol, grid, y0, stages, joined
        self.ts, self.t_min, self.t_max, self.interpolants = sol.ts, sol.t_min, sol.t_max, sol.interpolants

    def __carries_tracer__(self) -> bool:
        return True

    def __call__(self, t: Any) -> Any:
        t = as_operand(t)
        flat = t.reshape(-1) if isinstance(t, Tracer) else np.asarray(t, dtype=float).reshape(-1)
        y = self.joined(interpolated(flat, self.grid, self.y0, self.stages).T).T
        value = self.sol(np.asarray(values(t)))
        return with_value(value, y.reshape(value.shape))


def _plain_events(events: Any) -> Any:
    """Events as SciPy takes them, which return plain numbers."""
    if events is None:
        return None
    several = events if isinstance(events, (list, tuple)) else [events]
    made = []
    for event in several:
        plain = valued(event)
        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(plain, name, getattr(event, name))
        made.append(plain)
    return made


@integrate.functional("solve_ivp")
def solve_ivp(
    fun,
    t_span,
    y0,
    method="RK45",
    t_eval=None,
    dense_output=False,
    events=None,
    vectorized=False,
    args=None,
    **options,
):
    args = () if args is None else args
    y0 = _floating(y0)
    span = [as_operand(x) for x in t_span]
    given = {key: valued(v) if callable(v) else values(v) for key, v in options.items()}
    found = si.solve_ivp(
        valued(fun), tuple(float(values(x)) for x in span), start(y0), method, values(t_eval), True, _plain_events(events),
        vectorized, values(args) or None, **given,
    )  # fmt: skip
    if ONLY_VALUES.get():
        return found
    return _with_derivatives(
        found, lambda t, y: fun(t, y, *args), y0, span, t_eval, dense_output, events, args
    )


def _with_derivatives(
    found: Any, fun: Function, y0: Any, span: Any, t_eval: Any, dense: bool, events: Any, args: Any
) -> Any:
    f, y_start, joined = _real(fun, y0)
    is_event = found.status == 1
    grid = _finer(found.sol.ts, found.t)
    moving = _moving(grid, _anchors(found, span, t_eval, is_event))
    stages = _stages(f, y_start, moving, grid, found.sol, "scipy.integrate.solve_ivp")
    nodes = np.concatenate([y_start[None], stages[:, -1]])
    fields: dict[str, Any] = {}
    if events is not None:
        functions = [
            lambda t, y, e=e: e(t, y, *args)
            for e in (events if isinstance(events, (list, tuple)) else [events])
        ]
        found_events = [
            _event(f, joined, e, ts, grid, moving, nodes) for e, ts in zip(functions, found.t_events)
        ]
        fields["t_events"] = [
            with_value(ts, t) if len(ts) else ts for ts, (t, _) in zip(found.t_events, found_events)
        ]
        fields["y_events"] = [
            with_value(ys, y) if len(ys) else ys for ys, (_, y) in zip(found.y_events, found_events)
        ]
    where = np.searchsorted(grid, found.t) if grid[-1] >= grid[0] else np.searchsorted(-grid, -found.t)
    y, t = joined(nodes[where]).T, moving[where]
    if is_event and t_eval is None:
        t, y = _ending(found, fields, t, y)
    fields["y"], fields["t"] = with_value(found.y, y), with_value(found.t, t)
    sol = Solution(found.sol, moving, y_start, stages, joined) if dense else None
    return with_fields(found, sol=sol, **fields)


def _anchors(found: Any, span: Any, t_eval: Any, is_event: bool) -> list[Any]:
    """The times that the user has given; what lies behind a terminal event is not reached."""
    inner = [] if t_eval is None else [as_operand(t_eval)[k] for k in range(len(found.t))]
    ends = [span[0], found.t[-1] if t_eval is None else found.sol.ts[-1]] if is_event else span
    kept = {float(values(x)): x for x in [*inner, *ends]}
    return list(kept.values())


def _event(f: Function, joined: Any, event: Function, times: Any, grid: Any, moving: Any, nodes: Any) -> Any:
    """The times of an event and the states there: the event is a root of its function along the solution."""
    ts, ys = [], []
    for te in times:
        k = max(
            int(np.searchsorted(grid if grid[-1] >= grid[0] else -grid, te if grid[-1] >= grid[0] else -te))
            - 1,
            0,
        )

        def state(t: Any, k: int = k) -> Any:
            """From the node before, in one step."""
            ends = np.stack([moving[k] + 0.0 * t, t])
            plain_y = np.asarray(values(nodes[k]))
            guess = np.broadcast_to(plain_y, (1, len(C), plain_y.shape[0])).copy()
            return solved_on(f, nodes[k], ends, guess, "scipy.integrate.solve_ivp")[0, -1]

        t = solved(lambda t: as_operand(event(t, joined(state(t)))).reshape(()), np.float64(te), ())
        ts.append(t)
        ys.append(joined(state(t)))
    return (np.stack(ts), np.stack(ys)) if ts else (times, times)


def _ending(found: Any, fields: dict[str, Any], t: Any, y: Any) -> Any:
    """The last time is that of the terminal event."""
    for ts, ys in zip(fields["t_events"], fields["y_events"]):
        if len(ts) and float(values(ts[-1])) == found.t[-1]:
            t = np.concatenate([t[:-1] + 0.0 * ts[-1], ts[-1:]])
            return t, np.concatenate([y[:, :-1], ys[-1][:, None]], axis=1)
    return t, y
