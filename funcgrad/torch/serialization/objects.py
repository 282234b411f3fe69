"""Objects that are no containers of numbers (modules, optimizers): pickles whose tensors lie in the archive.

Reading a pickle runs code that the file names, so it is done only where the user says so: for all of a file
that is trusted (weights_only=False), or for some classes (add_safe_globals).
"""

from __future__ import annotations

import io
import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from funcgrad.torch.tensors.tensor import Tensor

SAFE: dict[tuple[str, str], Any] = {}  # by module and name: what may be read without more being asked
# Python's containers, which run no code of a file: schedulers keep their milestones in a Counter.
_CONTAINERS = {("collections", x.__name__): x for x in (Counter, OrderedDict)} | {("builtins", "set"): set}


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let `load` build objects of these classes (and call these functions) without weights_only=False."""
    SAFE.update({_key(each): each[0] if isinstance(each, tuple) else each for each in safe_globals})


def get_safe_globals() -> list[Any]:
    """The classes and functions that `add_safe_globals` was given."""
    return list(SAFE.values())


def clear_safe_globals() -> None:
    """Forget them."""
    SAFE.clear()


class safe_globals:
    """The classes that `load` may build objects of while this is open."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self.given = list(safe_globals)

    def __enter__(self) -> None:
        self.before = dict(SAFE)
        add_safe_globals(self.given)

    def __exit__(self, *exception: object) -> None:
        SAFE.clear()
        SAFE.update(self.before)


def _key(each: Any) -> tuple[str, str]:
    if isinstance(each, tuple):  # (function, "module.name")
        module, _, name = each[1].rpartition(".")
        return module, name
    return each.__module__, each.__qualname__


class _ObjectPickler(pickle.Pickler):
    def __init__(self, file: Any, described: Callable[[Any], Any]) -> None:
        super().__init__(file, protocol=4)
        self.described = described

    def persistent_id(self, obj: Any) -> Any:
        return self.described(obj) if isinstance(obj, Tensor) else None


def pickled(x: Any, described: Callable[[Any], Any]) -> bytes:
    """An object's pickle, with `described(t)` for each tensor t. TypeError for what has none."""
    file = io.BytesIO()
    try:
        _ObjectPickler(file, described).dump(x)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"torch.save: can't save a {type(x).__name__} ({error}). Define its class at the top of a module, or save what it "
            "holds; of a module or an optimizer save the state_dict()."
        ) from None
    return file.getvalue()


class _ObjectUnpickler(pickle.Unpickler):
    def __init__(self, file: Any, built: Callable[[Any], Any], trusted: bool) -> None:
        super().__init__(file)
        self.built, self.trusted = built, trusted

    def persistent_load(self, pid: Any) -> Any:
        return self.built(pid)

    def find_class(self, module: str, name: str) -> Any:
        if self.trusted:
            return super().find_class(module, name)
        found = SAFE.get((module, name)) or _CONTAINERS.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(
                f"Weights only load failed. The file holds an object of {module}.{name}, and to build it runs code. For a file "
                "that you trust write torch.load(f, weights_only=False), or allow this class with "
                f"torch.serialization.add_safe_globals([{name}])."
            )
        return found


def unpickled(data: bytes, built: Callable[[Any], Any], trusted: bool) -> Any:
    """A pickle's object. UnpicklingError for classes that are not allowed, unless `trusted`."""
    return _ObjectUnpickler(io.BytesIO(data), built, trusted).load()
