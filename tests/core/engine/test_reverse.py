"""The tape and the sweep: order, release, memory that is given back, buffers that are reused."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacrev, jvp, vjp, vmap
from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.memory.plain import LARGE

# ---- the tape --------------------------------------------------------------------------------------------------------


def tape(out: Any) -> list[Node]:
    """The nodes that `out` depends on."""
    found, todo = {}, [out._node]
    while todo:
        node = todo.pop()
        if id(node) not in found:
            found[id(node)] = node
            todo += node.parents
    return list(found.values())


def test_nodes_are_numbered_downwards_and_after_their_parents() -> None:
    with ReverseTrace() as trace:
        x, y = trace.leaf(np.float64(2.0)), trace.leaf(np.float64(3.0))
        out = np.sin(x * y) + x
        nodes = tape(out)
    assert len(nodes) == 5
    assert all(node.number < parent.number for node in nodes for parent in node.parents)
    assert {node.plan.primitive.name for node in nodes if node.plan} == {"multiply", "sin", "add"}


def test_what_nobody_needs_takes_its_part_of_the_tape_along() -> None:
    with ReverseTrace() as trace:
        x = trace.leaf(np.float64(2.0))
        unused = np.exp(x)
        node = weakref.ref(unused._node)
        out = x * 3
        assert node() is not None
        del unused
        assert node() is None
    assert len(tape(out)) == 2


def test_constants_are_not_recorded() -> None:
    with ReverseTrace() as trace:
        x = trace.leaf(np.ones(3))
        assert np.floor(x)._node is None
        assert type(x > 0) is np.ndarray
        assert type(np.argmax(x)) is np.int64
        assert (np.floor(x) * 2)._node is None
        assert (np.floor(x) * x)._node.parents == (x._node,)


def test_only_what_a_partial_names_is_kept() -> None:
    with ReverseTrace() as trace:
        x, y = trace.leaf(np.ones(3)), trace.leaf(np.full(3, 2.0))
        assert [v is w._value for v, w in zip((x * y)._node.saved, (x, y), strict=True)] == [True, True]
        assert (x + y)._node.saved == ()
        assert (x * 3.0)._node.saved == (3.0,)
        out = np.exp(x)
        assert len(out._node.saved) == 1
        assert out._node.saved[0] is out._value


# ---- the sweep -------------------------------------------------------------------------------------------------------


def watched(events: list[Any], name: str) -> Any:
    """A function of our own, whose pull notes that it ran."""

    def pull(ct: Any) -> Any:
        events.append(name)
        return ct

    return custom(lambda x: x * 1.0, pull)


def test_each_node_is_visited_once_newest_first() -> None:
    events: list[str] = []
    a, b, c, d = (watched(events, name) for name in "abcd")

    def f(x: Any) -> Any:
        p = a(x)
        q, r = b(p), c(p)
        return d(q * r) + q + p

    assert grad(f)(2.0) == pytest.approx(2 * 2.0 + 2)
    assert events == ["d", "c", "b", "a"]


def test_what_does_not_reach_the_output_is_not_visited() -> None:
    events: list[str] = []
    a, b = watched(events, "a"), watched(events, "b")
    assert grad(lambda x: (b(x), a(x))[1])(2.0) == 1.0
    assert events == ["a"]


def test_a_long_chain_is_fast_in_the_number_of_paths() -> None:
    """A value used twice, 60 times over: 2**60 paths, 60 nodes."""

    def f(x: Any) -> Any:
        for _ in range(60):
            x = x + x
        return x

    assert grad(f)(1.0) == 2.0**60


def test_residuals_are_freed_as_the_sweep_passes() -> None:
    alive: list[int] = []
    residuals: list[Any] = []

    def pull(ct: Any, out: Any) -> Any:
        alive.append(sum(ref() is not None for ref in residuals))
        return ct

    step = custom(lambda x: x * 1.0, pull)

    def f(x: Any) -> Any:
        for _ in range(5):
            x = step(x)
            residuals.append(weakref.ref(x._value))
        return np.sum(x)

    grad(f)(np.ones(4))
    assert alive == [5, 4, 3, 2, 1]  # when the pull of a node runs, those of later nodes have let go
    assert [ref() for ref in residuals] == [None] * 5
    alive.clear()
    residuals.clear()
    _, pull_back = vjp(f, np.ones(4))  # may be called again, so the tape is kept
    pull_back(1.0)
    pull_back(1.0)
    assert alive == [5] * 10
    del pull_back
    assert [ref() for ref in residuals] == [None] * 5


def test_values_that_no_partial_needs_die_in_the_forward_pass() -> None:
    died: list[bool] = []

    def f(x: Any) -> Any:
        y = x * 2.0
        ref = weakref.ref(y._value)
        z = y + 1.0
        del y
        died.append(ref() is None)
        return np.sum(z)

    grad(f)(np.ones(3))
    assert died == [True]


# ---- long chains and cycles ------------------------------------------------------------------------------------------


def test_a_chain_of_many_operations_neither_recurses_nor_leaks() -> None:
    """(1,000,000 operations behave the same, and take five times as long.)"""
    n = 200_000
    assert n > 100 * sys.getrecursionlimit()
    nodes: list[Any] = []

    def f(x: Any) -> Any:
        y = x
        for k in range(n):
            y = y * 1.0
            if k % 10_000 == 0:
                nodes.append(weakref.ref(y._node))
        return y

    gc.disable()
    try:
        assert grad(f)(3.0) == 1.0
        assert [ref() for ref in nodes] == [None] * len(nodes)
    finally:
        gc.enable()


def test_a_long_tape_that_is_never_swept_is_let_go_of_without_recursion() -> None:
    with ReverseTrace() as trace:
        y = trace.leaf(np.float64(1.0))
        last = weakref.ref(y._node)
        for _ in range(100_000):
            y = y * 1.0
    del y
    assert last() is None


TRANSFORMED = {
    "grad": lambda f, x: grad(f)(x),
    "second order": lambda f, x: grad(lambda y: np.sum(grad(f)(y) ** 2))(x),
    "vjp": lambda f, x: vjp(f, x)[1](1.0),
    "jacrev": lambda f, x: jacrev(f)(x),
    "forward": lambda f, x: jvp(f, (x,), (x,)),
    "hessian": lambda f, x: hessian(f)(x),
    "vmap": lambda f, x: vmap(f)(np.stack([x, x])),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_no_reference_cycle_is_left(name: str) -> None:
    nodes: list[Any] = []

    def f(x: Any) -> Any:
        y = np.sin(x) * x[0] + np.exp(x).sum()
        y = np.reshape(np.where(y > 0, y, 2 * y), (-1, 1)).T @ x
        z = np.outer(y, x).reshape(2, 2)
        z.T[0] = x[0]  # a write through views, which know the way from the array
        z.T[1:][..., None][0] *= x[1]
        nodes.append(weakref.ref(z))
        return np.sum(z)

    TRANSFORMED[name](f, np.ones(4))  # first calls make plans, lanes, caches
    nodes.clear()
    gc.collect()
    gc.disable()
    try:
        TRANSFORMED[name](f, np.ones(4))
        assert nodes
        assert [ref() for ref in nodes] == [None] * len(nodes)
        assert gc.collect() == 0
    finally:
        gc.enable()


# ---- buffers that are reused -----------------------------------------------------------------------------------------


def test_a_cotangent_given_by_the_user_is_never_overwritten() -> None:
    x, ct = np.linspace(0.1, 1, LARGE), np.ones(LARGE)
    for f in (
        np.sin,
        lambda x: x + x,
        lambda x: np.exp(x) * x + x,
        lambda x: x,
        lambda x: x.reshape(2, -1).reshape(-1),
    ):
        _, pull = vjp(f, x)
        first = pull(ct)[0]
        kept = first.copy()
        np.testing.assert_array_equal(ct, 1)
        np.testing.assert_array_equal(pull(ct)[0], kept)
        first[:] = 7  # the caller's own
        np.testing.assert_array_equal(ct, 1)
        np.testing.assert_array_equal(pull(ct)[0], kept)


def test_gradients_of_two_arguments_are_two_arrays() -> None:
    x, y = np.ones(LARGE), np.ones(LARGE)
    a, b = grad(lambda x, y: np.sum(x + y), (0, 1))(x, y)
    a[:] = 5
    np.testing.assert_array_equal(b, 1)
    np.testing.assert_array_equal(x, 1)


def test_a_gradient_is_not_a_view_of_a_residual() -> None:
    c = np.ones(LARGE)
    first = grad(lambda x: np.sum(x * c))(np.ones(LARGE))
    first[:] = 5
    np.testing.assert_array_equal(c, 1)


OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: np.sin(a),
    lambda a, b: a - b.mean(),
    lambda a, b: np.tanh(b),
    lambda a, b: a[::-1],
    lambda a, b: a.reshape(2, -1).T.reshape(-1),
    lambda a, b: np.where(a > b, a, 2 * b - a),  # continuous, for the finite differences
    lambda a, b: -a,
    lambda a, b: np.maximum(a, b),
    lambda a, b: a[: a.size // 2].repeat(2) if hasattr(a, "repeat") else a,
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=1, max_size=12), st.integers(0, 2**16))
def test_reusing_buffers_never_changes_a_number(steps: list[tuple[int, int, int]], seed: int) -> None:
    """A random graph on arrays large enough for buffers to be reused: against finite differences."""
    n = 2 * LARGE
    rng = np.random.default_rng(seed)
    x, y, ct = rng.normal(size=(3, n))

    def program(*inputs: Any) -> Any:
        pool = list(inputs)
        for operation, i, j in steps:
            pool.append(OPERATIONS[operation % len(OPERATIONS)](pool[i % len(pool)], pool[j % len(pool)]))
        return pool[-1] + pool[len(pool) // 2]

    inputs = [x.copy(), y.copy()]
    out, pull = vjp(program, *inputs)
    first = [c.copy() for c in pull(ct)]
    for came, again in zip(pull(ct), first, strict=True):
        np.testing.assert_array_equal(came, again)
    np.testing.assert_array_equal(inputs, [x, y])
    np.testing.assert_array_equal(out, program(x, y))
    swept_once = grad(lambda x, y: np.sum(program(x, y) * ct), (0, 1))(*inputs)
    for came, kept in zip(swept_once, first, strict=True):
        np.testing.assert_allclose(came, kept, rtol=1e-12, atol=1e-12)
    # Finite differences along a direction say that it is right, too.
    t = rng.normal(size=n)
    h = 1e-6
    numeric = np.sum(ct * (program(x + h * t, y) - program(x - h * t, y))) / (2 * h)
    assert np.sum(first[0] * t) == pytest.approx(numeric, rel=1e-3, abs=1e-2 * np.sqrt(n))


def test_seeds_on_the_same_node_add_up() -> None:
    with ReverseTrace() as trace:
        x = trace.leaf(np.ones(2))
        out = x * 3.0
    cts = sweep([(out._node, np.ones(2)), (out._node, np.full(2, 2.0))])
    np.testing.assert_array_equal(cts[x._node], 9)
