"""The builtins that autograd replaces. Lists, tuples and dicts of watched arrays are Python's own here."""

from __future__ import annotations

import builtins
from typing import Any

from funcgrad.compat.autograd.primitives import getval

dict, list, tuple = builtins.dict, builtins.list, builtins.tuple


def isinstance(x: Any, kind: Any) -> bool:
    """Is the plain value of `x` an instance of `kind`?"""
    return builtins.isinstance(getval(x), kind)


def type(x: Any) -> Any:
    """The class of the plain value of `x`."""
    return builtins.type(getval(x))


def make_sequence(seq_type: Any, *args: Any) -> Any:
    """A sequence of that class."""
    return seq_type(args)


def container_take(container: Any, index: Any) -> Any:
    """container[index]."""
    return container[index]


SequenceBox, DictBox = (builtins.list, builtins.tuple), builtins.dict
