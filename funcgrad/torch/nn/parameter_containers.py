"""Containers of parameters: ParameterList, ParameterDict. What is no tensor may be in them too."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor


def _as_member(x: Any) -> Any:
    return Parameter(x) if isinstance(x, Tensor) and not isinstance(x, Parameter) else x


def _described(name: Any, x: Any, dtype_of: Any) -> str:
    if not isinstance(x, Tensor):
        return f"  ({name}): Object of type: {type(x).__name__}"
    kind = "Parameter" if isinstance(x, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{dtype_of(x)} of size {'x'.join(map(str, x.shape))}]"


class ParameterList(Module):
    """A list of parameters; tensors that are put into it become parameters.

    >>> import funcgrad.torch as torch
    >>> torch.nn.ParameterList([torch.ones(2), torch.ones(3)])
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2]
        (1): Parameter containing: [torch.float32 of size 3]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, index: Any) -> str:
        at = operator.index(index)
        if not -self._size <= at < self._size:
            raise IndexError(f"index {at} is out of range")
        return str(at % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, param: Any) -> None:
        setattr(self, self._key(index), _as_member(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: Any) -> Self:
        """Add a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add parameters at the end. Raises TypeError for what can't be iterated, and for one tensor."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_described(i, x, lambda t: t.dtype) for i, x in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters; tensors that are put into it become parameters.

    >>> import funcgrad.torch as torch
    >>> torch.nn.ParameterDict({"scale": torch.ones(2)})["scale"].requires_grad
    True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _name(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._name(key)
        self._keys[name] = None
        setattr(self, name, _as_member(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._name(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: Any) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(dict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of this name; `default`, which is added, if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of this name; `default` if there is none."""
        return getattr(self, key) if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dict with `default` under each of the keys."""
        return ParameterDict(dict.fromkeys(keys, default))

    def clear(self) -> None:
        """Remove all parameters."""
        for key in list(self):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove a parameter, and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Remove the last parameter, and return it with its name."""
        key = next(reversed(self))
        return key, self.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Any:
        """Names and parameters."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Any:
        """The parameters."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Add the parameters of a mapping, or of an iterable of pairs."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                f"ParametersDict.update should be called with an iterable of key/value pairs, but got {type(parameters).__name__}"
            )
        for key, value in (
            parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else parameters
        ):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_described(key, x, lambda t: t.type()) for key, x in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
