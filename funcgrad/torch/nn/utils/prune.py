"""torch.nn.utils.prune: parameters with entries set to zero by a mask.

A pruned parameter `weight` is kept as `weight_orig`, its mask as the buffer `weight_mask`; before each
forward `weight` becomes their product. Pruning again adds to the mask. `remove` makes it final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from funcgrad.torch.functions import creation
from funcgrad.torch.functions.join import cat
from funcgrad.torch.random import rand
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain


def _count(amount: Any, size: int) -> int:
    """How many of `size` entries an amount (a number, or a part) stands for."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )
    if isinstance(amount, int) and amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount if isinstance(amount, int) else round(amount * size)


class BasePruningMethod:
    """How to choose what is pruned: define `compute_mask(t, default_mask)`; the hook applies the mask."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for `t`, of which `default_mask` has pruned some entries already."""
        raise NotImplementedError("compute_mask is not implemented")

    def apply_mask(self, module: Any) -> Any:
        """The parameter times the mask."""
        mask, whole = (getattr(module, f"{self._tensor_name}_{part}") for part in ("mask", "orig"))
        return mask.to(whole.dtype) * whole

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """`t` with the mask for it applied."""
        scores = t if importance_scores is None else importance_scores
        mask = creation.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, mask)

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of a module; what was pruned before stays so."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        earlier = [
            (k, h)
            for k, h in module._forward_pre_hooks.items()
            if isinstance(h, BasePruningMethod) and h._tensor_name == name
        ]
        if not earlier:
            whole = getattr(module, name)
            module.register_parameter(f"{name}_orig", whole)
            del module._parameters[name]
            default = creation.ones_like(whole).detach()
        else:
            whole, default = getattr(module, f"{name}_orig"), getattr(module, f"{name}_mask").detach().clone()
            del module._forward_pre_hooks[earlier[0][0]]
        scores = whole if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(whole.shape):
            raise AssertionError(
                "importance_scores should have the same shape as parameter {name} of {module}"
            )
        module.register_buffer(f"{name}_mask", method.compute_mask(scores.detach(), default).to(whole.dtype))
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def remove(self, module: Any) -> None:
        """Make the pruning final: `name` is a parameter again, with zeros."""
        name = self._tensor_name
        whole = module._parameters.pop(f"{name}_orig")
        pruned = self.prune_to(whole, module._buffers.pop(f"{name}_mask"))
        if name in module.__dict__:
            delattr(module, name)
        setattr(module, name, pruned)

    @staticmethod
    def prune_to(whole: Any, mask: Any) -> Any:
        """The parameter, with zeros where the mask has them."""
        whole.data = whole.data * mask.to(whole.dtype)
        return whole


class Identity(BasePruningMethod):
    """Prunes nothing, but makes mask and parameter."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _OfEntries(BasePruningMethod):
    def __init__(self, amount: Any) -> None:
        _count(amount, 2**63)
        self.amount = amount

    def _order(self, t: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = np.array(plain(default_mask)).reshape(-1)
        live = np.flatnonzero(mask)
        values = np.asarray(plain(t)).reshape(-1)[live]
        mask[live[self._order(values)[: _count(self.amount, live.size)]]] = 0
        return make_tensor(mask.reshape(t.shape))


class RandomUnstructured(_OfEntries):
    """Prunes entries at random."""

    def _order(self, t: np.ndarray) -> np.ndarray:
        return np.argsort(-plain(rand(t.size, dtype=t.dtype.type)), kind="stable")


class L1Unstructured(_OfEntries):
    """Prunes the entries that are smallest."""

    def _order(self, t: np.ndarray) -> np.ndarray:
        return np.argsort(np.abs(t), kind="stable")


class _OfSlices(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _count(amount, 2**63)
        self.amount, self.dim = amount, dim

    def _order(self, rows: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = np.array(plain(default_mask))
        rows, kept = np.moveaxis(np.asarray(plain(t)), self.dim, 0), np.moveaxis(mask, self.dim, 0)
        live = np.flatnonzero(kept.reshape(len(kept), -1).any(1))
        chosen = live[self._order(rows.reshape(len(rows), -1)[live])[: _count(self.amount, live.size)]]
        kept[chosen] = 0
        return make_tensor(mask)


class RandomStructured(_OfSlices):
    """Prunes slices along `dim` at random."""

    def _order(self, rows: np.ndarray) -> np.ndarray:
        return np.argsort(plain(rand(len(rows))), kind="stable")


class LnStructured(_OfSlices):
    """Prunes the slices along `dim` with the smallest n-norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _order(self, rows: np.ndarray) -> np.ndarray:
        p = 2 if self.n == "fro" else self.n
        return np.argsort(np.linalg.vector_norm(rows, axis=1, ord=p), kind="stable")


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Any) -> Any:
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Make mask and parameter, and prune nothing."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune `amount` (a number, or a part of all) of a parameter's entries at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the `amount` of a parameter's entries that are smallest.

    >>> import funcgrad.torch as torch
    >>> layer = torch.nn.Linear(3, 2)
    >>> _ = torch.nn.utils.prune.l1_unstructured(layer, "weight", amount=4)
    >>> int((layer.weight == 0).sum())
    4
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune `amount` of the slices along `dim` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the `amount` of the slices along `dim` with the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune a parameter by a mask of zeros and ones."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: Callable[..., Any],
    importance_scores: Any = None,
    **kwargs: Any,
) -> None:
    """Prune entries of several parameters as if they were one: `amount` counts them all."""
    pairs, given = list(parameters), importance_scores or {}
    scores = [given.get((m, n), getattr(m, n)).detach().reshape(-1) for m, n in pairs]
    masks = [
        getattr(m, f"{n}_mask", creation.ones_like(getattr(m, n))).detach().reshape(-1) for m, n in pairs
    ]
    whole = pruning_method(**kwargs).compute_mask(cat(scores), cat(masks))
    start = 0
    for module, name in pairs:
        t = getattr(module, name)
        custom_from_mask(module, name, whole[start : start + t.numel()].reshape(t.shape))
        start += t.numel()


def remove(module: Any, name: str) -> Any:
    """Make the pruning of a parameter final. Raises ValueError for one that is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Is any parameter of the module (or of those in it) pruned?"""
    return any(
        isinstance(h, BasePruningMethod) for m in module.modules() for h in m._forward_pre_hooks.values()
    )
