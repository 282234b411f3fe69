"""torch.nn.utils: clipping gradients, parameters as one vector; sequences of different lengths in `rnn`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from funcgrad.torch.functions_join import cat, stack
from funcgrad.torch.functions_reduce import norm
from funcgrad.torch.modes import no_grad
from funcgrad.torch.nn.utils import rnn  # noqa: F401 (a public name)
from funcgrad.torch.tensor import Tensor


def _gradients(parameters: Any) -> list[Tensor]:
    found = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in found if p.grad is not None]


def get_total_norm(tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of all tensors together."""
    total = norm(stack([norm(t, norm_type) for t in tensors]), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped."
        )
    return total


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """Scale the gradients, in place, so that their total norm is at most `max_norm`; returns the norm before."""
    from funcgrad.torch.creation import tensor

    gradients = _gradients(parameters)
    if not gradients:
        return tensor(0.0)
    with no_grad():
        total = get_total_norm(gradients, norm_type, error_if_nonfinite)
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)  # type: ignore[attr-defined]
        for g in gradients:
            g.mul_(factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Limit the elements of the gradients, in place."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Put a vector back into the parameters."""
    at = 0
    for p in parameters:
        p.data = vec[at : at + p.numel()].view_as(p).data  # type: ignore[index]
        at += p.numel()
