"""Shapes: view, reshape, transpose, squeeze, expand, flip, roll, ... Those that can share memory give views."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.functions.registry import declare, function
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import shape_of
from funcgrad.torch.tensors.storage import share
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def _view_node(input: Any = None, *rest: Any, **named: Any) -> str:
    return "ViewBackward0"


def _checked(input: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    known = math.prod(n for n in shape if n != -1)
    size = math.prod(input.shape)
    if (-1 in shape and known and size % known == 0) or (size == known and -1 not in shape):
        return shape
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")


def _reshape(input: Any, *shape: Any) -> Any:
    """The same elements in another shape; a view where that is possible."""
    return np.reshape(input, _checked(input, shape_of(shape)))


reshape = declare("reshape", _reshape, _view_node, view=True)
declare("reshape_as", lambda input, other: np.reshape(input, other.shape), _view_node, view=True, where="m")


def _view(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same memory in another shape (by name: size=), or as elements of another dtype (dtype=)."""
    shape += tuple(named.pop(name) for name in ("size", "dtype") if name in named)
    if named:
        raise TypeError(f"view() got an unexpected keyword argument '{next(iter(named))}'")
    if len(shape) == 1 and isinstance(shape[0], (dtypes.dtype, type)):
        return _reinterpreted(self, dtypes.to_numpy(shape[0]))
    out = reshape(self, *shape)
    if out._base is None and not isinstance(self.value, Tracer):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
            "subspaces). Use .reshape(...) instead."
        )
    return out


def _reinterpreted(self: Tensor, wanted: np.dtype[Any]) -> Tensor:
    """The same bytes as elements of another dtype: the last dim grows or shrinks with their size."""
    old = self.value.dtype
    if old == wanted:
        return get_alias(self)
    if self.requires_grad and (old.kind in "fc") and wanted.kind in "fc":
        raise RuntimeError(
            f"view({wanted.name}): the bits of {old.name} read as {wanted.name} have no derivative. Write x.detach().view(dtype) "
            "or torch.view_as_real and view_as_complex for the parts of complex numbers"
        )
    if isinstance(self.value, Tracer):
        raise RuntimeError(
            "view(dtype) reads bits, which a tensor inside a functional transform does not have"
        )
    if old.itemsize != wanted.itemsize and (not self.ndim or self.shape[-1] * old.itemsize % wanted.itemsize):
        raise RuntimeError(
            f"self.size(-1) must be divisible by {wanted.itemsize // old.itemsize} to view {dtypes.of(old)} as "
            f"{dtypes.of(wanted)} (different element sizes), but the shape is {list(self.shape)}"
        )
    return share(self, make_tensor(self.value.view(wanted)), lambda x: x.view(wanted))


def get_alias(self: Tensor) -> Tensor:
    """The same memory, as another tensor."""
    return self[...]


Tensor.view_as = lambda self, other: _view(self, *other.shape)  # type: ignore[attr-defined]
Tensor.view = _view


def _flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dims from start_dim to end_dim as one."""
    shape = input.shape
    if not shape:
        return np.reshape(input, (1,))
    start, end = start_dim % len(shape), end_dim % len(shape)
    return np.reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


def _unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One dim as several."""
    dim = dim % input.ndim
    sizes = list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = input.shape[dim] // -math.prod(sizes)
    return np.reshape(input, (*input.shape[:dim], *sizes, *input.shape[dim + 1 :]))


flatten = declare("flatten", _flatten, _view_node, view=True)
declare("unflatten", _unflatten, _view_node, view=True)
declare("ravel", lambda input: np.reshape(input, (-1,)), _view_node, view=True)


def _transpose(input: Any, dim0: Any, dim1: Any) -> Any:
    """Two dims exchanged."""
    if not input.ndim and {dim0, dim1} <= {0, -1}:
        return np.reshape(input, ())
    return np.swapaxes(input, dim0, dim1)


transpose = declare("transpose", _transpose, "TransposeBackward0", view=True, aliases="swapaxes swapdims")
permute = declare(
    "permute", lambda input, *dims: np.transpose(input, shape_of(dims)), "PermuteBackward0", view=True
)


def _t(input: Any) -> Any:
    """The transpose of a matrix; a vector stays."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return np.transpose(input)


def _matrix_transpose(self: Tensor) -> Tensor:
    if self.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(self, -2, -1) if self.ndim else self


t = declare("t", _t, "TBackward0", view=True)
declare(
    "adjoint",
    lambda input: (
        np.conjugate(np.swapaxes(input, -1, -2)) if input.dtype.kind == "c" else np.swapaxes(input, -1, -2)
    ),
    "TransposeBackward0",
    view=True,
)
declare(
    "movedim",
    lambda input, source, destination: np.moveaxis(input, source, destination),
    "PermuteBackward0",
    view=True,
    aliases="moveaxis",
)
Tensor.T = property(lambda self: permute(self, *range(self.ndim)[::-1]))  # type: ignore[attr-defined]
Tensor.mT = property(lambda self: _matrix_transpose(self))  # type: ignore[attr-defined]
Tensor.H = property(lambda self: Tensor.adjoint(self))  # type: ignore[attr-defined]
Tensor.mH = property(lambda self: Tensor.adjoint(self))  # type: ignore[attr-defined]


def _squeeze(input: Any, dim: Any = None) -> Any:
    """Without the dims of size 1 (or those among `dim`)."""
    dims = range(input.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    gone = tuple(d % builtins.max(input.ndim, 1) for d in dims if input.ndim and input.shape[d] == 1)
    return np.reshape(input, tuple(n for d, n in enumerate(input.shape) if d not in gone))


squeeze = declare(
    "squeeze", _squeeze, lambda input, dim=None: f"SqueezeBackward{0 if dim is None else 1}", view=True
)
unsqueeze = declare("unsqueeze", lambda input, dim: np.expand_dims(input, dim), view=True)


def _expand(input: Any, *shape: Any) -> Any:
    """Repeated along dims of size 1 (and new ones in front) without taking memory; -1 keeps a size."""
    wanted = shape_of(shape)
    lead = len(wanted) - input.ndim
    full = tuple(input.shape[i - lead] if n == -1 else n for i, n in enumerate(wanted))
    for i, n in enumerate(input.shape):
        if n != 1 and full[lead + i] != n:
            raise RuntimeError(
                f"The expanded size of the tensor ({full[lead + i]}) must match the existing size ({n}) at "
                f"non-singleton dimension {lead + i}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(input.shape)}"
            )
    if math.prod(full) == math.prod(input.shape):
        return np.reshape(input, full)  # a view that may be written to
    return np.broadcast_to(input, full)


expand = declare("expand", _expand, view=True)
declare("broadcast_to", _expand, "ExpandBackward0", view=True)
declare(
    "expand_as", lambda input, other: _expand(input, *other.shape), "ExpandBackward0", view=True, where="m"
)


def _diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal that can be written to, which that of np.diagonal can't."""
    if input.ndim and dim1 % input.ndim == dim2 % input.ndim:
        raise RuntimeError(f"diagonal: dim1={dim1} and dim2={dim2} are the same dimension")
    x = np.moveaxis(input, (dim1, dim2), (-2, -1))
    down, right = max(-offset, 0), max(offset, 0)
    n = max(min(x.shape[-2] - down, x.shape[-1] - right), 0)
    return np.einsum("...ii->...i", x[..., down : down + n, right : right + n])


declare("diagonal", _diagonal, view=True)
declare("real", lambda input: np.real(input) if input.dtype.kind == "c" else input, view=True, where="f")
declare("imag", lambda input: np.imag(input), view=True, where="f")
_real, _imag = declare("real_", lambda input: np.real(input), "RealBackward0", where=""), None
Tensor.real = property(lambda self: _real(self) if self.value.dtype.kind == "c" else self)  # type: ignore[attr-defined]
Tensor.imag = property(lambda self: declare_imag(self))  # type: ignore[attr-defined]
declare_imag = declare("imag_", lambda input: np.imag(input), "ImagBackward0", where="")


def _matrices(who: str, input: Any) -> Any:
    if input.ndim < 2:
        raise RuntimeError(f"{who}: input tensor must have at least 2 dimensions")
    return input


def _repeat(input: Any, *repeats: Any) -> Any:
    """Copies side by side, as np.tile makes them."""
    counts = shape_of(repeats)
    if len(counts) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"repeat{counts} of a tensor with {input.ndim}"
        )
    return np.tile(input, counts)


declare("repeat", _repeat, where="m")
declare("tile", lambda input, *dims: np.tile(input, shape_of(dims)), "RepeatBackward0")
declare(
    "repeat_interleave",
    lambda input, repeats, dim=None, *, output_size=None: np.repeat(input, repeats, dim),
    "ViewBackward0",
)
declare("flip", lambda input, *dims: np.copy(np.flip(input, shape_of(dims)) if input.ndim else input))
declare("fliplr", lambda input: np.copy(np.flip(input, 1)), "FlipBackward0")
declare("flipud", lambda input: np.copy(np.flip(input, 0)), "FlipBackward0")
declare("rot90", lambda input, k=1, dims=(0, 1): np.copy(np.rot90(input, k, dims), order="C"))
declare("roll", lambda input, shifts, dims=None: np.roll(input, shifts, dims))
declare("tril", lambda input, diagonal=0: np.tril(_matrices("tril", input), diagonal), where="fmi")
declare("triu", lambda input, diagonal=0: np.triu(_matrices("triu", input), diagonal), where="fmi")
declare(
    "diag",
    lambda input, diagonal=0: np.diag(input, diagonal),
    lambda input, diagonal=0: "DiagEmbedBackward0" if input.ndim == 1 else "DiagonalBackward0_copy",
)
declare("trace", lambda input: np.trace(input))


def _unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """Windows along a dim."""
    dim = dimension % input.ndim
    if size > input.shape[dim]:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dimension} is {input.shape[dim]} but size is {size}"
        )
    starts = np.arange(0, input.shape[dim] - size + 1, step)
    index = starts[:, None] + np.arange(size)
    return np.moveaxis(np.take(input, index, dim), dim + 1, -1)


declare("unfold", _unfold, where="m")


@function("f")
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@function()
def is_tensor(obj: Any) -> TypeIs[Tensor]:
    """Is it a tensor?"""
    return isinstance(obj, Tensor)


@function()
def is_floating_point(input: Tensor) -> bool:
    """Has it a floating dtype?"""
    return input.dtype.is_floating_point


@function()
def is_complex(input: Tensor) -> bool:
    """Has it a complex dtype?"""
    return input.dtype.is_complex


Tensor.is_floating_point, Tensor.is_complex = is_floating_point, is_complex
