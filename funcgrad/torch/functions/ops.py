"""How a torch function is run on tensors.

    arguments -> contents (arrays or tracers) -> the function's body, plain NumPy -> tensors

An `Op` is declared by its body, which sees contents only and calls NumPy. Where a tensor requires grad, the
body runs on an inner trace, and what that recorded becomes one node of the tensor's graph (tape.py). In-place
variants and views are made from the same Op.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from funcgrad.core.engine.forward import ForwardTracer
from funcgrad.core.engine.reverse import PICK, ReverseTracer
from funcgrad.core.engine.sweep import Node, make_node
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.graph.duals import living
from funcgrad.torch.graph.locations import here
from funcgrad.torch.graph.modes import MODE, Mode
from funcgrad.torch.graph.saved import after_recording
from funcgrad.torch.graph.tape import Tape, fused, named, next_number, saved_values
from funcgrad.torch.tensors import storage
from funcgrad.torch.tensors.inplace import check_overlap, write_out
from funcgrad.torch.tensors.storage import Inference, Shared
from funcgrad.torch.tensors.tensor import EAGER, OVERRIDING, Tensor, from_operand, make_tensor

ndarray = np.ndarray


# what subclasses make of operations (subclasses.py), where there are any
OVERRIDE: list[Callable[..., Any]] = []


Names = dict[str, str | int]
NUMPY_NAMES: Names = {"axis": "dim", "keepdims": "keepdim"}
# What PyTorch calls arguments that have other names in the bodies here, or are given by position alone.
_ROWS: list[tuple[str, Names]] = [
    ("mm bmm", {"mat2": "other"}),
    ("mv", {"vec": "other"}),
    ("index_copy", {"source": "value"}),
    ("split", {"split_size": "split_size_or_sections"}),
    ("swapaxes transpose", {"axis0": "dim0", "axis1": "dim1"}),
    ("cat stack", {"tensors": 0}),
    ("broadcast_to expand reshape", {"size": 1, "shape": 1}),
    ("flip permute tile", {"dims": 1}),
    ("repeat", {"repeats": 1}),
    ("special_gammainc special_gammaincc", {"other": 1}),
    ("cholesky_solve", {"input": 0, "input2": 1}),
    ("tensor_split", {"sections": 1, "indices": 1}),
]
OTHER_NAMES = {name: names for functions, names in _ROWS for name in functions.split()}


def renamed(args: tuple[Any, ...], kwargs: dict[str, Any], names: Names) -> Any:
    """The arguments of a call with those that `names` names under the names, or at the positions, of the body."""
    by_name = {names.get(name, name): x for name, x in kwargs.items()}
    by_position = list(args)
    for place in sorted(name for name in by_name if isinstance(name, int)):
        by_position.insert(place, by_name.pop(place))
    return tuple(by_position), by_name


class Placeholder(int):
    """Stands for a tensor, in arguments."""


class Op:
    """A torch function: name, body (on contents), node's name (a string, or a function of the arguments)."""

    def __init__(
        self, name: str, body: Callable[..., Any], node: Any = None, *, view: str | None = None
    ) -> None:
        self.name, self.body, self.view = name, body, view
        self.node = node or name.rpartition(".")[2].strip("_").title().replace("_", "") + "Backward0"
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"np.{body.__name__}, elementwise." if isinstance(body, np.ufunc) else body.__doc__

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs and not self.names.keys().isdisjoint(kwargs):
            args, kwargs = renamed(args, kwargs, self.names)
        if out is None:
            return run(self, args, kwargs)
        result = run(self, args, kwargs)
        if isinstance(out, Tensor) and out.link is not None:
            check_overlap(out, args)
        return write_out(out, result, self.name)

    @cached_property
    def names(self) -> Names:
        """What arguments may be called, with what the body calls them, or where it has them."""
        parameters = [] if isinstance(self.body, np.ufunc) else list(signature(self.body).parameters)
        where = parameters.index("input") if "input" in parameters else 0
        return {"input": where, **NUMPY_NAMES, **OTHER_NAMES.get(self.name, {})}

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else _BoundOp(self, instance)

    def __repr__(self) -> str:
        return f"<torch function {self.name}>"

    def title(self, args: Any, kwargs: Any) -> str:
        """The name of the node of this call."""
        return self.node if isinstance(self.node, str) else self.node(*args, **kwargs)


class _BoundOp:
    """An Op as a method."""

    __slots__ = ("__self__", "op")

    def __init__(self, op: Op, instance: Any) -> None:
        self.op, self.__self__ = op, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(self.__self__, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<bound method {self.op.name} of a Tensor>"


def placed(x: Any, tensors: list[Any]) -> Any:
    """An argument with Placeholders in the place of tensors (and of the user's arrays), which are collected."""
    if isinstance(x, Tensor):
        tensors.append(x)
        return Placeholder(len(tensors) - 1)
    kind = type(x)
    if kind is list or kind is tuple:
        return kind([placed(item, tensors) for item in x])
    if kind is ndarray:
        tensors.append(make_tensor(x.copy()))
        return Placeholder(len(tensors) - 1)
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, Tracer):
        tensors.append(make_tensor(x))
        return Placeholder(len(tensors) - 1)
    return x


def filled(x: Any, contents: Any) -> Any:
    """An argument with contents in the place of Placeholders."""
    kind = type(x)
    if kind is Placeholder:
        return contents[x]
    if kind is list or kind is tuple:
        return kind([filled(item, contents) for item in x])
    return x


def run(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an Op on tensors."""
    tensors: list[Any] = []
    places = tuple([placed(x, tensors) for x in args])
    named_places = {k: placed(x, tensors) for k, x in kwargs.items()}
    if OVERRIDING:
        found = OVERRIDE[0](op, tensors, args, kwargs)
        if found is not None:
            return found[0]
    body = op.body

    def function(contents: Any) -> Any:
        return body(
            *[filled(x, contents) for x in places],
            **{k: filled(x, contents) for k, x in named_places.items()},
        )

    try:
        with np.errstate(all="ignore"):
            out = call(function, tensors, lambda: op.title(args, kwargs))
    except (AxisError, ValueError) as error:
        raise in_torch_words(error, tensors) from None
    if op.view is not None and isinstance(args[0], Tensor):
        others = [t.value for t in tensors[1:]]  # which give a shape only
        note_views(
            args[0], out, (lambda contents: function([*contents, *others])) if others else function, op.view
        )
    return out


def in_torch_words(error: Exception, tensors: list[Any]) -> Exception:
    """NumPy's error about shapes or axes as PyTorch's."""
    if isinstance(error, AxisError):
        n = max(error.ndim or 0, 1)
        return IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {error.axis})"
        )
    shapes = [tuple(t.value.shape) for t in tensors]
    if "broadcast" not in str(error) or len(shapes) < 2:
        return error
    first, second = shapes[0], shapes[1]
    rank = max(len(first), len(second))
    for k, (m, n) in enumerate(
        zip((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second, strict=True)
    ):
        if m != n and m != 1 and n != 1:
            return RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {k}"
            )
    return RuntimeError(str(error))


def call(function: Callable[[list[Any]], Any], tensors: list[Any], title: Callable[[], str]) -> Any:
    """`function` of the contents of `tensors`, as a tensor (or tensors) whose node has this title."""
    contents = [t.value for t in tensors]
    mode = MODE.get()
    recording = mode is None or mode.grad
    slots = tuple([i for i, t in enumerate(tensors) if t.node is not None]) if recording else ()
    for i, content in enumerate(contents):
        if type(content) is Shared:
            contents[i] = np.array(content) if slots else content.view(ndarray)
        elif type(content) is Inference:
            contents[i] = content.view(ndarray)
            if slots and (mode is None or not mode.inference):
                return saved_nothing(function, tensors, contents, slots, title)
        elif isinstance(content, Tracer):
            if living(content) is not content:  # a dual number, whose level has been left
                return call(function, [_without_tangent(t) for t in tensors], title)
            return call_traced(function, tensors, contents, slots, mode)
    if not slots:
        return wrapped(function(contents), mode)
    if mode is not None and (mode.saved_hooks or mode.anomaly):
        return watched(function, tensors, contents, slots, title(), mode)
    return recorded(function, tensors, contents, slots, title())


def _without_tangent(t: Tensor) -> Tensor:
    """A dual tensor, whose level has been left, as its primal."""
    value = living(t.value)
    return t if value is t.value else from_operand(value)


def call_traced(
    function: Callable[..., Any],
    tensors: list[Any],
    contents: list[Any],
    slots: tuple[int, ...],
    mode: Mode | None,
) -> Any:
    """The same inside a functional transform: the engine sees each call, graph tensors as level 0."""
    for i in slots:
        contents[i] = EAGER.wrap(contents[i], tensors[i].node)
    if mode is not None and not mode.grad:
        contents = [stopped(x, mode.level) for x in contents]
    return wrapped(function(contents), mode)


def stopped(x: Any, level: int) -> Any:
    """`x` as a constant of the reverse traces that were there before `level` was reached."""
    if not isinstance(x, Tracer):
        return x
    value = stopped(x._value, level)
    if isinstance(x, ReverseTracer) and x._trace.level < level:
        return x._trace.wrap(value, None)
    return x._trace.wrap(value, stopped(x._node, level) if isinstance(x, ForwardTracer) else x._node)


def wrapped(out: Any, mode: Mode | None = None) -> Any:
    """Contents as tensors; what is neither array nor tracer stays."""
    if isinstance(out, (tuple, list)):
        parts = [wrapped(x, mode) for x in out]
        return made_like(out, parts)
    if isinstance(out, EAGER.tracer_type):
        return make_tensor(out._value, out._node)
    if not hasattr(out, "dtype"):
        return out
    if mode is not None and mode.inference:
        made = make_tensor(out if isinstance(out, Tracer) else np.asarray(out))
        _mark(made, True)
        return made
    return make_tensor(out)


def _mark(tensor: Tensor, inference: bool) -> None:
    """Take a tensor for one made in inference mode, or for one that was not."""
    if isinstance(tensor.value, ndarray):
        tensor.value = tensor.value.view(Inference if inference else ndarray)
    tensor.__dict__["is_inference_tensor"] = inference


def made_like(out: Any, parts: list[Any]) -> Any:
    """A tuple of `parts`; a named one, if `out` is."""
    return out._make(parts) if hasattr(out, "_make") else tuple(parts)


# ---- recording -------------------------------------------------------------------------------------------------------


def recorded(
    function: Any, tensors: list[Any], contents: list[Any], slots: tuple[int, ...], title: str
) -> Any:
    """Run `function` on an inner trace; its tape becomes one node."""
    tape = Tape(function, contents, slots)
    out = tape.run()
    parents = tuple([tensors[i].node for i in slots])
    if isinstance(out, (tuple, list)):
        return _recorded_many(out, tape, parents, title)
    if not isinstance(out, Tracer):
        return wrapped(out)
    end = tape.ends[0]
    if end is None:
        return make_tensor(out._value)
    return make_tensor(out._value, adopted(end, tape, parents, title))


def adopted(end: Node, tape: Tape, parents: tuple[Node, ...], title: str) -> Node:
    """The node of a function with one output."""
    where = dict(zip(tape.leaves, parents, strict=True))
    if end.plan is not None and end.plan is not PICK and all(p in where for p in end.parents):
        mapped = tuple([where[p] for p in end.parents])
        return make_node(next_number(), named(end.plan, title), end.saved, mapped, end.shape, end.dtype)
    tape.where = here()
    return make_node(next_number(), fused(title, tape.keeps()), tape, parents, end.shape, end.dtype)


def _recorded_many(out: Any, tape: Tape, parents: tuple[Node, ...], title: str) -> Any:
    ends = tape.ends
    if not any(ends):
        return wrapped([x._value if isinstance(x, Tracer) else x for x in out])
    tape.where = here()
    node = make_node(next_number(), fused(title, tape.keeps()), tape, parents, len(ends), None)
    made = []
    for k, (x, end) in enumerate(zip(out, ends, strict=True)):
        if end is None:
            made.append(wrapped(x._value if isinstance(x, Tracer) else x))
        else:
            made.append(
                make_tensor(x._value, make_node(next_number(), PICK, k, (node,), end.shape, end.dtype))
            )
    return made_like(out, made)


def watched(
    function: Any, tensors: list[Any], contents: list[Any], slots: tuple[int, ...], title: str, mode: Mode
) -> Any:
    """`recorded`, in a mode that wants to see what is saved, or where."""
    out = recorded(function, tensors, contents, slots, title)
    after_recording(out, mode, contents)
    return out


def saved_nothing(
    function: Any, tensors: list[Any], contents: list[Any], slots: tuple[int, ...], title: Any
) -> Any:
    """Record a call on tensors that were made in inference mode: allowed, if none of them is to be saved."""
    contents = [x.view(ndarray) if isinstance(x, ndarray) else x for x in contents]
    out = recorded(function, tensors, contents, slots, title())
    made_in_inference = {id(x) for x, t in zip(contents, tensors, strict=True) if type(t.value) is Inference}
    for t in out if isinstance(out, tuple) else (out,):
        saved = () if t.node is None else saved_values(t.node)
        if any(id(x) in made_in_inference for x in saved):
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
            )
    return out


# ---- views -----------------------------------------------------------------------------------------------------------


def note_views(base: Tensor, out: Any, function: Callable[[list[Any]], Any], kind: str) -> None:
    """Note which outputs look into the memory of `base`."""
    if isinstance(out, tuple):
        for k, view in enumerate(out):
            _note_view(base, view, lambda x, k=k: function([x])[k], "multiple")
    else:
        _note_view(base, out, lambda x: function([x]), None)


def _note_view(base: Tensor, view: Any, step: Any, origin: str | None) -> None:
    x, out = base.value, view.value
    if not isinstance(x, Tracer) and not looks_into(out, x):
        return
    mode = MODE.get()
    if origin is None and mode is not None and not mode.grad:
        origin = "no_grad"
    storage.share_as_view(base, view, step, origin)
    if type(view.link.storage.array) is Shared:
        storage.del_slot(view, "value")  # it was computed from a copy
    if base.is_inference() is not view.is_inference():
        _mark(view, base.is_inference())


def looks_into(out: Any, x: Any) -> bool:
    """Would a write to `x` be seen in `out`? (An element of an array is a copy, but counts as a view.)"""
    if isinstance(x, np.generic) or (type(out) is not ndarray and not isinstance(out, Shared)):
        return True
    return out is x or (
        out.base is not None
        and (out.base is x or out.base is getattr(x, "base", None) or isinstance(x, Shared))
    )


def _refreshed_node(t: Tensor) -> Node | None:
    """The node of a view whose base was written to."""
    base = t._base
    if base is None or base.node is None:
        return None
    steps = t.link.base_steps
    return recorded(
        lambda contents: storage.stepped(contents[0], steps), [base], [base.value], (0,), "AsStridedBackward0"
    ).node


Tensor._refreshed_node = _refreshed_node  # type: ignore[attr-defined]
