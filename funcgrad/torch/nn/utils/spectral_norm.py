"""spectral_norm: a weight over its largest singular value, by power iteration (Miyato et al., 2018)."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from funcgrad.torch.nn.functional.distances import normalize
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.random import sampling
from funcgrad.torch.tensors.tensor import Tensor


def default_dim(module: Module) -> int:
    """The axis of the outputs."""
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The axis `dim` as rows, all others as columns."""
    if dim:
        weight = weight.permute(dim, *[i for i in range(weight.dim()) if i != dim])
    return weight.reshape(weight.size(0), -1)


def unit_vector(weight: Tensor, size: int, eps: float) -> Tensor:
    """A random direction."""
    return normalize(sampling.normal_(weight.new_empty(size), 0, 1), dim=0, eps=eps)


def power_iteration(matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float) -> tuple[Tensor, Tensor]:
    """Better singular vectors u, v of the largest singular value."""
    with no_grad():
        for _ in range(steps):
            v = normalize(matrix.t().mv(u), dim=0, eps=eps)
            u = normalize(matrix.mv(v), dim=0, eps=eps)
    return u, v


class SpectralNorm:
    """The hook that computes a module's weight from the original (name_orig); name_u, name_v are buffers."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight; in training the singular vectors come nearer to the true ones, in place."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            better_u, better_v = power_iteration(matrix, u, v, self.n_power_iterations, self.eps)
            with no_grad():
                u.copy_(better_u)
                v.copy_(better_v)
            u, v = u.clone(), v.clone()  # the next iteration must not change what the graph has kept
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def _hook_of(module: Module, name: str) -> int | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return key
    return None


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight, as a matrix with axis `dim` as rows, by its largest singular value, before each call.

    Returns the module.
    """
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    rows, columns = as_matrix(weight.detach(), hook.dim).shape
    u = unit_vector(weight.detach(), rows, eps)
    v = unit_vector(weight.detach(), columns, eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the divided weight the parameter. ValueError without spectral_norm. Returns the module."""
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with no_grad():
        weight = module._forward_pre_hooks.pop(key).compute_weight(module, do_power_iteration=False)
    delattr(module, name)
    for part in ("_u", "_v", "_orig"):
        delattr(module, name + part)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
