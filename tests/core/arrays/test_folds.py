"""The methods reduce, accumulate and reduceat of ufuncs have derivatives to second order, also under vmap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, vmap
from funcgrad.errors import TracerWriteError
from funcgrad.testing import check_grads

X = np.array([[0.3, 2.1, 0.7, 1.6], [1.2, 0.4, 2.5, 0.9], [0.8, 1.9, 0.2, 1.1]])
MASK = np.array([[True, True, True, True], [False, True, True, False], [True, False, True, True]])
LOG_SUM = np.logaddexp

FOLDED: dict[str, Callable[[Any], Any]] = {
    "rows": LOG_SUM.reduce,
    "last axis": lambda x: LOG_SUM.reduce(x, axis=-1, keepdims=True),
    "all axes": lambda x: LOG_SUM.reduce(x, axis=None),
    "two axes": lambda x: np.hypot.reduce(x, axis=(0, 1), keepdims=True),
    "by position": lambda x: LOG_SUM.reduce(x, 1, None, None, True),
    "initial": lambda x: LOG_SUM.reduce(x, initial=0.5),
    "traced initial": lambda x: LOG_SUM.reduce(x[0], initial=x[1, 1]),
    "where": lambda x: LOG_SUM.reduce(x, axis=1, where=MASK),
    "where, initial": lambda x: np.subtract.reduce(x, where=MASK, initial=2.0),
    "one row": lambda x: np.hypot.reduce(x[:1]),
    "no row": lambda x: np.hypot.reduce(x[:0]) + x[0],
    "subtract": lambda x: np.subtract.reduce(x, axis=1),
    "divide": np.divide.reduce,
    # along axis 0: NumPy 2.4 has a wrong value along the last axis on some processors
    "power": np.power.reduce,
    "fmax": np.fmax.reduce,
    "fmin": lambda x: np.fmin.reduce(x, axis=None, initial=9.0),
    "maximum.accumulate": np.maximum.accumulate,
    "logaddexp.accumulate": lambda x: LOG_SUM.accumulate(x, -1),
    "divide.accumulate": lambda x: np.divide.accumulate(x, axis=1),
    "no row to accumulate": lambda x: np.hypot.accumulate(x[:0]),
    "add.reduceat": lambda x: np.add.reduceat(x, [0, 2, 1, 1]),
    "multiply.reduceat": lambda x: np.multiply.reduceat(x, [1, 3, 0], axis=-1),
    "logaddexp.reduceat": lambda x: LOG_SUM.reduceat(x[0], np.array([0, 2])),
}


@pytest.mark.parametrize("fold", FOLDED.values(), ids=FOLDED)
def test_folds(fold: Callable[[Any], Any]) -> None:
    check_grads(fold, (X,), order=2)
    stacked = np.stack([X, X[::-1], X * 1.5])
    np.testing.assert_allclose(vmap(fold)(stacked), [fold(x) for x in stacked])
    assert grad(lambda x: np.sum(fold(x)))(X.astype(np.float32)).dtype == np.float32


def test_weights_of_nothing_stay_silent() -> None:
    x = np.array([-np.inf, -np.inf, 2.0])
    np.testing.assert_array_equal(grad(LOG_SUM.reduce)(x), [0, 0, 1])


def test_ties_share_evenly_and_nan_is_passed_over() -> None:
    x = np.array([2.0, np.nan, 2.0, 2.0])
    np.testing.assert_allclose(grad(np.fmax.reduce)(x), [1 / 3, 0, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("fold", "error", "words"),
    [
        (lambda x: LOG_SUM.reduce(x, out=np.zeros(4)), TracerWriteError, "out="),
        (lambda x: LOG_SUM.reduce(x, keepdim=True), TypeError, "keepdim"),
        (lambda x: np.subtract.reduce(x, axis=(0, 1)), ValueError, "not reorderable"),
        (lambda x: np.fmod.reduce(x[:0]), ValueError, "identity"),
        (lambda x: np.fmod.reduce(x, where=MASK), ValueError, "initial"),
        (lambda x: np.add.reduceat(x, [9]), IndexError, "out-of-bounds"),
        (lambda x: np.sin.reduceat(x, [0]), ValueError, "reduceat"),
    ],
)
def test_what_is_refused(fold: Callable[[Any], Any], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        grad(lambda x: np.sum(fold(x)))(X)
