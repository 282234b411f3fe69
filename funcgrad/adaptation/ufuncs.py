"""NumPy as adapted programs see it: funcgrad.numpy, and ufuncs that look into lists and give blank arrays.

In funcgrad.numpy ufuncs are NumPy's own, which costs nothing where no list is given to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from funcgrad import numpy as ours
from funcgrad.core.engine.trace import RUNNING
from funcgrad.core.memory.blank import fresh

_LISTS = (list, tuple)


def _aware(function: Callable[..., Any]) -> Callable[..., Any]:
    """A ufunc, or a method of one."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None:
            return function(*args, **kwargs)
        out = function(*[ours.array(x) if type(x) in _LISTS else x for x in args], **kwargs)
        return (
            fresh(out)
            if type(out) is np.ndarray and "out" not in kwargs and not any(out is x for x in args)
            else out
        )

    return call


@cache
def for_ufunc(ufunc: np.ufunc) -> Any:
    """The stand-in for a ufunc: a function with its methods and attributes."""
    call: Any = _aware(ufunc)
    call.__name__ = call.__qualname__ = ufunc.__name__
    call.__doc__, call.__wrapped__ = (
        (ufunc.__doc__ or "").partition("\nExamples\n")[0].replace(">>> ", ""),
        ufunc,
    )
    for name in ("accumulate", "outer", "reduce", "reduceat"):
        setattr(call, name, _aware(getattr(ufunc, name)))
    for name in ("at", "identity", "nargs", "nin", "nout", "ntypes", "signature", "types", "resolve_dtypes"):
        setattr(call, name, getattr(ufunc, name))
    return call


class _NumPyWith(ModuleType):
    """funcgrad.numpy with these ufuncs."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(ours, name)
        value = for_ufunc(value) if isinstance(value, np.ufunc) else value
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(ours)


NUMPY: Any = _NumPyWith("numpy", np.__doc__)
