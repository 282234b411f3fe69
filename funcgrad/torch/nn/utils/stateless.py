"""Calling a module with other parameters and buffers than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor


def _merged(given: Any) -> dict[str, Any]:
    """One dict from a dict, or from several that have no key in common."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, (tuple, list)):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
        )
    if not all(isinstance(part, dict) for part in given):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    keys = [key for part in given for key in part]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(
            f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {key: x for part in given for key, x in part.items()}


def _own(module: Module) -> dict[str, Tensor]:
    found = dict(module.named_parameters(remove_duplicate=False))
    return found | dict(module.named_buffers(remove_duplicate=False))


def _with_tied(own: Mapping[str, Tensor], values: dict[str, Any]) -> dict[str, Any]:
    """The values under all names of tensors that have several."""
    names: dict[int, list[str]] = {}
    for name, x in own.items():
        names.setdefault(id(x), []).append(name)
    full = dict(values)
    for tied in names.values():
        given = [name for name in tied if name in values]
        if len({id(values[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using tie_weights=False"
            )
        full.update(dict.fromkeys(tied, values[given[0]]) if given else {})
    return full


def _check(module: Module, own: Mapping[str, Tensor], values: Mapping[str, Any], strict: bool) -> None:
    errors = []
    for what, keys in (("Unexpected", values.keys() - own.keys()), ("Missing", own.keys() - values.keys())):
        if keys and strict:
            errors.append(f"{what} key(s): {', '.join(map(repr, sorted(keys)))}.")
    if errors:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(errors))
    for x in values.values():
        if not isinstance(x, Tensor):
            raise TypeError(f"{x} is not an instance of torch.Tensor")


@contextmanager
def _swapped(module: Module, values: Mapping[str, Any]) -> Iterator[None]:
    """A block in which the module has other tensors for its own; names that it lacks do not count."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, value in values.items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            for place in (owner._parameters, owner._buffers, owner.__dict__):
                if last in place:
                    before.append((place, last, place[last]))
                    place[last] = value
                    break
        yield
    finally:
        for place, last, old in reversed(before):
            place[last] = old


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers, by dotted name; what is not given is the module's own.

    Args:
        module: the module.
        parameter_and_buffer_dicts: a dict, or several that have no key in common.
        args: the argument, or a tuple of them.
        kwargs: more arguments, by name.
        tie_weights: tensors that the module has under several names get the value that is given for one of
            them.
        strict: refuse missing and unknown names (RuntimeError).

    >>> import funcgrad.torch as torch
    >>> layer = torch.nn.Linear(2, 1)
    >>> loss = lambda p: torch.func.functional_call(layer, p, torch.tensor([2.0, 3.0])).sum()
    >>> torch.func.grad(loss)(dict(layer.named_parameters()))["weight"].detach()
    tensor([[2., 3.]])
    """
    values, own = _merged(parameter_and_buffer_dicts), _own(module)
    if tie_weights:
        values = _with_tied(own, values)
    _check(module, own, values, strict)
    with _swapped(module, values):
        return module(
            *(() if args is None else args if isinstance(args, tuple) else (args,)), **(kwargs or {})
        )
