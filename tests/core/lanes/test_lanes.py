"""The fast lane does exactly what the general one does. (test_sweep.py compares the two for every ufunc.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.core.arrays.methods import LANES
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.core.engine.sweep import sweep
from funcgrad.core.engine.trace import concrete
from funcgrad.errors import EscapedTracerError
from funcgrad.testing import check_vmap

UNARY = [np.negative, np.exp, np.sin, np.sqrt, np.absolute, np.tanh]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.arctan2, np.hypot]
COMPARISONS = [np.less, np.greater_equal, np.equal, np.not_equal]
X = np.array([0.5, 1.5, 2.5])
OTHERS: list[Any] = [
    2.0, 2, True, 1.5 + 1j, np.float64(2), np.float32(2), np.float16(2), np.int64(2), np.int8(2), np.bool_(True),
    np.complex64(1 + 1j), np.array(2.0), X[::-1], X.astype(np.float32), X.astype(int), X > 1, X * 1j, [1.0, 2.0, 3.0],
    X[:, None],
]  # fmt: skip


def both(ufunc: Any, make: Any) -> list[Any]:
    """Value, dtype and cotangents, by the lane and in general; `make(trace)` gives the operands."""
    results = []
    for function in (LANES[ufunc], CATALOGUE[ufunc]):
        with ReverseTrace() as trace:
            operands = make(trace)
            out = function(*operands)
        if not isinstance(out, ReverseTracer) or out._node is None:
            results.append([concrete(out)])
            continue
        cts = sweep([(out._node, np.full(out.shape, 3, out.dtype)[()])])
        leaves = [
            x._node
            for x in operands
            if isinstance(x, ReverseTracer) and x._trace is trace and x._node is not None
        ]
        results.append([out._value, *(cts[node] for node in leaves)])
    return results


def assert_equal(results: list[Any]) -> None:
    for a, b in zip(*results, strict=True):
        assert type(a) is type(b)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("ufunc", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X[0], X.astype(np.float32), X * 1j, np.array(2.0)], ids=repr)
def test_one_operand(ufunc: Any, x: Any) -> None:
    assert_equal(both(ufunc, lambda trace: [trace.leaf(x)]))


REAL = {np.maximum, np.arctan2, np.hypot, np.less, np.greater_equal}
PAIRS = [
    pytest.param(ufunc, other, id=f"{ufunc.__name__}-{other!r}")
    for ufunc in BINARY + COMPARISONS
    for other in OTHERS
    if np.asarray(other).dtype.kind != "c" or ufunc not in REAL
]


@pytest.mark.parametrize(("ufunc", "other"), PAIRS)
def test_two_operands(ufunc: Any, other: Any) -> None:
    with np.errstate(all="ignore"):
        assert_equal(both(ufunc, lambda trace: [trace.leaf(X), other]))
        assert_equal(both(ufunc, lambda trace: [other, trace.leaf(X)]))
        assert_equal(both(ufunc, lambda trace: [trace.leaf(X), trace.leaf(np.asarray(other) + 0.5)]))


@pytest.mark.parametrize("ufunc", [*BINARY, np.matmul], ids=lambda f: f.__name__)
def test_a_batch_beside_a_tracer_of_a_later_trace_is_a_constant(ufunc: Any) -> None:
    batch = np.stack([X, X[::-1], X / 2])
    for x in (batch, batch.astype(np.float32), (4 * batch).astype(int)):
        check_vmap(grad(lambda w, x: np.sum(ufunc(w, x) + ufunc(x, w))), (X, x), (None, 0))
        check_vmap(lambda w, x: grad(lambda v: np.sum(ufunc(v, w) + ufunc(w, v)))(x + 0.5), (X, x), (None, 0))
    outer = grad(lambda w: np.sum(vmap(lambda x: ufunc(w, x) + ufunc(x, w))(batch)))(X)
    np.testing.assert_allclose(
        outer, grad(lambda w: sum(np.sum(ufunc(w, x) + ufunc(x, w)) for x in batch))(X)
    )


@pytest.mark.parametrize("ufunc", [np.multiply, np.matmul], ids=lambda f: f.__name__)
def test_what_is_written_into_a_batch_later_does_not_count(ufunc: Any) -> None:
    def f(w: Any, x: Any) -> Any:
        x = x.copy()
        view = x[1:]
        x[1] = 5.0
        out = np.sum(ufunc(w, x) + ufunc(x, w)) + np.sum(ufunc(w[1:], view))
        x[...] = 0
        return out

    check_vmap(grad(f), (X, np.stack([X, X[::-1]])), (None, 0))


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda f: f.__name__)
def test_the_same_operand_twice(ufunc: Any) -> None:
    def make(trace: ReverseTrace) -> list[Any]:
        x = trace.leaf(X)
        return [x, x]

    assert_equal(both(ufunc, make))


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda f: f.__name__)
def test_constants_of_the_trace(ufunc: Any) -> None:
    """Tracers without a derivative, and of other traces."""
    assert_equal(both(ufunc, lambda trace: [trace.leaf(X), trace.constant(X + 1)]))
    assert_equal(both(ufunc, lambda trace: [trace.constant(X + 1), trace.leaf(X)]))
    assert_equal(both(ufunc, lambda trace: [trace.constant(X + 1), 2.0]))
    with ReverseTrace() as outer, ForwardTrace() as forward:
        for y in (outer.leaf(X + 1), forward.wrap(X + 1, np.ones(3))):
            for operands in (lambda trace: [trace.leaf(X), y], lambda trace: [y, trace.leaf(X)]):
                fast, general = both(ufunc, operands)
                for a, b in zip(fast, general, strict=True):
                    assert type(a) is type(b)
                    np.testing.assert_array_equal(concrete(a), concrete(b))


def test_a_lane_has_the_name_of_its_ufunc() -> None:
    assert LANES[np.multiply].__name__ == "multiply"


def test_comparisons_of_a_closed_trace_are_errors() -> None:
    kept: list[Any] = []
    grad(lambda x: (kept.append(x), x)[1])(1.0)
    for use in (lambda: kept[0] > 0, lambda: kept[0] >= 1.0, lambda: kept[0] == kept[0]):
        with pytest.raises(EscapedTracerError):
            use()


def test_a_foreign_number_is_not_swallowed() -> None:
    with pytest.raises(TypeError):
        grad(lambda x: x * object())(1.0)
    with pytest.raises((TypeError, ValueError)):
        grad(lambda x: x * "text")(1.0)


UFUNCS = [
    f
    for f in CATALOGUE
    if getattr(np, getattr(f, "__name__", ""), None) is f
    and isinstance(f, np.ufunc)
    and f.signature is None
    and (f.nout, f.nin) in {(1, 1), (1, 2)}
    and "d->d" in " ".join(f.types)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_masked_tangents_are_the_same(ufunc: Any) -> None:
    x = np.array([0.5, -1.0, 0.25])

    def pushed(function: Any, *position: int) -> Any:
        def f(x: Any) -> Any:
            operands = [np.where(x > 0, x, 0.0)] * ufunc.nin
            for i in position:
                operands[i] = np.array([0.0, 0.0, 0.5])
            return 1.0 * function(*operands)

        return jvp(f, (x,), (np.ones(3),))[1]

    for position in [()] if ufunc.nin == 1 else [(), (0,), (1,)]:
        np.testing.assert_array_equal(
            pushed(LANES[ufunc], *position), pushed(CATALOGUE[ufunc], *position), err_msg=str(position)
        )
