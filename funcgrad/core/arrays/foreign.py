"""Other libraries' objects beside tracers: what becomes an array, keeps its own operations, is refused.

An operand that is no array of NumPy's becomes one by `np.asarray`, as NumPy itself would see it. It must not
stay what it is: inside the engine, the labels of a pandas Series would be taken for positions. Left as they
are, since they follow NumPy's protocols throughout, are the arrays of Dask, CuPy and the like. An object that
computes with units or named axes (pint, xarray) is asked first: it may hold a tracer, and shows it in the
output (transforms/hidden.py). Whatever would lose its meaning is refused, and the message says what to write.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from numbers import Number
from typing import Any, NoReturn

import numpy as np

from funcgrad.errors import NonDifferentiableError, UnsupportedFunctionError, user_line

Taker = Callable[[Any], Any]

# What computes with duck arrays, tracers too -> the attribute with the array, and what to write.
HOLDERS = {"xarray": ("data", "x.data"), "pint": ("magnitude", "x.magnitude (or x.m_as(unit))")}
# What computes as ndarrays do, though it has `__array_ufunc__`: nothing of its meaning is lost in an array.
_PLAIN_LIBRARIES = frozenset(["pandas", "polars", "awkward", "pyarrow"])
_OPERATORS = [
    f"__{kind}{name}__" for name in ("add", "sub", "mul", "truediv", "pow", "matmul") for kind in ("", "r")
]


def library_of(x: Any) -> str:
    """The package that the type of `x` is from."""
    return type(x).__module__.partition(".")[0]


class OwnOperation(NonDifferentiableError):
    """Beside a tracer stands an object that computes by itself: `answer` asks it, else this is the error."""

    def __init__(self, x: Any) -> None:
        self.x = x
        super().__init__(
            _message(x, f"{called(x)}, which this can't compute with. Write {_written_instead(x)}")
        )

    def answer(self, protocol: str, *args: Any, **kwargs: Any) -> Any:
        """What the object makes of the call (protocol: `__array_ufunc__` or `__array_function__`)."""
        method = getattr(self.x, protocol, None)
        result = NotImplemented if method is None else method(*args, **kwargs)
        if result is NotImplemented:
            raise self from None
        return result


def operand(x: Any) -> Any:
    """`x`, which stands beside a tracer and is no array of NumPy's own, as the engine takes it."""
    return _taker(type(x))(x)


_USUAL = frozenset(
    [np.ndarray, float, int, bool, str, type(None), tuple, list, type, np.float64, np.int64, slice]
)


def opened(x: Any) -> Any:
    """An argument of a function; of an object of another library that is an array there, the array."""
    return operand(x) if type(x) not in _USUAL and hasattr(type(x), "__array__") else x


def content(x: Any) -> Any:
    """`x`, an index or a value to write, as NumPy takes it: by position, whatever its labels are."""
    if type(x) in _USUAL:
        return x
    taker = _taker(type(x))
    if taker is _without_units:
        array = _without_units(x)
        if not np.array_equal(array, np.asarray(x.view(np.ndarray)), equal_nan=array.dtype.kind in "fc"):
            _refuse(x, f"{called(x)} with a factor, which NumPy would lose here. Write x.to_value('')")
        return array
    if taker is _asked:
        held = getattr(x, HOLDERS[library_of(x)][0]) if library_of(x) == "xarray" else None
        return _as_array(x) if held is None or type(held) is np.ndarray else held
    return taker(x)


def what_instead(x: Any) -> str:
    """What `x` is and what to write instead, if it can't be differentiated or mapped over; else nothing."""
    if library_of(x) in _PLAIN_LIBRARIES or library_of(x) in HOLDERS and hasattr(x, "shape"):
        return f"{called(x)}, and a tracer has not its labels and methods. Write {_written_instead(x)}"
    try:
        _taker(type(x))(x)
    except OwnOperation as own:
        return f"{called(own.x)}. Write {_written_instead(own.x)}"
    except NonDifferentiableError as error:
        return str(error).partition(" is ")[2].removesuffix(".")
    return ""


def index(x: Any) -> Any:
    """An index, as an array: that of a lazy array is computed, and an empty one is of integers."""
    x = content(x)
    x = np.asarray(x) if _taker(type(x)) is _lazy else x
    return x.astype(np.intp) if type(x) is np.ndarray and not x.size and x.dtype.kind == "f" else x


def check_has(x: Any, function: Any, title: str) -> None:
    """Refuse a function that the library of `x` lacks and would run on all of the array, computed, instead."""
    library = library_of(x)
    if function in _REFUSED.get(library, ()):
        raise UnsupportedFunctionError(
            f"{title} of an array of {library}, at {user_line()}: {_REFUSED[library][function]}. Write a.compute()."
        )
    if library in _COMPUTING and not _has(library, function):
        raise UnsupportedFunctionError(
            f"{title} of an array of {library}, at {user_line()}: {library} has no such function, and would compute the "
            "whole array for NumPy's. Write a.compute(), or the same in terms of functions that it has (docs/support.md)."
        )


# A library of lazy arrays -> where its functions have the names of NumPy's.
_COMPUTING = {"dask": "dask.array"}
# What it has and we can't use: another function of that name, or one whose derivative needs what it lacks.
_REFUSED: dict[str, dict[Any, str]] = {
    "dask": {
        np.linalg.cholesky: "dask gives the upper triangle, where NumPy gives the lower one",
        np.bincount: "dask takes no plain positions, and of lazy ones does not know how long the result is",
        np.linalg.lstsq: "its derivative needs np.linalg.pinv, which dask has not",
    }
}


@cache
def _has(library: str, function: Any) -> bool:
    path = (getattr(function, "__module__", None) or "").split(".")
    if isinstance(function, np.ufunc) or path[0] != "numpy":
        return True  # a ufunc is run on chunks, and what is our own calls others
    counterpart: Any = import_module(_COMPUTING[library])
    for name in [*(path[1:] if path[1:2] != ["lib"] else []), function.__name__]:
        counterpart = getattr(counterpart, name, None)
    return counterpart is not None and counterpart is not function


def check_number(x: Any, function: Any) -> None:
    """Refuse a Python object that is no number, as a unit. Whether it equals an array may be asked."""
    if (
        not hasattr(x, "dtype")
        and not isinstance(x, (Number, str, bytes, type(None)))
        and function not in _COMPARING
    ):
        _refuse(x, f"{called(x)}, which is no array of numbers. Write its numbers")


_COMPARING = frozenset([np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal])


def is_labelled(x: Any, *, elementwise: bool) -> bool:
    """Is a ufunc's operand of pandas? Refuses a DataFrame, and a Series not numbered 0, 1, 2, ...: its labels
    would be lost.
    """
    if library_of(x) != "pandas" or not hasattr(x, "index") or not hasattr(x, "to_numpy"):
        return False
    if not is_numbered(x.index):
        _refuse(
            x, f"{called(x)} whose index is not 0, 1, 2, ...: its labels would be lost. Write x.to_numpy()"
        )
    if x.ndim > 1 and elementwise:
        _refuse(x, f"{called(x)}, whose methods go column by column. Write x.to_numpy()")
    return True


def of_series(name: str) -> UnsupportedFunctionError:
    """The error for a method that pandas has otherwise: what `series * tracer` gave would have been a Series."""
    return UnsupportedFunctionError(
        f"x.{name}() at {user_line()}: a Series of pandas has come in, whose {name} divides by n - 1, and NumPy's by n. "
        f"Write x.{name}(ddof=1), or ddof=0."
    )


def takes_over(x: Any, name: str, other: Any) -> bool:
    """Does the class of `x`, which is no array, answer `other * x` itself, as it would for a number of NumPy's?"""
    kind = type(x)
    if _taker(kind) is not _as_array or library_of(x) in _PLAIN_LIBRARIES:
        return False
    is_preferred = (
        getattr(kind, "__array_priority__", 0) > 0 or not other.shape and not hasattr(kind, "__array__")
    )
    return is_preferred and hasattr(kind, f"__r{name}__")


def is_numbered(index: Any) -> bool:
    """Are the labels of a pandas index the positions?"""
    if index.nlevels > 1 or not isinstance(index.dtype, np.dtype) or index.dtype.kind not in "iu":
        return len(index) == 0
    return bool(np.array_equal(index, np.arange(len(index))))


@cache
def _taker(kind: type) -> Taker:
    """How operands of this type are taken."""
    module = kind.__module__
    library = module.partition(".")[0]
    asks = getattr(kind, "__array_ufunc__", False)
    if issubclass(kind, np.ndarray):
        return _taker_of_subclass(kind)
    if issubclass(kind, (np.generic, Number, str, bytes, type(None))) and not asks:
        return _as_it_is
    if module.startswith("scipy.sparse") and hasattr(kind, "toarray"):
        return _sparse
    if asks is None:
        return _declined
    if library in HOLDERS and asks:
        return _asked
    if library in _PLAIN_LIBRARIES:
        return _as_array
    if library == "dask":
        return _lazy
    if hasattr(kind, "__array_function__"):
        return _as_it_is
    return _asked if asks else _as_array


def _taker_of_subclass(kind: type) -> Taker:
    if hasattr(kind, "__operand__"):  # funcgrad's own
        return lambda x: x.__operand__()
    if issubclass(kind, np.matrix):
        return lambda x: _refuse(
            x, "an np.matrix, whose * is a product of matrices. Write np.asarray(x), and @ for its products"
        )
    if issubclass(kind, np.ma.MaskedArray):
        return lambda x: _refuse(
            x,
            "a masked array, and no derivative knows of its mask. Write x.filled(0), and where=~x.mask or np.where",
        )
    if hasattr(kind, "to_value"):
        return _without_units
    keeps = [*_OPERATORS, "__array_ufunc__", "__array_function__"]
    if any(getattr(kind, name) is not getattr(np.ndarray, name) for name in keeps):
        return lambda x: _refuse(
            x, f"{called(x)}, which computes otherwise than an ndarray. Write np.asarray(x)"
        )
    return np.asarray  # np.memmap, np.recarray


def _as_it_is(x: Any) -> Any:
    return x


def _as_array(x: Any) -> Any:
    """`x` as NumPy sees it. A Python object that is no array stays what it is, for NumPy to compare with."""
    try:
        array = x.to_numpy() if library_of(x) == "pandas" and hasattr(x, "to_numpy") else np.asarray(x)
    except (TypeError, ValueError) as error:
        if isinstance(error, NonDifferentiableError):
            raise
        what = f"{called(x)}, which np.asarray(x) makes no array of. Write an array of NumPy's in its place"
        raise NonDifferentiableError(_message(x, what)) from error
    return x if array.dtype == object and not array.ndim else array


def _asked(x: Any) -> NoReturn:
    raise OwnOperation(x)


def _declined(x: Any) -> NoReturn:
    what = "whose operators do not take arrays for what they are. Write x(w) for its values, or x.coef for its coefficients"
    if not hasattr(x, "coef"):
        what = f"whose operators do not take tracers. Write {_written_instead(x)}"
    _refuse(x, f"{called(x)}, {what}")


def _sparse(x: Any) -> NoReturn:
    _refuse(x, "a sparse matrix. Write x.toarray(), or np.matmul(a, x) with `import funcgrad.numpy as np`")


def _lazy(x: Any) -> Any:
    """A Dask array, which NumPy's functions take. (`__dask_tokenize__` keeps tracers out of graphs.)"""
    return x


def _without_units(x: Any) -> Any:
    """The numbers of a quantity of astropy or unyt that has no unit."""
    try:
        return np.asarray(x.to_value(""))
    except Exception:  # noqa: BLE001 (each library has errors of its own for that)
        unit = getattr(x, "unit", getattr(x, "units", ""))
        _refuse(x, f"{called(x)} with the unit {unit}, which would be lost. Write x.to_value({str(unit)!r})")


def called(x: Any) -> str:
    """What `x` is called in a message."""
    kind, library = type(x).__name__, library_of(x)
    article = "an" if kind[:1] in "AEIOU" else "a"
    return f"{article} {kind}" + ("" if library in ("builtins", "__main__") else f" of {library}")


def _written_instead(x: Any) -> str:
    if library_of(x) in HOLDERS:
        return HOLDERS[library_of(x)][1]
    return "x.to_numpy()" if hasattr(x, "to_numpy") else "np.asarray(x)"


def _message(x: Any, what: str) -> str:
    return f"an operand beside a tracer, at {user_line()}, is {what}."


def _refuse(x: Any, what: str) -> NoReturn:
    raise NonDifferentiableError(_message(x, what))
