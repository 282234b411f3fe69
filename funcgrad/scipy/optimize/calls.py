"""What the rules for solvers share: functions of the user's on plain values, and results with derivatives.

SciPy solves with plain values. Then `funcgrad.root` attaches the derivatives by the implicit function
theorem, in what is given as `args` and in what the user's functions close over.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.transforms.implicit import root

Function = Callable[..., Any]


def values(x: Any) -> Any:
    """A pytree of plain values."""
    return tree.map(lambda leaf: plain(leaf) if isinstance(leaf, Tracer) else leaf, x)


def start(x: Any) -> Any:
    """A starting point, as a plain array of floats."""
    x = np.asarray(values(x))
    return x if x.dtype.kind == "c" else x.astype(float)


def plainly(function: Any) -> Any:
    """The user's function, whose results are plain numbers, whatever it closes over."""
    if not callable(function):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        return values(function(*args, **kwargs))

    functools.update_wrapper(call, function)  # SciPy counts the parameters of curves
    return call


def given_plainly(x: Any) -> Any:
    """An option for SciPy: functions in it return plain numbers, and arrays are plain."""
    if isinstance(x, dict):
        return {key: given_plainly(value) for key, value in x.items()}
    return plainly(x) if callable(x) else values(x)


def as_args(args: Any) -> tuple[Any, ...]:
    """`args` as SciPy takes it: a tuple, or a single argument."""
    return args if isinstance(args, tuple) else (args,)


def solved(equation: Function, x: Any, args: tuple[Any, ...]) -> Any:
    """The solution x, which SciPy has found, of equation(x, *args) = 0, with its derivatives."""
    return root(equation, x, *args, solver=lambda _, __: x)


def uses_funcgrad(function: Any) -> bool:
    """Is the function written with funcgrad.numpy, or another module of funcgrad's?"""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    found = [function.__globals__.get(name) for name in code.co_names]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return any(isinstance(x, types.ModuleType) and x.__name__.startswith("funcgrad") for x in found) or any(
        isinstance(x, types.FunctionType)
        and x is not function
        and x.__module__ == function.__module__
        and _shallow(x)
        for x in found
    )


def _shallow(function: types.FunctionType) -> bool:
    found = [function.__globals__.get(name) for name in function.__code__.co_names]
    return any(isinstance(x, types.ModuleType) and x.__name__.startswith("funcgrad") for x in found)


def is_running() -> bool:
    """Does a transform run?"""
    return RUNNING.get() is not None


def with_fields(result: Any, **fields: Any) -> Any:
    """A copy of SciPy's result with other values in these of its fields that it has."""
    if isinstance(result, dict):
        made = copy.copy(result)
        made.update({name: value for name, value in fields.items() if name in made})
        return made
    for name, value in fields.items():
        setattr(result, name, value)
    return result
