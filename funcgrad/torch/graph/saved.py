"""saved_tensors_hooks and allow_mutation_on_saved_tensors: what happens to the values that nodes save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.engine.reverse import PICK
from funcgrad.core.engine.sweep import Node
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.modes import Mode, ModeManager
from funcgrad.torch.graph.tape import NamedPlan, Tape
from funcgrad.torch.tensors.tensor import EAGER, PACK, Tensor, tensor_at
from funcgrad.typed import override


class Packed:
    """What pack made of a saved value, until unpack gives it back."""

    __slots__ = ("content", "unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any]) -> None:
        self.content, self.unpack = content, unpack

    def value(self) -> Any:
        """The value again."""
        with modes.no_grad():
            found = self.unpack(self.content)
        if not isinstance(found, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(found)}"
            )
        return found.value


class PackedPlan(NamedPlan):
    """A plan whose saved values are packed."""

    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        super().__init__(inner, inner.name, pulls_alike=False)
        self.inner, self.keeps = inner, inner.keeps
        self.pull = lambda ct, saved: inner.pull(ct, unpacked(saved))
        self.pull_masked = lambda ct, saved: inner.pull_masked(ct, unpacked(saved))

    @override
    def raised(self, node: Node, wrap: Any) -> Any:
        packed, node.saved = node.saved, unpacked(node.saved)
        try:
            return self.inner.raised(node, wrap)
        finally:
            node.saved = packed


def mapped(saved: Any, change: Callable[[Any], Any]) -> Any:
    """Saved values, each changed. A tape of several calls stays: they run again on what was packed."""
    if type(saved) is Tape:
        return Tape(saved.function, mapped(saved.operands, change), saved.slots, saved.where)
    if type(saved) is tuple:
        return tuple(mapped(x, change) for x in saved)
    if type(saved) is list:
        return [mapped(x, change) for x in saved]
    if type(saved) is dict:
        return {k: mapped(v, change) for k, v in saved.items()}
    return change(saved)


def unpacked(saved: Any) -> Any:
    """Saved values with what was packed given back."""
    return mapped(saved, lambda x: x.value() if type(x) is Packed else x)


def _writes(t: Tensor) -> int:
    return 0 if t.link is None else t.link.version.count


def packer(
    pack: Callable[[Any], Any], unpack: Callable[[Any], Any], operands: Sequence[Any] = ()
) -> Callable[[Any], Any]:
    """A function that packs what is a tensor's: an array (or its tracer), a NumPy scalar of `operands`."""

    def packed(x: Any) -> Any:
        value = x._value if isinstance(x, EAGER.tracer_type) else x
        if isinstance(value, np.generic) and value is x and not any(value is given for given in operands):
            return value  # a number of the user's
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        given = tensor_at(x)
        before = _writes(given)
        with modes.no_grad():
            content = pack(given)
        if _writes(given) != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
                "modified by in-place operations as this can lead to unexpected side-effects: clone it there."
            )
        return Packed(content, unpack)

    return packed


def _second_first(saved: Any, keeps: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    """Saved values, each changed: of two operands the second comes first, as PyTorch packs them."""
    if keeps[:2] != ("x", "y") or len(saved) != len(keeps):
        return mapped(saved, change)
    names = ("y", "x", *keeps[2:])
    found = dict(zip(keeps, saved.values() if type(saved) is dict else saved, strict=True))
    found.update({name: mapped(found[name], change) for name in names})
    return {k: found[k] for k in saved} if type(saved) is dict else tuple(found[k] for k in keeps)


def pack_node(node: Node, change: Callable[[Any], Any], only: str | None = None) -> None:
    """Pack what a node has saved (`only` what it has under this name), from now on."""
    plan: Any = node.plan
    if not isinstance(plan, NamedPlan) or not plan.keeps:
        return
    saved, raised = node.saved, plan.raised(node, EAGER.wrap)  # whose tensors know their place in the graph
    if only is None:
        node.saved = _second_first(raised, plan.keeps, change)
    elif type(saved) is dict:
        node.saved = {k: change(raised[k]) if k == only else v for k, v in saved.items()}
    else:
        pairs = zip(plan.keeps, saved, raised, strict=True)
        node.saved = tuple([change(r) if k == only else v for k, v, r in pairs])
    if not isinstance(plan, PackedPlan):
        node.plan = PackedPlan(plan)


def hooks_of(mode: Mode) -> Any:
    """The (pack, unpack) that apply now; RuntimeError where they are disabled."""
    hooks = mode.saved_hooks[-1]
    if isinstance(hooks, str):
        raise RuntimeError(hooks)
    return hooks


def after_recording(out: Any, mode: Mode, operands: Sequence[Any]) -> None:
    """Do to the node just made from `operands` what the mode wants."""
    for t in out if isinstance(out, tuple) else (out,):
        node = t.node if isinstance(t, Tensor) else None
        if node is None:
            continue
        if node.plan is PICK:
            node = node.parents[0]
        if mode.anomaly is not None:
            mode.anomaly.note(node, t.value, operands)
        if mode.saved_hooks:
            _pack(node, mode, operands)


def _pack(node: Node, mode: Mode, operands: Sequence[Any]) -> None:
    if not isinstance(node.plan, PackedPlan) and not isinstance(mode.saved_hooks[-1], str):
        pack, unpack = hooks_of(mode)
        pack_node(node, packer(pack, unpack, operands))


def _pack_recorded(made: Any, operands: Sequence[Any]) -> None:
    """Pack what the nodes of these tracers have saved, if hooks are there."""
    mode = modes.mode()
    if not mode.saved_hooks:
        return
    for x in made if isinstance(made, (tuple, list)) else (made,):
        node = x._node if isinstance(x, EAGER.tracer_type) else None
        if node is not None:
            _pack(node.parents[0] if node.plan is PICK else node, mode, operands)


PACK.append(_pack_recorded)


class saved_tensors_hooks(ModeManager):
    """While this is open, saved tensors go through `pack_hook`, and `unpack_hook` when backward asks."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        super().__init__()
        self.hooks = (pack_hook, unpack_hook)

    @override
    def fields(self) -> dict[str, Any]:
        before = modes.mode().saved_hooks
        if before and isinstance(before[-1], str):
            raise RuntimeError(before[-1])
        return {"saved_hooks": (*before, self.hooks)}

    @override
    def clone(self) -> ModeManager:
        return saved_tensors_hooks(*self.hooks)


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are on the CPU already: this changes nothing."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t, lambda t: t)


class disable_saved_tensors_hooks(ModeManager):
    """While this is open, saved_tensors_hooks raises `error_message`."""

    def __init__(self, error_message: str) -> None:
        super().__init__()
        self.error_message = error_message

    @override
    def fields(self) -> dict[str, Any]:
        return {"saved_hooks": (self.error_message,)}

    @override
    def clone(self) -> ModeManager:
        return disable_saved_tensors_hooks(self.error_message)


class forbid_second_backward(ModeManager):
    """While this is open, a second backward through any node raises: also through those that keep nothing,
    such as sums.

    PyTorch lets these go twice, and doubles the gradient. Give retain_graph=True where that is meant.

    >>> import funcgrad.torch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.graph.forbid_second_backward():
    ...     y = x.sum()
    ...     y.backward()
    ...     y.backward()
    Traceback (most recent call last):
    RuntimeError: Trying to backward through the graph a second time ...
    """

    @override
    def fields(self) -> dict[str, Any]:
        return {"once": True}


class allow_mutation_on_saved_tensors(ModeManager):
    """While this is open, overwritten saved values are no error: the gradient is that of the old ones."""

    @override
    def fields(self) -> dict[str, Any]:
        if modes.mode().mutation is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        return {"mutation": "allowed"}
