"""The fast lanes of tensors: generated like the core's (core/lanes/reverse.py), for the operators and
elementwise functions of hot code.

A lane does what `run` in ops.py would do, for operands of one floating dtype in the normal mode: nothing is
promoted, packed or looked up. Anything else (other dtypes, tracers of transforms, memory shared with NumPy,
modes) goes to the Op.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.arrays.spec import spec as primitive_spec
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.sweep import Node
from funcgrad.core.lanes.reverse import NEW_SPEC, planned, spec_lines
from funcgrad.core.lanes.source import OPERATORS, compiled, indented
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.graph.modes import MODE
from funcgrad.torch.graph.tape import NumberFirstPlan, named, next_number
from funcgrad.torch.tensors.tensor import PLAIN, Tensor

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
SCALARS = frozenset([np.float32, np.float64])

_RECORD = """\
node = Node()
node.number = number()
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
def NAME(input, *rest, **options):
    if type(input) in plain_types and not rest and not options and mode() is None:
        x = input.value
        dtype = x.dtype
        if dtype is F32 or dtype is F64:
            out = {run}
            if type(out) is ndarray or type(out) in scalars:
                node_x = input.node
                if node_x is None:
{plain}
{record_x}
    return general(input, *rest, **options)
"""
_BINARY = """\
def NAME(input, other, **options):
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
{plain_xy}
{record_y}
                            if node_y is None:
{record_x}
{record_xy}
                elif (kind is float or kind is int) and (dtype is F32 or dtype is F64):
                    y = other
                    out = {run_number}
                    if type(out) is ndarray or type(out) in scalars:
                        node_x = input.node
                        if node_x is None:
{plain_x}
{record_number}
    except ValueError:  # shapes that do not fit: the Op says so in PyTorch's words
        pass
    return general(input, other, **options)
"""
_REFLECTED = """\
def NAME(input, other):
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
{plain}
{record_y}
    return reflected(input, other)
"""


def _record(ufunc: Any, slots: str, operands: str, title: str, space: dict[str, Any], spec: str = "") -> str:
    """The lines that record the node when the operands in `slots` require grad."""
    primitive: Any = CATALOGUE[ufunc]
    plan, saved, call = planned(primitive, slots, operands, space)
    space[f"plan_{slots}"] = named(plan, title)
    if not plan.lane_save and plan.save(call, np.ones(())) == {"a": primitive_spec(call.operands[0])}:
        saved = "{'a': node_x.spec}"  # a linear function of one operand needs no more
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
        "number": next_number,
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
warnings.filterwarnings(
    "ignore", category=RuntimeWarning, module=r"funcgrad\.torch\.(graph\.lanes|functions\.blocks)"
)


def _lane(template: str, name: str, op: Op, fields: dict[str, str], space: dict[str, Any]) -> Any:
    """The lane of a template's text; what it does not take goes to `op`."""
    lane: Any = compiled(template.format(**fields), name, space, "torch lane")
    lane.op, lane.__doc__, lane.__module__ = op, op.__doc__, "funcgrad.torch"
    return lane


def unary_lane(ufunc: Any, op: Op) -> Callable[..., Any]:
    """The lane of a ufunc of one operand."""
    space = _space(ufunc, op)
    fields = {"run": OPERATORS.get(ufunc, "function(x)"), "plain": indented(_PLAIN, 20)}
    fields["record_x"] = indented(_record(ufunc, "x", "x", op.title((), {}), space), 16)
    return _lane(_UNARY, op.name, op, fields, space)


def whole_lane(numpy_function: Any, run: str, op: Op) -> Callable[..., Any]:
    """The lane of a reduction of all elements; `run` is its source."""
    space = _space(numpy_function, op) | {"reduce": np.add.reduce}
    fields = {"run": run, "plain": indented(_PLAIN, 20)}
    fields["record_x"] = indented(
        _record(numpy_function, "x", "x", op.title((), {}), space, spec=NEW_SPEC), 16
    )
    return _lane(_UNARY, op.name, op, fields, space)


def binary_lane(
    ufunc: Any,
    op: Op,
    number_title: str | None = None,
    second: str = "other",
    with_number: Callable[[Any, Any], Any] | None = None,
) -> Callable[..., Any]:
    """The lane of a ufunc of two operands; `number_title` names the node of a tensor beside a number, `second` the
    second operand. `with_number` is what computes the ufunc of a tensor and a number, where that is not an operator.
    """
    space = _space(ufunc, op) | {"with_number": with_number}
    run = OPERATORS.get(ufunc, "function(x, y)")
    recorded = {slots: _record(ufunc, slots, "xy", op.title((), {}), space) for slots in ("x", "y", "xy")}
    beside_number = recorded["x"]
    if number_title is not None:
        space["plan_number"] = named(space["plan_x"], number_title)
        beside_number = beside_number.replace("plan_x", "plan_number")
    fields = {
        "run": run,
        "run_number": "with_number(x, y)" if with_number else run,
        "plain_xy": indented(_PLAIN, 36),
        "plain_x": indented(_PLAIN, 28),
        "record_y": indented(recorded["y"], 32),
        "record_x": indented(recorded["x"], 32),
        "record_xy": indented(recorded["xy"], 28),
        "record_number": indented(beside_number, 24),
    }
    return _lane(_BINARY.replace("other", second), op.name, op, fields, space)


def reflected_lane(ufunc: Any, op: Op, reflected: Callable[..., Any]) -> Callable[..., Any]:
    """The lane of `number <operator> tensor`; `reflected` is what takes all else."""
    space = _space(ufunc, op) | {"reflected": reflected}
    fields = {"run": OPERATORS.get(ufunc, "function(x, y)"), "plain": indented(_PLAIN, 20)}
    fields["record_y"] = indented(_record(ufunc, "y", "xy", op.title((), {}), space), 16)
    if op.name in ("add", "mul"):
        space["plan_y"] = NumberFirstPlan(space["plan_y"], op.title((), {}))
    return _lane(_REFLECTED, f"r{op.name}", op, fields, space)
