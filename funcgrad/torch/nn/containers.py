"""Containers of modules: Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Self

from funcgrad.torch.nn.module import Module, indented


class _NumberedModules(Module):
    """Modules under the names "0", "1", ..., which can be used as a list."""

    def _key(self, index: Any) -> str:
        keys = list(self._modules)
        at = operator.index(index)
        if not -len(keys) <= at < len(keys):
            raise IndexError(f"index {at} is out of range")
        return keys[at]

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(modules)}

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        found = list(self._modules.values())
        if not isinstance(index, slice):
            self._key(index)
        del found[index]
        self._renumber(found)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end. Raises TypeError for what can't be iterated."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before the one at `index`. Raises IndexError, AssertionError for what is no module."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        found = list(self._modules.values())
        if not -len(found) <= index <= len(found):
            raise IndexError(f"Index out of range: {index}")
        found.insert(index, module)
        self._renumber(found)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove what is at `key`, and return it."""
        found = self[key]
        del self[key]
        return found

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError

    def __iadd__(self, other: Any) -> Self:
        return self.extend(other)


class Sequential(_NumberedModules):
    """Modules one after the other: each gets the output of the one before.

    >>> import funcgrad.torch as torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], dict)
        for name, module in args[0].items() if named else ((str(i), m) for i, m in enumerate(args)):
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self._times(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        return self.extend(self._times(other)[len(self) :])

    def _times(self, other: Any) -> list[Any]:
        """The modules, so many times: the same objects, which share their parameters."""
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return list(self) * other


class ModuleList(_NumberedModules):
    """A list of modules, whose parameters belong to the module that has the list.

    >>> import funcgrad.torch as torch
    >>> len(list(torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]).parameters()))
    4
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        if not len(self):
            return self._get_name() + "()"
        lines, at = [], 0
        for text, group in groupby(map(repr, self)):
            count = len(list(group))
            name = f"({at})" if count == 1 else f"({at}-{at + count - 1})"
            lines.append(indented(f"{name}: {text}" if count == 1 else f"{name}: {count} x {text}"))
            at += count
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dict of modules by name, whose parameters belong to the module that has the dict.

    >>> import funcgrad.torch as torch
    >>> torch.nn.ModuleDict({"act": torch.nn.ReLU()})["act"]
    ReLU()
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module, and return it."""
        found = self[key]
        del self[key]
        return found

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of an iterable of pairs."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleDict.update should be called with an iterable of key/value pairs, but got {type(modules).__name__}"
            )
        for key, module in modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules:
            self[key] = module


def copies(module: Module, N: int) -> ModuleList:
    """`N` copies of a module, each with parameters of its own."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])
