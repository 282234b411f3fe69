"""Parameters in lists, tuples and dicts as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import tree


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All numbers of `value` (a tree, dicts in the order of their keys) as one vector, and the way back.

    >>> vector, unflatten = flatten({"b": 1.0, "a": [2.0, np.array([3.0, 4.0])]})
    >>> vector
    array([2., 3., 4., 1.])
    >>> unflatten(vector * 2)["b"]
    np.float64(2.0)
    """
    leaves, structure = tree.flatten(value)
    shapes = [np.shape(x) for x in leaves]
    ends = np.cumsum([int(np.prod(s)) for s in shapes])
    vector = np.concatenate([np.ravel(x) for x in leaves]) if leaves else np.array([])

    def unflatten(vector: Any) -> Any:
        parts = [vector[end - int(np.prod(s)) : end] for end, s in zip(ends, shapes, strict=True)]
        return tree.unflatten(structure, [part.reshape(s)[()] for part, s in zip(parts, shapes, strict=True)])

    return vector, unflatten


def flatten_func(
    func: Callable[..., Any], example: Any
) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """`func`, from vectors to vectors; the way back; and the example as a vector."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
