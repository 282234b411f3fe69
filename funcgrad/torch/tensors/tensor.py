"""`Tensor`: a mutable cell. `value` is what it holds (an array, or a tracer of a transform), `node` its place
in the graph.

Both are slots, read by the fast lanes without any test. A slot that was emptied (a view whose memory was
written to) is filled again when it is next asked for. What few tensors have (a link to shared memory, a grad)
sits in slots that stay empty. Most methods are attached where they are at home: operations in functions/,
hooks and nodes in graph/. This file has what a tensor is, and the trace of all tensors that require grad.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.spec import spec
from funcgrad.core.engine.forward import ForwardTracer
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.reverse import PICK, ReverseTrace, plan_of
from funcgrad.core.engine.sweep import Node, make_node
from funcgrad.core.engine.trace import Tracer, concrete, rebuilt
from funcgrad.torch.advice import advice
from funcgrad.torch.graph.modes import MODE, check_outside, mode
from funcgrad.torch.graph.tape import NUMBERS, UNGUARDED, EagerTracer, named, next_number, node_name
from funcgrad.torch.tensors import dtypes, storage
from funcgrad.torch.tensors.size import Size, device, strided
from funcgrad.torch.tensors.values import constant
from funcgrad.typed import override

_new = object.__new__
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
    "the leaf Tensor instead."
)

ONLY_LEAVES = "you can only change requires_grad flags of leaf variables."
USE_DETACH = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation "
    "use var_no_grad = var.detach()."
)


class Tensor:
    """An array with PyTorch's interface, which remembers how it was computed if it requires grad.

    >>> import funcgrad.torch as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__", "grad_", "link", "node", "value")
    value: Any
    node: Node | None
    link: Any
    grad_: Any
    __array_priority__ = 1000

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("funcgrad.") or any(
            base in PLAIN and base is not Tensor for base in cls.__mro__
        ):
            PLAIN.add(cls)
        else:
            OVERRIDING.append(cls)

    def __getattr__(self, name: str) -> Any:
        if name in ("link", "grad_"):
            return None
        if name == "value":
            self.value = found = self.link.value()
            return found
        if name == "node":
            self.node = found = self._refreshed_node()
            return found
        text = f"'{type(self).__name__}' object has no attribute '{name}'"
        if not name.startswith("_"):
            instead = advice("Tensor", name)
            lacks = f"funcgrad.torch lacks it; {self.value.dtype} of shape {tuple(self.shape)}"
            text += f" ({lacks})" if instead is None else f": {instead}"
        raise AttributeError(text)

    def __operand__(self) -> Any:
        """What the engine works on: the array, or a tracer."""
        value, node = self.value, self.node
        if node is None or not mode().grad:
            return value if type(value) is not storage.Shared else np.array(value)
        return EAGER.wrap(value if type(value) is not storage.Shared else np.array(value), node)

    # ---- what it is --------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> Size:
        """The number of elements along each axis."""
        return tuple.__new__(Size, self.value.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.value.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.of(self.value.dtype)

    @property
    def device(self) -> device:
        """Always the CPU."""
        return device("cpu")

    @property
    def layout(self) -> Any:
        """Always strided."""
        return strided

    is_cuda = is_sparse = is_quantized = is_mps = is_meta = is_nested = False

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.value.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self.itemsize

    @property
    def names(self) -> tuple[None, ...]:
        """Axes have no names."""
        return (None,) * self.ndim

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the number of elements along one axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def numel(self) -> int:
        """The number of elements."""
        return int(np.prod(self.value.shape, dtype=int))

    nelement = numel
    ndimension = dim

    def __len__(self) -> int:
        if not self.value.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.value.shape[0]

    # ---- its place in the graph --------------------------------------------------------------------------------------
    @property
    def requires_grad(self) -> bool:
        """Are operations on it recorded?"""
        return self.node is not None or (isinstance(self.value, Tracer) and traced(self.value))

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not self.is_leaf:
            raise RuntimeError(ONLY_LEAVES if wanted else ONLY_LEAVES + USE_DETACH)
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Record (or do not record) operations on this leaf, from now on."""
        node = self.node
        if node is not None and node.plan is not None:
            if not requires_grad:
                raise RuntimeError(ONLY_LEAVES + USE_DETACH)
            return self
        if not requires_grad:
            self.node = None
        elif node is None:
            check_outside("Tensor.requires_grad_()")
            if self.value.dtype.kind not in "fc":
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            if self.__dict__.get("is_inference_tensor") and not mode().inference:
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
                )
            self.node = make_node(next_number(), None, Leaf(self), (), self.value.shape, self.value.dtype)
        return self

    @property
    def is_leaf(self) -> bool:
        """Was it made by the user, rather than by an operation that was recorded?"""
        return self.node is None or self.node.plan is None

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs it is."""
        node = self.node
        return node.saved if node is not None and node.plan is PICK else 0

    @property
    def grad(self) -> Any:
        """What backward has accumulated here; None at first."""
        found = self.grad_
        if found is None and self.node is not None and not self.is_leaf and not self.retains_grad:
            warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return found

    @grad.setter
    def grad(self, v: Any) -> None:
        if v is not None:
            check_grad(self, v)
        self.grad_ = v

    @grad.deleter
    def grad(self) -> None:
        self.grad_ = None

    @property
    def grad_dtype(self) -> Any:
        """The dtype of its grad: its own."""
        return self.dtype if self.is_leaf else None

    @property
    def _version(self) -> int:
        if self.__dict__.get("is_inference_tensor"):
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.link is None else self.link.version.count

    @property
    def _base(self) -> Any:
        return None if self.link is None else self.link.base

    def _is_view(self) -> bool:
        return self._base is not None

    def is_inference(self) -> bool:
        """Was it made in inference mode?"""
        return bool(self.__dict__.get("is_inference_tensor"))

    def detach(self) -> Tensor:
        """The same memory and version counter, outside the graph."""
        if isinstance(self.value, Tracer):
            return make_tensor(constant(self.value))
        made = storage.share(self, make_tensor(self.value))
        made.__class__ = Tensor if type(self) in PLAIN else type(self)
        return made

    def detach_(self) -> Tensor:
        """Leave the graph: this tensor becomes a leaf that does not require grad."""
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) "
                "for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and "
                "hence detach_() cannot be called on these gradients."
            )
        self.node = None
        return self

    @property
    def data(self) -> Tensor:
        """The same memory, outside the graph, with a version counter of its own."""
        if isinstance(self.value, Tracer):
            return make_tensor(constant(self.value))
        return storage.share(self, make_tensor(self.value), own_version=True)

    @data.setter
    def data(self, v: Tensor) -> None:
        if not isinstance(v, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(v).__name__}")
        if self.node is not None and v.value.dtype.kind not in "fc":
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        if self.link is not None:
            self.link.storage.drop(self)
            del self.link
        storage.share(v, self, own_version=True)
        self.value = v.value
        node = self.node
        if node is not None and node.plan is None:
            node.spec, node.saved = spec(self.value), Leaf(self)


PLAIN: set[type] = {Tensor}  # Tensor and the library's own subclasses: operations on them give plain tensors
OVERRIDING: list[type] = []  # the user's subclasses (subclasses.py)


_NODE: Any = Tensor.__dict__["node"]  # the slot


def held_node(tensor: Tensor) -> Node | None:
    """The node in a tensor's slot, without looking for one where that is empty."""
    try:
        return _NODE.__get__(tensor)
    except AttributeError:
        return None


# what saved_tensors_hooks do to what a sweep with create_graph records (saved.py)
PACK: list[Callable[[Any, Any], None]] = []


class EagerTrace(ReverseTrace):
    """The outermost trace of all (level 0): tensors that require grad belong to it."""

    __slots__ = ()
    transform = "tensor"
    tracer_type = EagerTracer

    def __init__(self) -> None:
        super().__init__(UNGUARDED)
        self.level, self.numbers = 0, NUMBERS

    @override
    def record(
        self, primitive: Primitive, call: Call, out: Any, slots: tuple[int, ...], parents: tuple[Node, ...]
    ) -> Any:
        plan = named(plan_of(primitive, slots, call), node_name(primitive.name))
        saved = plan.save(call, out)
        if isinstance(out, (tuple, list)):
            made = rebuilt(out, self.record_outputs(plan, saved, parents, out))
        elif out.dtype.kind not in "fc":
            return out
        else:
            made = self.wrap(out, make_node(next(self.numbers), plan, saved, parents, out.shape, out.dtype))
        if PACK and MODE.get() is not None:
            PACK[0](made, call.operands)
        return made

    @override
    def constant(self, value: Any) -> Any:
        return value

    @override
    def handed_out(self, x: Any) -> Any:
        """A tensor."""
        return from_operand(x)


EAGER = EagerTrace()


class Leaf:
    """What a leaf's node knows: its tensor, while somebody holds it, and the memory, which outlives it."""

    __slots__ = ("_link", "_tensor")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor, self._link = ref(tensor), storage.link_of(tensor)

    def __call__(self) -> Tensor | None:
        """The tensor, if it is still there."""
        return self._tensor()

    def tensor(self, node: Node) -> Tensor:
        """The tensor; a new one with the same memory, if it is gone."""
        found = self._tensor()
        if found is None:
            found = make_tensor(self._link.value(), node)
            found.link = self._link
            self._link.storage.add(found)
            self._tensor = ref(found)
        return found


def make_tensor(value: Any, node: Any = None) -> Tensor:
    """A tensor around a content."""
    made = _new(Tensor)
    made.value, made.node = value, node
    return made


def from_operand(x: Any) -> Any:
    """A tensor around what the engine gave: an array, or a tracer. What a transform puts in a tensor's place
    stays: a Jacobian has a whole tree of tensors there.
    """
    if isinstance(x, (Tensor, tuple, list, dict)):
        return x
    return make_tensor(x._value, x._node) if type(x) is EAGER.tracer_type else make_tensor(x)


def tensor_at(x: Any) -> Any:
    """The same; of a leaf the leaf itself, as long as it holds that value."""
    if type(x) is EAGER.tracer_type and x._node is not None and type(x._node.saved) is Leaf:
        found = x._node.saved()
        if found is not None and found.value is x._value:
            return found
    return from_operand(x)


def traced(x: Any) -> bool:
    """Is this tracer part of a graph? (A tangent alone makes no graph.)"""
    while isinstance(x, Tracer):
        is_in_graph = x._node is not None and not x._is_recorded  # jit's tracers all have nodes
        if is_in_graph and (not isinstance(x, ForwardTracer) or traced(x._node)):
            return True
        x = x._value
    return False


def plain(t: Any) -> Any:
    """The plain value of a tensor, beneath all transforms."""
    return concrete(t.value)


def check_grad(t: Tensor, v: Any) -> None:
    """Refuse what can't be the grad of `t`."""
    if not (isinstance(v, Tensor) or getattr(v, "is_sparse", False)):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(v).__name__}"
        )
    if v is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if v.dtype != t.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{v.dtype}' to a tensor with grad_dtype '{t.dtype}'. The "
            "gradient must match the tensor's dtype."
        )
    if tuple(v.shape) != tuple(t.shape):
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(v.shape)}' to a tensor of size '{list(t.shape)}'. Please "
            "ensure that the gradient and the tensor are the same size"
        )


# For transforms a tensor is a container of one leaf, its content.
tree.register_node(Tensor, lambda t: ((t.__operand__(),), None), lambda _, parts: from_operand(parts[0]))


def recording() -> bool:
    """Are operations recorded in this context?"""
    found = MODE.get()
    return found is None or found.grad
