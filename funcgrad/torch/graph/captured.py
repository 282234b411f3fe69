"""Writes inside a functional transform to tensors from outside it: refused, and taken back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from weakref import ref

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.graph.modes import WRITTEN
from funcgrad.torch.tensors.storage import link_of
from funcgrad.torch.tensors.tensor import Tensor


def note(tensor: Tensor, v: Any) -> None:
    """The content `v` is about to be written to `tensor`."""
    written, held = WRITTEN.get(), tensor.value
    if (
        written is not None
        and isinstance(v, Tracer)
        and not (isinstance(held, Tracer) and held._trace.level >= v._trace.level)
    ):
        written.append((ref(tensor), link_of(tensor).storage.array, tensor.node))


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, for a transform: RuntimeError, if what it has written to is still there when it returns."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        written: list[tuple[Any, Any, Any]] = []
        token = WRITTEN.set(written)
        out = None
        try:
            out = function(*args, **kwargs)
        finally:
            WRITTEN.reset(token)
            kept = _restored(written, out)
        if kept:
            raise RuntimeError(
                "During a functional transform (grad, vjp, jvp, vmap, ...), the function provided attempted to call an in-place "
                f"operation that would mutate a captured Tensor (of shape {list(kept[0].shape)}). This is not supported; please "
                "rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs, or clone it."
            )
        return out

    return run


def _restored(written: list[tuple[Any, Any, Any]], out: Any) -> list[Tensor]:
    """The tensors that outlive the function and are no part of its output, with their contents from before."""
    returned = {id(base) for t in tensors_in(out) for base in (t, t._base)}
    kept = []
    for reference, array, node in written:
        tensor = reference()
        if tensor is not None and id(tensor) not in returned:
            tensor.link.storage.forget_values()
            tensor.link.storage.array, tensor.node = array, node
            kept.append(tensor)
    return kept


class Writes:
    """What a function under a transform has written to its arguments: the tensors that its caller gave see it, too."""

    def __init__(self) -> None:
        self.found: dict[int, Any] = {}  # by the number of the tensor among the arguments: its content

    def noted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose writes are noted when it returns."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            out = function(*args, **kwargs)
            for k, t in enumerate(tensors_in((args, kwargs))):
                if t.link is not None and t.link.version.count:
                    self.found[k] = t.value
            return out

        return run

    def repeat(self, tensors: list[Tensor], outside: Callable[[int, Any], Tensor | None]) -> None:
        """Write to `tensors` what `outside` makes of the number and content of each (None: zeros)."""
        for k, content in self.found.items():
            v = outside(k, content)
            if v is None:
                tensors[k].zero_()
            else:
                tensors[k].copy_(v)


def tensors_in(out: Any) -> list[Tensor]:
    """The tensors in lists, tuples and dicts."""
    if isinstance(out, Tensor):
        return [out]
    parts = out.values() if isinstance(out, dict) else out if isinstance(out, (list, tuple)) else ()
    return [t for part in parts for t in tensors_in(part)]
