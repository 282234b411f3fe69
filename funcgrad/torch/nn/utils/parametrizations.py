"""Parametrizations of weights: weight_norm, spectral_norm."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.functional.distances import normalize
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.utils.parametrize import register_parametrization
from funcgrad.torch.nn.utils.spectral_norm import as_matrix, default_dim, power_iteration, unit_vector
from funcgrad.torch.nn.utils.weight_norm import LENGTHS, normed_weight
from funcgrad.torch.tensors.tensor import Tensor


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return normed_weight(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Lengths and directions."""
        return LENGTHS(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """A weight as lengths (over all axes but `dim`) and directions (Salimans and Kingma, 2016). Returns the
    module.

    >>> import funcgrad.torch as torch
    >>> list(torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3)).state_dict())
    ['bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps
        if weight.ndim > 1:
            matrix = as_matrix(weight, dim)
            u, v = (unit_vector(matrix, n, eps) for n in matrix.shape)
            v, u = power_iteration(matrix.t(), v, u, 15, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            v, u = power_iteration(matrix.t(), self._v, self._u, self.n_power_iterations, self.eps)
            with no_grad():
                self._u.copy_(u)
                self._v.copy_(v)
        u, v = self._u.clone(), self._v.clone()  # the next iteration must not change what the graph has kept
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value: it may be divided again."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """A weight over its largest singular value, by power iteration (Miyato and others, 2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = default_dim(module) if dim is None else dim
    return register_parametrization(
        module, name, _SpectralNorm(weight.detach(), n_power_iterations, dim, eps)
    )
