"""Every exception that funcgrad raises on its own account.

    FuncgradError
    ├── TracerError (TypeError)
    │   ├── EscapedTracerError          a tracer is used after its transform has returned
    │   ├── TracerConversionError       float(x), math.sin(x), np.array([x]): the derivative would be lost
    │   ├── TracerWriteError            a tracer is written into a plain array
    │   └── BatchedControlFlowError     `if`, int(), a mask: Python asks for one value where vmap has many
    ├── UnsupportedFunctionError (NotImplementedError)   no rule, and why, and what to write instead
    ├── NonDifferentiableError (TypeError)               an integer input, an operand without a derivative
    ├── OutputError (TypeError, ValueError)              the function's output is not what the transform needs
    ├── ArgumentError (TypeError, ValueError)            argnums, in_axes, tangents, ...: a transform is called wrongly
    ├── CotangentError (ValueError)                      a cotangent or tangent has the wrong shape, dtype or structure
    ├── RuleError (TypeError, ValueError)                a rule written by a user gave the wrong thing
    ├── ConvergenceError (ArithmeticError)               fixed_point or root found no solution
    ├── ImpureFunctionError (RuntimeError)               jit: a function depends on more than its arguments
    ├── NumericalError (FloatingPointError)              debug.nans() found the first NaN or inf
    └── GradientCheckError (AssertionError)              funcgrad.testing found a wrong derivative

Each message says what was called, what was found, and what to write instead.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from types import FrameType

import numpy as np

# Frames of these are not the user's: NumPy calls back into funcgrad from its own Python code, and so do those
# that stand on it.
_NUMPY = os.path.dirname(os.path.abspath(np.__file__))
_OTHERS = [  # if they are there
    "scipy", "astropy", "awkward", "cloudpickle", "dask", "distributed", "h5py", "jax", "joblib", "matplotlib", "numba",
    "numexpr", "pandas", "pint", "polars", "pyarrow", "sklearn", "sparse", "statsmodels", "sympy", "toolz", "torch", "unyt",
    "xarray", "zarr",
]  # fmt: skip
_PACKAGES = os.path.dirname(_NUMPY)
_FOLDERS = [
    os.path.dirname(os.path.abspath(__file__)),
    _NUMPY,
    *(os.path.join(_PACKAGES, name) for name in _OTHERS),
]
_OURS = ("<funcgrad", *(path + os.sep for path in _FOLDERS))
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


# How to get an array into which tracers can be written.
BEGIN = (
    "put @funcgrad.adapt above the function, or import funcgrad.numpy as np, or begin with np.zeros_like(x), np.zeros(n, like=x) "
    "or np.array(a, like=x)"
)
# How a program that was not written for tracers may stay as it is.
ADAPT = "Put @funcgrad.adapt above the function, or import funcgrad.numpy as np"


class FuncgradError(Exception):
    """The common ancestor: `except FuncgradError` catches whatever funcgrad itself refuses."""


class TracerError(FuncgradError, TypeError):
    """A tracer was used in a way that would lose its derivative."""


class EscapedTracerError(TracerError):
    """A tracer was used after the transform that made it had returned."""


class TracerConversionError(TracerError):
    """A tracer was converted to a plain number or array: the derivative would be lost."""


class TracerWriteError(TracerError):
    """A tracer was written into a plain NumPy array: the derivative would be lost."""


class BatchedControlFlowError(TracerError, ValueError):
    """Python needs one concrete value where `vmap` holds one for each example."""


class UnsupportedFunctionError(FuncgradError, NotImplementedError, TypeError):
    """funcgrad has no rule for this function (or for this option of it)."""


class NonDifferentiableError(FuncgradError, TypeError):
    """A derivative was asked for with respect to something that has none."""


class OutputError(FuncgradError, TypeError, ValueError):
    """The output of the differentiated function is not what the transform needs."""


class ArgumentError(FuncgradError, TypeError, ValueError):
    """A transform was called with arguments it can't work with."""


class CotangentError(FuncgradError, TypeError, ValueError):
    """A cotangent or tangent does not match the value it belongs to."""


class RuleError(FuncgradError, TypeError, ValueError):
    """A rule supplied by a user returned something of the wrong structure, shape or dtype."""


class ConvergenceError(FuncgradError, ArithmeticError):
    """An iteration did not come to a solution."""


class ImpureFunctionError(FuncgradError, RuntimeError):
    """A compiled function depends on what changes and is no argument: random numbers, time, counters."""


class LoopWarning(UserWarning):
    """`vmap(..., on_branch="loop")` ran the examples one by one."""


class CompileWarning(UserWarning):
    """A function runs uncompiled: it took too many paths, or its surroundings keep changing."""


class NumericalError(FuncgradError, FloatingPointError):
    """A NaN or inf appeared while `debug.nans()` was watching."""


class GradientCheckError(FuncgradError, AssertionError):
    """A derivative differs from finite differences, or a vmap from a loop."""


def user_frame() -> FrameType | None:
    """The innermost running frame that is of no library (see `is_library`)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_ours(path: str) -> bool:
    """Is this a file of funcgrad, or code that it has generated?"""
    return path.startswith(("<funcgrad", _FOLDERS[0] + os.sep))


def is_numpy(path: str) -> bool:
    """Is this a file of NumPy?"""
    return path.startswith(_NUMPY + os.sep)


@cache
def is_library(path: str) -> bool:
    """Is this a file of funcgrad, NumPy, another well-known library or the standard library?"""
    return path.startswith(_OURS) or (path.startswith(_STANDARD_LIBRARY) and "-packages" not in path)


def foreign_call() -> str | None:
    """The SciPy function that the user called, as "scipy.linalg.solve", if it runs and knows no tracers."""
    frame: FrameType | None = sys._getframe(1)
    names: list[tuple[str, str]] = []
    while frame is not None and is_library(frame.f_code.co_filename):
        module = frame.f_globals.get("__name__", "")
        if module.startswith("funcgrad.scipy"):
            return None
        if module.startswith("scipy."):
            names.append((_public(module), frame.f_code.co_name))
        frame = frame.f_back
    for module, name in reversed(names):
        if not name.startswith("_") and hasattr(sys.modules.get(f"scipy.{module}"), name):
            return f"scipy.{module}.{name}"
    return None


def library_call() -> tuple[str, str] | None:
    """What the user called of a well-known library (not NumPy, SciPy), as ("pandas", "DataFrame.dot")."""
    frame: FrameType | None = sys._getframe(1)
    outermost = None
    while frame is not None and is_library(frame.f_code.co_filename):
        library = frame.f_globals.get("__name__", "").partition(".")[0]
        if library in _OTHERS and library != "scipy":
            outermost = library, frame.f_code.co_qualname
        frame = frame.f_back
    return outermost


def _public(module: str) -> str:
    """scipy.sparse.linalg._isolve -> sparse.linalg"""
    parts = module.split(".")[1:]
    return ".".join(parts[: next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))])


def user_line() -> str:
    """Where the user's code stands now, as 'file.py, line 12, in f'."""
    frame = user_frame()
    return "an unknown line" if frame is None else line_of(frame)


def line_of(frame: FrameType) -> str:
    """Where a frame stands."""
    return f"{short_name(frame.f_code.co_filename)}, line {frame.f_lineno}, in {frame.f_code.co_name}"


def short_name(path: str) -> str:
    """A file's name without its folder. A notebook's cell has only a number that nobody knows."""
    folder, name = os.path.split(path)
    return "cell" if os.path.basename(folder).startswith("ipykernel_") else name
