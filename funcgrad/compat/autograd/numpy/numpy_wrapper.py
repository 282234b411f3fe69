"""How autograd puts its namespaces together; here NumPy's functions are the ones to call, as they are."""

from __future__ import annotations

from typing import Any

import numpy as _np

import funcgrad.numpy as _numpy
from funcgrad.compat.autograd.numpy.numpy_vjps import metadata
from funcgrad.compat.autograd.primitives import notrace_primitive, primitive

__all__ = [
    "array_from_args", "concatenate_args", "metadata", "nograd_functions", "notrace_functions",
    "notrace_primitive", "numpy_version", "parse_einsum_input", "primitive", "wrap_if_boxes_inside", "wrap_intdtype",
    "wrap_namespace",
]  # fmt: skip

numpy_version = _np.__version__
notrace_functions = [_np.ndim, _np.shape, _np.iscomplexobj, _np.result_type]

nograd_functions = [
    _np.floor, _np.ceil, _np.round, _np.rint, _np.around, _np.fix, _np.trunc, _np.all, _np.any, _np.argmax, _np.argmin,
    _np.argpartition, _np.argsort, _np.argwhere, _np.nonzero, _np.flatnonzero, _np.count_nonzero, _np.searchsorted, _np.sign,
    _np.ndim, _np.shape, _np.floor_divide, _np.logical_and, _np.logical_or, _np.logical_not, _np.logical_xor, _np.isfinite,
    _np.isinf, _np.isnan, _np.isneginf, _np.isposinf, _np.allclose, _np.isclose, _np.array_equal, _np.array_equiv,
    _np.greater, _np.greater_equal, _np.less, _np.less_equal, _np.equal, _np.not_equal, _np.iscomplexobj, _np.iscomplex,
    _np.size, _np.isscalar, _np.isreal, _np.zeros_like, _np.ones_like, _np.result_type,
]  # fmt: skip


def wrap_namespace(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Enter the functions of one namespace into another, as primitives; types and numbers as they are."""
    for name, thing in old.items():
        if isinstance(thing, type) or not callable(thing):
            new[name] = thing
        else:
            new[name] = (notrace_primitive if any(thing is f for f in nograd_functions) else primitive)(thing)


def wrap_intdtype(cls: type) -> Any:
    """A class of integers that may be called on watched arrays."""
    return getattr(_numpy, cls.__name__)


def concatenate_args(axis: int, *args: Any) -> Any:
    """np.concatenate of these arrays."""
    return _np.concatenate([_np.asarray(x) if isinstance(x, (int, float, list)) else x for x in args], axis)


def array_from_args(array_args: Any, array_kwargs: Any, *args: Any) -> Any:
    """An array of these numbers or arrays."""
    return _numpy.array(list(args), *array_args, **array_kwargs)


def wrap_if_boxes_inside(raw_array: Any, slow_op_name: str | None = None) -> Any:
    """An object array that holds watched numbers, as a watched array of numbers."""
    if raw_array.dtype == object and raw_array.size:
        return _numpy.array(raw_array.ravel().tolist()).reshape(raw_array.shape)
    return raw_array


def parse_einsum_input(*args: Any) -> Any:
    """The subscripts and the operands of np.einsum, of which one form gives the first by lists of numbers."""
    if isinstance(args[0], str):
        return args
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def subscripts(axes: Any) -> str:
        return "".join("..." if n is Ellipsis else letters[n] for n in axes)

    operands, lists = args[0 : len(args) // 2 * 2 : 2], args[1::2]
    text = ",".join(map(subscripts, lists))
    return (text + "->" + subscripts(args[-1]) if len(args) % 2 else text, *operands)


def __getattr__(name: str) -> Any:
    if name in ("make_diagonal", "where"):
        from funcgrad.compat.autograd import numpy

        return getattr(numpy, name)
    return getattr(_numpy, name)
