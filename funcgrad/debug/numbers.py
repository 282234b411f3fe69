"""Looks for NaN and inf in values and derivatives, and says where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.cotangent import Part, dense
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.reads import Read
from funcgrad.errors import NumericalError


class Held(NamedTuple):
    """Whether there is a NaN, or an inf, among some numbers."""

    nan: bool
    inf: bool

    @classmethod
    def by(cls, parts: Any) -> Held:
        """What some values, tangents or cotangents hold."""
        parts_of_it = list(arrays(parts))
        return cls(any(np.isnan(a).any() for a in parts_of_it), any(np.isinf(a).any() for a in parts_of_it))


def arrays(parts: Any) -> Iterator[np.ndarray]:
    """The plain floating arrays in values, tangents, cotangents and lists; a tracer's own tangents too."""
    if isinstance(parts, (tuple, list)):
        for part in parts:
            yield from arrays(part)
        return
    if isinstance(parts, Part):
        yield from arrays(parts.ct)
        return
    value = dense(parts.part if isinstance(parts, Read) else parts)
    while isinstance(value, Tracer):
        if isinstance(value._trace, ForwardTrace):
            yield from arrays(value._node)
        value = value._value
    if is_floating(value):
        yield np.asarray(value)


def is_floating(x: Any) -> bool:
    """Is `x` a number, or an array of numbers, that may be NaN?"""
    return isinstance(x, (float, complex)) or getattr(getattr(x, "dtype", None), "kind", "") in ("f", "c")


def new_kind(array: np.ndarray, before: Held, *, infs: bool) -> str:
    """What is new in `array`: "NaN" (always worth an error), "inf" (unless one came in), or ""."""
    if np.isnan(array).any():
        return "NaN"
    return "inf" if infs and not before.inf and np.isinf(array).any() else ""


def check_value(operation: str, line: str, call: Call, out: Any, *, infs: bool) -> None:
    """Raise if an operation gave a NaN or inf."""
    before = Held.by([concrete(x) for x in call.operands])
    for array in [np.asarray(concrete(o)) for o in as_list(out) if is_floating(concrete(o))]:
        kind = new_kind(array, before, infs=infs)
        if not kind:
            continue
        message = f"debug.nans: {kind} appeared in {operation} at {line}: {place(array)}. Operands: {operands(call)}."
        if before.nan:
            message += " A NaN came in with the operands: from an argument, a constant, or a function without tracers."
        raise NumericalError(message)


def check_derivative(what: str, before: Held, parts: Any, *, infs: bool) -> None:
    """Raise if a tangent or cotangent holds a NaN or inf; `what` tells how it was computed."""
    for array in arrays(parts):
        kind = new_kind(array, before, infs=infs)
        if not kind:
            continue
        message = f"debug.nans: {kind} appeared where {what}: {place(array)}."
        if before.nan:
            message += " It already held a NaN before that."
        raise NumericalError(message)


def place(array: np.ndarray) -> str:
    """How many elements are not finite, and which is the first."""
    bad = np.argwhere(~np.isfinite(array))
    if array.ndim == 0:
        return f"the number {array[()]}"
    first = ", ".join(map(str, bad[0].tolist()))
    return f"{len(bad)} of {array.size} elements of shape {array.shape}, the first at [{first}]"


def operands(call: Call) -> str:
    """The operands of a call, in words."""
    names: list[str] = []
    for name, length in call.layout:
        names += [name] if length is None else [f"{name}[{k}]" for k in range(length)]
    return ", ".join(f"{name} {described(x)}" for name, x in zip(names, call.operands, strict=True))


def described(x: Any) -> str:
    """Shape, dtype and range of an operand; what is no array is named by its type."""
    x = concrete(x)
    if not isinstance(x, (np.ndarray, np.generic, int, float, complex)):
        return f"({type(x).__name__})"
    array = np.asarray(x)
    if array.ndim == 0:
        return f"= {array[()]}"
    text = f"of shape {array.shape}, {array.dtype}"
    known = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    if known.size and array.dtype.kind in "iuf":
        text += f", from {np.min(known)} to {np.max(known)}"
    return text if known.size == array.size else f"{text}, with NaN"


def as_list(out: Any) -> Sequence[Any]:
    """Several outputs, or one, as a list."""
    return out if isinstance(out, (tuple, list)) else [out]
