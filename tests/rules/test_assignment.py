"""Functions that write into their first argument: into tracers as into arrays, never a tracer into a plain array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, vjp
from funcgrad.errors import TracerError, TracerWriteError
from tests.rules.moving import raises_as_numpy

_MASK = np.array([True, False, True])

WRITES = {
    "copyto": lambda a, v: np.copyto(a, v),
    "copyto where": lambda a, v: np.copyto(a, v, where=_MASK),
    "putmask": lambda a, v: np.putmask(a, _MASK, v),
    "place": lambda a, v: np.place(a, _MASK, v),
    "put": lambda a, v: np.put(a, [0, 2, 0], v),
    "put_along_axis": lambda a, v: np.put_along_axis(a, np.array([2, 0, 1]), v, axis=0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_tracer_is_written_into_as_an_array_is(write: Any) -> None:
    x, v = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])

    def written(x: Any, v: Any) -> Any:
        out = np.copy(x)
        assert write(out, v) is None
        return out

    value, pull = vjp(written, x, v)
    np.testing.assert_array_equal(value, written(x, v))
    # Every element is one of x or one of v: NumPy tells which, by writing positions.
    source = written(np.arange(3.0), np.arange(3.0, 6.0)).astype(int)
    ct = np.array([1.0, 10.0, 100.0])
    np.testing.assert_array_equal(np.concatenate(pull(ct)), np.bincount(source, ct, minlength=6))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_plain_array_is_not_written_into(write: Any) -> None:
    plain = np.zeros(3)
    with pytest.raises(TracerWriteError, match=r"plain array of shape \(3,\).*(funcgrad\.at|np\.where|zeros_like)"):
        grad(lambda v: write(plain, v))(np.ones(3))
    np.testing.assert_array_equal(plain, 0.0)


def test_a_diagonal_is_filled_with_a_tracer_only_in_a_tracer() -> None:
    def f(x: Any, v: Any) -> Any:
        out = np.zeros_like(x)
        np.fill_diagonal(out, v)
        return np.sum(out * np.arange(9.0).reshape(3, 3))

    dx, dv = grad(f, argnums=(0, 1))(np.ones((3, 3)), np.ones(3))
    np.testing.assert_array_equal(dx, np.zeros((3, 3)))
    np.testing.assert_array_equal(dv, [0.0, 4.0, 8.0])
    with pytest.raises(TracerError):
        grad(lambda v: np.fill_diagonal(np.zeros((3, 3)), v))(np.ones(3))


@given(st.lists(st.integers(-6, 5), min_size=1, max_size=8), st.sampled_from(["raise", "wrap", "clip"]))
def test_put_at_any_positions(positions: list[int], mode: Any) -> None:
    shifted = positions if mode == "raise" else [3 * p for p in positions]

    def f(x: Any, v: Any) -> Any:
        out = np.copy(x)
        np.put(out, shifted, v, mode=mode)
        return out

    value, pull = vjp(f, np.zeros((2, 3)), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(value, f(np.zeros((2, 3)), np.array([1.0, 2.0])))
    dx, dv = pull(np.ones((2, 3)))
    np.testing.assert_array_equal(dx, value == 0)
    np.testing.assert_array_equal(dv, [np.sum(value == 1), np.sum(value == 2)])


REFUSED = {
    "copyto of another dtype": lambda x: np.copyto(np.copy(x), 1j * x),
    "copyto of another shape": lambda x: np.copyto(np.copy(x), np.ones(4)),
    "put out of range": lambda x: np.put(np.copy(x), 6, 1.0),
    "put_along_axis of another rank": lambda x: np.put_along_axis(np.copy(x), np.array([0]), 1.0, axis=1),
    "put_along_axis out of range": lambda x: np.put_along_axis(np.copy(x), np.array([6]), 1.0, axis=None),
    "fill_diagonal of a vector": lambda x: np.fill_diagonal(np.copy(x)[0], 1.0),
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(function: Any) -> None:
    raises_as_numpy(function, np.ones((2, 3)))
