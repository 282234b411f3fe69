"""Functions on Dask arrays: every sample in both modes, nothing computed on the way, and graphs as small as those
of a gradient written by hand.
"""

from __future__ import annotations

import doctest
import functools
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.lazy import COLUMNS, MODELS, Model, data, graph
from funcgrad import dask as with_dask
from funcgrad import (
    elementwise_grad,
    grad,
    hessian,
    hessian_diagonal,
    jacfwd,
    jacrev,
    jvp,
    tree,
    value_and_grad,
    vmap,
)
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.errors import FuncgradError, UnsupportedFunctionError
from tests.grouping import in_groups
from tests.interop.lazily import RECORD, beyond, chosen, computed, da, dask, outcome, uncomputed
from tests.rules.samples import Sample

RECORDED = {line.split()[0]: line.split()[1:] for line in RECORD.read_text(encoding="utf-8").splitlines()}

RENEW = "run `python -m tests.interop.lazily` and `python docs/support.py`"


@in_groups(chosen())
@pytest.mark.filterwarnings("ignore")
def test_derivatives_on_dask_arrays_are_right_and_lazy(sample: Sample) -> None:
    title = CATALOGUE[sample.subject].title
    assert outcome(sample) == RECORDED[title][0], RENEW


@in_groups([*chosen().items()][::8])  # they follow from the first ones: of the others, the record tells
@pytest.mark.filterwarnings("ignore")
def test_second_derivatives_and_vmap_are_as_recorded(sample: Sample) -> None:
    assert [*beyond(sample)] == RECORDED[CATALOGUE[sample.subject].title][1:], RENEW


# ---- graphs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_graphs_are_as_small_as_those_of_a_gradient_by_hand(model: Model) -> None:
    X, y = data(2000, 20)
    hand = model.by_hand(model.params, X, y)
    ours = uncomputed(lambda: value_and_grad(model.function)(model.params, X, y))
    for came, expected in zip(
        *(tree.leaves(dask.compute(r, scheduler="sync")) for r in (ours, hand)), strict=True
    ):
        np.testing.assert_allclose(came, expected, rtol=1e-9, atol=1e-12)
    assert len(graph(ours)) <= 1.2 * len(graph(hand))


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_no_plain_array_as_large_as_the_data_is_in_the_graph(model: Model) -> None:
    cloudpickle: Any = pytest.importorskip("cloudpickle")
    sizes = []
    for rows in (2_000, 200_000):
        X, y = data(rows, 20)
        sizes.append(len(cloudpickle.dumps(graph(value_and_grad(model.function)(model.params, X, y)))))
    assert sizes[1] < 1.1 * sizes[0] + 1000


def test_parts_of_an_array_are_put_back_lazily() -> None:
    x = da.ones((2100, 3), chunks=(700, 3))
    functions = {
        "slice": lambda x: np.sum(x[10:1500] ** 2),
        "steps": lambda x: np.sum(x[::-3] ** 2),
        "column": lambda x: np.sum(x[:, 1] ** 2),
        "row": lambda x: np.sum(x[1500] ** 2),
        "rows": lambda x: np.sum(x[[5, 5, 2099]] ** 2),
        "mask": lambda x: np.sum(x[np.arange(2100) > 2090] ** 2),
        "new axis": lambda x: np.sum(x[None, 1:, :2] ** 2),
        "twice": lambda x: np.sum(x[1:] * x[:-1]),
        "of a function": lambda x: np.sum(np.exp(x)[:, 0] * np.exp(x)[:, 2]),
    }
    for name, f in functions.items():
        found = uncomputed(lambda f=f: grad(f)(x))
        assert isinstance(found, da.Array), name
        np.testing.assert_allclose(computed(found), grad(f)(np.ones((2100, 3))), err_msg=name)


def test_assignment_into_lazy_arrays() -> None:
    def f(w, x):
        y = x * w
        y[1:3] = y[1:3] ** 2
        y[0] = w
        y += 1
        return np.sum(y * y)

    x = np.arange(1.0, 6.0)
    found = uncomputed(lambda: value_and_grad(f, (0, 1))(0.7, da.from_array(x, chunks=2)))
    expected = value_and_grad(f, (0, 1))(0.7, x)
    for came, plain in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(computed(came), plain)


def test_second_derivatives_and_vmap_over_parameters() -> None:
    X, y = data(400, 4)
    plain = [computed(X), computed(y)]
    for name in ("logistic regression", "softmax", "Huber regression"):
        model = MODELS[name]
        found = uncomputed(lambda model=model: hessian(model.function)(model.params, X, y))
        np.testing.assert_allclose(
            computed(found), hessian(model.function)(model.params, *plain), rtol=1e-9, atol=1e-12
        )
        several = np.stack([model.params, 2 * model.params, -model.params])
        mapped = vmap(value_and_grad(model.function), (0, None, None))
        for came, expected in zip(
            uncomputed(lambda m=mapped, s=several: m(s, X, y)), mapped(several, *plain), strict=True
        ):
            np.testing.assert_allclose(computed(came), expected, rtol=1e-9, atol=1e-12)


def test_what_dask_lacks_is_refused_by_name_before_anything_is_computed() -> None:
    x = da.ones((3, 3), chunks=2)
    with pytest.raises(
        UnsupportedFunctionError, match=r"np\.cross of an array of dask, at test_dask\.py.*a\.compute\(\)"
    ):
        uncomputed(lambda: grad(lambda x: np.sum(np.cross(x, x + 1)))(x))
    with pytest.raises(UnsupportedFunctionError, match=r"dask can't do this.*maximum"):
        grad(lambda x: np.maximum.at(x * 1, [0, 1], 2.0))(x[0])


LINE, TABLE = np.array([0.3, 1.2, -0.7, 2.1, 0.9]), np.random.default_rng(0).normal(size=(6, 3))


def added(x):
    y = np.zeros_like(x)
    np.add.at(y, np.array([0, 1, 1, 2, 0]), x)
    return np.sum(y**2)


# In forward mode and to second order the positions are lazy and the tangents plain, or the other way round.
SECOND: dict[str, tuple[Any, Any]] = {
    "sort": (lambda x: np.sum(np.sort(x) ** 3), LINE),
    "median": (lambda x: np.median(x) ** 2, LINE),
    "quantile": (lambda m: np.sum(np.quantile(m, [0.3, 0.6], axis=1) ** 2), TABLE),
    "percentile": (lambda x: np.percentile(x, 30.0) ** 2, LINE),
    "pad maximum": (lambda x: np.sum(np.pad(x, 1, mode="maximum") ** 3), LINE),
    "pad minimum": (lambda x: np.sum(np.pad(x, 1, mode="minimum") ** 3), LINE),
    "singular values": (lambda m: np.sum(np.linalg.svd(m, compute_uv=False) ** 3), TABLE),
    "add.at": (added, LINE),
    "cumulative_prod": (lambda x: np.sum(np.cumprod(x) ** 2), LINE),
}


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.filterwarnings("ignore")
def test_matrices_of_derivatives_are_right_and_lazy(name: str) -> None:
    f, x = SECOND[name]
    for transform in (jacfwd, hessian):
        lazily = da.from_array(x, chunks={0: 2})
        found = uncomputed(lambda t=transform, z=lazily: t(f)(z))
        assert isinstance(found, da.Array)
        np.testing.assert_allclose(computed(found), transform(f)(x), rtol=1e-7, atol=1e-9)


def test_chunks_of_rows_keep_the_graph_free_of_their_axis() -> None:
    x, A = np.linspace(-1, 1, 12), da.from_array(TABLE @ np.ones((3, 12)), chunks=(2, 12))
    f = lambda x: np.tanh(A @ x)
    whole = jacrev(f)(x)
    for transform in (jacrev, jacfwd):
        found = uncomputed(lambda t=transform: t(f, chunk_size=4)(x))
        np.testing.assert_allclose(computed(found), computed(whole), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("transform", [jacrev, jacfwd, hessian, elementwise_grad, hessian_diagonal])
def test_constant_derivatives_are_lazy(transform: Any) -> None:
    """A Jacobian that no element counts for is of the data's kind, too, and so is what is put together of it."""
    line = np.linspace(0.1, 1, 6)
    x = da.from_array(line, chunks=3)
    functions: list[Any] = [np.sum, np.mean, lambda x: np.sum(x**3)]
    if transform is not hessian_diagonal:
        functions += [lambda x: 2 * x, lambda x: np.ones(3) * np.sum(x), lambda x: {"a": x, "b": np.tanh(x)}]
    for f in functions:
        results = tree.leaves(uncomputed(lambda f=f: transform(f)(x)))
        assert {type(result) for result in results} == {da.Array}
        for found, expected in zip(results, tree.leaves(transform(f)(line)), strict=True):
            np.testing.assert_allclose(computed(found), expected)


def test_rows_of_the_identity_are_no_plain_array_in_the_graph() -> None:
    cloudpickle: Any = pytest.importorskip("cloudpickle")
    x = da.ones(500, chunks=250)  # whose identity has 2 MB
    for transform in (jacrev, jacfwd):
        assert len(cloudpickle.dumps(graph(transform(np.cumsum)(x)))) < 50_000


def test_zeros_are_lazy() -> None:
    x = da.ones((2100, 3), chunks=(700, 3))
    untouched = grad(lambda x, w: np.sum(w))(x, np.ones(2))
    tangent = jvp(lambda x, w: np.exp(x), (x, 1.0), (None, 1.0))[1]
    slope = jvp(grad(lambda x: np.sum(3 * x)), (x,), (x,))[1]
    assert untouched.chunks == x.chunks
    for zeros in (untouched, tangent, slope):
        assert isinstance(zeros, da.Array)
        assert zeros.shape == x.shape
        assert not computed(zeros).any()


REFUSALS = {
    "cholesky": (
        lambda m: np.sum(np.linalg.cholesky(m.T @ m)),
        r"np\.linalg\.cholesky .* the upper triangle",
    ),
    "lstsq": (lambda m: np.sum(np.linalg.lstsq(m, np.ones(6))[0]), r"lstsq .* np\.linalg\.pinv"),
    "bincount": (lambda m: np.sum(np.bincount([0, 1, 1], m[0])), r"bincount .* no plain positions"),
    "searchsorted": (
        lambda m: np.sum(np.searchsorted(np.arange(3.0), m[0]) * m[0]),
        r"a plain array beside .*da\.from_array\(x\)",
    ),
    "da.cumsum": (lambda m: np.sum(da.cumsum(m, 0)), r"takes no tracers.*Use NumPy's functions"),
    "da.rechunk": (lambda m: np.sum(da.rechunk(m, 3)), r"takes no tracers.*Use NumPy's functions"),
    "da.map_overlap": (lambda m: da.map_overlap(np.sin, m, depth=1).sum(), r"takes no tracers"),
    "da.einsum": (lambda m: da.einsum("ij,ij->", m, m), r"a function of Dask at test_dask\.py"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_name_the_cause(name: str) -> None:
    f, message = REFUSALS[name]
    with pytest.raises(FuncgradError, match=message):
        uncomputed(lambda: grad(f)(da.from_array(TABLE, chunks=(2, 3))))


# ---- funcgrad.dask ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [with_dask.computed, with_dask.chunks_of], ids=lambda f: f.__name__)
def test_examples_of_functions_for_dask(function: Any) -> None:
    text = function.__doc__.replace("  # doctest: +SKIP", "")  # where Dask is not installed
    example = doctest.DocTestParser().get_doctest(text, {"np": np}, function.__name__, None, None)
    assert doctest.DocTestRunner().run(example).failed == 0
    assert example.examples


class Counting:
    """A scheduler that counts how often it is asked."""

    passes = 0

    def __call__(self, graph: Any, keys: Any, **options: Any) -> Any:
        self.passes += 1
        return dask.get(graph, keys, **options)


def test_one_pass_computes_value_and_gradient() -> None:
    model, counting = MODELS["logistic regression"], Counting()
    value, gradient = with_dask.computed(value_and_grad(model.function), scheduler=counting)(
        model.params, *data(40, 4)
    )
    assert (type(value), type(gradient), counting.passes) == (float, np.ndarray, 1)


def ridge(w, X, y):
    return np.mean((X @ w - y) ** 2) + 0.1 * np.sum(w**2)


problem = functools.cache(lambda: data(40, 2))


def closed_over(loss: Any, use: Any) -> Any:
    """`use` of the loss as a function of w alone, which has the data in its closure."""
    X, Y = problem()
    return use(lambda w: loss(w, X, Y))


# How a loss on chunks is given to a solver -> whether SciPy's own `minimize` needs but one pass for each evaluation.
FORMS: dict[str, tuple[Any, bool]] = {
    "value_and_grad": (
        lambda minimize, w, **o: minimize(value_and_grad(ridge), w, args=problem(), jac=True, **o),
        True,
    ),
    "returned": (
        lambda minimize, w, **o: closed_over(value_and_grad(ridge), lambda f: minimize(f, w, jac=True, **o)),
        True,
    ),
    "computed": (
        lambda minimize, w, **o: minimize(
            with_dask.computed(value_and_grad(ridge)), w, args=problem(), jac=True, **o
        ),
        True,
    ),
    "the function": (lambda minimize, w, **o: minimize(ridge, w, args=problem(), **o), False),
    "closed over": (lambda minimize, w, **o: closed_over(ridge, lambda f: minimize(f, w, **o)), False),
    "partial": (
        lambda minimize, w, **o: minimize(functools.partial(ridge, **dict(zip("Xy", problem()))), w, **o),
        False,
    ),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B"])
def test_a_solver_makes_one_pass_for_each_evaluation(name: str, method: str) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    from funcgrad.scipy.optimize import minimize

    run, works_in_scipy = FORMS[name]
    w, plain = np.zeros(COLUMNS), tuple(map(computed, problem()))
    expected = optimize.minimize(value_and_grad(ridge), w, args=plain, jac=True, method=method)
    for solver in (minimize, optimize.minimize)[: 1 + works_in_scipy]:
        counting = Counting()
        with dask.config.set(scheduler=counting):
            found = run(solver, w, method=method)
        np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-9)
        assert (type(found.x), type(found.fun), found.nfev) == (np.ndarray, float, expected.nfev)
        assert counting.passes == expected.nfev


def test_second_derivatives_for_a_solver() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.minimize(
        value_and_grad(ridge),
        np.zeros(COLUMNS),
        args=problem(),
        jac=True,
        hess=hessian(ridge),
        method="trust-exact",
    )
    assert np.linalg.norm(computed(grad(ridge)(found.x, *problem()))) < 1e-4
    assert found.nhev > 0


def test_only_a_solver_itself_gets_numbers() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    came = []

    def kept(w):
        value, gradient = value_and_grad(ridge)(w, *problem())
        came.append(gradient)  # it might be computed with others
        return dask.compute(value, gradient)

    assert optimize.minimize(kept, np.zeros(COLUMNS), jac=True).success
    assert all(isinstance(g, da.Array) for g in came)


def test_chunks_must_be_cut_at_the_same_rows() -> None:
    with pytest.raises(ValueError, match=r"\(3, 1\) and \(2, 2\)\. Write y\.rechunk"):
        next(with_dask.chunks_of(da.ones((4, 2), chunks=3), da.ones(4, chunks=2)))


def test_a_chunk_that_raises_names_the_users_lines() -> None:
    def load(block: Any) -> Any:
        raise OSError("no such file")

    X = da.ones((4, 2), chunks=2).map_blocks(load, dtype=float)
    with pytest.raises(OSError, match="no such file") as caught:
        with_dask.computed(grad(lambda w: np.sum(np.log(X @ w))), scheduler="sync")(np.ones(2))
    assert any("asked for at test_dask.py, line" in note for note in caught.value.__notes__)
    assert caught.traceback[-1].name == "load"
