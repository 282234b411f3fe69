"""More views and their copies: as_strided, diag_embed, scatters of slices, hsplit, *_copy."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad.torch.functions.index
import funcgrad.torch.functions.shape  # noqa: F401 (what both declare is used below)
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import FUNCTIONS, declare, enter, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import shape_of
from funcgrad.torch.tensors.inplace import write_out
from funcgrad.torch.tensors.storage import share_as_view
from funcgrad.torch.tensors.tensor import Tensor, recording


def _slices(dim: int, ndim: int, index: Any) -> tuple[Any, ...]:
    """`index` along one dim, everything along those before."""
    return (*[slice(None)] * (dim % ndim), index)


# ---- memory seen with other strides ------------------------------------------------------------------------------------
def _strided(input: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """The elements of a contiguous array at offset + the sum of index * stride."""
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if np.prod(size) and (last >= np.prod(input.shape) or offset < 0):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are out of bounds for storage of "
            f"{int(np.prod(input.shape))} elements"
        )
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    flat = np.reshape(input, -1)
    if isinstance(input, Tracer):
        steps = [
            np.arange(n).reshape((-1,) + (1,) * (len(size) - 1 - i)) * s
            for i, (n, s) in enumerate(zip(size, stride, strict=True))
        ]
        return flat[sum(steps, np.full((1,) * len(size), offset))]
    return np.lib.stride_tricks.as_strided(flat[offset:], size, [s * flat.itemsize for s in stride])


_STRIDED = Op("as_strided", _strided)


@function("fm")
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """The memory of `input` (of its whole storage) with another shape and other strides, counted in elements:
    a view.

    Several elements may lie in one place: their gradients add up there. Raises RuntimeError where that leaves
    the storage.
    """
    base = input if input._base is None else input._base
    offset = input.storage_offset() if storage_offset is None else storage_offset
    if not base.is_contiguous():
        raise RuntimeError(
            f"as_strided needs memory in the order of the elements, but this tensor has strides {base.stride()}. "
            "Write x.contiguous().as_strided(...)."
        )
    size, stride = tuple(size), tuple(stride)
    made = _STRIDED(base, size, stride, offset)
    return share_as_view(
        base, made, lambda x: _strided(x, size, stride, offset), None if recording() else "no_grad"
    )


@function("fm")
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy of `input` with `src` written where as_strided(size, stride, storage_offset) looks."""
    made = FUNCTIONS["clone"](input)
    as_strided(made, size, stride, storage_offset or 0).copy_(src)
    return made


# ---- diagonals and slices, written to a copy ---------------------------------------------------------------------------
def _diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A matrix (between dim1 and dim2) with each row of the last dim on its diagonal."""
    n, ndim = input.shape[-1], input.ndim + 1
    out = np.zeros_like(input, shape=(*input.shape[:-1], n + abs(offset), n + abs(offset)))
    rows, columns = np.arange(n) + max(-offset, 0), np.arange(n) + max(offset, 0)
    out[..., rows, columns] = input
    return np.moveaxis(out, (-2, -1), (dim1 % ndim, dim2 % ndim))


def _diagflat(input: Any, offset: int = 0) -> Any:
    """A matrix with the elements on its diagonal."""
    return _diag_embed(np.reshape(input, -1), offset)


def _diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """`input` with `src` on its diagonal."""
    out = np.copy(input)
    moved = np.moveaxis(out, (dim1, dim2), (-2, -1))
    n = src.shape[-1]
    moved[..., np.arange(n) + max(-offset, 0), np.arange(n) + max(offset, 0)] = src
    return out


def _select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """`input` with `src` as its slice number `index` along `dim`."""
    out = np.copy(input)
    out[_slices(dim, input.ndim, index)] = src
    return out


def _slice_scatter(
    input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """`input` with `src` in start:end:step along `dim`."""
    out = np.copy(input)
    out[_slices(dim, input.ndim, slice(start, end, step))] = src
    return out


declare("diag_embed", _diag_embed)
declare("diagflat", _diagflat, "DiagEmbedBackward0")
declare("diagonal_scatter", _diagonal_scatter)
declare("select_scatter", _select_scatter)
declare("slice_scatter", _slice_scatter)


def _fill_diagonal(input: Any, fill_value: Any, wrap: bool = False) -> Any:
    """`fill_value` on the diagonal (with `wrap`, again and again down a tall matrix)."""
    hit = np.zeros(input.shape, bool)
    np.fill_diagonal(hit, True, wrap)
    return np.where(hit, dtypes.cast(fill_value, input.dtype), input)


enter("fill_diagonal", Op("fill_diagonal", _fill_diagonal), "i")


# ---- splits ------------------------------------------------------------------------------------------------------------
def _split_along(name: str, least: int, dim: Any) -> None:
    split = FUNCTIONS["tensor_split"]

    def method(
        input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> Any:
        for given in (indices, sections):
            indices_or_sections = given if indices_or_sections is None else indices_or_sections
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got {input.ndim} dimensions!"
            )
        axis = dim(input)
        sizes = indices_or_sections
        if isinstance(sizes, int) and input.shape[axis] % indices_or_sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension {input.shape[axis]} is "
                f"not divisible by the split_size {indices_or_sections}!"
            )
        return split(input, indices_or_sections, axis)

    method.__name__, method.__doc__ = name, f"Views of parts, as np.{name} makes them."
    enter(name, method, "fm")


_split_along("hsplit", 1, lambda input: 0 if input.ndim == 1 else 1)
_split_along("vsplit", 2, lambda input: 0)
_split_along("dsplit", 3, lambda input: 2)
enter("split_with_sizes", FUNCTIONS["split"], "fm")


@function("f")
def atleast_2d(*tensors: Any) -> Any:
    """At least two dims: new ones in front."""
    return _at_least(tensors, lambda t: t.reshape(1, -1) if t.ndim < 2 else t)


@function("f")
def atleast_3d(*tensors: Any) -> Any:
    """At least three dims."""
    return _at_least(
        tensors, lambda t: t.reshape(1, -1, 1) if t.ndim < 2 else t.unsqueeze(-1) if t.ndim == 2 else t
    )


@function("f")
def atleast_1d(*tensors: Any) -> Any:
    """At least one dim."""
    return _at_least(tensors, lambda t: t if t.ndim else t.reshape(1))


def _at_least(tensors: tuple[Any, ...], change: Any) -> Any:
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return change(tensors[0])
    return tuple(change(t) for t in (tensors[0] if len(tensors) == 1 else tensors))


# ---- complex numbers as pairs -------------------------------------------------------------------------------------------
declare("view_as_real", lambda input: np.stack([np.real(input), np.imag(input)], -1), where="f")
declare("view_as_complex", lambda input: input[..., 0] + 1j * input[..., 1], where="f")


# ---- views as copies ---------------------------------------------------------------------------------------------------
def _copied(view: Any) -> Any:
    """The body of a view, with copies for what it gives."""

    def body(*args: Any, **kwargs: Any) -> Any:
        out = view(*args, **kwargs)
        return tuple(map(np.copy, out)) if isinstance(out, tuple) else np.copy(out)

    return body


def _copy_of(name: str, view: Any) -> None:
    title = f"{name.title().replace('_', '')}Backward0_copy"
    made = Op(f"{name}_copy", _copied(view), title)
    made.__doc__ = f"{name}, as a copy."
    enter(made.name, made, "f" if name != "narrow" else "fm")


def _sliced(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return input[_slices(dim, input.ndim, slice(start, end, step))]


_BODIES: dict[str, Any] = {
    "slice": _sliced,
    "alias": lambda input: input,
    "view": lambda input, size: np.reshape(input, tuple(size)),
    "select": lambda input, dim, index: input[_slices(dim, input.ndim, index)],
    "narrow": lambda input, dim, start, length: input[_slices(dim, input.ndim, slice(start, start + length))],
    "as_strided": lambda input, size, stride, storage_offset=0: _strided(
        input, tuple(size), tuple(stride), storage_offset or 0
    ),
}
_VIEWS = (
    "alias as_strided diagonal expand narrow permute select slice split split_with_sizes squeeze t transpose unbind unfold "
    "unsqueeze view view_as_complex view_as_real"
)
for _name in _VIEWS.split():
    _copy_of(_name, _BODIES.get(_name) or (FUNCTIONS.get(_name) or getattr(Tensor, _name)).body)
for _name, _whole in (
    ("unsafe_split", "split"),
    ("unsafe_split_with_sizes", "split"),
    ("unsafe_chunk", "chunk"),
):
    _parts = declare(_name, _copied(FUNCTIONS[_whole].body), "UnsafeSplitBackward0")
    _parts.__doc__ = f"{_whole}, as copies: each part may be written to."
FUNCTIONS["detach_copy"] = lambda input, *, out=None: (
    input.detach().clone() if out is None else write_out(out, input.detach())
)


@function("m")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum over what broadcasting from `size` has added."""
    wanted = shape_of(size)
    lead = self.ndim - len(wanted)
    if lead < 0 or any(n not in (1, m) for n, m in zip(wanted, self.shape[max(lead, 0) :], strict=lead >= 0)):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(self.shape)}}}.")
    dims = [*range(lead), *(lead + i for i, n in enumerate(wanted) if n == 1 != self.shape[lead + i])]
    return self.sum(dims).reshape(wanted) if dims else self


def _unravel_index(indices: Any, shape: Any) -> Any:
    """The indices along each dim of a shape that flat indices stand for."""
    return tuple(
        np.asarray(i) for i in np.unravel_index(indices, (shape,) if isinstance(shape, int) else tuple(shape))
    )


declare("unravel_index", _unravel_index, where="f")
