"""How many references to a cotangent the interpreter counts when the sweep alone holds it: then it may be overwritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine import kinds
from funcgrad.core.engine.cotangent import LARGE
from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.reverse import OWNED, Node, make_node, sweep


def measure_owned() -> None:
    """Find the two reference counts by which `scaled` and `merged` know that the sweep alone holds a cotangent.

    They depend on the interpreter, so ask it: sweep a tiny graph with growing limits until the buffer is reused. Where an
    extra holder can't be told from none (no such counts on this interpreter), nothing is ever overwritten.
    """
    for owned, probes in ((kinds.OWNED, (_reuses_in_scaled, _reuses_in_scaled_by)), (OWNED, (_reuses_in_merged,))):
        for limit in range(1, 9):
            owned[0] = limit
            if all(probe(None) for probe in probes):
                break
        holders: list[Any] = []
        if not all(probe(None) for probe in probes) or any(probe(holders) for probe in probes):
            owned[0] = 0


def _reuses_in_scaled(holders: list[Any] | None) -> bool:
    """Does the sweep overwrite a cotangent that nobody (or: somebody, `holders`) holds, when it is multiplied by a number?"""
    return _reuses_in(lambda ct, saved: (kinds.scaled(ct, 2.0),), holders)


def _reuses_in_scaled_by(holders: list[Any] | None) -> bool:
    """And when it is multiplied by what a formula gives?"""
    partial = np.ones(LARGE)
    return _reuses_in(lambda ct, saved: (kinds.scaled_by(ct, lambda x: x, partial),), holders)


def _reuses_in(pull: Callable[[Any, Any], Any], holders: list[Any] | None) -> bool:
    fresh: list[int] = []
    leaf = _probe_node(0, None, ())
    scaling = _probe_node(-1, pull, (leaf,))
    source = _probe_node(-2, lambda ct, saved: (_fresh(fresh, holders),), (scaling,))
    return id(sweep([(source, np.ones(LARGE))])[leaf]) == fresh[0]


def _reuses_in_merged(holders: list[Any] | None) -> bool:
    """Does the sweep add in place into a first contribution that nobody (or: somebody, `holders`) holds?"""
    fresh: list[int] = []
    leaf = _probe_node(0, None, ())
    second = _probe_node(-1, lambda ct, saved: (_fresh([], None),), (leaf,))
    first = _probe_node(-2, lambda ct, saved: (_fresh(fresh, holders),), (leaf,))
    source = _probe_node(-3, lambda ct, saved: (ct, ct), (first, second))
    return id(sweep([(source, np.ones(LARGE))])[leaf]) == fresh[0]


def _fresh(ids: list[int], holders: list[Any] | None) -> Any:
    array = np.ones(LARGE)
    ids.append(id(array))
    if holders is not None:
        holders.append(array)
    return array


def _probe_node(order: int, pull: Callable[[Any, Any], Any] | None, parents: tuple[Node, ...]) -> Node:
    plan = None
    if pull is not None:
        plan = object.__new__(Plan)
        plan.pull = pull
    return make_node(order, plan, None, parents, (LARGE,), np.dtype(float))
