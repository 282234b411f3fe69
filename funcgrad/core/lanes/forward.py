"""The lanes of forward mode: run the operation, push tangents by the rule's formulas, fill a tracer.

A lane does what `bind -> ForwardTrace.apply -> paired` would do. It gives None if the case is not the plain
one (another trace, a tangent with zeros by structure, a constant of another kind).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.cotangent import Masked, dense
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer, pushed, transposed_pull
from funcgrad.core.engine.kinds import Elementwise, fit_tangent
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.roots import MOVES, POWERS, SIGNS, remembered
from funcgrad.core.lanes.source import FASTER, PLAIN, SCALARS, compiled, indented, running
from funcgrad.core.memory.plain import loud, ndarray, quiet
from funcgrad.core.messages.conversions import OBJECT, of_numbers

_WRAP = """\
if type(out) is not float64 or type(t) is not float64:
    t = fitted(out, t)
    if t is None:
        return trace.constant(out)
tracer = Tracer()
tracer._trace = trace
tracer._value = out
tracer._node = t
tracer._alias = None
"""

# Python objects among the operands lose the derivative.
_CHECK = """\
if type(out) is not float64 and getattr(out, "dtype", OBJECT) is OBJECT:
    of_numbers(out, title)
"""

# Roots (roots.py): an even power of one, elements of one and the product of two go the general way ...
_LEAVE = """\
if trace.has_roots and {test}:
    return None
"""
_HAS_ROOT = 'hasattr({}, "_root")'
# ... but a root, and a step from one, remember what they are of.
_ASK = '{root} = getattr({x}, "_root", None) if trace.has_roots else None\n'
_REMEMBER = "tracer._root = remembered(primitive, ({operands},), out, ({tangents},), ({memos},))\n"
_REMEMBER_ALONE = "trace.has_roots = True\ntracer._root = primitive, (x,), out, (t_x,), (), 1\n"
_RETURN = "return tracer\n"

# The slope of a root at 0 is no affair of who takes its square.
_QUIET = """\
if type(out) is float64 and out:
{push}
else:
    state = quiet()
    try:
{again}
    finally:
        loud(state)
"""

_UNARY = """\
def NAME(x):
    trace = x._trace
{asks_x}    t_x = x._node
    if t_x is None or type(trace) is not Trace or not trace.is_open:
        return None
    x = x._value
    out = {run}
{check}
{push}
{wrap}
"""

_BINARY = """\
def NAME(x, y):
    t_x = t_y = {nothing}None
    if type(x) is Tracer:
        trace = x._trace
{asks_x}        t_x = x._node
        if type(y) is Tracer:
            if y._trace is not trace:
                return None
{asks_both}            t_y = y._node
            y = y._value
        elif type(y) not in plain:
            return None
        x = x._value
    elif type(x) in plain:
        trace = y._trace
{asks_y}        t_y = y._node
        y = y._value
    else:
        return None
    if type(trace) is not Trace or not trace.is_open:
        return None
    out = {run}
{check}
{push}
{wrap}
"""

_FUNCTION = """\
def NAME(x):
    trace = x._trace
{asks_x}    t_x = x._node
    if t_x is None or type(trace) is not Trace or not trace.is_open:
        return None
    x = x._value
    if type(x) is not ndarray and type(x) not in scalars:
        return None
    out = function(x)
    if type(out) not in scalars and (type(out) is not ndarray or out.base is not None or out is x):
        return None
{check}
{push}
{wrap}
"""

# A tangent with zeros by structure: what a partial is where nothing is live is nobody's concern.
_PUSH_UNARY = """\
if type(t_x) is Masked:
{masked}
else:
    t = {push_x}
"""
_PUSH_BINARY = """\
if type(t_x) is Masked and t_y is None:
{masked}
elif type(t_x) is Masked or type(t_y) is Masked:
    t = pushed(primitive, Call((x, y), layout, {{}}), out, {{i: t for i, t in enumerate((t_x, t_y)) if t is not None}})
elif t_y is None:
    if t_x is None:
        return trace.constant(out)
    t = {push_x}
elif t_x is None:
    t = {push_y}
else:
    t = {push_xy}
"""

_MASKED = """\
mask, t_x, token = t_x, t_x.value, quiet()
try:
    t = {push_x}
finally:
    loud(token)
t = None if t is None else fit_tangent(mask.like(t), out)
"""
_MASKED_PUSH = "t = push(primitive, Call(({operands},), layout, {{}}), out, {{0: t_x}})\n"

# Under np.seterr(all="raise"): the element that has no derivative may be masked out later.
_QUIETLY = """\
try:
{push}
except FloatingPointError:
    token = quiet()
    try:
{again}
    finally:
        loud(token)
"""


def fitted(out: Any, t: Any) -> Any:
    """The tangent `t` with the shape and dtype of `out`; None, if that can't have one."""
    if t is None or out.dtype.kind not in "fc":
        return None
    return t if type(t) is Masked else fit_tangent(dense(t), out)


def ufunc_lane(primitive: Primitive, operands: tuple[str, ...]) -> Callable[..., Any]:
    """The lane of a ufunc of one or two operands, of which one at least is a tracer of forward mode."""
    space = _space(primitive, operands)
    fields = {"run": running(primitive, operands), "check": indented(_CHECK, 4)}
    fields |= {"push": _pushing(primitive, operands, space), **_about_roots(primitive, operands)}
    return compiled((_UNARY if len(operands) == 1 else _BINARY).format(**fields), primitive.name, space)


def _pushing(primitive: Primitive, operands: tuple[str, ...], space: dict[str, Any]) -> str:
    """The lines that push the tangents of the operands that have one."""
    fields = {
        f"push_{slots}": _push(primitive, slots, operands, space)
        for slots in ("x", "y", "xy")
        if set(slots) <= set(operands)
    }
    fields["masked"] = _masked(primitive, operands, fields["push_x"])
    push = (_PUSH_UNARY if len(operands) == 1 else _PUSH_BINARY).format(**fields)
    return _quietly(push, _QUIETLY if primitive.rule.squared is None else _QUIET)


def _about_roots(primitive: Primitive, operands: tuple[str, ...]) -> dict[str, str]:
    """The lines that ask whether an operand is a root, which leave the lane or remember it; and the lane's end."""
    rule, function, depth = primitive.rule, primitive.function, 4 * len(operands)
    leave = {name: _LEAVE.format(test=_HAS_ROOT.format(name)) for name in operands}
    asks = {"x": "", "y": "", "both": ""}
    if function is np.square or function in POWERS or function in MOVES:
        asks["x"] = leave["x"]
    elif rule.of_square is not None and len(operands) > 1:
        asks["both"] = _LEAVE.format(test=" and ".join(map(_HAS_ROOT.format, operands)))
    leading = _leading(primitive, operands)
    for name in leading:
        asks[name] = _ASK.format(root=f"root_{name}", x=name)
    if "y" in leading:
        asks["both"] += asks["y"]
    end = _WRAP
    if rule.squared is not None or leading:
        end += _remember(primitive, operands, leading)
    lines = {
        f"asks_{name}": indented(line, 12 if name == "both" else depth) + "\n" if line else ""
        for name, line in asks.items()
    }
    return {
        **lines,
        "nothing": "".join(f"root_{name} = " for name in leading),
        "wrap": indented(end + _RETURN, 4),
    }


def _leading(primitive: Primitive, operands: tuple[str, ...]) -> tuple[str, ...]:
    """The operands with which `out` is a step from a root or, as a root of a root, has a square that is one."""
    rule, function = primitive.rule, primitive.function
    if function is np.divide:
        return ("x",)
    if (
        function is np.multiply
        or function in SIGNS
        or rule.squared is not None
        and rule.squared.rule.of_square
    ):
        return operands
    return ()


def _remember(primitive: Primitive, operands: tuple[str, ...], leading: tuple[str, ...]) -> str:
    """The lines with which the tracer of a root or a step remembers what it is of."""
    is_root = primitive.rule.squared is not None
    if is_root and not leading and len(operands) == 1:
        return _REMEMBER_ALONE
    memos = [f"root_{name}" if name in leading else "None" for name in operands]
    remember = _REMEMBER.format(
        operands=", ".join(operands),
        tangents=", ".join(f"t_{name}" for name in operands),
        memos=", ".join(memos),
    )
    if is_root:
        return "trace.has_roots = True\n" + remember
    test = " or ".join(f"root_{name} is not None" for name in leading)
    return f"if {test}:\n{indented(remember, 4)}\n"


def function_lane(primitive: Primitive) -> Callable[..., Any]:
    """The lane of np.f(x), for a function of one array."""
    if primitive.rule.squared is not None:
        return lambda x: None
    space = {**_space(primitive, ("x",)), "function": FASTER.get(primitive.function, primitive.function)}
    fields = {**_about_roots(primitive, ("x",)), "check": indented(_CHECK, 4)}
    push_x = _push(primitive, "x", ("x",), space)
    push = _PUSH_UNARY.format(push_x=push_x, masked=_masked(primitive, ("x",), push_x))
    fields["push"] = _quietly(push, _QUIETLY)
    return compiled(_FUNCTION.format(**fields), primitive.name, space)


def _quietly(push: str, quietly: str) -> str:
    """The lines that push, in the body of a lane."""
    return indented(quietly.format(push=indented(push, 4), again=indented(push, 8)), 4)


def _masked(primitive: Primitive, operands: tuple[str, ...], push_x: str) -> str:
    """The lines that push a tangent `t_x` with zeros by structure, the only tangent."""
    if type(primitive.rule) is Elementwise:
        return indented(_MASKED.format(push_x=push_x), 4)
    return indented(_MASKED_PUSH.format(operands=", ".join(operands)), 4)


def _space(primitive: Primitive, operands: tuple[str, ...]) -> dict[str, Any]:
    return {
        "Tracer": ForwardTracer, "Trace": ForwardTrace, "Masked": Masked, "Call": Call, "plain": PLAIN, "scalars": SCALARS,
        "ndarray": ndarray, "float64": np.float64, "function": primitive.function, "fitted": fitted,
        "OBJECT": OBJECT, "of_numbers": of_numbers, "title": primitive.title, "quiet": quiet, "loud": loud,
        "primitive": primitive, "layout": tuple((name, None) for name in primitive.operand_names[: len(operands)]),
        "pushed": pushed, "fit_tangent": fit_tangent, "remembered": remembered,
        "push": primitive.rule.push if primitive.rule.pushes else transposed_pull,
    }  # fmt: skip


def _push(primitive: Primitive, slots: str, operands: tuple[str, ...], space: dict[str, Any]) -> str:
    """The tangent of `out` when the operands in `slots` have one: elementwise partials written out."""
    rule = primitive.rule
    if type(rule) is not Elementwise:
        tangents = ", ".join(f"{operands.index(name)}: t_{name}" for name in slots)
        return f"push(primitive, Call(({', '.join(operands)},), layout, {{}}), out, {{{tangents}}})"
    terms = []
    for name in slots:
        partial, names = rule.partials[operands.index(name)], rule.names[operands.index(name)]
        space[f"partial_{name}"] = partial
        if callable(partial) and operands.index(name) in rule.applied:
            terms.append(f"partial_{name}({', '.join((f't_{name}', *names))})")
        elif callable(partial):
            terms.append(f"t_{name} * partial_{name}({', '.join(names)})")
        elif partial is not None:
            terms.append({1: f"t_{name}", -1: f"-t_{name}"}.get(partial, f"t_{name} * {partial!r}"))  # type: ignore[call-overload]
    # A tangent is written into where its value is, and so lies in memory of its own.
    return f"{terms[0]} * 1" if terms == [f"t_{slots[0]}"] else " + ".join(terms) or "None"
