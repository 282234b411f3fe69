"""Tangents and cotangents as users give them: the structure of what they belong to, with None for zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.errors import NonDifferentiableError


def direction_leaves(structure: tree.Structure, direction: Any, what: str) -> list[Any]:
    """The leaves of `given`, which has this structure, but may hold None (a zero) in the place of any part.

    Raises ValueError, as `tree.flatten_like`, where it has another structure.

    >>> direction_leaves(tree.structure({"w": (1.0, 2.0), "b": 3.0}), {"w": None, "b": 10.0}, "tangent")
    [10.0, None, None]
    """
    try:
        return tree.flatten_like(structure, direction, what=what)
    except ValueError:
        leaves = tree.leaves(direction, lambda x: x is None)
        if not any(x is None for x in leaves):
            raise
    skeleton = tree.unflatten(structure, range(structure.num_leaves))
    values = tree.broadcast_prefix(direction, skeleton, none_is_leaf=True, what=what)
    if sum(v is not None for v in values) != sum(x is not None for x in leaves):
        raise ValueError(f"{what} has an array where {structure} has a container")
    return values


def check_tangent(t: Any, value: Any, what: str) -> None:
    """Refuse a nonzero tangent for an integer, which has no derivative: the result would not depend on it."""
    if value.dtype.kind in "fc" or t is None:
        return
    t = concrete(t) if isinstance(t, Tracer) else np.asarray(t)
    if t.dtype.kind in "fc" and np.any(t != 0):
        raise NonDifferentiableError(
            f"{what} is not zero, but its primal is of dtype {value.dtype}, and has no derivative. Write 1.0 for 1, or "
            "x.astype(float); or give None for the tangent."
        )
