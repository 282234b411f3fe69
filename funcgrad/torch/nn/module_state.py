"""state_dict and load_state_dict: what a module holds, by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from funcgrad.torch.graph.hooks import RemovableHandle
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.parameter import Parameter, UninitializedParameter
from funcgrad.torch.tensors.tensor import Tensor

_EXTRA = "_extra_state"


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(_Keys):
    """The keys that load_state_dict did not find, and those that it did not know."""

    def __repr__(self) -> str:
        return (
            super().__repr__()
            if self.missing_keys or self.unexpected_keys
            else "<All keys matched successfully>"
        )

    __str__ = __repr__


class StateDicts:
    """The part of Module that saves and loads."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _get_name: Callable[[], str]
    _version: ClassVar[int] = 1  # of the format in which a module keeps its own state
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    # ---- saving ------------------------------------------------------------------------------------------------------
    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by dotted name; they share memory with the module.

        With keep_vars=True they are the module's own, and require grad.

        >>> import funcgrad.torch as torch
        >>> list(torch.nn.Linear(2, 1).state_dict())
        ['weight', 'bias']
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in tuple(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, replaces in tuple(self._state_dict_hooks.values()):
            found = hook(self, destination, prefix, metadata)
            if found is not None and not replaces:
                raise RuntimeError("state_dict post-hook must return None")
            destination = destination if found is None else found
        return destination

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        for name, x in chain(self._parameters.items(), self._buffers.items()):
            if x is not None and name not in self._non_persistent_buffers_set:
                yield name, x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, x in self._own_state():
            destination[prefix + name] = x if keep_vars else x.detach()
        if type(self).get_extra_state is not StateDicts.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """More state than tensors; a subclass that defines it also defines set_extra_state."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. Please file an issue: define "
            "get_extra_state in the subclass."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what get_extra_state gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. Please file an issue: define "
            "set_extra_state in the subclass."
        )

    # ---- loading -----------------------------------------------------------------------------------------------------
    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values into parameters and buffers; with assign=True, put the tensors themselves in their
        places.

        Returns the keys that were missing or unexpected. Raises RuntimeError for sizes that differ and (with
        strict=True) for missing or unexpected keys, TypeError for what is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        found = _Loading(OrderedDict(state_dict), getattr(state_dict, "_metadata", None), assign)
        found.load(self, "", found.state)
        errors = found.errors
        if strict:
            for what, keys in (("Unexpected", found.unexpected), ("Missing", found.missing)):
                if keys:
                    errors.insert(0, f"{what} key(s) in state_dict: {', '.join(map(_quoted, keys))}. ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors)
            )
        return _IncompatibleKeys(found.missing, found.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own state, without its children."""
        for hook in tuple(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = dict(self._own_state())
        for name, x in own.items():
            if prefix + name in state_dict:
                assign = local_metadata.get("assign_to_params_buffers", False)
                error = _load_one(self, name, x, state_dict[prefix + name], prefix + name, assign)
                error_msgs.extend([error] if error else [])
            elif strict:
                missing_keys.append(prefix + name)
        self._load_extra(state_dict, prefix + _EXTRA, strict, missing_keys, unexpected_keys)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and key != prefix + _EXTRA:
                name, *rest = key[len(prefix) :].split(".", 1)
                if name not in (self._modules if rest else own):
                    unexpected_keys.append(key)

    def _load_extra(
        self, state_dict: Any, key: str, strict: bool, missing: list[str], unexpected: list[str]
    ) -> None:
        if type(self).set_extra_state is not StateDicts.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing.append(key)
        elif strict and key in state_dict:
            unexpected.append(key)

    # ---- hooks -------------------------------------------------------------------------------------------------------
    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, prefix, keep_vars) before each state_dict."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) after each state_dict; it may change it."""
        return RemovableHandle(self._state_dict_hooks, (hook, False))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return RemovableHandle(self._state_dict_hooks, (hook, True))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors) to load."""
        return RemovableHandle(self._load_state_dict_pre_hooks, _WithModule(hook, self))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return RemovableHandle(
            self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook
        )

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, incompatible_keys) after each loading: it may change both lists in place."""
        return RemovableHandle(self._load_state_dict_post_hooks, hook)


class _WithModule:
    """A hook that gets its module first. (A class, so that modules can be copied and pickled.)"""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook, self.module = hook, module

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module, *args)


class _Loading:
    """One call of load_state_dict: what it finds on the way down."""

    def __init__(self, state: Any, metadata: Any, assign: bool) -> None:
        self.state, self.metadata, self.assign = state, metadata, assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, prefix: str, state: Any) -> None:
        """Load a module and all below it."""
        metadata = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state, prefix, metadata, True, self.missing, self.unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                self.load(child, below, {k: v for k, v in state.items() if k.startswith(below)})
        keys = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in tuple(module._load_state_dict_post_hooks.values()):
            if hook(module, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                    "incompatible_keys need to be modified, it should be done inplace."
                )


def _load_one(module: Any, name: str, x: Tensor, given: Any, key: str, assign: bool) -> str:
    """Load one tensor; returns what is wrong with it, if anything."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
            f"received {type(given)}"
        )
    if isinstance(x, UninitializedParameter):
        x.materialize(given.shape)
    if x.ndim == 0 and given.ndim == 1:  # files of early versions
        given = given[0]
    if x.shape != given.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current model is "
            f"{x.shape}."
        )
    try:
        with no_grad():
            if assign:
                _assign(module, name, x, given)
            else:
                x.copy_(given)
    except (RuntimeError, TypeError, ValueError) as error:
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are {x.size()} and whose dimensions in '
            f"the checkpoint are {given.size()}, an exception occurred : {error.args}."
        )
    return ""


def _assign(module: Any, name: str, x: Tensor, given: Tensor) -> None:
    if isinstance(x, Parameter):
        given = (
            given.requires_grad_(x.requires_grad)
            if isinstance(given, Parameter)
            else Parameter(given, x.requires_grad)
        )
    setattr(module, name, given)


def _quoted(key: str) -> str:
    return f'"{key}"'
