"""Errors for a tracer that would become plain data and lose its derivative, or outlives its transform."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np

from funcgrad.core.messages import callers
from funcgrad.errors import (
    ADAPT,
    BEGIN,
    EscapedTracerError,
    NonDifferentiableError,
    TracerConversionError,
    TracerError,
    TracerWriteError,
    foreign_call,
    is_library,
    is_numpy,
    is_ours,
    library_call,
    user_frame,
    user_line,
)

INSTEAD_OF_ARRAY = (
    f"{ADAPT}. Otherwise, to write x into an array, begin with np.zeros_like(x) or np.zeros(n, like=x); to build an array from "
    "tracers write np.stack([x, y]) or np.array([x, y], like=x); to index a plain table a with it, or call a method of one, "
    "write np.asarray(a, like=x)[x] or np.dot(a, x); for its numbers alone print(x), or return it beside the result "
    "(has_aux=True)."
)
INSTEAD_OF_FLOAT = (
    f"{ADAPT}, and funcgrad.math as math. Otherwise use NumPy's function of the same name (np.sin for math.sin), leave float() "
    "away, or write float(funcgrad.stop_gradient(x)) if the derivative is not meant to count; to write x into an array, begin "
    "with np.zeros_like(x) or np.zeros(n, like=x)."
)
INSTEAD_OF_LAZY = "Use NumPy's functions, which run on Dask arrays, too: np.sum(a * x) for da.sum(a * x), a @ x for a.dot(x)."
INSTEAD_OF_SAMPLES = (
    "A sample has no derivative in x: draw with funcgrad.stop_gradient(x) if that is not meant to count."
)
# A sample as a function of its parameters, and of noise that does not depend on them.
SAMPLES = {
    "normal": "loc + scale * {rng}.standard_normal(size)",
    "lognormal": "np.exp(mean + sigma * {rng}.standard_normal(size))",
    "uniform": "low + (high - low) * {rng}.random(size)",
    "exponential": "scale * {rng}.standard_exponential(size)",
    "laplace": "loc + scale * {rng}.laplace(size=size)",
    "logistic": "loc + scale * {rng}.logistic(size=size)",
    "gumbel": "loc + scale * {rng}.gumbel(size=size)",
    "rayleigh": "scale * {rng}.rayleigh(size=size)",
    "multivariate_normal": "mean + np.linalg.cholesky(cov) @ {rng}.standard_normal(size)",
}


def escaped(operation: str, transform: str) -> EscapedTracerError:
    """The error for a tracer that outlived its transform."""
    return EscapedTracerError(
        f"{operation} at {user_line()} uses a tracer whose {transform} has already returned. It was kept (in a list, a global, "
        "an attribute or a closure) beyond the function being transformed. Return the value from the function instead, "
        "for example with has_aux=True."
    )


def conversion_error(x: Any, what: str, instead: str) -> TracerError:
    """The error for a conversion that would lose the derivative."""
    if not x._trace.is_open:
        return escaped(what, x._trace.transform)
    message = f"{what} at {user_line()} would turn {_described(x)} into plain data and lose its derivative. {instead}"
    return _told(x, TracerConversionError(message))


def data_asked_for(x: Any, what: str, instead: str, caller: FrameType | None) -> TracerError:
    """The same where compiled code asks for plain data: the caller's frame tells more than `what`."""
    foreign, library = foreign_call(), library_call()
    if foreign is not None:
        solvers = " (or funcgrad.root, funcgrad.fixed_point)" if foreign.startswith("scipy.optimize.") else ""
        what, instead = foreign, f"Write funcgrad.{foreign}{solvers} instead, which takes tracers. {instead}"
    elif caller is not None and callers.is_writing(caller) and x._trace.is_open:
        message = f"a[index] = x at {user_line()} would write {_described(x)} into a plain array and lose its derivative. "
        return _told(x, TracerWriteError(f"{message}{BEGIN[:1].upper()}{BEGIN[1:]}."))
    elif caller is not None:
        what, instead = _of_call(*callers.called(caller), what, instead)
    elif library is not None:
        what = f"{library[1]} of {library[0]}"
        instead = f"Use NumPy's functions and operators, on np.asarray(a) or a.to_numpy() for an object a of {library[0]}."
    elif (frame := user_frame()) is not None:
        what, instead = _of_mirrored(*callers.called(frame), what, instead)
    return conversion_error(x, what, instead)


def _of_mirrored(name: str, function: Any, what: str, instead: str) -> tuple[str, str]:
    """The same for a call of SciPy's by this name that is behind the question, such as st.norm.cdf(x)."""
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or type(owner).__module__
    if not name or not module.startswith("scipy."):
        return what, instead
    return f"{name}(x)", f"Import funcgrad.scipy in the place of scipy. {instead}"


def _described(x: Any) -> str:
    return f"a {type(x).__name__} (shape {x.shape}, {x.dtype})"


def _told(x: Any, error: TracerError) -> TracerError:
    """`error`, which the trace of `x` remembers: who is told so may not pass it on (failures.py)."""
    if getattr(x._trace, "refused", None) is None:
        x._trace.refused = error
    return error


OBJECT = np.dtype(object)


def of_numbers(out: Any, name: str) -> Any:
    """`out` of a call on tracers, if it holds numbers; Python objects, without derivative, are refused."""
    if getattr(out, "dtype", OBJECT) is OBJECT:
        raise NonDifferentiableError(
            f"{name} at {user_line()} was called on tracers and on Python objects (an array of dtype object, or numbers that "
            f"NumPy does not know, such as a Fraction): its result, a {type(out).__name__} of objects, has no derivative. "
            "Write a.astype(float), or float(number)."
        )
    return out


def calling_frame() -> FrameType | None:
    """The user's frame that asks for the conversion by compiled code; None, if a library does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None or is_library(frame.f_code.co_filename) else frame


def is_testing() -> bool:
    """Does an assertion of np.testing ask? It only looks."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if is_numpy(frame.f_code.co_filename) and "testing" in frame.f_globals.get("__name__", ""):
            return True
        frame = frame.f_back
    return False


def _of_call(name: str, function: Any, what: str, instead: str) -> tuple[str, str]:
    """What is called, and what to write instead, of a call by this name."""
    if not name or getattr(function, "__module__", "") == "builtins" and function not in (float, complex):
        return what, instead  # such as list(map(math.sin, [x]))
    if isinstance(getattr(function, "__self__", None), (np.random.Generator, np.random.RandomState)):
        rng, _, distribution = name.rpartition(".")
        sample = SAMPLES.get(distribution, "").format(rng=rng)
        instead = f"Write {sample}, whose noise does not depend on x." if sample else INSTEAD_OF_SAMPLES
    return f"{name}(x)", instead
