"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from funcgrad.torch.functions.join import cat
from funcgrad.torch.tensors.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Put the elements of a vector into the parameters, which look into its memory afterwards."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for p in parameters:
        p.data = vec.narrow(0, at, p.numel()).view_as(p).data
        at += p.numel()
