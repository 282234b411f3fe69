"""Subclasses of Tensor, and `__torch_function__`: what operations on them give.

An operation on a user's subclass is handed to `cls.__torch_function__(function, types, args, kwargs)`. The
one that is inherited runs the function and gives what it returns the subclass. Parameters and the library's
other own classes stay out of this: what is computed from them is a plain tensor, and the fast lanes take
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from funcgrad.torch.functions.index import get_item
from funcgrad.torch.functions.ops import OVERRIDE, made_like
from funcgrad.torch.functions.registry import FUNCTIONS, function
from funcgrad.torch.tensors.tensor import PLAIN, Tensor

_DISABLED: ContextVar[bool] = ContextVar("disabled", default=False)


def converted(out: Any, cls: type) -> Any:
    """The plain tensors of a result as tensors of a subclass."""
    if isinstance(out, (tuple, list)):
        return made_like(out, [converted(x, cls) for x in out])
    if type(out) is Tensor:
        out.__class__ = cls
    return out


@contextmanager
def DisableTorchFunctionSubclass() -> Iterator[None]:
    """A with block in which operations on subclasses are as on plain tensors."""
    token = _DISABLED.set(True)
    try:
        yield
    finally:
        _DISABLED.reset(token)


def _inherited(
    cls: type, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
) -> Any:
    """Run `func` as on plain tensors, and give its results this subclass."""
    with DisableTorchFunctionSubclass():
        out = func(*args, **(kwargs or {}))
    return converted(out, cls)


def overridden(op: Any, tensors: Sequence[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a subclass makes of an operation: (result,); None if all are plain or nothing is overridden."""
    types = tuple(dict.fromkeys(type(t) for t in tensors if type(t) not in PLAIN))
    if not types or _DISABLED.get():
        return None
    for cls in sorted(types, key=lambda c: -len(c.__mro__)):  # a subclass before its base
        out = cls.__torch_function__(op, types, args, kwargs)  # type: ignore[attr-defined]
        if out is not NotImplemented:
            return (out,)
    names = ", ".join(cls.__name__ for cls in types)
    raise TypeError(
        f"Multiple dispatch failed for 'torch.{op.name}'; all __torch_function__ handlers returned NotImplemented: {names}"
    )


@function("m")
def as_subclass(self: Tensor, cls: type) -> Any:
    """The same memory as a tensor of a subclass."""
    if not issubclass(cls, Tensor):
        raise TypeError(f"as_subclass: expected a subclass of torch.Tensor, but got {cls.__name__}")
    made = get_item(self, ...)
    made.__class__ = cls
    return made


Tensor.__torch_function__ = classmethod(_inherited)  # type: ignore[attr-defined]
OVERRIDE.append(overridden)
FUNCTIONS["DisableTorchFunctionSubclass"] = DisableTorchFunctionSubclass
