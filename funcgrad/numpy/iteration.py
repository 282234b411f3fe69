"""Classes of NumPy's that are asked about arrays, or walk through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.views import is_scalar
from funcgrad.numpy.constructors import HOME
from funcgrad.numpy.dispatch import named_like, tracer_in


class _Arrays(type):
    """The class of `ndarray`: tracers stand for arrays, so they count as instances."""

    def __instancecheck__(cls, x: object) -> bool:
        if cls is not ndarray:
            return super().__instancecheck__(x)
        return isinstance(x, np.ndarray) or isinstance(x, Tracer) and not (not x.shape and is_scalar(x))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (np.ndarray, Tracer)) if cls is ndarray else super().__subclasscheck__(kind)


class ndarray(np.ndarray, metaclass=_Arrays):
    """numpy.ndarray, of which tracers are instances too: `isinstance(x, np.ndarray)` says what it says without a transform.

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


def _is_number(element: Any) -> bool:
    return not element.shape and is_scalar(element) if isinstance(element, Tracer) else np.isscalar(element)


isscalar = named_like(_is_number, np.isscalar, HOME)
