"""Errors that hide what went wrong: of NumPy or a library that was given a tracer, or refused by one.

A trace asks `explained` about any error that leaves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from funcgrad.core.arrays.foreign import library_of
from funcgrad.core.arrays.methods import ArrayMethods
from funcgrad.core.messages.callers import called
from funcgrad.core.messages.conversions import INSTEAD_OF_LAZY
from funcgrad.core.messages.tracebacks import is_ours
from funcgrad.errors import (
    ADAPT,
    BEGIN,
    FuncgradError,
    TracerConversionError,
    TracerError,
    TracerWriteError,
    UnsupportedFunctionError,
    is_library,
    is_numpy,
    line_of,
    user_line,
)

# Libraries whose arrays the engine computes with as they are -> what makes one of NumPy's of them.
_ARRAYS = {
    "dask": "a.compute()",
    "sparse": "a.todense(), or a product as an operator: a @ w for np.dot(a, w)",
}
# What nobody raises who does not know what he was given.
_CLEAR = (AssertionError, ArithmeticError, StopIteration, Warning, OSError, MemoryError)


def explained(error: BaseException, refused: TracerError | None) -> BaseException:
    """`error`, or one that says what has happened. `refused`: the first refusal of a conversion."""
    if isinstance(error, FuncgradError) or not isinstance(error, Exception):
        return error
    if type(error) is TypeError and str(error).startswith(
        "Iterator operand is flagged as writeable, but is an object"
    ):
        return TracerConversionError(
            "np.nditer(x) would go over the plain data of a tracer, and lose its derivative. "
            "Write `for i in np.ndindex(x.shape)` and x[i], or `for v in x.flat`."
        )
    # here it keeps nothing of that
    if type(error) is ValueError and str(error) == "Error setting single item of array.":
        return TracerWriteError(
            "`a.flat[i] = x` would write a tracer into a plain array and lose its derivative. "
            f"To write into an array, {BEGIN}."
        )
    frames = [frame for frame in _frames(error) if not is_ours(frame)]
    if type(error) is AssertionError and frames and _is_asked_for_a_number(frames[-1]):
        users = [frame for frame in frames if not is_library(frame.f_code.co_filename)]
        where = line_of(users[-1]) if users else "an unknown line"
        return TracerConversionError(
            f"np.testing.assert_equal(x, y) at {where} takes a traced number for no number, though it has the value. Write "
            "np.testing.assert_array_equal(x, y), or import funcgrad.numpy as np."
        )
    is_foreign = bool(frames) and is_library(frames[-1].f_code.co_filename)
    hidden = _first_told(error)
    if hidden is not None and (
        is_foreign or str(error).startswith("setting an array element with a sequence")
    ):
        return hidden  # NumPy says this, which helps nobody, instead of what it was told
    if refused is not None and (is_foreign or not isinstance(error, _CLEAR)) and any(map(_is_solver, frames)):
        return type(refused)(str(refused))  # a callback of compiled code, which does not pass errors on
    if not is_foreign:
        return _of_array(error, frames) or _of_compiled(error)
    if isinstance(error, _CLEAR):
        return error
    lacking = _of_array(error, frames) if is_numpy(frames[-1].f_code.co_filename) else None
    return lacking or _of_library(error, frames)


def raise_explained(error: Exception) -> NoReturn:
    """Raise an error of a sweep, or one that says what has happened."""
    explanation = explained(error, None)
    if explanation is error:
        raise error
    raise explanation from error


def _is_asked_for_a_number(frame: FrameType) -> bool:
    """Does np.testing.assert_equal find that just one of two equal numbers is a tracer?"""
    if frame.f_code.co_name != "assert_equal" or not is_numpy(frame.f_code.co_filename):
        return False
    pair = [frame.f_locals.get(name) for name in ("actual", "desired")]
    if all(map(_is_tracer, pair)) or not any(map(_is_tracer, pair)):
        return False
    x, y = (np.asarray(x._text() if isinstance(x, ArrayMethods) else x) for x in pair)
    return np.array_equal(x, y, equal_nan=x.dtype.kind in "fc" and y.dtype.kind in "fc")


def _is_solver(frame: FrameType) -> bool:
    return is_library(frame.f_code.co_filename) and not is_numpy(frame.f_code.co_filename)


def _frames(error: BaseException) -> Iterator[FrameType]:
    step = error.__traceback__
    while step is not None:
        yield step.tb_frame
        step = step.tb_next


def _first_told(error: BaseException) -> TracerError | None:
    """The first of our errors among those that led to this one."""
    told, seen = None, 0
    cause = error.__cause__ or error.__context__
    while cause is not None and seen < 100:
        told = cause if isinstance(cause, TracerError) else told
        cause, seen = cause.__cause__ or cause.__context__, seen + 1
    return told


def _of_library(error: Exception, frames: list[FrameType]) -> Exception:
    """What is said of an error of a library that was given a tracer."""
    inner = len(frames)
    while inner and is_library(frames[inner - 1].f_code.co_filename):
        inner -= 1
    inside = frames[inner:]
    libraries = [frame.f_globals.get("__name__", "a library").partition(".")[0] for frame in inside]
    library = next((name for name in libraries if name in _ARRAYS), libraries[0])
    where = line_of(frames[inner - 1]) if inner else user_line()
    if library in _ARRAYS:
        if _TRACER.search(str(error)):
            return TracerConversionError(
                f"a function of {library} at {where} takes no tracers. {INSTEAD_OF_LAZY}"
            )
        if type(error) is AttributeError and "'numpy.ndarray' object has no attribute" in str(error):
            return UnsupportedFunctionError(
                f"a plain array beside one of {library}, at {where}: {library} does not take both here. Write "
                "da.from_array(x) for the plain one, or a.compute() for the lazy one."
            )
        said = str(error).partition("\n")[0]
        return UnsupportedFunctionError(
            f"an array of {library}, at {where}: {library} can't do this ({type(error).__name__}: {said}). "
            f"Write {_ARRAYS[library]}."
        )
    is_rerun = any(
        frame.f_globals.get("__name__", "").startswith("funcgrad.scipy") for frame in _frames(error)
    )
    is_rerun = is_rerun and not isinstance(error, (AttributeError, TypeError))
    if is_rerun or is_numpy(inside[-1].f_code.co_filename) or not any(map(_has_tracer, inside)):
        return error
    return TracerConversionError(
        f"{inside[0].f_code.co_qualname} of {library}, called at {where}, takes no tracers ({type(error).__name__}: {error}). "
        f"Use NumPy's functions; write np.asarray(a) * x for a * x, where a is an object of {library}; or give the call a rule "
        "with funcgrad.custom_vjp."
    )


def _of_array(error: Exception, frames: list[FrameType]) -> Exception | None:
    """What is said of an array of another library that was asked, by NumPy or by a rule, for what it can't do."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or not isinstance(error, (TypeError, AttributeError)) or not _LACKING.search(str(error)):
        return None
    held = [*step.tb_frame.f_locals.values()]
    held += [x for call in held for x in getattr(call, "operands", ())]
    others = (x for x in held if hasattr(x, "__array_function__"))
    x = next((x for x in others if not isinstance(x, (np.ndarray, ArrayMethods))), None)
    told = [
        name for name in _TYPES.findall(str(error)) if name in _ARRAYS
    ]  # by NumPy, of what is deeper inside
    if x is None and not told:
        return None
    library = told[0] if x is None else library_of(x)
    where = line_of(frames[-1]) if frames else user_line()
    return UnsupportedFunctionError(
        f"an array of {library}, at {where}: {library} can't do this ({type(error).__name__}: {error}). Write the same with "
        f"functions that it has, or {_ARRAYS.get(library, 'an array of NumPy')} in its place."
    )


_LACKING = re.compile(
    r"all returned NotImplemented from __array_ufunc__|no implementation found for|unexpected keyword argument"
    r"|object does not support item assignment|'(COO|GCXS|DOK)' object has no attribute|only integer scalar arrays"
    r"|(COO|GCXS|DOK)\.\w+\(\) takes "
)
_TYPES = re.compile(r"<class '(\w+)\.")


_TRACER = re.compile(r"\b(Reverse|Forward|Batch)Tracer\b")


def _of_compiled(error: Exception) -> Exception:
    """The error for a call of compiled code that does not know the type of a tracer, such as Decimal(x)."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or type(error) is not TypeError or not _TRACER.search(str(error)):
        return error
    name = called(step.tb_frame, step.tb_lasti)[0]
    if not name:
        return error
    return TracerConversionError(
        f"{name}(x), called at {line_of(step.tb_frame)}, takes no tracers: {error}. {ADAPT}."
    )


def _has_tracer(frame: FrameType) -> bool:
    return any(map(_is_tracer, frame.f_locals.values()))


def _is_tracer(x: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return any(isinstance(v, ArrayMethods) for v in x[:100])
    return isinstance(x, ArrayMethods)
