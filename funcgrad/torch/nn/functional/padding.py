"""Padding as a function."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from funcgrad.core.engine.declare import custom, linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

Margins = tuple[tuple[int, int], ...]


def padded(x: Any, margins: Margins, value: Any = 0) -> Any:
    """`x` with as many elements before and behind each axis as `margins` says (fewer, where it is negative)."""
    kept = tuple(slice(max(-b, 0), n - max(-a, 0)) for (b, a), n in zip(margins, x.shape, strict=True))
    inside = tuple(
        slice(max(b, 0), max(b, 0) + s.stop - s.start) for (b, _), s in zip(margins, kept, strict=True)
    )
    made = np.full([b + n + a for (b, a), n in zip(margins, x.shape, strict=True)], value, x.dtype)
    made[inside] = x[kept]
    return made


def _batched(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    return primitive(call.operands[0], **{**call.params, "margins": ((0, 0), *call.params["margins"])})


PADDED = custom(
    padded,
    lambda ct, margins: PADDED(ct, tuple((-b, -a) for b, a in margins)),
    push=lambda t, margins: PADDED(t, margins),
    batch=_batched,
    name="constant_pad_nd",
)


@lru_cache(64)
def _sources(n: int, before: int, after: int, mode: str) -> list[int]:
    """The element of an axis that each element of a padded axis shows."""
    at = np.arange(-before, n + after)
    if mode == "replicate":
        return np.clip(at, 0, n - 1).tolist()
    if mode == "reflect":
        return ((n - 1) - np.abs((n - 1) - np.abs(at))).tolist()
    first = max(-before, 0)  # what is taken away does not come back at the other end
    return (first + (at - first) % (n - first - max(-after, 0))).tolist()


def _parts(n: int, before: int, after: int, mode: str) -> tuple[slice, slice, list[tuple[int, int]]]:
    """Where the axis lies in the padded one, which part of it, and the other elements' sources."""
    kept = slice(max(-before, 0), n - max(-after, 0))
    inside = slice(max(before, 0), max(before, 0) + kept.stop - kept.start)
    sources = _sources(n, before, after, mode)
    return inside, kept, [(k, s) for k, s in enumerate(sources) if not inside.start <= k < inside.stop]


def continued(x: Any, at: int, before: int, after: int, mode: str) -> Any:
    """`x` with elements of its own before and behind the axis `at`."""
    inside, kept, others = _parts(x.shape[at], before, after, mode)
    made = np.empty((*x.shape[:at], x.shape[at] + before + after, *x.shape[at + 1 :]), x.dtype)
    x, out = np.swapaxes(x, at, 0), np.swapaxes(made, at, 0)
    out[inside] = x[kept]
    for k, source in others:
        out[k] = x[source]
    return made


def folded_back(y: Any, at: int, before: int, after: int, mode: str) -> Any:
    """Each element of y added to the one that it shows: the transpose of `continued`."""
    n = y.shape[at] - before - after
    inside, kept, others = _parts(n, before, after, mode)
    made = np.zeros((*y.shape[:at], n, *y.shape[at + 1 :]), y.dtype)
    y, out = np.swapaxes(y, at, 0), np.swapaxes(made, at, 0)
    out[kept] = y[inside]
    for k, source in others:
        out[source] += y[k]
    return made


def _batched_axis(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    return primitive(call.operands[0], **{**call.params, "at": call.params["at"] + 1})


CONTINUED = linear(
    continued,
    lambda ct, at, before, after, mode: FOLDED_BACK(ct, at, before, after, mode),
    batch=_batched_axis,
    name="continued",
)
FOLDED_BACK = linear(
    folded_back,
    lambda ct, at, before, after, mode: CONTINUED(ct, at, before, after, mode),
    batch=_batched_axis,
    name="folded_back",
)


def _pad(input: Any, margins: Margins, mode: str, value: Any) -> Any:
    if mode == "constant":
        return PADDED(input, margins, dtypes.cast(value, input.dtype) if value else 0)
    for axis, (before, after) in enumerate(margins):
        if before or after:
            input = CONTINUED(input, axis, before, after, mode)
    return input


def _node(input: Tensor, margins: Margins, mode: str, value: Any) -> str:
    rank = len(margins) - next((k for k, m in enumerate(margins) if m != (0, 0)), len(margins) - 1)
    names = {"reflect": f"ReflectionPad{rank}DBackward0", "replicate": f"ReplicationPad{rank}DBackward0"}
    return {"constant": "ConstantPadNdBackward0", **names}.get(mode, "CopySlices")


_PAD = Op("pad", _pad, _node)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with elements added around it: pad = (before, behind) of the last axis, then of the one before
    it, and so on.

    `mode` says what they are: "constant" (`value`), "reflect", "replicate" (of the edge) or "circular".
    Negative numbers take elements away. Raises RuntimeError or NotImplementedError for numbers that do not
    fit the shape.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.pad(torch.tensor([[1, 2, 3]]), (2, 1), mode="reflect")
    tensor([[3, 2, 1, 2, 3, 2]])
    """
    pad, shape = tuple(pad), tuple(input.shape)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * len(shape):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {len(shape)}"
        )
    pairs = tuple(zip(pad[::2], pad[1::2], strict=True))[::-1]
    margins = ((0, 0),) * (len(shape) - len(pairs)) + pairs
    _check(shape, pad, margins, mode, value)
    return _PAD(input, margins, mode, value)


def _check(shape: tuple[int, ...], pad: tuple[int, ...], margins: Margins, mode: str, value: Any) -> None:
    for k, (n, (before, after)) in enumerate(zip(shape, margins, strict=True)):
        if n + before + after < 0 or n + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError(
                f"narrow(): length must be non-negative: padding {(before, after)} takes more than axis {k} has ({n})"
            )
    if mode == "constant":
        return
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}: write 'constant', 'reflect', 'replicate' or 'circular'"
        )
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    rank = len(pad) // 2
    if len(shape) not in (rank + 1, rank + 2) or rank > 3:
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {len(shape)}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    for k, (n, pair) in enumerate(zip(shape, margins, strict=True)):
        if mode == "reflect" and max(pair) >= n and max(pair) > 0:
            raise RuntimeError(
                "Padding size should be less than the corresponding input dimension, but got: "
                f"padding {pair} at dimension {k} of input {list(shape)}"
            )
        if mode == "circular" and max(pair) > n:
            raise RuntimeError(
                f"Padding value causes wrapping around more than once: padding {pair} at dimension {k} of size {n}"
            )
