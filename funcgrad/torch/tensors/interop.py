"""Tensors and NumPy: arrays that share memory, and NumPy's functions on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.methods import call_function, call_ufunc
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.graph.modes import mode
from funcgrad.torch.tensors import storage
from funcgrad.torch.tensors.tensor import Tensor


def _numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The data as a NumPy array that shares memory."""
    if self.requires_grad and mode().grad and not force:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if isinstance(self.value, Tracer):
        raise RuntimeError(
            "Can't call numpy() on a tensor inside a functional transform: its data is not known yet."
        )
    return storage.expose(self)


def _array(self: Tensor, dtype: Any = None, copy: Any = None) -> np.ndarray:
    found = _numpy(self)
    if dtype is not None and found.dtype != dtype:
        return found.astype(dtype)
    return found.copy() if copy else found


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(x, np.ndarray) for x in kwargs.get("out", ())):
        return NotImplemented
    return _through_numpy(lambda a, k: call_ufunc(ufunc, method, a, k), getattr(ufunc, method), args, kwargs)


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return _through_numpy(lambda a, k: call_function(function, a, k), function, args, kwargs)


def _through_numpy(
    on_tracers: Callable[..., Any], on_arrays: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """A NumPy function of tensors, as tensors: NumPy's own rules for dtypes and keywords."""
    from funcgrad.torch.functions.ops import wrapped

    args, kwargs = _operands(args), {k: _operands(v) for k, v in kwargs.items()}
    found = tree.leaves((args, kwargs))
    if any(isinstance(x, Tracer) for x in found):
        return wrapped(on_tracers(args, kwargs))
    return wrapped(on_arrays(*args, **kwargs))


def _operands(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.__operand__()
    return type(x)(map(_operands, x)) if type(x) in (list, tuple) else x


Tensor.numpy, Tensor.__array__ = _numpy, _array  # type: ignore[attr-defined]
Tensor.__array_ufunc__, Tensor.__array_function__ = _array_ufunc, _array_function  # type: ignore[attr-defined]
