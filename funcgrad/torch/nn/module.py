"""Module: a function with parameters, buffers, children and hooks.

module_attributes.py   what assigning an attribute means, and registering by name
module_walks.py        parameters(), named_modules(), ...: all that is below
module_state.py        state_dict, load_state_dict
module_hooks.py        hooks around forward, and around the gradients of inputs and outputs
module_changes.py      train, eval, to, apply, zero_grad, ...: changes to all that is below
"""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad.torch.nn.module_attributes import prepare
from funcgrad.torch.nn.module_changes import Changes
from funcgrad.torch.nn.module_hooks import Hooks, call_with_hooks
from funcgrad.torch.nn.module_state import State


class Module(State, Hooks, Changes):
    """Base of layers and models: assign parameters and modules as attributes, define `forward`, call the module.

    >>> import funcgrad.torch as torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.ones(()))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(torch.tensor(2.0))
    tensor(2., grad_fn=<MulBackward0>)
    """

    call_super_init: ClassVar[bool] = False  # does __init__ pass on its arguments, to a class after Module in the order of bases?
    settings: ClassVar[tuple[str, ...]] = ()  # the attributes that the repr shows, as name=value

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and not self.call_super_init:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        if kwargs and not self.call_super_init:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        prepare(self)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ---- text --------------------------------------------------------------------------------------------------------
    def extra_repr(self) -> str:
        """The settings, for the repr."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.settings)

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def indented(text: str) -> str:
    """The repr of a child inside that of its parent."""
    return text.replace("\n", "\n  ")
