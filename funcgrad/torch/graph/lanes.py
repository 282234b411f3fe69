"""The fast lanes of tensors: generated like the core's (core/lanes/reverse.py), for the operators and
elementwise functions of hot code.

A lane does what `run` in ops.py would do, for operands of one floating dtype in the normal mode: nothing is
promoted, packed or looked up. Anything else (other dtypes, tracers of transforms, memory shared with NumPy,
modes) goes to the Op.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.primitive import Call, Spec
from funcgrad.core.engine.primitive import spec as primitive_spec
from funcgrad.core.engine.reverse import plan_of
from funcgrad.core.engine.sweep import Node
from funcgrad.core.lanes.reverse import NEW_SPEC, spec_lines
from funcgrad.core.lanes.source import OPERATORS
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.graph.modes import MODE
from funcgrad.torch.graph.tape import NumberFirstPlan, named, next_order
from funcgrad.torch.tensors.tensor import PLAIN, Tensor

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
SCALARS = frozenset([np.float32, np.float64])

_RECORD = """\
node = Node()
node.number = order()
node.plan = plan_{slots}
node.saved = {saved}
node.origin = {parents}
{spec}node.spec = spec
tensor = new(Tensor)
tensor.value = out
tensor.node = node
return tensor
"""
_PLAIN = """\
tensor = new(Tensor)
tensor.value = out
tensor.node = None
return tensor
"""
_UNARY = """\
def {name}(input, *rest, **options):
    if type(input) in plain_types and not rest and not options and mode() is None:
        x = input.value
        dtype = x.dtype
        if dtype is F32 or dtype is F64:
            out = {run}
            if type(out) is ndarray or type(out) in scalars:
                node_x = input.node
                if node_x is None:
{plain16}
{record_x}
    return general(input, *rest, **options)
"""
_BINARY = """\
def {name}(input, other, **options):
    try:
        if type(input) in plain_types:
            if mode() is None and not options:
                x = input.value
                dtype = x.dtype
                kind = type(other)
                if kind in plain_types:
                    y = other.value
                    if y.dtype is dtype and (dtype is F32 or dtype is F64):
                        out = {run}
                        if type(out) is ndarray or type(out) in scalars:
                            node_x = input.node
                            node_y = other.node
                            if node_x is None:
                                if node_y is None:
{plain36}
{record_y32}
                            if node_y is None:
{record_x32}
{record_xy28}
                elif (kind is float or kind is int) and (dtype is F32 or dtype is F64):
                    y = other
                    out = {run}
                    if type(out) is ndarray or type(out) in scalars:
                        node_x = input.node
                        if node_x is None:
{plain28}
{record_x24}
    except ValueError:  # shapes that do not fit: the Op says so in PyTorch's words
        pass
    return general(input, other, **options)
"""
_REFLECTED = """\
def r{name}(input, other):
    kind = type(other)
    if (kind is float or kind is int) and mode() is None and type(input) in plain_types:
        y = input.value
        dtype = y.dtype
        if dtype is F32 or dtype is F64:
            x = other
            out = {run}
            if type(out) is ndarray or type(out) in scalars:
                node_y = input.node
                if node_y is None:
{plain20}
{record_y16}
    return reflected(input, other)
"""


def _record(ufunc: Any, slots: str, operands: str, title: str, space: dict[str, Any], spec: str = "") -> str:
    primitive: Any = CATALOGUE[ufunc]
    layout = tuple((name, None) for name in primitive.operand_names[: len(operands)])
    call = Call([np.ones(())] * len(operands), layout, {})
    plan = plan_of(primitive, tuple(operands.index(name) for name in slots), call)
    space[f"plan_{slots}"] = named(plan, title)
    saved = plan.lane_save
    if not saved:
        if plan.save(call, np.ones(())) == {"a": primitive_spec(call.operands[0])}:
            saved = "{'a': node_x.spec}"  # a linear function of one operand needs no more
        space[f"save_{slots}"], space["Call"], space["layout"] = plan.save, Call, layout
        saved = saved or f"save_{slots}(Call(({', '.join(operands)},), layout, {{}}), out)"
    return _RECORD.format(
        spec=spec or spec_lines(slots, len(operands)),
        slots=slots,
        saved=saved,
        parents=", ".join(f"node_{name}" for name in slots),
    )


def _space(ufunc: Any, op: Op) -> dict[str, Any]:
    return {
        "__name__": "funcgrad.torch.graph.lanes",
        "Tensor": Tensor,
        "plain_types": PLAIN,
        "Node": Node,
        "new": object.__new__,
        "order": next_order,
        "mode": MODE.get,
        "general": op,
        "function": ufunc,
        "F32": F32,
        "F64": F64,
        "scalars": SCALARS,
        "ndarray": np.ndarray,
        "Spec": Spec,
    }


# PyTorch does not warn of 1/0 or log(0), and a `with np.errstate` would cost as much as the operation.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"funcgrad\.torch\.graph\.lanes")


def _compiled(template: str, name: str, fields: dict[str, str], space: dict[str, Any]) -> Callable[..., Any]:
    exec(compile(template.format(name=name, **fields), f"<funcgrad torch lane of {name}>", "exec"), space)
    return space[name]


def _indented(text: str, by: int) -> str:
    return textwrap.indent(text, " " * by).rstrip()


def unary_lane(ufunc: Any, op: Op) -> Callable[..., Any]:
    """The lane of a ufunc of one operand."""
    space = _space(ufunc, op)
    fields = {
        "run": OPERATORS.get(ufunc, "function(x)"),
        "plain16": _indented(_PLAIN, 20),
        "record_x": _indented(_record(ufunc, "x", "x", op.title((), {}), space), 16),
    }
    return _finished(_compiled(_UNARY, op.name, fields, space), op)


def whole_lane(numpy_function: Any, run: str, op: Op) -> Callable[..., Any]:
    """The lane of a reduction of all elements; `run` is its source."""
    space = _space(numpy_function, op)
    space["reduce"] = np.add.reduce
    fields = {
        "run": run,
        "plain16": _indented(_PLAIN, 20),
        "record_x": _indented(_record(numpy_function, "x", "x", op.title((), {}), space, spec=NEW_SPEC), 16),
    }
    return _finished(_compiled(_UNARY, op.name, fields, space), op)


def binary_lane(ufunc: Any, op: Op, number_title: str | None = None) -> Callable[..., Any]:
    """The lane of a ufunc of two operands; `number_title` names the node of a tensor beside a number."""
    space = _space(ufunc, op)
    title = op.title((), {})
    recorded = {slots: _record(ufunc, slots, "xy", title, space) for slots in ("x", "y", "xy")}
    beside_number = recorded["x"]
    if number_title is not None:
        space["plan_number"] = named(space["plan_x"], number_title)
        beside_number = beside_number.replace("plan_x", "plan_number")
    fields = {
        "run": OPERATORS.get(ufunc, "function(x, y)"),
        "plain36": _indented(_PLAIN, 36),
        "plain28": _indented(_PLAIN, 28),
        "record_y32": _indented(recorded["y"], 32),
        "record_x32": _indented(recorded["x"], 32),
        "record_xy28": _indented(recorded["xy"], 28),
        "record_x24": _indented(beside_number, 24),
    }
    return _finished(_compiled(_BINARY, op.name, fields, space), op)


def reflected_lane(ufunc: Any, op: Op, reflected: Callable[..., Any]) -> Callable[..., Any]:
    """The lane of `number <operator> tensor`; `reflected` is what takes all else."""
    space = _space(ufunc, op)
    space["reflected"] = reflected
    fields = {
        "run": OPERATORS.get(ufunc, "function(x, y)"),
        "plain20": _indented(_PLAIN, 20),
        "record_y16": _indented(_record(ufunc, "y", "xy", op.title((), {}), space), 16),
    }
    if op.name in ("add", "mul"):
        space["plan_y"] = NumberFirstPlan(space["plan_y"], op.title((), {}))
    made = _compiled(_REFLECTED.replace("def r{name}", "def {name}"), f"r{op.name}", fields, space)
    return _finished(made, op)


def _finished(lane: Any, op: Op) -> Callable[..., Any]:
    lane.op, lane.__doc__, lane.__module__ = op, op.__doc__, "funcgrad.torch"
    return lane
