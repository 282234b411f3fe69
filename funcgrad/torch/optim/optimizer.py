"""Optimizer, the base of all: groups, state, hooks (groups.py checks, checkpoints.py saves them)."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from funcgrad.torch.graph.hooks import RemovableHandle
from funcgrad.torch.optim import checkpoints, groups
from funcgrad.torch.optim.groups import required as required  # (as PyTorch has it here too)
from funcgrad.torch.tensors.tensor import Tensor

Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
GLOBAL_PRE_HOOKS: OrderedDict[int, Any] = OrderedDict()
GLOBAL_POST_HOOKS: OrderedDict[int, Any] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) before each step of any optimizer."""
    return RemovableHandle(GLOBAL_PRE_HOOKS, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call hook(optimizer, args, kwargs) after each step of any optimizer."""
    return RemovableHandle(GLOBAL_POST_HOOKS, hook)


class Optimizer:
    """The base of the optimizers; one of your own defines `step`.

    `params` is an iterable of tensors, of (name, tensor) pairs, or of dicts with "params" and settings of
    their own; `defaults` are the settings of groups that do not give them. Raises TypeError and ValueError
    for what can't be optimized.
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(params).__name__}: write [{type(params).__name__.lower()}]"
            )
        self.defaults = defaults
        self._prepare()
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        given: list[Any] = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group if not isinstance(group, dict) else dict(group))

    def _prepare(self) -> None:
        for name in _hook_places():
            self.__dict__.setdefault(name, OrderedDict())
        cls: Any = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = with_hooks(cls.step)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def __repr__(self) -> str:
        parts = []
        for i, group in enumerate(self.param_groups):
            lines = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            parts.append(f"\nParameter Group {i}\n{''.join(lines)}")
        return f"{type(self).__name__} ({''.join(parts)})"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with settings of their own."""
        self.param_groups.append(groups.checked(param_group, self.defaults, self.param_groups))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients; with set_to_none=False, fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad_ = None
                elif p.grad_ is not None:
                    p.grad_.detach_().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters from their gradients; `closure` computes the loss anew."""
        raise NotImplementedError(f"{type(self).__name__}.step: an optimizer has to define how it steps")

    def state_dict(self) -> dict[str, Any]:
        """State and settings, with parameters by number: {"state": {0: ...}, "param_groups": [...]}."""
        for hook in tuple(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        made = checkpoints.packed(self.state, self.param_groups)
        for hook in tuple(self._optimizer_state_dict_post_hooks.values()):
            found = hook(self, made)
            made = made if found is None else found
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over state and settings; arrays of NumPy are taken as tensors."""
        state_dict = dict(state_dict)
        for hook in tuple(self._optimizer_load_state_dict_pre_hooks.values()):
            found = hook(self, state_dict)
            state_dict = state_dict if found is None else found
        state, param_groups = checkpoints.unpacked(state_dict, self.param_groups)
        self.__setstate__({"state": state, "param_groups": param_groups})
        for hook in tuple(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    # ---- hooks -------------------------------------------------------------------------------------------------------
    def _register(self, place: str, hook: Any, prepend: bool = False) -> RemovableHandle:
        hooks = self.__dict__[place]
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before each step; it may return new (args, kwargs)."""
        return self._register("_optimizer_step_pre_hooks", hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        return self._register("_optimizer_step_post_hooks", hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call hook(optimizer) before state_dict()."""
        return self._register("_optimizer_state_dict_pre_hooks", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call hook(optimizer, state_dict) on what state_dict() returns; it may return another one."""
        return self._register("_optimizer_state_dict_post_hooks", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call hook(optimizer, state_dict) before load_state_dict; it may return another one."""
        return self._register("_optimizer_load_state_dict_pre_hooks", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., None], prepend: bool = False
    ) -> RemovableHandle:
        """Call hook(optimizer) after load_state_dict."""
        return self._register("_optimizer_load_state_dict_post_hooks", hook, prepend)


def _hook_places() -> list[str]:
    return [name for name in Optimizer.__annotations__ if name.endswith("_hooks")]


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` of an optimizer's class with hooks before and after; it notes that there was a step."""

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        for hook in (*GLOBAL_PRE_HOOKS.values(), *self._optimizer_step_pre_hooks.values()):
            found = hook(self, args, kwargs)
            if found is not None:
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise RuntimeError(
                        f"{hook} must return None or a tuple of (new_args, new_kwargs), but got {found}."
                    )
                args, kwargs = found
        out = step(*args, **kwargs)
        self.__dict__["_opt_called"] = True
        for hook in (*self._optimizer_step_post_hooks.values(), *GLOBAL_POST_HOOKS.values()):
            hook(self, args, kwargs)
        return out

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked
