"""PyTorch's dtypes, and the promotion of operands in three classes: arrays > 0-d arrays > Python numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from funcgrad.typed import override


class dtype:
    """The type of a tensor's elements, such as `torch.float32`; `numpy` is the same for NumPy.

    >>> import funcgrad.torch as torch
    >>> torch.float32, torch.float32.itemsize
    (torch.float32, 4)
    """

    __slots__ = ("name", "numpy")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name, self.numpy = name, np.dtype(numpy)

    @property
    def is_floating_point(self) -> bool:
        """Is it float16, float32 or float64?"""
        return self.numpy.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Is it complex64 or complex128?"""
        return self.numpy.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Does it hold negative numbers?"""
        return self.numpy.kind in "ifc"

    def to_complex(self) -> dtype:
        """The complex dtype whose parts are of this dtype; of a complex dtype itself."""
        return self if self.is_complex else of(np.result_type(self.numpy, np.complex64))

    def to_real(self) -> dtype:
        """The dtype of the parts of a complex dtype; of a real dtype itself."""
        return of(np.real(np.empty(0, self.numpy)).dtype)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.numpy.itemsize

    @property
    def dtype(self) -> Any:
        """For NumPy: `np.dtype(torch.float32)` works."""
        return self.numpy

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return of, (self.numpy,)


NAMES = "float16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64 bool uint16 uint32 uint64"
DTYPES = {np.dtype(name): dtype(name, name) for name in NAMES.split()}
ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "short": "int16",
    "int": "int32",
    "long": "int64",
}


class MentionedDtype(dtype):
    """A dtype that NumPy lacks: it can be named and compared (`dtype == torch.bfloat16`), and no tensor has it."""

    __slots__ = ("kind", "size")

    def __init__(self, name: str, kind: str, size: int) -> None:
        self.name, self.kind, self.size = name, kind, size

    @property
    @override
    def numpy(self) -> Any:
        """Raises RuntimeError: what needs it would make such numbers."""
        raise RuntimeError(
            f"NumPy has no {self.name}, so no tensor can have it. Use torch.float32 (or torch.float16 for 16 bits)."
        )

    @property
    @override
    def is_floating_point(self) -> bool:
        """Does it stand for real numbers?"""
        return self.kind == "f"

    @property
    @override
    def is_complex(self) -> bool:
        """Does it stand for complex numbers?"""
        return self.kind == "c"

    @property
    @override
    def is_signed(self) -> bool:
        """Does it hold negative numbers?"""
        return self.kind != "u"

    @property
    @override
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.size

    def __reduce__(self) -> Any:
        return mentioned, (self.name,)


MENTIONED = {
    name: MentionedDtype(name, kind, size)
    for name, kind, size in (
        ("bfloat16", "f", 2),
        ("complex32", "c", 4),
        ("float8_e4m3fn", "f", 1),
        ("float8_e5m2", "f", 1),
        ("quint8", "u", 1),
        ("qint8", "i", 1),
        ("qint32", "i", 4),
    )
}


def mentioned(name: str) -> MentionedDtype:
    """The dtype of this name that NumPy lacks."""
    return MENTIONED[name]


ALIASES_OF_MENTIONED = {"chalf": "complex32"}
settings = [np.dtype(np.float32)]  # the dtype of Python's floats


def of(numpy: Any) -> dtype:
    """The dtype for one of NumPy's."""
    try:
        return DTYPES[np.dtype(numpy)]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {np.dtype(numpy)}. The supported types are: {', '.join(NAMES.split())}."
        ) from None


def to_numpy(given: Any) -> np.dtype[Any]:
    """NumPy's dtype for a user's dtype=: torch.float32, float, np.float32, "float32", torch.FloatTensor."""
    if isinstance(given, dtype):
        return given.numpy
    if isinstance(getattr(given, "dtype", None), dtype):
        return given.dtype.numpy
    return of(given).numpy


def default() -> np.dtype[Any]:
    """NumPy's dtype for a Python float."""
    return settings[0]


def default_complex() -> np.dtype[Any]:
    """NumPy's dtype for a Python complex number."""
    return np.result_type(settings[0], np.complex64)


def get_default_dtype() -> dtype:
    """The dtype of Python floats."""
    return of(settings[0])


def set_default_dtype(d: Any) -> None:
    """Make `d` the dtype of Python floats."""
    wanted = to_numpy(d)
    if wanted.kind != "f":
        raise TypeError(f"only floating-point types are supported as the default type, not {d}")
    settings[0] = wanted


def promote_types(x: Any, y: Any) -> dtype:
    """The dtype in which operands of these two dtypes meet."""
    return of(promoted(to_numpy(x), to_numpy(y)))


_BARE = frozenset(np.dtype(name) for name in ("uint16", "uint32", "uint64"))  # they meet floats only
_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def promoted(x: Any, y: Any) -> Any:
    """The smallest dtype of the higher category that holds both; integers do not widen floats."""
    if x is None or y is None or x == y:
        return x if y is None else y
    a, b = _CATEGORY[x.kind], _CATEGORY[y.kind]
    if (x in _BARE or y in _BARE) and "f" not in (x.kind, y.kind):
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {of(x)} and {of(y)}: "
            "convert one of the operands first, with x.to(torch.int64)"
        )
    if a != b and min(a, b) < 2:
        return x if a > b else y
    return np.result_type(x, y)


def _combined(higher: Any, lower: Any) -> Any:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if _CATEGORY[lower.kind] <= _CATEGORY[higher.kind]:
        return higher
    return np.result_type(higher, np.complex64) if higher.kind == "f" else promoted(higher, lower)


def result_dtype(values: Iterable[Any]) -> np.dtype[Any]:
    """The dtype in which arrays (or tracers) and Python numbers meet."""
    arrays = zeros = numbers = None
    for x in values:
        if hasattr(x, "dtype"):
            if x.ndim:
                arrays = promoted(arrays, x.dtype)
            else:
                zeros = promoted(zeros, x.dtype)
        else:
            numbers = promoted(numbers, number_dtype(x))
    return _combined(_combined(arrays, zeros), numbers)


def number_dtype(x: Any) -> np.dtype[Any]:
    """The dtype of a Python number made into a tensor."""
    return of_python(type(x))


def of_python(kind: type) -> np.dtype[Any]:
    """The dtype for a type of Python's numbers."""
    if issubclass(kind, bool):
        return np.dtype(bool)
    if issubclass(kind, int):
        return np.dtype(np.int64)
    return default_complex() if issubclass(kind, complex) else default()


def aligned(values: Iterable[Any], *, floating: bool = False) -> list[Any]:
    """Operands in their common dtype (`floating`: at least the default); Python numbers as NumPy scalars."""
    values = list(values)
    wanted = result_dtype(values)
    if floating and wanted.kind in "bui":
        wanted = default()
    return [cast(x, wanted) for x in values]


def cast(x: Any, wanted: np.dtype[Any]) -> Any:
    """`x` in this dtype: itself if it has it."""
    if not hasattr(x, "dtype"):
        return wanted.type(x)
    return x if x.dtype == wanted else x.astype(wanted)


class finfo:
    """The limits of a floating-point dtype (for a complex one: of its parts).

    >>> import funcgrad.torch as torch
    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: Any = None) -> None:
        given = default() if type is None else to_numpy(type)
        if given.kind not in "fc":
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{of(given)}'"
            )
        found = np.finfo(given)
        self.dtype, self.bits = found.dtype.name, found.bits
        self.eps, self.min, self.max = float(found.eps), float(found.min), float(found.max)
        self.tiny = self.smallest_normal = float(found.smallest_normal)
        self.resolution = float(f"1e-{found.precision}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer dtype.

    >>> import funcgrad.torch as torch
    >>> torch.iinfo(torch.uint8).max
    255
    """

    def __init__(self, type: Any) -> None:
        given = to_numpy(type)
        if given.kind == "b":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if given.kind not in "iu":
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{of(given)}'"
            )
        found = np.iinfo(given)
        self.dtype, self.bits, self.min = found.dtype.name, found.bits, int(found.min)
        self.max = int(found.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
