"""Reductions and running operations, with `dim` and `keepdim`; order statistics, which give named results."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from funcgrad.core.engine.trace import Tracer, rebuilt
from funcgrad.nn.kernels.basic import LOG_SOFTMAX, LOGSUMEXP, SOFTMAX
from funcgrad.torch.functions import blocks
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import declare, enter, function, with_out
from funcgrad.torch.graph.lanes import whole_lane
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor
from funcgrad.torch.tensors.values import as_array, constant


def axis_of(dim: Any, input: Any = None) -> Any:
    """`dim` as NumPy's axis: an empty one means all, and a number has one axis to be reduced along."""
    if input is not None and not input.ndim and dim in (0, -1):
        return None
    if isinstance(dim, (list, tuple)):
        return tuple(int(d) for d in dim) or None
    return dim if dim is None else int(dim)


def as_line(body: Callable[..., Any], at: int = 1) -> Callable[..., Any]:
    """`body`, whose argument number `at` is `dim`: a number is taken for a line of one element, as in PyTorch.

    Raises IndexError for a number's dim that is neither 0 nor -1.
    """

    @wraps(body)
    def on_line(input: Any, *args: Any, **kwargs: Any) -> Any:
        if input.ndim:
            return body(input, *args, **kwargs)
        dim = args[at - 1] if len(args) >= at else kwargs.get("dim")
        for d in dim if isinstance(dim, (list, tuple)) else (dim,):
            if d not in (None, 0, -1):
                raise AxisError(int(d), 0)
        found = body(np.reshape(input, (1,)), *args, **kwargs)
        if not isinstance(found, tuple):
            return np.reshape(found, ())
        return rebuilt(found, [np.reshape(x, ()) for x in found])

    return on_line


def _numbered(name: str) -> Callable[..., str]:
    """Node names that tell a reduction of all elements (0) from one along dims (1)."""

    def title(input: Any = None, dim: Any = None, *rest: Any, axis: Any = None, **options: Any) -> str:
        return f"{name}Backward{0 if dim is None and axis is None else 1}"

    return title


def _reduction(numpy_function: Callable[..., Any], *, floating: str | None = None) -> Callable[..., Any]:
    def body(
        input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None
    ) -> Any:
        if dtype is not None:
            input = dtypes.cast(input, dtypes.to_numpy(dtype))
        if floating and input.dtype.kind not in "fc":
            raise RuntimeError(
                f"{floating}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
                f"{dtypes.of(input.dtype)}"
            )
        return numpy_function(input, axis=axis_of(dim if axis is None else axis, input), keepdims=keepdim)

    body.__doc__ = f"np.{numpy_function.__name__} of all elements, or along `dim`."
    return body


sum = enter("sum", whole_lane(np.sum, "reduce(x, None)", Op("sum", _reduction(np.sum), _numbered("Sum"))))
mean = enter(
    "mean",
    whole_lane(
        np.mean,
        "reduce(x, None) / x.size",
        Op("mean", _reduction(np.mean, floating="mean"), _numbered("Mean")),
    ),
)
prod = declare("prod", _reduction(blocks.prod), _numbered("Prod"))
declare("nansum", _reduction(np.nansum))
declare("nanmean", _reduction(np.nanmean, floating="nanmean"))
for _name, _function in (("amax", np.max), ("amin", np.min)):
    declare(_name, _reduction(_function))
for _name, _function in (("all", np.all), ("any", np.any)):
    declare(_name, _reduction(_function))


def _spread(numpy_function: Callable[..., Any]) -> Callable[..., Any]:
    def body(
        input: Any,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: Any = 1,
        axis: Any = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        if input.dtype.kind not in "fc":
            raise RuntimeError("std and var only support floating point and complex dtypes")
        with np.errstate(invalid="ignore", divide="ignore"):
            return numpy_function(
                input, axis=axis_of(dim if axis is None else axis, input), ddof=correction, keepdims=keepdim
            )

    body.__doc__ = (
        f"np.{numpy_function.__name__} with one degree of freedom less, of all elements or along `dim`."
    )
    return body


std = declare("std", _spread(np.std))
var = declare("var", _spread(np.var))


def _with_mean(spread: Callable[..., Any]) -> Callable[..., Any]:
    def body(
        input: Any,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: Any = 1,
        axis: Any = None,
    ) -> Any:
        whole = dim if axis is None else axis
        along = axis_of(None if isinstance(whole, bool) else whole, input)
        found = spread(input, dim, unbiased, keepdim, correction=correction, axis=axis)
        return found, np.mean(input, axis=along, keepdims=keepdim)

    return body


declare("var_mean", _with_mean(var.body), where="f").__doc__ = "The variance and the mean."
declare("std_mean", _with_mean(std.body), where="f").__doc__ = "The standard deviation and the mean."


# ---- maximum, minimum, median: all elements, along a dim (values and indices), or of two tensors ------------------------


def named_result(name: str, fields: str = "values indices") -> Any:
    """The type of results that have names."""
    made: Any = namedtuple(name, fields)
    made.__module__ = "torch.return_types"
    made.__repr__ = lambda self: f"torch.return_types.{name}(\n{_fields(self)})"
    return made


def _fields(result: Any) -> str:
    return ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result, strict=True))


MaxResult, MinResult, MedianResult = named_result("max"), named_result("min"), named_result("median")
SortResult, TopkResult, KthResult = named_result("sort"), named_result("topk"), named_result("kthvalue")
ModeResult = named_result("mode")
CummaxResult, CumminResult = named_result("cummax"), named_result("cummin")


def picked(x: Any, index: Any, dim: int, keepdim: bool, result: Any) -> Any:
    """The elements at `index` (one along `dim`), with the index."""
    values = np.take_along_axis(x, np.expand_dims(index, dim), dim)
    return result(
        values if keepdim else np.squeeze(values, dim), np.expand_dims(index, dim) if keepdim else index
    )


def _extreme(name: str, whole: Any, position: Any, of_two: Any, result: Any) -> Any:
    def along(input: Any, dim: int = 0, keepdim: bool = False) -> Any:
        return picked(input, position(constant(input), dim), dim, keepdim, result)

    of_all = Op(name, lambda input: whole(input), f"{name.title()}Backward1")
    of_dim = Op(name, as_line(along), f"{name.title()}Backward0")
    pair = Op(
        name,
        lambda input, other: of_two(*dtypes.aligned((input, other))),
        f"{of_two.__name__.title()}Backward0",
    )

    def extreme(
        input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, axis: Any = None
    ) -> Any:
        dim = axis if axis is not None else dim
        if isinstance(dim, Tensor) or other is not None:
            return pair(input, dim if other is None else other)
        if dim is None:
            if not input.numel():
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim."
                )
            return of_all(input)
        return of_dim(input, dim, keepdim)

    extreme.__name__ = name
    extreme.__doc__ = f"The {name} of all elements (ties share the gradient); along `dim`, (values, indices); or of two tensors."
    return enter(name, with_out(extreme), "fm")


_extreme("max", np.max, np.argmax, np.maximum, MaxResult)
_extreme("min", np.min, np.argmin, np.minimum, MinResult)


def _lower_middle(x: Any, axis: Any = None) -> Any:
    """The index of the lower middle element; NaN counts as the middle."""
    n = x.size if axis is None else x.shape[axis]
    if type(x) is np.ndarray and axis is None and x.dtype.kind != "c":  # of equal ones any will do
        found = np.argmax(x == np.partition(x, (n - 1) // 2)[(n - 1) // 2])
    else:
        permutation = np.argsort(x, axis=axis, kind="stable")
        found = permutation[(n - 1) // 2] if axis is None else np.take(permutation, (n - 1) // 2, axis)
    if x.dtype.kind != "f":
        return found
    return np.where(np.isnan(x).any(axis=axis), np.argmax(np.isnan(x), axis=axis), found)


def shared(x: Any, index: int) -> Any:
    """The element at `index` of a vector; all elements equal to it share the gradient."""
    v = constant(x)
    equal = v == v[index]
    if v.dtype.kind in "fc":
        equal = equal | np.isnan(v) & np.isnan(v[index])
    if isinstance(equal, Tracer):
        return np.max(np.where(equal, x, -np.inf if x.dtype.kind == "f" else np.min(v)))
    return np.max(x[equal]) if np.count_nonzero(equal) > 1 else x[index]


def _median(input: Any) -> Any:
    """The lower middle of all elements; ties share the gradient."""
    x = np.reshape(input, -1)
    return shared(x, _lower_middle(constant(x), None))


_median_all = Op("median", _median)
_median_dim = Op(
    "median",
    as_line(
        lambda input, dim, keepdim: picked(
            input, _lower_middle(constant(input), dim), dim, keepdim, MedianResult
        )
    ),
    "MedianBackward1",
)


@function("fm", out=True)
def median(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The median: the lower one of the two in the middle; along `dim`, (values, indices)."""
    return _median_all(input) if dim is None else _median_dim(input, dim, keepdim)


def _position(numpy_function: Callable[..., Any]) -> Callable[..., Any]:
    def body(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return as_array(numpy_function(constant(input), axis=dim, keepdims=keepdim))

    body.__doc__ = f"np.{numpy_function.__name__}."
    return body


declare("argmax", _position(np.argmax))
declare("argmin", _position(np.argmin))


def _order(x: Any, dim: int, descending: bool) -> Any:
    x = constant(x)
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    return np.flip(x.shape[dim] - 1 - np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)


def _sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along `dim`, with their indices."""
    permutation = _order(input, dim, descending)
    return SortResult(np.take_along_axis(input, permutation, dim), permutation)


def _few_of(x: Any, k: int, dim: int, largest: bool) -> Any:
    """The indices of the k largest (smallest) elements, in order; of equal ones those that come first."""
    x = np.moveaxis(x, dim, -1)
    rows = x.reshape(-1, x.shape[-1])
    last = rows.shape[-1] - k if largest else k - 1
    divided = np.partition(rows, last, -1)
    ends = divided[:, last : last + 1]
    row, column = (rows >= ends if largest else rows <= ends).nonzero()
    counts = np.bincount(row, minlength=len(rows))
    odd = counts != k  # more elements that equal the last
    if rows.dtype.kind in "fc":
        odd |= np.isnan(divided[:, last:]).any(1)  # NaN is the largest, and unequal to all
    permutation = np.empty((len(rows), k), np.int64)
    if odd.any():
        permutation[odd] = _order(rows[odd], -1, largest)[:, :k]
        column = column[~odd[row]]
    chosen = column.reshape(-1, k)
    permutation[~odd] = np.take_along_axis(
        chosen, _order(np.take_along_axis(rows[~odd], chosen, -1), -1, largest), -1
    )
    return np.moveaxis(permutation.reshape(*x.shape[:-1], k), -1, dim)


def _topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) elements along `dim`, with their indices."""
    x = constant(input)
    if type(x) is np.ndarray and 0 < k < x.shape[dim] // 2:
        permutation = _few_of(x, k, dim, largest)
    else:
        permutation = np.take(_order(input, dim, largest), np.arange(k), dim)
    return TopkResult(np.take_along_axis(input, permutation, dim), permutation)


declare("sort", as_line(_sort))
declare(
    "argsort", as_line(lambda input, dim=-1, descending=False, stable=False: _order(input, dim, descending))
)
declare("topk", as_line(_topk, at=2))
declare(
    "kthvalue",
    as_line(
        lambda input, k, dim=-1, keepdim=False: picked(
            input, np.take(_order(input, dim, False), k - 1, dim), dim, keepdim, KthResult
        ),
        at=2,
    ),
)


# ---- running operations ------------------------------------------------------------------------------------------------
def _running(numpy_function: Callable[..., Any]) -> Callable[..., Any]:
    def body(input: Any, dim: int, *, dtype: Any = None) -> Any:
        x = input if dtype is None else dtypes.cast(input, dtypes.to_numpy(dtype))
        return numpy_function(x, axis=dim)

    body.__doc__ = f"np.{numpy_function.__name__} along `dim`."
    return as_line(body)


declare("cumsum", _running(np.cumsum), where="fmi")
declare("cumprod", _running(np.cumprod), where="fmi")


def _logcumsumexp(input: Any, dim: int) -> Any:
    """log of the running sum of exp, along `dim`."""
    return np.moveaxis(np.stack(_running_logs(np.moveaxis(input, dim, 0))), 0, dim)


def _running_logs(x: Any) -> list[Any]:
    out = [x[0]]
    for row in x[1:]:
        out.append(np.logaddexp(out[-1], row))
    return out


declare("logcumsumexp", as_line(_logcumsumexp))


def _running_extreme(extreme: np.ufunc, result: Any) -> Callable[..., Any]:
    def body(input: Any, dim: int) -> Any:
        x = constant(input)
        if type(input) is np.ndarray and x.size and dim in (-1, x.ndim - 1):
            return result(*_extreme_of_rows(extreme, np.ascontiguousarray(x)))
        x = np.moveaxis(x, dim, 0)
        reached = extreme.accumulate(x, axis=0)
        rows = np.arange(len(x)).reshape((-1,) + (1,) * (x.ndim - 1))
        found = np.where((x == reached) | (x != x), rows, 0)
        index = np.moveaxis(np.maximum.accumulate(found, axis=0), 0, dim)
        return result(np.take_along_axis(input, index, dim), index)

    body.__doc__ = "The running extreme along `dim`, with its indices."
    return as_line(body)


def _extreme_of_rows(extreme: np.ufunc, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The running extreme along the last axis, and the last index at which it was met (or NaN was)."""
    reached = blocks.accumulate(extreme, x)
    met = (x == reached) | (x != x)
    met[..., 0] = True
    at = np.flatnonzero(met)
    index = np.repeat(at, np.diff(at, append=x.size)).reshape(x.shape)
    if x.ndim > 1:
        index -= np.arange(0, x.size, x.shape[-1]).reshape((*x.shape[:-1], 1))
    return reached, index


declare("cummax", _running_extreme(np.maximum, CummaxResult))
declare("cummin", _running_extreme(np.minimum, CumminResult))


# ---- exponentials ----------------------------------------------------------------------------------------------------
def _logsumexp(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """log of the sum of exp, without overflow."""
    axis, (input,) = axis_of(dim, input), dtypes.aligned((input,), floating=True)
    return LOGSUMEXP(input, axis=axis, keepdims=keepdim)


declare("logsumexp", as_line(_logsumexp))


def _softmaxed(kernel: Any) -> Callable[..., Any]:
    def body(input: Any, dim: Any = None, dtype: Any = None, _stacklevel: int = 3) -> Any:
        x = (
            dtypes.aligned((input,), floating=True)[0]
            if dtype is None
            else dtypes.cast(input, dtypes.to_numpy(dtype))
        )
        if dim is None:
            dim = 0 if x.ndim in (0, 1, 3) else 1
        return kernel(x, axis=dim)

    body.__doc__ = f"{kernel.name} along `dim`."
    return as_line(body)


softmax = declare("softmax", _softmaxed(SOFTMAX), "SoftmaxBackward0")
log_softmax = declare("log_softmax", _softmaxed(LOG_SOFTMAX), "LogSoftmaxBackward0")


@function("fm")
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not 0."""
    return declare_count(input, dim)


declare_count = Op(
    "count_nonzero",
    lambda input, dim=None: as_array(np.count_nonzero(constant(input), axis=axis_of(dim, input))),
)


def _norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm of all elements, or of the vectors along `dim`."""
    if p == "nuc":
        return np.linalg.norm(input, "nuc", axis=axis_of(dim, input), keepdims=keepdim)
    return np.linalg.vector_norm(
        input, axis=axis_of(dim, input), keepdims=keepdim, ord=2 if p in ("fro", None) else p
    )


norm = declare("norm", _norm, "LinalgVectorNormBackward0")
declare("dist", lambda input, other, p=2: np.linalg.vector_norm(input - other, ord=p))


def _quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: Any = "linear"
) -> Any:
    given = q if hasattr(q, "dtype") else np.asarray(q, input.dtype)
    return np.quantile(input, given, axis=axis_of(dim, input), keepdims=keepdim, method=interpolation)


declare("quantile", _quantile)
