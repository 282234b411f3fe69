"""Classes of NumPy's that are asked about arrays, or walk through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.views import is_scalar
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.numpy.dispatch import HOME, during_transforms, tracer_in


class _Arrays(type):
    """The class of `ndarray`: tracers stand for arrays, so they count as instances."""

    def __instancecheck__(cls, x: object) -> bool:
        if cls is not ndarray:
            return super().__instancecheck__(x)
        return isinstance(x, np.ndarray) or isinstance(x, Tracer) and not (not x.shape and is_scalar(x))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (np.ndarray, Tracer)) if cls is ndarray else super().__subclasscheck__(kind)


class ndarray(np.ndarray, metaclass=_Arrays):
    """numpy.ndarray, of which tracers are instances too: `isinstance(x, np.ndarray)` holds as without.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda x: x.sum() if isinstance(x, np.ndarray) else 0 * x)(np.ones(2))
    array([1., 1.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return np.ndarray(*args, **kwargs) if cls is ndarray else super().__new__(cls, *args, **kwargs)


class _Enumerated(Iterator[tuple[tuple[int, ...], Any]]):
    def __init__(self, x: Tracer) -> None:
        self.x, self.places = x, np.ndindex(x.shape)

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        index = next(self.places)
        return index, self.x[index]


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Pairs of index and element.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda x: sum(i * v for (i,), v in np.ndenumerate(x)))(np.ones(3))
    array([0., 1., 2.])
    """
    return np.ndenumerate(arr) if tracer_in([arr]) is None else _Enumerated(as_array(arr))


class _Broadcast(Iterator[tuple[Any, ...]]):
    """np.broadcast of arrays among which there are tracers."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = [as_array(x) for x in arrays]
        self.shape = np.broadcast_shapes(*(x.shape for x in self.arrays))
        self.numiter, self.nd, self.size = len(arrays), len(self.shape), int(np.prod(self.shape, dtype=int))
        self.ndim = self.nd
        self.iters = tuple(np.broadcast_to(x, self.shape).flat for x in self.arrays)
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self.index, self.walk = 0, zip(*self.iters)

    def __next__(self) -> tuple[Any, ...]:
        items = next(self.walk)
        self.index += 1
        return items


def broadcast(*arrays: Any) -> Any:
    """How arrays broadcast together: an iterator over tuples of their elements, with a `shape`.

    >>> import funcgrad.numpy as np
    >>> np.broadcast(np.ones(3), np.ones((2, 1))).shape
    (2, 3)
    """
    return np.broadcast(*arrays) if tracer_in(arrays) is None else _Broadcast(*arrays)


class _NDIter(Iterator[Any]):
    """np.nditer over arrays with tracers among them: in C order (or Fortran's, if asked), one by one."""

    def __init__(self, arrays: list[Any], order: str) -> None:
        self.operands = tuple(arrays)
        self.shape = np.broadcast_shapes(*(x.shape for x in arrays))
        self.nop, self.ndim = len(arrays), len(self.shape)
        self.itersize = int(np.prod(self.shape, dtype=int))
        self._order: Any = "F" if order == "F" else "C"
        self._looks = [x if x.shape == self.shape else np.broadcast_to(x, self.shape) for x in arrays]
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self.iterindex, self._is_new = 0, True

    @property
    def finished(self) -> bool:
        """Is it past the last element?"""
        return self.iterindex >= self.itersize

    @property
    def multi_index(self) -> tuple[int, ...]:
        """Where it stands."""
        return tuple(map(int, np.unravel_index(self.iterindex, self.shape, order=self._order)))

    @property
    def index(self) -> int:
        """Where it stands, counted in the order of C."""
        return int(np.ravel_multi_index(self.multi_index, self.shape)) if self.shape else 0

    @property
    def value(self) -> Any:
        """The element, an array without axes that can be written to; of several operands a tuple."""
        parts = tuple(x[(*self.multi_index, ...)] for x in self._looks)
        return parts[0] if self.nop == 1 else parts

    def __getitem__(self, i: int) -> Any:
        return self._looks[i][(*self.multi_index, ...)]

    def iternext(self) -> bool:
        """Go on: is there another one?"""
        self.iterindex += 1
        return not self.finished

    def __next__(self) -> Any:
        if not self._is_new:
            self.iterindex += 1
        self._is_new = False
        if self.finished:
            raise StopIteration
        return self.value

    def __enter__(self) -> _NDIter:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        """Nothing is left to be written back."""


_FLAGS = frozenset(
    ["multi_index", "c_index", "refs_ok", "buffered", "zerosize_ok", "common_dtype", "growinner"]
)


def nditer(
    op: Any, flags: Any = None, op_flags: Any = None, *args: Any, order: str = "K", **kwargs: Any
) -> Any:
    """An iterator over elements: as numpy.nditer; of tracers one by one, in the order of C.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> def doubled(x):
    ...     y = x * np.ones((2, 2))
    ...     with np.nditer(y, op_flags=["readwrite"]) as elements:
    ...         for v in elements:
    ...             v[...] = v * v
    ...     return y.sum()
    >>> grad(doubled)(3.0)
    np.float64(24.0)
    """
    operands = [*op] if isinstance(op, (list, tuple)) else [op]
    if RUNNING.get() is None or tracer_in(operands) is None:
        return np.nditer(op, flags or (), op_flags, *args, order=order, **kwargs)  # type: ignore[call-overload]
    if args or kwargs or any(x is None for x in operands) or not _FLAGS.issuperset(flags or ()):
        raise UnsupportedFunctionError(
            f"np.nditer at {user_line()} goes over a tracer, which it does one by one, without {', '.join(flags or ())} and the "
            "other options. Write `for i in np.ndindex(x.shape)` and x[i]."
        )
    return _NDIter([as_array(x) for x in operands], order)


def _is_number(element: Any) -> bool:
    """np.isscalar, of what a tracer stands for."""
    return not element.shape and is_scalar(element) if isinstance(element, Tracer) else np.isscalar(element)


isscalar = during_transforms(np.isscalar, lambda args, kwargs: _is_number(*args, **kwargs), HOME)
