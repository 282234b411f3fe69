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
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.chunks import computed, holds_lazy
from funcgrad.scipy.linalg.stacks import plain
from funcgrad.scipy.mirror import looking
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
    if not callable(function) or not is_running():
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        return values(function(*args, **kwargs))

    functools.update_wrapper(call, function)  # SciPy counts the parameters of curves
    return call


def in_numbers(function: Any) -> Any:
    """The function, with what is lazy in its results computed, in one pass."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return computed(result) if holds_lazy(result) else result

    return call


def uses_lazy(function: Any, args: Any) -> bool:
    """Is the function given lazy arrays, or does it name some?"""
    while isinstance(function, functools.partial):
        args, function = (args, function.args, function.keywords), function.func
    code = getattr(function, "__code__", None)
    named = [] if code is None else [function.__globals__.get(name) for name in code.co_names]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            named.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            continue
    return holds_lazy((args, named))


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


def traceable(function: Any) -> Any:
    """A function of SciPy's own, such as `rosen`, as funcgrad has it; any other as it is."""
    is_theirs = isinstance(function, types.FunctionType) and str(function.__module__).startswith("scipy.")
    if not is_theirs or function not in CATALOGUE:
        return function
    module, _, name = function.__module__.partition("._")[0], None, function.__name__
    return looking(function, f"{module.removeprefix('scipy.')}.{name}")


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
