"""The names of `functorch`, the package that became torch.func: `import funcgrad.torch.functorch as functorch`.

Its transforms are torch.func's, which they ask for with a FutureWarning; beside them it splits a module into a
function and its parameters.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.torch import func
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.utils.stateless import functional_call
from funcgrad.torch.tensors.tensor import Tensor

Functional = Callable[..., Any]


def _deprecated(name: str) -> Callable[..., Any]:
    transform = getattr(func, name)

    @functools.wraps(transform)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"functorch.{name} is an old name. Please use `torch.func.{name}`.", FutureWarning, stacklevel=2
        )
        return transform(*args, **kwargs)

    return renamed


vmap, grad, grad_and_value, vjp, jvp, jacrev, jacfwd, hessian, functionalize = map(
    _deprecated,
    ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize"),
)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Functional, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """(function, parameters, buffers): `function(parameters, buffers, *args)` is what `model(*args)` gives.

    A tensor that the model has under several names comes once. With `disable_autograd_tracking` the parameters
    don't require grad.

    >>> import funcgrad.torch as torch
    >>> from funcgrad.torch.functorch import make_functional_with_buffers
    >>> function, params, buffers = make_functional_with_buffers(torch.nn.Linear(2, 1))
    >>> [tuple(p.shape) for p in params], function(params, buffers, torch.zeros(3, 2)).shape
    ([(1, 2), (1,)], torch.Size([3, 1]))
    """
    stateless = copy.deepcopy(model)
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    if disable_autograd_tracking:
        parameters = {name: p.detach() for name, p in parameters.items()}

    def function(given: Sequence[Tensor], given_buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        values = dict(zip(parameters, given, strict=True)) | dict(zip(buffers, given_buffers, strict=True))
        return functional_call(stateless, values, args, kwargs)

    return function, tuple(parameters.values()), tuple(buffers.values())


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Functional, tuple[Tensor, ...]]:
    """(function, parameters): `function(parameters, *args)` is `model(*args)`; no buffers."""
    function, parameters, buffers = make_functional_with_buffers(model, disable_autograd_tracking)
    if buffers:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return (lambda given, *args, **kwargs: function(given, (), *args, **kwargs)), parameters


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[Functional, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """(function, parameters, buffers) of models of one class, stacked along a new first axis, for vmap."""
    func.check_models(models, "combine_state_for_ensemble")
    found = [make_functional_with_buffers(model) for model in models]
    stacked = [
        tuple(_stack(parts) for parts in zip(*each, strict=True))
        for each in zip(*[f[1:] for f in found], strict=True)
    ]
    return found[0][0], stacked[0], stacked[1]


def _stack(parts: Sequence[Tensor]) -> Tensor:
    from funcgrad.torch.functions.join import stack

    return stack([p.detach() for p in parts]).requires_grad_(parts[0].requires_grad)
