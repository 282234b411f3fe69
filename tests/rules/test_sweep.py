"""Every sample of every chapter, through every check that the engine promises to pass."""

from __future__ import annotations

import weakref
from itertools import product
from typing import Any

import numpy as np
import pytest

from funcgrad import jvp, tree, vjp, vmap
from funcgrad.core.arrays.methods import LANES
from funcgrad.core.arrays.spec import spec
from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.core.engine.sweep import sweep
from funcgrad.core.engine.trace import concrete
from funcgrad.testing import check_grads, check_vmap
from tests.grouping import in_groups
from tests.rules.samples import Sample, collect

SAMPLES = collect()


def each(*conditions: Any) -> Any:
    """Run a check for each sample for which the conditions hold; a test for each chapter."""
    return in_groups((text, s) for text, s in SAMPLES if all(condition(s) for condition in conditions))


def both_modes(s: Sample) -> bool:
    return set(s.modes) == {"fwd", "rev"}


def has_lane(s: Sample) -> bool:
    if not isinstance(s.entry, Primitive) or s.covers is not None or s.kwargs:
        return False
    return len(s.args) <= (2 if isinstance(s.entry, Ufunc) else 1) and not any(
        isinstance(x, (list, tuple)) for x in s.args
    )


def is_linear(s: Sample) -> bool:
    return isinstance(s.entry, Primitive) and s.entry.kind == "linear" and s.covers is None


def directions(xs: Any, seed: int) -> list[Any]:
    """Random numbers like each of `xs`."""
    rng = np.random.default_rng(seed)
    parts = [(rng.normal(size=np.shape(x)), rng.normal(size=np.shape(x))) for x in xs]
    ts = [a + 1j * b if np.asarray(x).dtype.kind == "c" else a for x, (a, b) in zip(xs, parts, strict=True)]
    return [np.asarray(t).astype(np.asarray(x).dtype)[()] for x, t in zip(xs, ts, strict=True)]


def floating(out: Any) -> list[Any]:
    return [o for o in tree.leaves(out) if spec(o).dtype.kind in "fc"]


def pairing(xs: Any, ys: Any) -> float:
    return sum(float(np.sum(x * y).real) for x, y in zip(xs, ys, strict=True))


def assert_same(came: Any, expected: Any, rtol: float = 1e-10) -> None:
    """The same containers, shapes, dtypes and numbers."""
    assert tree.structure(came) == tree.structure(expected)
    assert type(came) is type(expected) or not isinstance(expected, (list, tuple))
    for c, e in zip(tree.leaves(came), tree.leaves(expected), strict=True):
        assert (np.shape(c), np.asarray(c).dtype) == (np.shape(e), np.asarray(e).dtype)
        np.testing.assert_allclose(c, e, rtol=rtol, atol=rtol)


# ---- derivatives -----------------------------------------------------------------------------------------------------


@each()
def test_the_value_is_numpys(sample: Sample) -> None:
    leaves, call = sample.leaves()
    plain = sample.function(*sample.args, **sample.kwargs)
    assert_same(vjp(call, *leaves)[0], plain)
    assert_same(jvp(call, leaves, directions(leaves, 1))[0], plain)


@each()
def test_derivatives_are_those_of_finite_differences(sample: Sample) -> None:
    leaves, call = sample.leaves()
    check_grads(call, leaves, sample.order, sample.modes, atol=sample.tol, rtol=sample.tol)


@each(both_modes)
def test_pull_is_the_transpose_of_push(sample: Sample) -> None:
    leaves, call = sample.leaves()
    run = lambda *xs: floating(call(*xs))
    outs, pull = vjp(run, *leaves)
    ts, cts = directions(leaves, 2), directions(outs, 3)
    pushed, pulled = jvp(run, leaves, ts)[1], pull(cts)
    size = sum(float(np.sum(abs(ct * t))) for ct, t in zip(pulled, ts, strict=True))
    assert pairing(cts, pushed) == pytest.approx(pairing(pulled, ts), rel=1e-9, abs=1e-9 * max(1, size))


@each(lambda s: "rev" in s.modes)
def test_pull_is_linear_and_leaves_its_operands_alone(sample: Sample) -> None:
    leaves, call = sample.leaves()
    before = [np.copy(x) for x in leaves]
    outs, pull = vjp(lambda *xs: floating(call(*xs)), *leaves)
    one, other = directions(outs, 4), directions(outs, 5)
    first = pull(one)
    assert_same(jvp(pull, (one,), (other,)), (first, pull(other)), rtol=1e-9)
    assert_same(pull(one), first)
    assert_same(one, directions(outs, 4), rtol=0)
    for x, b in zip(leaves, before, strict=True):
        np.testing.assert_array_equal(x, b)


@each(lambda s: s.float32)
def test_single_precision_stays_single(sample: Sample) -> None:
    found, call_found = sample.leaves()
    # a Python number has no precision of its own
    chosen = [i for i, x in enumerate(found) if hasattr(x, "dtype")]
    leaves = [found[i] for i in chosen]

    def call(*xs: Any) -> list[Any]:
        full = list(found)
        for i, x in zip(chosen, xs, strict=True):
            full[i] = x
        return floating(call_found(*full))

    singles = [x.astype(np.complex64 if x.dtype.kind == "c" else np.float32) for x in leaves]
    plain = call(*singles)
    exact_outs, exact_pull = vjp(call, *leaves)
    outs, pull = vjp(call, *singles)
    assert_same(outs, plain, rtol=1e-5)
    cts, ts = directions(outs, 6), directions(singles, 7)
    exact_cts = [c.astype(o.dtype) for c, o in zip(cts, exact_outs, strict=True)]
    exact_ts = [t.astype(x.dtype) for t, x in zip(ts, leaves, strict=True)]
    assert_single(pull(cts), singles, exact_pull(exact_cts))
    assert_single(jvp(call, singles, ts)[1], plain, jvp(call, leaves, exact_ts)[1])


def assert_single(came: Any, like: Any, exact: Any) -> None:
    for c, x, e in zip(came, like, exact, strict=True):
        assert (np.shape(c), c.dtype) == (np.shape(x), x.dtype)
        np.testing.assert_allclose(c, e, rtol=2e-3, atol=2e-3 * np.max(abs(e), initial=1))


# ---- the two lanes ---------------------------------------------------------------------------------------------------


@each(has_lane)
def test_both_lanes_record_the_same(sample: Sample) -> None:
    lane, general = LANES[sample.function], CATALOGUE[sample.function]
    for traced in product(*([False, True] if spec(x).dtype.kind in "fc" else [False] for x in sample.args)):
        if any(traced):
            assert_same(
                recorded(lane, sample.args, traced), recorded(general, sample.args, traced), rtol=1e-14
            )


def recorded(function: Any, args: Any, traced: Any) -> list[Any]:
    """Values, and the cotangents of the traced operands."""
    with ReverseTrace() as trace:
        operands = [
            trace.leaf(np.asarray(x)) if is_traced else x for x, is_traced in zip(args, traced, strict=True)
        ]
        outs = tree.leaves(function(*operands))
    values = [concrete(out) for out in outs]
    nodes = [out._node if isinstance(out, ReverseTracer) else None for out in outs]
    seeds = [(n, ct) for n, ct in zip(nodes, directions(values, 8), strict=True) if n is not None]
    cts = sweep(seeds)
    return [values, [cts.get(x._node) for x in operands if isinstance(x, ReverseTracer)]]


# ---- vmap ------------------------------------------------------------------------------------------------------------


def examples_of(x: Any, rolls: bool) -> Any:
    """Three examples like `x`, along axis 0."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return np.stack([x, np.flip(x), x])
    return np.stack([(np.roll(x, k) if rolls else x) * (1 + 1e-3 * k) for k in range(3)])


def operands(sample: Sample) -> list[int]:
    """The leaves that NumPy looks at when it looks for tracers: those that are not passed by keyword."""
    return [k for k, place in enumerate(sample.places(sample.vmap_also).values()) if isinstance(place, int)]


def batches(sample: Sample, leaves: list[Any], call: Any) -> list[Any]:
    """A batch for each leaf; elements are rolled unless the function needs a matrix's structure."""
    if sample.rolls:
        batch = [examples_of(x, True) for x in leaves]
        try:
            with np.errstate(all="ignore"):
                outs = [floating(call(*(b[k] for b in batch))) for k in range(3)]
        except (ValueError, np.linalg.LinAlgError):
            outs = [np.array(np.nan)]
        if all(np.isfinite(o).all() for o in tree.leaves(outs)):
            return batch
    return [examples_of(x, False) for x in leaves]


@each(lambda s: s.vmap)
def test_vmap_is_a_loop(sample: Sample) -> None:
    leaves, call = sample.leaves(sample.vmap_also)
    batch = batches(sample, leaves, call)
    alone = [{i} for i in operands(sample)]
    for chosen in [*alone, set(range(len(leaves)))] if len(leaves) > 1 else alone:
        axes = [0 if k in chosen else None for k in range(len(leaves))]
        check_vmap(
            call, [x if axis is None else b for x, b, axis in zip(leaves, batch, axes, strict=True)], axes
        )


@each(lambda s: s.vmap)
def test_vmap_nests(sample: Sample) -> None:
    leaves, call = sample.leaves(sample.vmap_also)
    batch = batches(sample, leaves, call)
    for i in operands(sample):
        inner = vmap(call, [0 if k == i else None for k in range(len(leaves))])
        outer = [None if k == i else 0 for k in range(len(leaves))]
        if len(leaves) == 1:  # two batch axes on the only operand
            check_vmap(vmap(call), [np.stack([batch[0], batch[0][::-1]])])
        else:  # one operand varies in the inner loop, the others in the outer one
            check_vmap(inner, batch, outer)


def differs_by_value(call: Any, leaves: list[Any], plain: Any) -> bool:
    """Has the output another shape or dtype for other values?"""
    try:
        with np.errstate(all="ignore"):
            other = call(*(np.ones_like(x) for x in leaves))
    except np.linalg.LinAlgError:
        return False
    return [spec(o) for o in tree.leaves(other)] != [spec(o) for o in tree.leaves(plain)]


@each(lambda s: s.vmap)
def test_vmap_of_no_examples_has_their_shape(sample: Sample) -> None:
    leaves, call = sample.leaves()
    plain = call(*leaves)
    came = vmap(call)(*(examples_of(x, False)[:0] for x in leaves))
    assert tree.structure(came) == tree.structure(plain)
    is_fixed = not differs_by_value(call, leaves, plain)
    for c, e in zip(tree.leaves(came), tree.leaves(plain), strict=True):
        assert len(c) == 0
        if is_fixed:
            assert (c.shape[1:], c.dtype) == (np.shape(e), np.asarray(e).dtype)


@each(lambda s: s.vmap, lambda s: "rev" in s.modes)
def test_vmap_of_pull_is_a_loop(sample: Sample) -> None:
    leaves, call = sample.leaves()
    batch = batches(sample, leaves, call)
    run = lambda *xs: floating(call(*xs))
    cts = directions(run(*leaves), 9)
    check_vmap(lambda *xs: vjp(run, *xs)[1](cts), batch)
    _, pull = vjp(run, *leaves)
    check_vmap(lambda *batched_cts: pull(list(batched_cts)), [np.stack([ct, 2 * ct, -ct]) for ct in cts])


@each(lambda s: s.vmap, lambda s: "fwd" in s.modes)
def test_vmap_of_push_is_a_loop(sample: Sample) -> None:
    leaves, call = sample.leaves()
    batch = batches(sample, leaves, call)
    ts = directions(leaves, 10)
    push = lambda *xs: floating(jvp(call, xs[: len(ts)], xs[len(ts) :])[1])
    check_vmap(push, [*batch, *(np.stack([t, 2 * t, -t]) for t in ts)])


# ---- memory ----------------------------------------------------------------------------------------------------------


@each(is_linear)
def test_linear_functions_keep_no_operand(sample: Sample) -> None:
    found, call = sample.leaves()
    with ReverseTrace() as trace:
        leaves = [trace.leaf(np.array(x)) for x in found]
        kept = [weakref.ref(x._value) for x in leaves]
        out = call(*leaves)
        nodes = [o._node for o in tree.leaves(out)]
    del leaves, out
    assert nodes
    assert [ref() for ref in kept] == [None] * len(kept)
