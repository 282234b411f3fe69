"""What makes a tracer look like an ndarray: NumPy's protocols, operators, ndarray's methods, attributes.

One declared table (`METHODS`) says which NumPy function a method stands for; what needs more than that is
written out below it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from funcgrad.core.arrays.foreign import OwnOperation, content, of_series, opened
from funcgrad.core.arrays.out_argument import by_name, place_of_out, written
from funcgrad.core.arrays.spec import Shaped
from funcgrad.core.arrays.text import ArrayText
from funcgrad.core.engine.catalogue import CATALOGUE, entry
from funcgrad.core.lanes.recordings import RECORDINGS
from funcgrad.core.messages.callers import only_looks
from funcgrad.core.messages.conversions import (
    INSTEAD_OF_ARRAY,
    INSTEAD_OF_FLOAT,
    INSTEAD_OF_LAZY,
    calling_frame,
    conversion_error,
    data_asked_for,
    is_testing,
)
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.typed import override


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x.astype(dtype, copy=copy)


# That of NumPy 2.0 (which has no np.unstack yet) refuses numbers.
astype = np.astype if hasattr(np, "unstack") else _astype


# What the arrays of every library have as a method, and not every library as a function.
BY_METHOD: dict[Any, Callable[..., Any]] = {
    np.copy: lambda x, **options: x.copy(),
    np.amax: lambda x, *args, **options: np.max(x, *args, **options),
    np.amin: lambda x, *args, **options: np.min(x, *args, **options),
    astype: lambda x, dtype, **options: x.astype(dtype),
}


class Lanes(dict[Any, Callable[..., Any]]):
    """ufunc, or function of one array -> what runs it on tracers: its lane, made at first use by `make`."""

    make: Callable[[Any], Callable[..., Any]]

    def __missing__(self, ufunc: Any) -> Callable[..., Any]:
        self[ufunc] = lane = self.make(entry(ufunc))
        return lane


LANES = Lanes()


class Runners(dict[Any, Callable[..., Any]]):
    """What runs a call of operands alone on tracers: the lane of the function, once it has been called often.

    A lane takes as long to make as a hundred calls by the general lane take, which runs the first ones.
    """

    often = 100

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[Any, int] = {}

    def __missing__(self, function: Any) -> Callable[..., Any]:
        self.calls[function] = calls = self.calls.get(function, 0) + 1
        if calls <= self.often and function not in LANES and not RECORDINGS.running:
            return entry(function)
        self[function] = lane = LANES[function]
        return lane

    def forget(self, function: Any) -> None:
        """Its rule is about to change."""
        for known in (self, self.calls, LANES):
            known.pop(function, None)


RUNNERS = Runners()


class ArrayMethods(Shaped, ArrayText):
    """The ndarray side of a tracer; its slots are the engine's."""

    __slots__ = ()
    _value: Any
    _node: Any
    _trace: Any
    if TYPE_CHECKING:  # put in their places by METHODS and by wiring.py
        flat: Any
        ravel: Any
        copy: Any
        astype: Any

        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, v: Any) -> None: ...
        def _take_shape(self, shape: Any) -> None: ...

    # pandas then leaves `series * tracer` to us.
    __pandas_priority__ = 5000

    # ---- NumPy's protocols -------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            return RUNNERS[ufunc](*args)
        try:
            return call_ufunc(ufunc, method, args, kwargs)
        except OwnOperation as own:
            return own.answer("__array_ufunc__", ufunc, method, *args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        lane = RUNNERS.get(function) if len(args) == 1 and not kwargs else None
        if lane is not None:  # it was found by `call_function`
            return lane(args[0])
        known_entry = entry(function)
        if known_entry.takes_like:
            return known_entry(self, *args, **kwargs)
        try:
            return call_function(function, args, kwargs)
        except OwnOperation as own:
            return own.answer("__array_function__", function, types, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self._trace.has_let_go:
            return np.array(self._value, dtype)
        if is_testing():
            return np.array(self._question("np.testing"), dtype)
        what = "np.array(x), np.asarray(x) or writing x into a plain array"
        raise data_asked_for(self, what, INSTEAD_OF_ARRAY, calling_frame())

    # ---- attributes --------------------------------------------------------------------------------------------------
    @property
    @override
    def shape(self) -> tuple[int, ...]:
        return self._value.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._take_shape(shape)

    @property
    @override
    def dtype(self) -> np.dtype[Any]:
        return self._value.dtype

    @property
    def T(self) -> Any:
        return CATALOGUE[np.transpose](self)

    @property
    def mT(self) -> Any:
        return CATALOGUE[np.matrix_transpose](self)

    @property
    def real(self) -> Any:
        return CATALOGUE[np.real](self)

    @real.setter
    def real(self, v: Any) -> None:
        self.real[...] = _as_array(v)

    @property
    def imag(self) -> Any:
        return CATALOGUE[np.imag](self)

    @imag.setter
    def imag(self, v: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = _as_array(v)

    @property
    def device(self) -> str:
        return "cpu"

    # ---- Python's questions ------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, item: Any) -> bool:
        return bool(CATALOGUE[np.any](self == item))

    def __bool__(self) -> bool:
        return bool(self._question("bool(x)"))

    def __int__(self) -> int:
        return int(self._question("int(x)"))

    def __index__(self) -> int:
        return operator.index(self._question("operator.index(x)"))

    def __float__(self) -> float:
        if self._node is None or self._trace.has_let_go:
            return float(self._value)  # no derivative is lost
        caller = calling_frame()
        if caller is None or not only_looks(caller):
            raise data_asked_for(self, "float(x) or a function of the math module", INSTEAD_OF_FLOAT, caller)
        return float(self._question("float(x)"))

    def __complex__(self) -> complex:
        if self._trace.has_let_go:
            return complex(self._value)
        raise data_asked_for(
            self, "complex(x) or a function of the cmath module", INSTEAD_OF_FLOAT, calling_frame()
        )

    def __hash__(self) -> int:
        raise TypeError(
            "unhashable type: a tracer stands for an array, which can't be hashed; use it as a value, not as a key"
        )

    def __round__(self, ndigits: int | None = None) -> Any:
        return int(CATALOGUE[np.round](self)) if ndigits is None else CATALOGUE[np.round](self, ndigits)

    def __trunc__(self) -> int:
        return int(self)

    def __floor__(self) -> int:
        return int(CATALOGUE[np.floor](self))

    def __ceil__(self) -> int:
        return int(CATALOGUE[np.ceil](self))

    def _question(self, what: str) -> Any:
        """The plain value, for a question whose answer is piecewise constant."""
        value = self._value
        return value._question(what) if isinstance(value, ArrayMethods) else value

    # ---- methods that are not just a NumPy function ------------------------------------------------------------------
    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        return CATALOGUE[np.reshape](self, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)

    def transpose(self, *axes: Any) -> Any:
        return CATALOGUE[np.transpose](self, (axes[0] if len(axes) == 1 else axes) if axes else None)

    def conj(self) -> Any:
        # itself, as ndarray.conj does
        return CATALOGUE[np.conjugate](self) if self.dtype.kind == "c" else self

    conjugate = conj

    def __deepcopy__(self, memo: Any = None) -> Any:
        return self.copy()

    __copy__ = __deepcopy__

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise conversion_error(self, "pickling", "Return the value from the function, and pickle the result.")

    def flatten(self, order: Any = "C") -> Any:
        return CATALOGUE[np.ravel](self, order).copy()

    def item(self, *index: Any) -> Any:
        """The element itself, still traced (ndarray.item would give a Python number and lose the derivative)."""
        if not index:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return self.reshape(())
        where = index[0] if len(index) == 1 else index
        return self[where] if isinstance(where, tuple) else self.reshape(-1)[where]

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        return CATALOGUE[np.clip](self, min, max, out=out, **kwargs)

    def tolist(self) -> Any:
        """Nested lists of traced elements."""
        return self if not self.shape else [row.tolist() for row in self]

    def view(self, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if (
            not args
            and not kwargs
            and (dtype is None or dtype is np.ndarray or np.dtype(dtype) == self.dtype)
        ):
            return self[...]
        raise conversion_error(self, "x.view(...)", "Use x.astype(...), x.real or x.imag.")

    def is_integer(self) -> bool:
        """Is the number an integer? (As np.float64 has it.)"""
        return float(self._question("x.is_integer()")).is_integer()

    def as_integer_ratio(self) -> Any:
        raise conversion_error(
            self, "x.as_integer_ratio(), as in the statistics module,", "Use NumPy's functions, as np.mean."
        )

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        if device != "cpu":
            raise ValueError(f'x.to_device({device!r}): the only device is "cpu"')
        return self

    def __dlpack__(self, **options: Any) -> Any:
        raise conversion_error(self, "x.__dlpack__()", INSTEAD_OF_ARRAY)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.empty(0).__dlpack_device__()

    def __dask_tokenize__(self) -> Any:
        raise conversion_error(self, "a function of Dask", INSTEAD_OF_LAZY)

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        return np.empty(0).__array_namespace__(api_version=api_version)

    def tobytes(self, *args: Any) -> Any:
        raise conversion_error(
            self, "x.tobytes()", "Return the value from the function and convert the result."
        )


def _as_array(v: Any) -> Any:
    """A value assigned to an attribute is an array: a complex one gives its real part."""
    return np.asarray(v) if isinstance(v, complex) else v


class _OfMemory:
    """An attribute that arrays have and tracers lack. (A `__getattr__` would slow down all the others.)"""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: type) -> NoReturn:
        hint = (
            f" (asked for at {user_line()}): it is about memory, or makes plain data, and a tracer only stands for an array. "
            "Ask the argument itself, outside the function, or return the value and use it there"
        )
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self.name!r}{hint}", name=self.name, obj=x
        )


class _OfNumba:
    """Numba asks its arguments for their type. (What answers NotImplementedError leaves an operator to the tracer.)"""

    def __get__(self, x: Any, owner: type) -> NoReturn:
        if x is None:
            raise AttributeError("_numba_type_")
        raise UnsupportedFunctionError(
            f"a function compiled by Numba got a tracer at {user_line()}, and sees no operations of it. Call the Python function "
            "that it was compiled from, `f.py_func(x)` (funcgrad.adapt(g) does so), or give it a rule with funcgrad.custom_vjp"
        )


METHODS = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "var": np.var, "std": np.std, "max": np.max, "min": np.min,
    "all": np.all, "any": np.any, "argmax": np.argmax, "argmin": np.argmin, "argsort": np.argsort,
    "argpartition": np.argpartition, "cumsum": np.cumsum, "cumprod": np.cumprod, "dot": np.dot, "trace": np.trace,
    "diagonal": np.diagonal, "ravel": np.ravel, "squeeze": np.squeeze, "swapaxes": np.swapaxes, "repeat": np.repeat,
    "take": np.take, "compress": None, "choose": np.choose, "nonzero": np.nonzero, "round": np.round,
    "searchsorted": np.searchsorted,
    "fill": np.ndarray.fill, "put": np.put, "sort": np.ndarray.sort, "partition": np.ndarray.partition,
    "resize": np.ndarray.resize,
}  # fmt: skip


def _method(name: str, function: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call_function(function, (self, *map(content, args)) if args else (self,), kwargs)

    method.__name__ = name
    method.__doc__ = f"np.{name} of this array."
    return method


def _compress(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return call_function(np.compress, (condition, self), {"axis": axis, "out": out})


def _spread(name: str, function: Any) -> Callable[..., Any]:
    """std and var, which pandas has with another ddof."""
    spread = _method(name, function)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._trace.has_series and "ddof" not in kwargs and len(args) < 4:
            raise of_series(name)
        return spread(self, *args, **kwargs)

    method.__name__, method.__doc__ = spread.__name__, spread.__doc__
    return method


for _name, _function in METHODS.items():
    setattr(ArrayMethods, _name, _method(_name, _function) if _function else _compress)
for _name in ("std", "var"):
    setattr(ArrayMethods, _name, _spread(_name, METHODS[_name]))

for _name in dir(np.ndarray):
    if not _name.startswith("__") and not hasattr(ArrayMethods, _name):
        setattr(ArrayMethods, _name, _OfMemory(_name))

ArrayMethods._numba_type_ = _OfNumba()  # type: ignore[attr-defined]

BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "divmod": np.divmod,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}
COMPARE = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def _until_there_is_a_lane(name: str, method: str, ufunc: Any) -> Callable[..., Any]:
    """An operator, which is the lane of its ufunc itself: that takes its place when there is one."""
    is_reflected = method.startswith("__r")

    def install(x: Any, *others: Any) -> Any:
        lane = RUNNERS[ufunc]
        if ufunc not in RUNNERS:
            if len(others) == 2:  # pow(x, y, modulus)
                return NotImplemented if others[1] is not None else lane(x, others[0])
            return lane(others[0], x) if is_reflected else lane(x, *others)
        operator = lane if isinstance(lane, FunctionType) else _as_function(lane)
        setattr(ArrayMethods, f"__{name}__", _two_or_none(lane) if name == "pow" else operator)
        if name in BINARY:
            setattr(ArrayMethods, f"__r{name}__", _reflected(lane))
        return getattr(x, method)(*others)

    return install


def _as_function(lane: Callable[..., Any]) -> Callable[..., Any]:
    """A bound method, as the lanes of constants are, would not be given the tracer as its first operand."""
    return lambda *operands: lane(*operands)


def _two_or_none(lane: Callable[..., Any]) -> Callable[..., Any]:
    """pow(x, y), but not pow(x, y, modulus), which arrays don't have either."""
    return lambda x, y, modulus=None: lane(x, y) if modulus is None else NotImplemented


def _reflected(lane: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda y, x: lane(x, y)


for _name, _ufunc in (*BINARY.items(), *UNARY.items(), *COMPARE.items()):
    setattr(ArrayMethods, f"__{_name}__", _until_there_is_a_lane(_name, f"__{_name}__", _ufunc))
    if _name in BINARY:
        setattr(ArrayMethods, f"__r{_name}__", _until_there_is_a_lane(_name, f"__r{_name}__", _ufunc))


# What is a ufunc in the end, whose result has the labels of a DataFrame: it refuses these itself.
_OF_UFUNCS = frozenset([np.clip])


def call_function(function: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function that met a tracer; out= may be a tracer, which is then written into."""
    if len(args) == 1 and not kwargs:
        return RUNNERS[function](*args)
    if function not in _OF_UFUNCS:
        args = tuple([opened(x) for x in args])
        kwargs = {name: opened(x) for name, x in kwargs.items()}
    known_entry = entry(function)
    if len(args) > place_of_out(known_entry):
        args, kwargs = by_name(known_entry, args, kwargs)
    out = kwargs.get("out")
    if not isinstance(out, ArrayMethods):
        return known_entry(*args, **kwargs)
    return written(
        known_entry, args, known_entry(*args, **{k: v for k, v in kwargs.items() if k != "out"}), out
    )


def call_ufunc(ufunc: Any, method: str, args: Any, kwargs: Any) -> Any:
    """A ufunc with keywords, or one of its methods (reduce, accumulate, outer, ...)."""
    known_entry: Any = entry(ufunc)
    return (
        known_entry(*args, **kwargs) if method == "__call__" else known_entry.method(method, *args, **kwargs)
    )
