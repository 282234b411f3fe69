"""The lanes of forward mode do exactly what the general lane does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import jvp
from funcgrad.core.arrays.methods import LANES
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.cotangent import Masked, select
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.trace import concrete
from funcgrad.errors import EscapedTracerError, NonDifferentiableError
from funcgrad.testing import check_jvp

X = np.array([0.5, 1.5, 2.5])
T = np.array([1.0, -2.0, 0.25])
UNARY = [np.negative, np.positive, np.exp, np.sin, np.sqrt, np.absolute, np.tanh, np.square, np.conjugate]
BINARY = [
    np.add,
    np.subtract,
    np.multiply,
    np.divide,
    np.power,
    np.maximum,
    np.arctan2,
    np.hypot,
    np.matmul,
    np.floor_divide,
]
COMPARISONS = [np.less, np.greater_equal, np.equal, np.not_equal]
FUNCTIONS = [np.sum, np.mean, np.max, np.cumsum, np.linalg.norm, np.sort, np.ravel, np.transpose]
NUMBERS = [2.0, 2, True, np.float64(2), np.float32(2), np.int64(2)]
ARRAYS = [
    X[::-1],
    X.astype(np.float32),
    X.astype(int),
    X > 1,
    np.array(2.0),
    [1.0, 2.0, 3.0],
    X[:, None],
    X * 1j,
]


def contents(out: Any) -> list[Any]:
    """The value and the tangent of a result; of a constant, the value alone."""
    t = out._node if isinstance(out, ForwardTracer) else None
    parts = [out._value if isinstance(out, ForwardTracer) else out]
    return [*parts, t.value, t.live] if type(t) is Masked else parts if t is None else [*parts, t]


def assert_same_in_both_lanes(function: Any, make: Callable[[ForwardTrace], list[Any]]) -> None:
    with ForwardTrace() as trace, np.errstate(all="ignore"):
        fast, general = (contents(lane(*make(trace))) for lane in (LANES[function], CATALOGUE[function]))
    for a, b in zip(fast, general, strict=True):
        assert (type(a), a.dtype, a.shape) == (type(b), b.dtype, b.shape)
        np.testing.assert_array_equal(concrete(a), concrete(b))


@pytest.mark.parametrize("function", [*UNARY, *FUNCTIONS], ids=lambda f: f.__name__)
def test_one_operand(function: Any) -> None:
    for x in (X, X.astype(np.float32), X * 1j, np.array(2.0), X[0], np.float32(0.5)):
        if function not in FUNCTIONS or np.ndim(x) and x.dtype.kind == "f":
            assert_same_in_both_lanes(function, lambda trace: [trace.wrap(x, x * x)])
            assert_same_in_both_lanes(function, lambda trace: [trace.wrap(x, None)])


@pytest.mark.parametrize("ufunc", [*BINARY, *COMPARISONS], ids=lambda f: f.__name__)
def test_two_operands(ufunc: Any) -> None:
    for x, t in ((X, T), (X[0], T[0]), (X.astype(np.float32), T.astype(np.float32))):
        for y in [*NUMBERS, *ARRAYS]:
            if np.asarray(y).dtype.kind == "c" and ufunc in (
                np.maximum,
                np.arctan2,
                np.hypot,
                np.floor_divide,
                *COMPARISONS,
            ):
                continue
            if ufunc is np.matmul and (np.ndim(x) == 0 or np.shape(y) != (3,)):
                continue
            # NumPy 2.0 squares a float32 array with ** as such, whatever the exponent's dtype: not so np.power.
            if ufunc is np.power and (x**y).dtype != np.power(x, y).dtype:
                continue
            z = np.asarray(y) + 0.5
            assert_same_in_both_lanes(ufunc, lambda trace: [trace.wrap(x, t), y])
            assert_same_in_both_lanes(ufunc, lambda trace: [y, trace.wrap(x, t)])
            assert_same_in_both_lanes(ufunc, lambda trace: [trace.wrap(x, t), trace.wrap(z, z * z)])
            assert_same_in_both_lanes(ufunc, lambda trace: [trace.wrap(x, t), trace.wrap(z, None)])


@pytest.mark.parametrize("ufunc", [np.multiply, np.power, np.maximum, np.sin], ids=lambda f: f.__name__)
def test_what_is_not_the_plain_case(ufunc: Any) -> None:
    """Zeros by structure, constants of the trace, tracers of other traces as values and beside."""

    def alone(*operands: Any) -> list[Any]:
        return [*operands[: ufunc.nin]]

    masked = select(np.array([True, False, True]), T)
    assert_same_in_both_lanes(ufunc, lambda trace: alone(trace.wrap(X, masked), 2.0))
    assert_same_in_both_lanes(ufunc, lambda trace: alone(trace.wrap(X, None), 2.0))
    with ReverseTrace() as outer, BatchTrace(3) as batch, ForwardTrace() as other:
        for y in (outer.leaf(X), batch.wrap(np.stack([X, X, X]), None), other.wrap(X, T)):
            assert_same_in_both_lanes(ufunc, lambda trace: alone(trace.wrap(X, T), y))
            assert_same_in_both_lanes(ufunc, lambda trace: alone(trace.wrap(y, T), 2.0))
            if ufunc.nin == 2:
                assert_same_in_both_lanes(ufunc, lambda trace: [y, trace.wrap(X, T)])


def test_loops_take_the_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 30 operations on numbers not one is bound."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(10):
            y = np.sin(y) * 1.5 - y / x
        return y

    jvp(f, (0.5,), (1.0,))  # the lanes are made
    calls = []
    apply = ForwardTrace.apply
    monkeypatch.setattr(
        ForwardTrace, "apply", lambda self, *args: (calls.append(args), apply(self, *args))[1]
    )
    jvp(f, (0.5,), (1.0,))
    assert calls == []
    check_jvp(f, (0.5,))


def test_a_closed_trace_and_objects_are_refused() -> None:
    kept: list[Any] = []
    jvp(lambda x: (kept.append(x), x)[1], (1.0,), (1.0,))
    for use in (lambda: np.sin(kept[0]), lambda: 2 * kept[0], lambda: kept[0] * kept[0], lambda: kept[0] > 1):
        with pytest.raises(EscapedTracerError):
            use()
    with pytest.raises(NonDifferentiableError):
        jvp(lambda x: x * np.array([1.5, 2.5, 3.5], object), (X,), (T,))


def test_functions_with_several_outputs_take_the_general_lane() -> None:
    check_jvp(lambda x: np.linalg.slogdet(x)[1], (np.diag(X),))


def test_tangents_are_arrays_of_their_own() -> None:
    with ForwardTrace() as trace:
        x = trace.wrap(X, T)
        for out in (x + 1, 1 + x, x - 1, +x, -x, x * 1, x + trace.wrap(X, None)):
            assert not np.shares_memory(out._node, T)

    def written_later(x: Any) -> Any:
        y = np.broadcast_to(x, (2, 3)) + 1.0
        y[:1] = 0.0
        return y

    np.testing.assert_array_equal(jvp(written_later, (X,), (T,))[1], [[0, 0, 0], T])
