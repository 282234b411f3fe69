"""Readings of an array, gathered into one buffer, and the transpose of x[index]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vjp
from funcgrad.core.engine.cotangent import Masked, dense, settled
from funcgrad.core.memory.plain import repeats
from funcgrad.core.memory.reads import Scatter, add_at, make_read


def test_reads_are_gathered_into_one_buffer() -> None:
    x = np.zeros(4)
    scatter = Scatter(make_read(1, np.float64(2.0), x))
    scatter.add(make_read(slice(1, 3), np.array([10.0, 20.0]), x))
    np.testing.assert_array_equal(dense(scatter), [0, 12, 20, 0])
    came = settled(scatter)
    assert isinstance(came, Masked)
    np.testing.assert_array_equal(came.live, [False, True, True, False])


def test_reads_of_everything_leave_no_mask() -> None:
    x = np.zeros(2)
    scatter = Scatter(make_read(0, np.float64(2.0), x))
    scatter.add(make_read(1, np.float64(3.0), x))
    assert type(settled(scatter)) is np.ndarray
    assert type(settled(np.ones(2))) is np.ndarray


def test_reading_element_by_element_is_linear_in_memory() -> None:
    import tracemalloc

    n = 2000

    def f(x: Any) -> Any:
        total = 0.0
        for i in range(n):
            total = total + x[i] * x[i]
        return total

    x = np.ones(n)
    grad(f)(x)
    tracemalloc.start()
    came = grad(f)(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(came, 2)
    assert peak < 0.1 * n * x.nbytes


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        slice(None),
        slice(None, None, -2),
        ...,
        None,
        (0, 1),
        (slice(1, None), 0),
        (..., -1),
        (None, 0, slice(None)),
        [0, 2, 0],
        np.array([2, 2, 2]),
        np.array([[0, 1], [1, 0]]),
        (np.array([0, 1]), np.array([1, 1])),
        (np.array([0, 2]), slice(None)),
        (slice(None), np.array([0, 0])),
        (np.array([[0], [2]]), np.array([0, 1])),
        (0, np.array([1, 1])),
        np.array([[True, False], [False, True], [True, True]]),
        (np.array([True, False, True]), 1),
        (np.array([True, False, True]), slice(None)),
        np.array([False, False, False]),
        [],
    ],
    ids=str,
)
def test_the_transpose_of_reading_is_adding(index: Any) -> None:
    x = np.arange(6.0).reshape(3, 2)
    out, pull = vjp(lambda x: x[index], x)
    rng = np.random.default_rng(1)
    t, ct = rng.normal(size=x.shape), rng.normal(size=np.shape(out))
    np.testing.assert_array_equal(out, x[index])
    np.testing.assert_array_equal(jvp(lambda x: x[index], (x,), (t,))[1], t[index])
    assert np.sum(ct * t[index]) == pytest.approx(np.sum(pull(ct)[0] * t))
    # The transpose is itself differentiated, in both modes.
    np.testing.assert_allclose(vjp(lambda c: pull(c)[0], ct)[1](t)[0], t[index])
    np.testing.assert_allclose(jvp(lambda c: pull(c)[0], (ct,), (ct,))[1], pull(ct)[0])


def test_an_index_that_is_changed_afterwards() -> None:
    index = np.array([0, 1])

    def f(x: Any) -> Any:
        out = x[index] ** 2
        index[:] = 2
        return np.sum(out)

    np.testing.assert_array_equal(grad(f)(np.arange(1.0, 4)), [2, 4, 0])


def test_repeated_indices_are_recognised() -> None:
    assert repeats(np.array([0, 0]))
    assert repeats((slice(None), [0, 0]))
    assert not repeats(np.array([True, False]))
    assert not repeats((0, slice(None), None, ...))
    np.testing.assert_array_equal(add_at(np.zeros(2), np.array([0, 0]), np.ones(2)), [2, 0])
    np.testing.assert_array_equal(add_at(np.zeros(2), slice(1), np.ones(1)), [1, 0])
