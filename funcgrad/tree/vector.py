"""A tree of arrays as one vector, and back: what optimisers, solvers and samplers ask for."""

import math
from typing import Any, NoReturn

import numpy as np

from funcgrad.tree.keys import keystr
from funcgrad.tree.operations import flatten, unflatten
from funcgrad.tree.structures import Structure

# A Python number has no dtype of its own; a whole one counts as the float it is differentiated as.
SCALARS = {bool: np.dtype(bool), int: np.dtype(float), float: np.dtype(float), complex: np.dtype(complex)}


class Unravel:
    """The inverse of a `ravel`: from a vector of shape (n,) to a tree with its structure, shapes and dtypes.

    Raises ValueError for another shape, TypeError for a vector that holds no numbers, or complex ones where
    no leaf is complex.
    """

    __slots__ = ("dtypes", "shapes", "structure")
    structure: Structure
    shapes: tuple[tuple[int, ...] | None, ...]
    dtypes: tuple[np.dtype, ...]

    def __init__(
        self,
        structure: Structure,
        shapes: tuple[tuple[int, ...] | None, ...],  # None: a scalar, not an array without axes
        dtypes: tuple[np.dtype, ...],
    ) -> None:
        for name, held in (("structure", structure), ("shapes", shapes), ("dtypes", dtypes)):
            object.__setattr__(self, name, held)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __reduce__(self) -> Any:
        return Unravel, self._held()

    def _held(self) -> tuple[Any, ...]:
        return self.structure, self.shapes, self.dtypes

    def __eq__(self, other: object) -> bool:
        return self._held() == other._held() if isinstance(other, Unravel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._held())

    def __repr__(self) -> str:
        return f"Unravel(structure={self.structure!r}, shapes={self.shapes!r}, dtypes={self.dtypes!r})"

    def __call__(self, vector: Any) -> Any:
        sizes = [math.prod(shape or ()) for shape in self.shapes]
        if np.shape(vector) != (sum(sizes),):
            raise ValueError(
                f"unravel: expected a vector of shape ({sum(sizes)},), found shape {np.shape(vector)}"
            )
        if not hasattr(vector, "dtype"):
            vector = np.asarray(vector)
        allowed = "biufc" if any(dtype.kind == "c" for dtype in self.dtypes) else "biuf"
        if vector.dtype.kind not in allowed:
            word = "complex" if "c" in allowed else "real"
            raise TypeError(f"unravel: expected a vector of {word} numbers, found dtype {vector.dtype}")
        if isinstance(vector, np.ndarray):
            # the leaves are views of this copy: the caller's buffer stays the caller's
            vector = vector.copy()
        parts, start = [], 0
        for shape, dtype, size in zip(self.shapes, self.dtypes, sizes):
            part = vector[start] if shape is None else vector[start : start + size].reshape(shape)
            parts.append(cast(part, dtype))
            start += size
        return unflatten(self.structure, parts)


def ravel(tree: Any) -> tuple[Any, Unravel]:
    """A tree's leaves as one new vector, in order, and the function that turns it back into a tree.

    The vector has the dtype that holds all leaves (np.result_type); Python numbers count as float64 or
    complex128. The way back casts each leaf to its own dtype: an integer leaf takes the whole part, a real
    leaf the real part. Leaves may be arrays of any shape, scalars, or tracers, so both ways can be
    differentiated. Raises TypeError for any other leaf.

    >>> vector, unravel = ravel({"w": np.ones((2, 2), np.float32), "b": 3.0})
    >>> vector
    array([3., 1., 1., 1., 1.])
    >>> unravel(2 * vector)["w"].dtype, unravel(2 * vector)["b"]
    (dtype('float32'), np.float64(6.0))
    """
    leaves, structure = flatten(tree)
    dtypes: list[np.dtype] = []
    for i, leaf in enumerate(leaves):
        dtype = number_dtype(leaf)
        if dtype is None:
            raise TypeError(
                f"tree.ravel: the leaf tree{keystr(structure.paths()[i])} must be a number or an array of numbers, "
                f"found {type(leaf).__name__} of dtype {getattr(leaf, 'dtype', None)}"
            )
        dtypes.append(dtype)
    leaves = [dtype.type(leaf) if type(leaf) in SCALARS else leaf for leaf, dtype in zip(leaves, dtypes)]
    shapes = [None if isinstance(leaf, np.generic) else np.shape(leaf) for leaf in leaves]
    vector = np.concatenate([np.reshape(leaf, (-1,)) for leaf in leaves]) if leaves else np.zeros(0)
    return vector, Unravel(structure, tuple(shapes), tuple(dtypes))


def number_dtype(leaf: Any) -> np.dtype | None:
    """The dtype of a number or an array of numbers; None for anything else."""
    dtype = SCALARS[type(leaf)] if type(leaf) in SCALARS else getattr(leaf, "dtype", None)
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "biufc" else None


def cast(part: Any, dtype: np.dtype) -> Any:
    """A part of the vector in the dtype of its leaf."""
    if part.dtype.kind == "c" and dtype.kind != "c":
        part = part.real
    return part if part.dtype == dtype else part.astype(dtype)
