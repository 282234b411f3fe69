"""SciPy's own Python code, run on tracers: its globals are looked up with funcgrad for NumPy.

Where a function of SciPy's is written in Python in terms of NumPy, its own code is the best rule: the value
is SciPy's in every version and with every option. The code object is not changed. It is given other globals:
`np` is funcgrad.numpy, a module of SciPy's is funcgrad.scipy's, an array namespace is funcgrad.numpy, and
functions and classes of SciPy's in Python are rerun in their turn (`classes.py`). What is compiled has a rule
(`stands_for`), or refuses tracers by name.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import sys
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.arrays.methods import ArrayMethods
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.blank import BlankTracer, fresh, plain
from funcgrad.core.messages.conversions import OBJECT
from funcgrad.errors import UnsupportedFunctionError, user_line

# What stands for an object of SciPy's in code that is rerun, because it has a rule.
_STANDING: dict[Any, Any] = {}


# Objects of SciPy's modules (distributions) with one of ours in their place, made when first asked for.
OBJECTS: dict[Any, Callable[[], Any]] = {}
# Functions whose rule is to be rerun: code that is rerun calls them so, with whatever arguments.
RERUN: set[Any] = set()
# What makes a class of SciPy's one that may hold tracers (`classes.py` puts it here).
CLASSES: list[Callable[[type], type]] = []


def stands_for(original: Any, made: Any) -> Any:
    """`made` is called where SciPy's code, rerun, names `original` (a compiled function, most often)."""
    _STANDING[original] = made
    return made


def private(name: str) -> Any:
    """A module of SciPy's that is not public; None, if this SciPy has none of that name."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def leaves(module: str, **rules: Any) -> None:
    """Declare what stands for compiled functions of a module of SciPy's, where it has them."""
    for name, made in rules.items():
        original = getattr(private(module), name, None)
        if original is not None:
            stands_for(original, made)


def rerun(function: Callable[..., Any], instead: dict[str, Any] | None = None) -> Callable[..., Any]:
    """`function` with other globals; `instead` names what is replaced in it and in what it calls."""
    if instead:
        return _rebound(function, Space(instead))
    if function not in EVERYWHERE.made:
        EVERYWHERE.made[function] = _rebound(function, EVERYWHERE)
    return EVERYWHERE.made[function]


class Space:
    """Names that are replaced, and the globals of each module with these replaced."""

    def __init__(self, instead: dict[str, Any]) -> None:
        self.instead = instead
        self.modules: dict[int, RerunGlobals] = {}
        self.made: dict[Any, Any] = {}

    def globals(self, original: dict[str, Any]) -> RerunGlobals:
        """The globals of a module, for code that is rerun; what has rules there is known by then."""
        _load(original["__name__"])
        return self.modules.setdefault(id(original), RerunGlobals(original, self))


class RerunGlobals(dict[str, Any]):
    """The globals of rerun code: each name is looked up in the original ones when it is first used."""

    def __init__(self, original: dict[str, Any], space: Space) -> None:
        super().__init__(__builtins__=_builtins(space), __name__=original["__name__"])
        self.original, self.space = original, space

    def __missing__(self, name: str) -> Any:
        instead = self.space.instead
        value = instead[name] if name in instead else substitute(name, self.original[name], self.space)
        self[name] = value
        return value


EVERYWHERE = Space({})


@functools.cache
def _load(module: str) -> None:
    """Import funcgrad's chapters for a module of SciPy's."""
    from funcgrad import scipy

    part = module.split(".")[1]
    if part in scipy.MODULES:
        dir(importlib.import_module(f"funcgrad.scipy.{part}"))


def _rebound(function: Any, space: Space) -> Any:
    if not isinstance(function, FunctionType):
        return function
    cells = tuple(CellType() for _ in function.__closure__ or ())
    made = FunctionType(
        function.__code__, space.globals(function.__globals__), function.__name__, None, cells
    )
    space.made[function] = made  # first, as it may be found in its own cells
    for name, cell, original in zip(function.__code__.co_freevars, cells, function.__closure__ or ()):
        try:  # `__class__` is what super() goes on from (classes.py)
            found = original.cell_contents
            cell.cell_contents = found if name == "__class__" else substitute("", found, space)
        except ValueError:  # nothing is in it yet
            pass
    made.__defaults__ = function.__defaults__ and tuple(_default(x, space) for x in function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__ and {
        k: _default(x, space) for k, x in function.__kwdefaults__.items()
    }
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__dict__.update(function.__dict__)
    return made


def _default(x: Any, space: Space) -> Any:
    return substitute("", x, space) if isinstance(x, FunctionType) else x


def _each(x: Any, space: Space) -> Any:
    return type(x)(_default(v, space) for v in x) if type(x) in (tuple, list) else x


def substitute(name: str, value: Any, space: Space = EVERYWHERE) -> Any:
    """What stands for a global of SciPy's code."""
    if name in HELPERS:
        return HELPERS[name]
    try:
        if value in _STANDING:
            return _STANDING[value]
        if value in OBJECTS:
            return OBJECTS[value]()
        if value in space.made and value not in CATALOGUE:
            return space.made[value]
    except TypeError:  # what has no hash
        pass
    return _substituted(value, space)


def _substituted(value: Any, space: Space) -> Any:
    # a table of functions
    if type(value) is dict and any(isinstance(v, (FunctionType, tuple, list)) for v in value.values()):
        return {k: _default(v, space) if callable(v) else _each(v, space) for k, v in value.items()}
    if isinstance(value, ModuleType):
        return _module(value, space)
    if isinstance(value, FunctionType):
        if value.__module__.startswith("scipy."):
            _load(value.__module__)
        if CATALOGUE.get(value) is not None and value not in RERUN and not _is_numpy(value):
            return _known(value)
        # the steps of a search have derivatives, but not the solution's
        if value.__module__.startswith("scipy.optimize"):
            return _STANDING.setdefault(value, compiled(value))
        if _is_scipy(value.__globals__.get("__name__", "")):
            return rerun(value) if space is EVERYWHERE else _rebound(value, space)
        return _of_numpy(value)
    if isinstance(value, type):
        return CLASSES[0](value) if CLASSES else value
    if isinstance(value, functools.partial):
        return functools.partial(substitute("", value.func, space), *value.args, **value.keywords)
    if type(value).__name__ in _COMPILED:
        return (
            _STANDING.setdefault(value, compiled(value)) if _is_scipy(_module_of(value)) else _of_numpy(value)
        )
    return _of_numpy(value) if type(value).__module__.partition(".")[0] == "numpy" else value


_COMPILED = frozenset(
    ["builtin_function_or_method", "cython_function_or_method", "fused_cython_function", "fortran", "nb_func"]
)


def _is_scipy(module: str) -> bool:
    return module.partition(".")[0] == "scipy"


def _is_numpy(function: Any) -> bool:
    return (function.__module__ or "").startswith("numpy")


def _module_of(function: Any) -> str:
    home = getattr(function, "__self__", None)
    found = getattr(function, "__module__", None) or (home.__name__ if isinstance(home, ModuleType) else "")
    return "scipy" if type(function).__name__ == "fortran" or found.startswith("_") else found


def _of_numpy(value: Any) -> Any:
    """A function of NumPy's or of math's, as funcgrad has it."""
    from funcgrad import numpy

    makers = [name for name in ("r_", "c_", "mgrid", "ogrid") if getattr(np, name) is value]
    name = makers[0] if makers else getattr(value, "__name__", "")
    for theirs, ours in ((np, numpy), (np.linalg, numpy.linalg), (np.fft, numpy.fft)):
        if name and getattr(theirs, name, None) is value:
            return getattr(ours, name)
    if getattr(value, "__module__", "") in ("math", "cmath"):
        return of_number(value)
    return value


def of_number(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of math or cmath, which is NumPy's of the same name on tracers."""
    theirs = getattr(np, function.__name__, None)
    if not isinstance(theirs, np.ufunc):
        return function

    def call(*args: Any) -> Any:
        return theirs(*args) if any(isinstance(a, Tracer) for a in args) else function(*args)

    return call


def compiled(function: Any) -> Callable[..., Any]:
    """A compiled function: it is given blank arrays as plain ones, and tracers not at all."""
    name = getattr(function, "__name__", type(function).__name__)

    def refusal() -> UnsupportedFunctionError:
        return UnsupportedFunctionError(
            f"SciPy's function {name}, which others call, was reached by a tracer at {user_line()}, and has no derivative rule. "
            "Write the computation with functions that have one (the page 'What is supported' lists them), or call it on "
            "funcgrad.stop_gradient(x) if its derivative is not meant to count."
        )

    def call(*args: Any, **kwargs: Any) -> Any:
        from funcgrad.scipy.mirror import carries_tracer

        if carries_tracer(plain([*args, *kwargs.values()])):
            raise refusal()
        out = function(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
        if carries_tracer(out):  # of a function of the user's, that was called
            raise refusal()
        return fresh(out)

    call.__name__ = name
    return call


def values(x: Any) -> Any:
    """The plain values of `x`, for a piecewise constant question; an error where a vmap's examples differ."""
    if isinstance(x, Tracer) and is_batched(x):
        x._question("its values")
    return np.asarray(concrete(x)) if isinstance(x, Tracer) else x


def on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with integer, boolean or piecewise constant results: called on the plain values."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(values, args), **{k: values(v) for k, v in kwargs.items()})

    return call


# ---- modules ---------------------------------------------------------------------------------------------------------
def _module(module: ModuleType, space: Space) -> Any:
    from funcgrad import numpy, scipy

    name = module.__name__
    if name == "numpy" or name.endswith("array_api_compat.numpy"):
        return NUMPY
    if name in ("numpy.linalg", "numpy.fft"):
        return getattr(numpy, name.partition(".")[2])
    if name == "scipy":
        return scipy
    if name.startswith("scipy.") and "._" not in name and not space.instead:
        parts = name.split(".")[1:]
        if parts[0] in scipy.MODULES and hasattr(functools.reduce(getattr, parts[:-1], scipy), parts[-1]):
            found = functools.reduce(getattr, parts, scipy)
            return _RerunModule(module, space, found) if isinstance(found, ModuleType) else found
    if name.startswith("scipy.") or name in ("math", "cmath"):
        return _RerunModule(module, space)
    return module


class _WindowedNumPy:
    """funcgrad.numpy, as SciPy's code sees it: with views of windows that are only read."""

    def __getattr__(self, name: str) -> Any:
        from funcgrad import numpy

        theirs = getattr(np, name, None)  # SciPy's code compares dtypes with the classes of numbers
        is_number = isinstance(theirs, type) and issubclass(theirs, np.generic)
        self.__dict__[name] = made = theirs if is_number else getattr(numpy, name)
        return made

    class lib:
        """NumPy's module of that name."""

        class stride_tricks:
            """NumPy's module of that name."""

            as_strided = staticmethod(np.lib.stride_tricks.as_strided)

            @staticmethod
            def sliding_window_view(x: Any, *args: Any, writeable: bool = False, **kwargs: Any) -> Any:
                """As NumPy's; nobody writes into it."""
                return np.lib.stride_tricks.sliding_window_view(x, *args, **kwargs)

    @staticmethod
    def broadcast_arrays(*arrays: Any, **_: Any) -> Any:
        """As NumPy's; of numbers, too, which become arrays."""
        return np.broadcast_arrays(*(x if isinstance(x, Tracer) else np.asarray(x) for x in arrays))


NUMPY: Any = _WindowedNumPy()


class _RerunModule:
    """A module of which each function is rerun; `ours` is funcgrad's, if it has the public names."""

    def __init__(self, module: ModuleType, space: Space, ours: Any = None) -> None:
        self.__dict__.update(_module=module, _space=space, _ours=ours)

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._module, name)
        is_public = (
            self._ours is not None and CATALOGUE.get(original if callable(original) else None) is not None
        )
        made = getattr(self._ours, name) if is_public else substitute(name, original, self._space)
        self.__dict__[name] = made
        return made


def _builtins(space: Space) -> dict[str, Any]:
    """Python's own names; what is imported inside a function is rerun, too."""

    def imported(name: str, spaces: Any = None, where: Any = None, names: Any = (), level: int = 0) -> Any:
        package = getattr(sys.modules.get(str((spaces or {}).get("__name__"))), "__package__", None)
        found = builtins.__import__(name, {"__package__": package}, where, names, level)
        for item in names or ():
            if not hasattr(found, item):
                importlib.import_module(f"{found.__name__}.{item}")
        return substitute("", found, space)

    return {**vars(builtins), "__import__": imported, "float": _Float, "complex": _Complex}


class _Number(type):
    """The class of what stands for `float` and `complex`: a tracer is left as it is, all else is Python's."""

    kind: type

    def __call__(cls, x: Any = 0.0, *others: Any) -> Any:
        if isinstance(x, Tracer) and not isinstance(x, BlankTracer):
            return x.reshape(()) if x.shape else x
        return cls.kind(x, *others)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, cls.kind)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.kind)


class _Float(metaclass=_Number):
    kind, dtype = float, np.dtype(float)


class _Complex(metaclass=_Number):
    kind, dtype = complex, np.dtype(complex)


def _known(function: Any) -> Callable[..., Any]:
    """A function that has a rule, which is asked where there are tracers."""
    from funcgrad.scipy.mirror import looking

    return _STANDING.setdefault(function, looking(function, CATALOGUE[function].name.removeprefix("scipy.")))


class _Flags:
    """`x.flags` of a tracer in SciPy's code, which only decides by them whether to copy."""

    contiguous = c_contiguous = f_contiguous = writeable = True
    fortran = False

    def __init__(self, elsewhere: Any) -> None:
        self.elsewhere = elsewhere

    def __getitem__(self, name: str) -> bool:
        return True

    def __get__(self, x: Any, owner: type) -> Any:
        return self if type(sys._getframe(1).f_globals) is RerunGlobals else self.elsewhere.__get__(x, owner)


ArrayMethods.flags = _Flags(ArrayMethods.__dict__["flags"])

# ---- helpers of SciPy's that ask whose arrays these are, or what their values are ----------------------------------------


def _namespace(*arrays: Any, **_: Any) -> Any:
    return NUMPY


def _as_array(x: Any, dtype: Any = None, order: Any = None, copy: Any = None, **_: Any) -> Any:
    """SciPy's own `_asarray`, `_asarray_validated`."""
    x = as_operand(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    if dtype is not None and x.dtype != dtype:
        return x.astype(dtype)
    return x.copy() if copy else x


def _true(*_: Any, **__: Any) -> bool:
    return True


def _false(*_: Any, **__: Any) -> bool:
    return False


def _validated(a: Any, check_finite: bool = True, as_inexact: bool = False, **_: Any) -> Any:
    a = _as_array(a)
    if check_finite and not np.isfinite(np.asarray(concrete(a))).all():
        raise ValueError("array must not contain infs or NaNs")
    return a.astype(float) if as_inexact and a.dtype.kind in "iub" else a


def _chosen(
    condition: Any,
    arrays: Any,
    f: Any,
    f2: Any = None,
    *,
    fillvalue: Any = None,
    fill_value: Any = None,
    **_: Any,
) -> Any:
    """`f(*arrays)` where the condition holds, elsewhere `f2(*arrays)` or a number: both are computed."""
    arrays = arrays if isinstance(arrays, (tuple, list)) else (arrays,)
    value = np.asarray(concrete(condition))
    fill = fillvalue if f2 is None and fill_value is None else fill_value
    with np.errstate(all="ignore"):
        if value.all():
            return f(*np.broadcast_arrays(condition, *arrays)[1:])
        other = fill if f2 is None else f2(*arrays)
        out = other if not value.any() and f2 is not None else np.where(condition, f(*arrays), other)
    out = out if isinstance(out, Tracer) else np.asarray(out)
    shape = np.broadcast_shapes(np.shape(condition), out.shape)
    return out if out.shape == shape else np.broadcast_to(out, shape)


class _UpdatedAt:
    """`xpx.at(x)[index].set(v)` of SciPy's array library: a new array with some elements replaced."""

    def __init__(self, x: Any, *index: Any) -> None:
        self.x, self.index = x, index

    def __getitem__(self, index: Any) -> _UpdatedAt:
        return _UpdatedAt(self.x, index)

    def _new(self, v: Any, update: Callable[[Any, Any], Any]) -> Any:
        from funcgrad import numpy

        x, (index,) = as_operand(self.x), self.index
        is_mask = getattr(index, "dtype", OBJECT).kind == "b" and np.shape(index) == np.shape(x)
        if is_mask and np.ndim(v) == 0:
            return np.where(index, update(x, v), x).astype(x.dtype)
        out = numpy.array(x)
        out[index] = update(out[index], v)
        return out


def _updating(update: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, v, **_: self._new(v, update)


for _name in ("add", "subtract", "multiply", "divide", "power"):
    setattr(_UpdatedAt, _name, _updating(getattr(np, _name)))
_UpdatedAt.set, _UpdatedAt.min, _UpdatedAt.max = (
    _updating(lambda _, v: v),
    _updating(np.minimum),
    _updating(np.maximum),
)

HELPERS: dict[str, Any] = {
    "at": _UpdatedAt,
    "array_namespace": _namespace,
    "_asarray": _as_array,
    "_asarray_validated": _validated,
    "_lazywhere": _chosen,
    "is_numpy": _true,
    "is_jax": _false,
    "is_torch": _false,
    "is_cupy": _false,
    "is_dask": _false,
    "is_lazy_array": is_batched,
    "is_array_api_strict": _false,
    "apply_where": _chosen,
}
