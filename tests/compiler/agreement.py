"""A compiled function gives what the function gives: trees, types, dtypes and numbers, every call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import jit, tree
from funcgrad.compiler.compiling import Compiled, Jit


def copied(x: Any) -> Any:
    """A tree with arrays of its own."""
    return tree.map(lambda v: v.copy("K") if isinstance(v, np.ndarray) else v, x)


def assert_same(came: Any, expected: Any, rtol: float = 1e-10) -> None:
    """Equal to rounding."""
    found, structure = tree.flatten(came)
    wanted, wanted_structure = tree.flatten(expected)
    assert structure == wanted_structure
    for x, y in zip(found, wanted, strict=True):
        if np.shape(x) or np.shape(y):  # without axes, NumPy makes arrays of some and scalars of others
            assert type(x) is type(y), (type(x), type(y))
        if not isinstance(y, (np.ndarray, np.generic, int, float, complex)):
            assert x == y
            continue
        assert (np.shape(x), np.asarray(x).dtype) == (np.shape(y), np.asarray(y).dtype)
        np.testing.assert_allclose(x, np.asarray(y), rtol=rtol, atol=rtol)


def check(fun: Callable[..., Any], *calls: Sequence[Any], times: int = 4, rtol: float = 1e-10) -> Jit:
    """Call `fun` and jit(fun) with these arguments in turn, several times: they agree, and write nothing."""
    compiled = jit(fun)
    for _ in range(times):
        for args in calls:
            given = copied(args)
            assert_same(compiled(*given), fun(*copied(args)), rtol)
            for x, y in zip(tree.leaves(given), tree.leaves(args), strict=True):
                assert np.array_equal(x, y, equal_nan=isinstance(x, np.ndarray) and x.dtype.kind in "fc")
    return compiled


def only(compiled: Jit) -> Compiled:
    """What is known for the one signature."""
    (found,) = compiled.compiled.values()
    return found


def is_compiled(compiled: Jit) -> bool:
    """Is there a program for every signature?"""
    return all(c.program is not None and not c.is_eager for c in compiled.compiled.values())
