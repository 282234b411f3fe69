"""Functions that are used less often: differences, statistics, sets, windows, special functions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions import creation
from funcgrad.torch.functions.kernels_special import DIGAMMA, ERF, ERFC, ERFINV, LGAMMA, POLYGAMMA
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.reduce import ModeResult, picked
from funcgrad.torch.functions.registry import declare, enter, function
from funcgrad.torch.functions.special import SPECIAL
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

for _name, _kernel in (("erf", ERF), ("erfc", ERFC), ("erfinv", ERFINV), ("lgamma", LGAMMA), ("digamma", DIGAMMA)):
    enter(_name, Op(_name, lambda input, _kernel=_kernel: _kernel(*dtypes.aligned((input,), floating=True))), "fmi")
    SPECIAL[_name] = getattr(Tensor, _name)
SPECIAL["gammaln"], SPECIAL["psi"] = SPECIAL["lgamma"], SPECIAL["digamma"]
SPECIAL["polygamma"] = enter("polygamma", Op("polygamma", lambda n, input: POLYGAMMA(n, input)), "f")
Tensor.polygamma = lambda self, n: SPECIAL["polygamma"](n, self)  # type: ignore[attr-defined]


# ---- of several operands ----------------------------------------------------------------------------------------------
def _heaviside(input: Any, values: Any) -> Any:
    """0 where negative, 1 where positive, `values` at 0."""
    x, y = dtypes.aligned((input, values))
    return dtypes.cast(np.heaviside(x, y), x.dtype)


def _addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value * tensor1 * tensor2."""
    x, y, z = dtypes.aligned((input, tensor1, tensor2))
    return x + dtypes.cast(value, x.dtype) * y * z


def _addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value * tensor1 / tensor2."""
    x, y, z = dtypes.aligned((input, tensor1, tensor2))
    return x + dtypes.cast(value, x.dtype) * y / z


declare("heaviside", _heaviside, where="fmi")
declare("addcmul", _addcmul, where="fmi")
declare("addcdiv", _addcdiv, where="fmi")

# ---- differences and integrals -----------------------------------------------------------------------------------------
declare("diff", lambda input, n=1, dim=-1: np.diff(input, n, dim), "SubBackward0")
declare("trapezoid", lambda y, x=None, *, dx=1, dim=-1: np.trapezoid(y, x, dx, dim), "MulBackward0", where="f", aliases="trapz")


def _running_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The running integral of samples."""
    moved = np.moveaxis(y, dim, -1)
    widths = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum((moved[..., 1:] + moved[..., :-1]) * widths / 2, -1), -1, dim)


declare("cumulative_trapezoid", _running_trapezoid, "CumsumBackward0", where="f")


def _gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: Any = 1) -> Any:
    """Differences in the middle, along each dim."""
    axes = range(input.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(np.gradient(input, spacing, axis=a, edge_order=edge_order) for a in axes)


declare("gradient", _gradient, where="f")

# ---- statistics ----------------------------------------------------------------------------------------------------------
declare("cov", lambda input, *, correction=1: np.cov(input, ddof=correction), "SqueezeBackward0")
declare("corrcoef", lambda input: np.corrcoef(input), "ClampBackward1")
declare(
    "histc",
    lambda input, bins=100, min=0, max=0: np.histogram(input, bins, (min, max) if min != max else None)[0].astype(input.dtype),
)
declare(
    "vander",
    lambda x, N=None, increasing=False: dtypes.cast(np.vander(x, N, increasing), x.dtype),
    "FlipBackward0",
    where="f",
)
declare("msort", lambda input: np.sort(input, 0), "SortBackward0")


def _mode_index(row: Any) -> int:
    values, counts = np.unique(row, return_counts=True)
    return int(np.flatnonzero(row == values[np.argmax(counts)])[-1])


def _mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value (the smallest of several), with the index of its last occurrence."""
    return picked(input, np.apply_along_axis(_mode_index, dim, concrete(input)), dim, keepdim, ModeResult)


declare("mode", _mode)


@function("fm")
def aminmax(input: Tensor, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The minimum and the maximum."""
    return input.amin(dim, keepdim), input.amax(dim, keepdim)


def _renorm(input: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Slices along `dim` scaled down to a p-norm of at most maxnorm."""
    axes = tuple(a for a in range(input.ndim) if a != dim % input.ndim)
    norms = np.linalg.vector_norm(input, axis=axes, ord=p, keepdims=True)
    return np.where(concrete(norms) > maxnorm, input * (maxnorm / (norms + 1e-7)), input)


declare("renorm", _renorm)


def _cdist(x1: Any, x2: Any, p: Any = 2.0) -> Any:
    """The p-distance of each row of x1 from each row of x2."""
    return np.linalg.vector_norm(x1[..., :, None, :] - x2[..., None, :, :], axis=-1, ord=p)


declare("cdist", lambda x1, x2, p=2.0, **_: _cdist(x1, x2, p), where="f")


# ---- sets and indices ----------------------------------------------------------------------------------------------------
@function("fm")
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """The different elements, in order."""
    found = np.unique(concrete(input.value), return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = map(make_tensor, found)
    out = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return out if len(out) > 1 else values


@function()
def isin(elements: Any, test_elements: Any) -> Tensor:
    """Which elements are among others?"""
    return make_tensor(np.isin(*[concrete(x.value) if isinstance(x, Tensor) else x for x in (elements, test_elements)]))


@function()
def tril_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The indices of the lower triangle."""
    return make_tensor(np.stack(np.tril_indices(row, offset, col)))


@function()
def triu_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The indices of the upper triangle."""
    return make_tensor(np.stack(np.triu_indices(row, offset, col)))


@function()
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All pairs (triples, ...) of elements."""
    from funcgrad.torch.functions.join import meshgrid, stack

    return stack([t.reshape(-1) for t in meshgrid(*tensors)], -1) if len(tensors) > 1 else tensors[0]  # type: ignore[attr-defined]


@function()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r elements."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    index = np.array(list(choose(range(input.numel()), r)), int).reshape(-1, r)
    return input[make_tensor(index)]  # type: ignore[index]


# ---- complex numbers as pairs --------------------------------------------------------------------------------------------
declare("view_as_real", lambda input: np.stack([np.real(input), np.imag(input)], -1), where="f")
declare("view_as_complex", lambda input: input[..., 0] + 1j * input[..., 1], where="f")


# ---- windows -------------------------------------------------------------------------------------------------------------
def _window(name: str, numpy_function: Any) -> None:
    def window(window_length: int, periodic: bool = True, *, dtype: Any = None, **_: Any) -> Tensor:
        n = window_length + periodic
        return creation.finished(numpy_function(n)[:window_length].astype(dtypes.default()), dtype, False)

    window.__name__ = f"{name}_window"
    window.__doc__ = f"The {name} window."
    enter(window.__name__, window, "f")


for _name, _function in (("hann", np.hanning), ("hamming", np.hamming), ("bartlett", np.bartlett), ("blackman", np.blackman)):
    _window(_name, _function)


@function()
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that these shapes broadcast to."""
    from funcgrad.torch.tensors.size import Size

    return Size(np.broadcast_shapes(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes]))


@function()
def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The dtype in which two operands meet."""
    return dtypes.of(dtypes.result_dtype([x.value if isinstance(x, Tensor) else x for x in (tensor1, tensor2)]))


@function()
def can_cast(from_: Any, to: Any) -> bool:
    """May results of one dtype be written into another?"""
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    return rank[dtypes.to_numpy(from_).kind] <= rank[dtypes.to_numpy(to).kind]
