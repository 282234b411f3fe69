"""Parameters that are computed from others, by modules: `register_parametrization(module, "weight",
Symmetric())`.

The module gets a class of its own, in which the parameter is a property: the originals are in
`module.parametrizations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.containers import ModuleDict, ModuleList
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor

_CACHE: ContextVar[dict[Any, Tensor] | None] = ContextVar("cache", default=None)


@contextmanager
def cached() -> Iterator[None]:
    """A with block in which each parametrized tensor is computed once."""
    token = _CACHE.set({} if _CACHE.get() is None else _CACHE.get())
    try:
        yield
    finally:
        _CACHE.reset(token)


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, one after the other, and the original tensor (or tensors)."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        if isinstance(new, Tensor):
            original.data = new.data
            _register(self, "original", original)
            self.ntensors = 1
        else:
            self._register_originals(original, new)
        if not unsafe:
            self._check(original)

    def _register_originals(self, original: Tensor, new: Any) -> None:
        if not isinstance(new, Sequence):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}"
            )
        self.ntensors = len(new)
        for i, x in enumerate(new):
            made = Parameter(x, original.requires_grad) if isinstance(original, Parameter) else x
            _register(self, f"original{i}", made)

    def _check(self, original: Tensor) -> None:
        with no_grad():
            made = self()
        if not isinstance(made, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        if made.dtype != original.dtype or (self.is_tensor and made.shape != original.shape):
            raise ValueError(
                "Registering a parametrization may not change the dtype or the shape of the tensor, unless `unsafe` flag is "
                f"enabled: {original.dtype} of {tuple(original.shape)} became {made.dtype} of {tuple(made.shape)}."
            )

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrized tensor becomes `value`."""
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                new = module.right_inverse(new)
            for target, x in zip(self._originals(), [new] if self.is_tensor else new, strict=True):
                target.data = x.data

    def _originals(self) -> list[Tensor]:
        return (
            [self.original]
            if self.is_tensor
            else [getattr(self, f"original{i}") for i in range(self.ntensors)]
        )

    def forward(self) -> Any:
        first, *rest = self
        out = first(*self._originals())
        for module in rest:
            out = module(out)
        return out


def _property(name: str) -> property:
    def get(self: Any) -> Any:
        cache, key = _CACHE.get(), (id(self), name)
        if cache is None:
            return self.parametrizations[name]()
        if key not in cache:
            cache[key] = self.parametrizations[name]()
        return cache[key]

    return property(get, lambda self, value: self.parametrizations[name].right_inverse(value))


def _with_own_class(module: Module) -> None:
    cls = type(module)
    module.__class__ = type(
        f"Parametrized{cls.__name__}", (cls,), {"_before_parametrizations": cls, "__module__": __name__}
    )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Is the tensor of this name parametrized (or, without a name, any)?"""
    found = module._modules.get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def type_before_parametrizations(module: Module) -> type:
    """The class of the module as it was written."""
    return (
        getattr(type(module), "_before_parametrizations", type(module))
        if is_parametrized(module)
        else type(module)
    )


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Compute a parameter (or buffer) by `parametrization` from now on. Returns the module.

    The parametrization maps the original tensor to the one that is used; its `right_inverse`, if it has one,
    makes the original from a value. Raises ValueError where there is no such tensor, or where dtype or shape
    change (unless `unsafe`).

    >>> import funcgrad.torch as torch
    >>> class Positive(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    >>> layer = torch.nn.utils.parametrize.register_parametrization(torch.nn.Linear(2, 1), "weight", Positive())
    >>> bool((layer.weight > 0).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module.parametrizations[tensor_name], parametrization, getattr(module, tensor_name), unsafe)
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _with_own_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def _append(found: ParametrizationList, parametrization: Module, now: Tensor, unsafe: bool) -> None:
    if hasattr(parametrization, "right_inverse"):
        with no_grad():
            found.right_inverse(parametrization.right_inverse(now))
    found.append(parametrization)
    found.unsafe |= unsafe
    if not unsafe:
        found._check(now)


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a tensor an ordinary parameter (or buffer) again: its present value, or (False) the original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if not found.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    first = found._originals()[0]
    with no_grad():
        value = getattr(module, tensor_name).detach() if leave_parametrized else first.data
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    made = Parameter(value, first.requires_grad) if isinstance(first, Parameter) else value
    if found.is_tensor and isinstance(first, Parameter):
        first.data, made = value, first
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module)._before_parametrizations
    _register(module, tensor_name, made)
    return module
