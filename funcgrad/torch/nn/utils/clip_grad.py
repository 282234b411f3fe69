"""Clipping gradients, in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.tensors import dtypes, storage
from funcgrad.torch.tensors.inplace import check_writable
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Any) -> list[Tensor]:
    """The gradients; of a sparse one its values, each element's once."""
    chosen = [p for p in _listed(parameters) if p.grad is not None]
    for p in chosen:
        if p.grad.is_sparse:
            p.grad = p.grad.coalesce()
    return [p.grad.values() if p.grad.is_sparse else p.grad for p in chosen]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors together, as one vector; a number outside the graph. `foreach` changes nothing
    here.

    Raises RuntimeError for a norm that is not finite, if error_if_nonfinite.

    >>> import funcgrad.torch as torch
    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    norm_type, arrays = float(norm_type), [np.asarray(plain(t)) for t in _listed(tensors)]
    if not arrays:
        return make_tensor(np.float32(0.0))
    p: Any = norm_type
    norms = [_norm(x, p) for x in arrays]
    total = np.linalg.vector_norm(np.array(norms, dtypes.result_dtype(arrays)), ord=p)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return make_tensor(total)


def _norm(x: np.ndarray, order: Any) -> Any:
    if order == 2 and x.dtype.kind == "f" and x.dtype.itemsize > 2 and x.flags.forc:
        flat = x.ravel("K")
        return np.sqrt(flat @ flat)
    return np.linalg.vector_norm(x, ord=order)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients, in place, by max_norm / total_norm, if that is less than 1."""
    with no_grad(), np.errstate(invalid="ignore"):
        factor = np.minimum(float(max_norm) / (np.asarray(plain(total_norm)) + 1e-6), 1.0)  # NaN stays NaN
        for gradient in _gradients(parameters) if factor != 1 else ():
            if isinstance(gradient.value, Tracer):
                gradient.mul_(float(factor))
                continue
            check_writable(gradient)
            x = storage.borrowed(gradient)
            x *= x.dtype.type(factor)
            storage.returned(gradient, x)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients, in place, so that their total norm is at most `max_norm`; returns the norm before.

    >>> import funcgrad.torch as torch
    >>> w = torch.nn.Parameter(torch.ones(2))
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_(w, 1.0), w.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    found = _listed(parameters)
    total = get_total_norm(_gradients(found), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(found, max_norm, total)
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Limit the elements of the gradients to [-clip_value, clip_value], in place."""
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-float(clip_value), float(clip_value))
