"""vmap's trace: every strategy against the one that is always right, one example after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from funcgrad import grad, jvp, vmap
from funcgrad.core.engine.batch import STRATEGIES, BatchTrace, BatchTracer, align, one_by_one
from funcgrad.core.engine.catalogue import entry
from funcgrad.core.engine.declare import custom, elementwise
from funcgrad.core.lanes.batch import at_once
from funcgrad.errors import BatchedControlFlowError
from funcgrad.testing import check_vmap

B, M, N = 4, 3, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(B, M, N))


# ---- tracers ---------------------------------------------------------------------------------------------------------


def test_a_tracer_has_the_shape_of_one_example() -> None:
    with BatchTrace(B) as trace:
        x = trace.wrap(X, None)
        assert isinstance(x, BatchTracer)
        assert (x.shape, x.ndim, x.size, len(x), x.nbytes) == ((M, N), 2, M * N, M, M * N * 8)
        assert x.T.shape == (N, M)
        assert x._value.shape == X.shape
        assert np.shape(x) == (M, N)
        assert [row.shape for row in x] == [(N,)] * M


def test_what_lines_up_as_it_is_runs_at_once() -> None:
    run = at_once(entry(np.arctan2))
    x, other = BatchTrace(B).wrap(X, None), BatchTrace(B).wrap(X, None)
    for operands in ((x, x), (x, 2.0), (x, X[0, 0]), (X[0], x)):
        found = run(*operands)
        np.testing.assert_array_equal(found._value, np.arctan2(*(getattr(o, "_value", o) for o in operands)))
    np.testing.assert_array_equal(
        run(x, np.sum(x))._value, np.arctan2(X, np.sum(X, axis=(1, 2), keepdims=True))
    )
    for operands in ((X[0], X[0]), (x, other), (x, [2.0])):
        assert run(*operands) is None
    x._trace.close()
    assert run(x, x) is None


def test_nested_batches() -> None:
    with BatchTrace(B) as outer, BatchTrace(M) as inner:
        x = inner.wrap(outer.wrap(X, None), None)
        assert x.shape == (N,)
        assert np.sum(x)._value._value.shape == (B, M)


# ---- strategies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("aligned", lambda x: np.arctan2(x, np.sum(x))),
        ("aligned", lambda x: x.astype(np.float32)),
        ("axis", lambda x: np.sum(x, axis=-1)),
        ("axis", lambda x: np.max(x, axis=(0, 1), keepdims=True)),
        ("axis", lambda x: np.cumsum(x)),
        ("leading", lambda x: np.matrix_transpose(x)),
    ],
)
def test_a_strategy_is_what_a_loop_gives(name: str, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """(test_sweep.py does this for every function.)"""
    used: list[str] = []
    for key, strategy in STRATEGIES.items():
        monkeypatch.setitem(
            STRATEGIES, key, lambda *args, key=key, run=strategy: (used.append(key), run(*args))[1]
        )
    quick = vmap(call)(X)
    assert name in used
    assert "one by one" not in used
    np.testing.assert_allclose(quick, [call(x) for x in X])
    for key in STRATEGIES:
        monkeypatch.setitem(STRATEGIES, key, one_by_one)
    np.testing.assert_allclose(vmap(call)(X), quick)


@given(
    nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
    st.tuples(st.booleans(), st.booleans()),
)
def test_batches_of_any_ranks_meet(shapes: Any, batched: Any) -> None:
    sizes = [(B, *s) if b else s for s, b in zip(shapes.input_shapes, batched, strict=True)]
    args = [np.random.default_rng(1).normal(size=size) for size in sizes]
    if any(batched):
        check_vmap(np.multiply, args, [0 if b else None for b in batched])
        check_vmap(lambda x, y: np.arctan2(x, y) + x, args, [0 if b else None for b in batched])


def test_alignment_pads_behind_the_batch_axis() -> None:
    x, y = align([np.ones((B, N)), np.ones((B, M, N))], [True, True])
    assert (x.shape, y.shape) == ((B, 1, N), (B, M, N))
    x, y = align([np.ones((B, N)), np.ones((5, M, N))], [True, False])
    assert (x.shape, y.shape) == ((B, 1, 1, N), (5, M, N))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2, (0, 1), (-1, 0), ()], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "var", "std", "any", "all"])
def test_reductions_along_any_axis(name: str, axis: Any) -> None:
    function = getattr(np, name)
    check_vmap(lambda x: function(x, axis=axis), (X,))
    check_vmap(lambda x: function(x, axis=axis, keepdims=True), (X,))
    check_vmap(lambda x: function(x, axis=axis), (X,), in_axes=1)
    check_vmap(lambda x: function(x, axis=axis), (X,), in_axes=-1)


@pytest.mark.parametrize("axis", [None, 0, 1, -1], ids=str)
def test_scans_along_any_axis(axis: Any) -> None:
    for function in (np.cumsum, np.cumprod):
        check_vmap(lambda x: function(x, axis=axis), (X,))


def test_masks_line_up_with_the_operand() -> None:
    mask, row = X > 0, X[:, 0] > 0
    check_vmap(lambda x, m: np.sum(x, where=m), (X, mask))
    check_vmap(lambda x, m: np.sum(x, where=m, axis=0), (X, mask[0]), (0, None))
    check_vmap(lambda x, m: np.sum(x, where=m, axis=0), (X, row))
    check_vmap(lambda x, m: np.sum(x, where=m, axis=0), (X[0], mask), (None, 0))
    check_vmap(lambda x, c: np.max(x, initial=c), (X, np.arange(float(B))))


def test_a_function_without_a_strategy_runs_example_by_example() -> None:
    runs: list[Any] = []

    def spread(x: Any) -> Any:
        runs.append(x.shape)
        return np.max(x) - np.min(x)

    f = custom(spread, lambda ct, x: ct * (x == np.max(x)) - ct * (x == np.min(x)))
    assert f.batch is None
    np.testing.assert_allclose(vmap(f)(X), np.ptp(X, axis=(1, 2)))
    assert runs == [(M, N)] * B
    np.testing.assert_allclose(vmap(vmap(f))(X), np.ptp(X, axis=2))
    gradient = vmap(grad(f))(X)
    np.testing.assert_allclose(gradient.sum(axis=(1, 2)), 0, atol=1e-12)
    assert (abs(gradient).sum(axis=(1, 2)) == 2).all()


def test_a_function_of_several_outputs_runs_example_by_example() -> None:
    f = custom(lambda x: (x.sum(), x * 2), lambda ct, x: 0 * x if ct[1] is None else 2 * ct[1])
    total, twice = vmap(f)(X)
    np.testing.assert_allclose(total, X.sum(axis=(1, 2)))
    np.testing.assert_allclose(twice, 2 * X)


def test_an_own_elementwise_function_is_batched_at_once() -> None:
    shapes: list[Any] = []
    f = elementwise(lambda x, y: (shapes.append(np.shape(x)), x * y)[1], lambda y: y, lambda x: x)
    check = vmap(f, (0, None))(X, np.arange(float(N)))
    np.testing.assert_allclose(check, X * np.arange(float(N)))
    assert shapes == [X.shape]


# ---- none at all -----------------------------------------------------------------------------------------------------


def test_an_empty_batch_has_the_shapes_of_one_example() -> None:
    x = np.zeros((0, M, N))
    for f, shape in [
        (np.sum, ()),
        (np.sin, (M, N)),
        (lambda x: x @ np.ones(N), (M,)),
        (lambda x: x.T, (N, M)),
    ]:
        out = vmap(f)(x)
        assert (out.shape, out.dtype) == ((0, *shape), np.float64)
    f = custom(lambda x: (x.sum(), x), lambda ct, x: x)
    assert [o.shape for o in vmap(f)(x)] == [(0,), (0, M, N)]
    assert vmap(grad(np.sum))(x).shape == (0, M, N)


# ---- questions that have no one answer -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x if x > 0 else -x,
        lambda x: float(x) * x,
        lambda x: int(x) * x,
        lambda x: x * [1, 2][int(x > 0)],
        lambda x: x if bool(x) else 0 * x,
        lambda x: x * (x in [1.0, 2.0]),
        lambda x: next(x * k for k in range(9) if k > x),
        lambda x: x * max(x, 1.0),
        lambda x: x * list(range(5))[x.astype(int)],
    ],
)
def test_python_control_flow_says_what_to_use(f: Any) -> None:
    with pytest.raises(
        BatchedControlFlowError,
        match=r"test_batch\.py, line \d+.*under vmap x stands for 3 examples.*np\.where",
    ):
        vmap(f)(np.array([1.0, -2.0, 3.0]))


def test_control_flow_on_what_is_shared_works() -> None:
    f = lambda x, n: x * 2 if n > 1 else x
    np.testing.assert_array_equal(vmap(f, (0, None))(X, 3), 2 * X)
    np.testing.assert_array_equal(vmap(lambda x: x * x.shape[0] if x.ndim == 2 else x)(X), M * X)


def test_results_of_different_shapes_are_refused() -> None:
    with pytest.raises(BatchedControlFlowError, match=r"different shapes.*np\.where"):
        vmap(lambda x: x[x > 0])(X)


def test_float_of_a_batch_says_so_also_under_grad() -> None:
    with pytest.raises((BatchedControlFlowError, TypeError), match=r"vmap|derivative"):
        vmap(grad(lambda x: x * float(x)))(np.ones(2))
    with pytest.raises(BatchedControlFlowError):
        grad(lambda x: np.sum(vmap(lambda y: y if y > 0 else -y)(x)))(np.ones(2))


# ---- with the other transforms ---------------------------------------------------------------------------------------


def test_closures_over_outer_tracers() -> None:
    w = RNG.normal(size=N)
    f = lambda w: np.sum(vmap(lambda row: np.tanh(row @ w))(X[0]))
    np.testing.assert_allclose(grad(f)(w), grad(lambda w: np.sum(np.tanh(X[0] @ w)))(w))
    np.testing.assert_allclose(jvp(f, (w,), (w,))[1], grad(f)(w) @ w)
    g = lambda x: vmap(lambda c: x * c)(np.arange(3.0))
    np.testing.assert_allclose(vmap(g)(X), X[:, None] * np.arange(3.0)[:, None, None])


def test_an_inner_batch_of_constants_and_an_outer_one() -> None:
    out = vmap(lambda x: vmap(lambda y: x + y)(np.arange(3.0)))(np.arange(2.0))
    np.testing.assert_array_equal(out, np.arange(2.0)[:, None] + np.arange(3.0))


@pytest.mark.parametrize(
    "call",
    [
        np.linalg.det, np.linalg.inv, np.linalg.eigh, np.linalg.qr, np.linalg.pinv, np.linalg.svdvals, np.linalg.diagonal,
        lambda x: x.mT, lambda x: x.swapaxes(-1, -2), lambda x: np.diagonal(x, 0, -2, -1), lambda x: np.moveaxis(x, -2, -1),
        lambda x: np.roll(x, 1, axis=-2), lambda x: np.rot90(x, axes=(-2, -1)), lambda x: np.cross(x, x, axis=-2),
        lambda x: np.vecdot(x, x, axis=-2), lambda x: x @ 2.0, lambda x: np.vecmat(x, 2) if hasattr(np, "vecmat") else x @ 2,
        lambda x: np.convolve(x, np.ones((2, 2))),
    ],
)  # fmt: skip
def test_the_batch_is_never_taken_for_an_axis_that_an_example_lacks(call: Any) -> None:
    """What NumPy refuses for one example is refused for a batch of them, with NumPy's error."""
    examples = np.arange(9.0).reshape(3, 3) + np.eye(3)
    with pytest.raises((ValueError, np.linalg.LinAlgError)) as one:
        call(examples[0])
    with pytest.raises(type(one.value)):
        vmap(call)(examples)


def test_a_number_may_be_convolved_with_each_example() -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(vmap(lambda x: np.convolve(x, 2.0))(x), 2 * x)  # type: ignore[arg-type]
