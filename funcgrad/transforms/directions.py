"""Tangents and cotangents as users give them: the structure of what they belong to, with None for zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.errors import NonDifferentiableError


def direction_leaves(structure: tree.Structure, given: Any, what: str) -> list[Any]:
    """The leaves of `given`, which has this structure, but may hold None (a zero) in the place of any part.

    Raises ValueError, as `tree.flatten_like`, where it has another structure.

    >>> direction_leaves(tree.structure({"w": (1.0, 2.0), "b": 3.0}), {"w": None, "b": 10.0}, "tangent")
    [10.0, None, None]
    """
    try:
        return tree.flatten_like(structure, given, what=what)
    except ValueError:
        found = tree.leaves(given, lambda x: x is None)
        if not any(x is None for x in found):
            raise
    skeleton = tree.unflatten(structure, range(structure.num_leaves))
    values = tree.broadcast_prefix(given, skeleton, none_is_leaf=True, what=what)
    if sum(v is not None for v in values) != sum(x is not None for x in found):
        raise ValueError(f"{what} has an array where {structure} has a container")
    return values


def check_tangent(given: Any, value: Any, what: str) -> None:
    """Refuse a nonzero tangent for an integer, which has no derivative: the result would not depend on it."""
    if value.dtype.kind in "fc" or given is None:
        return
    given = concrete(given) if isinstance(given, Tracer) else np.asarray(given)
    if given.dtype.kind in "fc" and np.any(given != 0):
        raise NonDifferentiableError(
            f"{what} is not zero, but its primal is of dtype {value.dtype}, and has no derivative. Write 1.0 for 1, or "
            "x.astype(float); or give None for the tangent."
        )
