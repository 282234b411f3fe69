"""Vector spaces: what a value can be added to, and multiplied with a number (`vspace(value)`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer, concrete

_MAKERS: dict[type, Callable[[Any], VSpace]] = {}


class VSpace:
    """The space of a value: numbers, arrays, trees of them. Subclass and register it for your own class."""

    iscomplex = False
    size: int
    shape: tuple[int, ...]
    mappings = _MAKERS  # class of a value -> what makes its space

    def __init__(self, value: Any) -> None:
        pass

    def zeros(self) -> Any:
        """The zero of the space."""
        raise NotImplementedError(repr(self))

    def ones(self) -> Any:
        """The vector whose every entry is 1."""
        raise NotImplementedError(repr(self))

    def standard_basis(self) -> Iterator[Any]:
        """The unit vectors, over the real numbers."""
        raise NotImplementedError(repr(self))

    def randn(self) -> Any:
        """A vector of normal numbers."""
        raise NotImplementedError(repr(self))

    def add(self, x: Any, y: Any) -> Any:
        """The sum; None counts as zero."""
        return y if x is None else self._add(x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        """The sum, which may be written into `x`."""
        return self._mut_add(self.zeros() if x is None else x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """`x` times the number `a`."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """The real inner product."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """The covector of `x`: conjugated, where numbers are complex."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _mut_add(self, x: Any, y: Any) -> Any:
        x += y
        return x

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(repr(self))

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], VSpace] | None = None) -> None:
        """Values of this class have a space that this class (or the function given) makes."""
        cls.mappings[value_type] = vspace_maker or cls


class ArrayVSpace(VSpace):
    """The space of a real array or number."""

    def __init__(self, value: Any) -> None:
        value = value if hasattr(value, "dtype") else np.asarray(value)
        self.shape, self.dtype = value.shape, value.dtype

    @property
    def size(self) -> int:
        """Its dimension over the real numbers."""
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """How many axes its arrays have."""
        return len(self.shape)

    def zeros(self) -> Any:
        return np.zeros(self.shape, dtype=self.dtype)

    def ones(self) -> Any:
        return np.ones(self.shape, dtype=self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for index in np.ndindex(*self.shape):
            vector = np.zeros(self.shape, dtype=self.dtype)
            vector[index] = 1
            yield vector

    def randn(self) -> Any:
        return _normal(self.shape).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.dot(np.ravel(x), np.ravel(y))


class ComplexArrayVSpace(ArrayVSpace):
    """The space of a complex array or number: twice the dimension."""

    iscomplex = True

    @property
    def size(self) -> int:
        return 2 * int(np.prod(self.shape))

    def ones(self) -> Any:
        return np.ones(self.shape, dtype=self.dtype) + 1j * np.ones(self.shape, dtype=self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for vector in super().standard_basis():
            yield vector
            yield 1j * vector

    def randn(self) -> Any:
        return (_normal(self.shape) + 1j * _normal(self.shape)).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.dot(np.conj(np.ravel(x)), np.ravel(y)))

    def _covector(self, x: Any) -> Any:
        return np.conj(x)


def _normal(shape: tuple[int, ...]) -> Any:
    return np.asarray(np.random.randn(*shape))  # noqa: NPY002 (programs seed NumPy's global generator)


class TreeVSpace(VSpace):
    """The space of a list, tuple, dict or another tree: the product of those of its leaves."""

    def __init__(self, value: Any) -> None:
        leaves, self.structure = tree.flatten(value)
        self.spaces = [vspace(x) for x in leaves]

    @property
    def size(self) -> int:
        """The sum of the dimensions."""
        return sum(s.size for s in self.spaces)

    @property
    def iscomplex(self) -> bool:
        """Is any part complex?"""
        return any(s.iscomplex for s in self.spaces)

    def _of(self, leaves: Any) -> Any:
        return tree.unflatten(self.structure, leaves)

    def zeros(self) -> Any:
        return self._of([s.zeros() for s in self.spaces])

    def ones(self) -> Any:
        return self._of([s.ones() for s in self.spaces])

    def randn(self) -> Any:
        return self._of([s.randn() for s in self.spaces])

    def standard_basis(self) -> Iterator[Any]:
        for i, space in enumerate(self.spaces):
            for vector in space.standard_basis():
                yield self._of([vector if i == k else s.zeros() for k, s in enumerate(self.spaces)])

    def _parts(self, *values: Any) -> Iterator[Any]:
        return zip(self.spaces, *map(tree.leaves, values), strict=True)

    def _add(self, x: Any, y: Any) -> Any:
        return self._of([s.add(a, b) for s, a, b in self._parts(x, y)])

    def _mut_add(self, x: Any, y: Any) -> Any:
        return self._of([s.mut_add(a, b) for s, a, b in self._parts(x, y)])

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self._of([s.scalar_mul(part, a) for s, part in self._parts(x)])

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return sum([s.inner_prod(a, b) for s, a, b in self._parts(x, y)])

    def _covector(self, x: Any) -> Any:
        return self._of([s.covector(part) for s, part in self._parts(x)])


def vspace(value: Any) -> VSpace:
    """The space of a value, by its class; TypeError for what is no number, array, tree or registered class.

    >>> vspace([1.0, (2.0, 3.0 + 4.0j)]).size
    4
    """
    maker = _MAKERS.get(type(value))
    if maker is not None:
        return maker(value)
    if isinstance(value, Tracer):  # of one example, where `vmap` runs many
        maker = _MAKERS.get(type(concrete(value)))
        if maker is not None:
            return maker(concrete(value))
        return (ComplexArrayVSpace if value.dtype.kind == "c" else ArrayVSpace)(value)
    if (
        isinstance(value, (int, float, complex, np.ndarray, np.generic))
        and np.asarray(value).dtype.kind in "iufc"
    ):
        return ComplexArrayVSpace(value) if np.iscomplexobj(value) else ArrayVSpace(value)
    if tree.structure(value) is not tree.LEAF:
        return TreeVSpace(value)
    raise TypeError(
        f"vspace: a {type(value).__name__} is no number, array, or list, tuple or dict of such. Register its space with "
        "VSpace.register(type, maker)."
    )
