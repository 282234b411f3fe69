"""The lanes of reverse mode: for ufuncs of one or two operands, small functions generated from rules.

The general lane (`bind`) takes any arguments and is the readable one. A lane does exactly what `bind ->
ReverseTrace.apply -> record` would do, with nothing packed, looked up or bound again: it tests the operands'
types, runs the operation on their values, and fills the slots of a node. Whatever is not the plain
first-order case (another kind of tracer, two traces, a list, a value without a derivative) goes to the
general lane; what holds a tracer of forward mode or the batch of a vmap, to the lanes of these, or beside a
tracer of a later trace it is a constant like another. A test runs every rule through both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.methods import LANES
from funcgrad.core.arrays.spec import Spec
from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.batch import BatchTracer
from funcgrad.core.engine.catalogue import Function
from funcgrad.core.engine.forward import ForwardTracer
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.reverse import ReverseTracer, plan_of, power_of_root
from funcgrad.core.engine.roots import LEADING, ROOTS, halved, is_root
from funcgrad.core.engine.sweep import Node
from funcgrad.core.engine.trace import Trace, snapshot
from funcgrad.core.lanes.batch import at_once
from funcgrad.core.lanes.forward import function_lane, ufunc_lane
from funcgrad.core.lanes.source import (
    COMPARISONS,
    FASTER,
    OPERATORS,
    PLAIN,
    SCALARS,
    at_first_use,
    compiled,
    indented,
    running,
)
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.core.memory.plain import ndarray
from funcgrad.core.messages.conversions import OBJECT, of_numbers
from funcgrad.errors import NonDifferentiableError

_RECORD = """\
{guard}node = Node()
node.number = next(trace.numbers)
node.plan = plan_{slots}
node.saved = {saved}
node.origin = {origin}
{spec}node.spec = spec
tracer = Tracer()
tracer._trace = trace
tracer._value = out
tracer._node = node
tracer._alias = None
return tracer
"""

# What an even power of `x` is, if that is the output of a root. (Most products, quotients and elements have no root
# for an operand, which is seen without a call.)
_MAY_LEAD = (
    "node_x.plan in leading and "
    "(type(node_x.origin) is tuple or node_x.plan in roots or node_x.origin.plan in leading)"
)
_ROOT = (
    f"if {_MAY_LEAD} and is_root(node_x) and (n := {{squares}}):\n"
    "    return power_of_root(trace, node_x, x, n, out)\n"
)

# What `x * y` or `x @ y` is, if both may lead to the same root.
_PRODUCT = (
    f"if {_MAY_LEAD} and {_MAY_LEAD.replace('_x', '_y')} and is_root(node_x):\n"
    "    tracer = trace.of_root(primitive, Call((x, y), names, {}), out, (node_x, node_y))\n"
    "    if tracer is not None:\n"
    "        return tracer\n"
)

_UNARY = """\
def NAME(x):
    if type(x) is Tracer:
        node_x = x._node
        if node_x is not None:
            trace = x._trace
            x = x._value
            out = {run}
{record_x}
    elif type(x) is Forward:
        out = forward(x)
        if out is not None:
            return out
    elif type(x) is Batch:
        out = at_once(x)
        if out is not None:
            return out
    return general(x)
"""

_BINARY = """\
def NAME(x, y):
    if type(x) is Tracer:
        node_x = x._node
        if node_x is not None:
            kind = type(y)
            if kind is Tracer:
{same}                node_y = y._node
                trace = x._trace
                if y._trace is trace and node_y is not None:
                    x = x._value
                    y = y._value
                    out = {run}
{record_xy}
            elif kind is float or kind is ndarray or kind in plain:
                trace = x._trace
                x = x._value
                out = {run}
{record_x}
            elif kind is Batch and y._trace.level < x._trace.level:
                trace = x._trace
                x = x._value
                out = {run}
{record_x}
    elif type(y) is Tracer and (type(x) is ndarray or type(x) in plain or type(x) is Batch and x._trace.level < y._trace.level):
        node_y = y._node
        if node_y is not None:
            trace = y._trace
            y = y._value
            out = {run}
{record_y}
    elif type(x) is Forward or type(y) is Forward:
        out = forward(x, y)
        if out is not None:
            return out
    elif type(x) is Batch or type(y) is Batch:
        out = at_once(x, y)
        if out is not None:
            return out
    if type(y) is Blank and type(x) is Tracer:
        return NAME(x, y._value)
    if type(x) is Blank and type(y) is Tracer:
        return NAME(x._value, y)
    return general(x, y)
"""

# The result of a comparison is a concrete mask, so tracers are taken off without being recorded.
_COMPARISON = """\
def NAME(x, y):
    if type(x) in tracers and x._trace.is_open:
        x = x._value
    if type(y) in tracers and y._trace.is_open:
        y = y._value
    if type(x) in plain and type(y) in plain:
        out = {run}
        return Trace.counted(out) if type(out) is ndarray else out
    return general(x, y)
"""

# What is saved of a constant can't be changed by the user any more.
_GUARD = """\
if type({constant}) is ndarray:
    {constant} = trace.guard.keep({constant})
elif type({constant}) is Batch:
    {constant} = snapshot({constant})
"""

# One product to pull back, instead of two and their sum.
_SQUARE = """\
                if x is y:
                    return square(x)
"""

_INDENTS = {1: {"x": 12}, 2: {"x": 16, "xy": 20, "y": 12}}


def make_lane(primitive: Function) -> Callable[..., Any]:
    """The lane of a primitive; what else the catalogue has is its own lane."""
    if not isinstance(primitive, Ufunc):
        return _function_lane(primitive) if isinstance(primitive, Primitive) else primitive
    primitive.check()
    operands = ("x", "y", "z")[: len(primitive.operand_names)]
    run = running(primitive, operands)
    space: dict[str, Any] = {
        "Tracer": ReverseTracer, "Node": Node, "new": object.__new__, "plain": PLAIN, "general": primitive.general,
        "Blank": BlankTracer, "Forward": ForwardTracer, "Batch": BatchTracer, "at_once": primitive.at_once, "snapshot": snapshot,
        "function": primitive.function, "ndarray": ndarray, "Spec": Spec,
        "OBJECT": OBJECT, "of_numbers": of_numbers, "title": primitive.title,
    }  # fmt: skip
    if primitive.function in COMPARISONS:
        space |= {
            "tracers": frozenset([ReverseTracer, ForwardTracer]),
            "general": primitive.__call__,
            "Trace": Trace,
        }
        return compiled(_COMPARISON.format(run=run), primitive.name, space)
    rule = primitive.rule
    if len(operands) > 2 or primitive.function.nout > 1 or rule.is_constant or rule.ignores or rule.unknown:
        return primitive.__call__
    fields = {"run": run, "same": ""}
    at_first_use(space, "forward", lambda: ufunc_lane(primitive, operands))
    if primitive.function is np.multiply:
        fields["same"] = _SQUARE
        at_first_use(space, "square", lambda: LANES[np.square])
    for slots, indent in _INDENTS[len(operands)].items():
        fields[f"record_{slots}"] = indented(_record(primitive, slots, operands, space), indent)
    return compiled((_UNARY if len(operands) == 1 else _BINARY).format(**fields), primitive.name, space)


_FUNCTION = """\
def NAME(x):
    operand = x
    if type(x) is Tracer:
        node_x = x._node
        if node_x is not None:
            trace = x._trace
            x = x._value
            kind = type(x)
            out = function(x) if kind is ndarray or kind in scalars else at_once(x) if kind is Batch else None
            kind = type(out)
            if kind in scalars or kind is Batch or kind is ndarray and out.base is None and out is not x:
{record_x}
    elif type(x) is Forward:
        out = forward(x)
        if out is not None:
            return out
    elif type(x) is Batch:
        out = at_once(x)
        if out is not None:
            return out
    return general(operand)
"""


def _function_lane(primitive: Primitive) -> Callable[..., Any]:
    """The lane of np.f(x) for one array; views, several outputs or tracers take the general lane."""
    if primitive.rule.is_constant or not primitive.has_lane or not primitive.is_plain:
        return primitive
    layout = ((primitive.operand_names[0], None),)
    try:
        plan = plan_of(primitive, (0,), Call([np.ones(())], layout, {}))
    except NonDifferentiableError:  # as bincount, whose derivative is in its second operand
        return primitive
    is_reduction = primitive.batch == "axis" and not primitive.may_view and not primitive.gives_array
    space = {
        "Tracer": ReverseTracer, "Node": Node, "new": object.__new__, "general": primitive, "plan_x": plan, "Spec": Spec,
        "function": FASTER.get(primitive.function, primitive.function), "ndarray": ndarray, "scalars": SCALARS,
        "Batch": BatchTracer, "at_once": at_once(primitive, 1) if is_reduction else lambda x: None,
        "Forward": ForwardTracer,
    }  # fmt: skip
    at_first_use(space, "forward", lambda: function_lane(primitive))
    record = _RECORD.format(guard="", slots="x", saved=plan.lane_save, origin="node_x", spec=NEW_SPEC)
    return compiled(_FUNCTION.format(record_x=indented(record, 16)), primitive.name, space)


def _record(primitive: Primitive, slots: str, operands: tuple[str, ...], space: dict[str, Any]) -> str:
    """The lines that record the node when the operands in `slots` ("x", "y" or "xy") are traced."""
    plan, saved, _ = planned(primitive, slots, operands, space)
    space[f"plan_{slots}"] = plan
    constant = "".join(operands[i] for i in plan.constants)
    guard = _GUARD.format(constant=constant) if constant else ""
    # The parts of matmul and the like have to be fitted to the operand even where the output is like it.
    # two arrays of numbers give one
    is_certain = len(slots) == len(operands) and primitive.function in OPERATORS
    new = NEW_SPEC if is_certain else OF_NUMBERS + NEW_SPEC
    spec = new if primitive.function.signature else spec_lines(slots, len(operands), new)
    if not is_certain:  # of a number and a Python object, NumPy makes an object, which may have no shape
        spec = f"try:\n{indented(spec, 4)}\nexcept AttributeError:\n    of_numbers(out, title)\n    raise\n"
    origin = "(node_x, node_y)" if slots == "xy" else f"node_{slots}"
    root = ""
    if primitive.function in _SQUARES and slots == "x":
        space |= {
            "leading": LEADING,
            "roots": ROOTS,
            "is_root": is_root,
            "halved": halved,
            "power_of_root": power_of_root,
        }
        root = _ROOT.format(squares=_SQUARES[primitive.function])
    elif primitive.rule.of_square is not None and slots == "xy":
        names = tuple((name, None) for name in operands)
        space |= {"leading": LEADING, "roots": ROOTS, "is_root": is_root}
        space |= {"primitive": primitive, "Call": Call, "names": names}
        root = _PRODUCT
    return root + _RECORD.format(guard=guard, spec=spec, slots=slots, saved=saved, origin=origin).rstrip()


def planned(
    primitive: Primitive, slots: str, operands: Sequence[str], space: dict[str, Any]
) -> tuple[Any, str, Call]:
    """The plan for traced operands in `slots`, the text of what it saves of a call, and such a call."""
    layout = tuple((name, None) for name in primitive.operand_names[: len(operands)])
    call = Call([np.ones(())] * len(operands), layout, {})
    plan = plan_of(primitive, tuple(operands.index(name) for name in slots), call)
    if plan.lane_save:
        return plan, plan.lane_save, call
    space[f"save_{slots}"], space["Call"], space["layout"] = plan.save, Call, layout
    return plan, f"save_{slots}(Call(({', '.join(operands)},), layout, {{}}), out)", call


_SQUARES = {np.square: "1", np.power: "halved(y)", np.float_power: "halved(y)"}
NEW_SPEC = "spec = new(Spec)\nspec.shape = out.shape\nspec.dtype = out.dtype\n"
# Python objects among the operands lose the derivative. (What has the dtype of an operand holds none.)
OF_NUMBERS = "if out.dtype is OBJECT:\n    of_numbers(out, title)\n"


def spec_lines(slots: str, arity: int, new: str = NEW_SPEC) -> str:
    """The lines that find the node's `spec`: that of an operand, if the output is like it."""
    differs = "out.shape != spec.shape or out.dtype is not spec.dtype"
    if arity == 1:
        differs = "out.dtype is not spec.dtype"
    elif len(slots) == 1:  # beside a Python number an array keeps its shape and dtype
        differs = f"type({'y' if slots == 'x' else 'x'}) is not float and ({differs})"
    lines = new
    for slot in reversed(slots):
        lines = f"spec = node_{slot}.spec\nif {differs}:\n{indented(lines, 4)}\n"
    return lines
