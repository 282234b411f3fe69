"""Compiled functions: branches, mutation, what they close over, what is refused, threads, transforms inside."""

from __future__ import annotations

import math
import pickle
import re
import subprocess
import sys
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import jit, tree
from funcgrad.compiler.compiling import MOST_PATHS, Jit
from funcgrad.compiler.engines import Engine
from funcgrad.errors import ArgumentError, CompileWarning, ImpureFunctionError
from tests.compiler.agreement import assert_same, check, copied, is_compiled, only


def A(*shape: int, seed: int = 0, dtype: Any = float) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


# ---- programs --------------------------------------------------------------------------------------------------------
def branches(x: Any) -> Any:
    if x.sum() > 0:
        return x * 2
    return x + 1 if x[0] > 0 else -x


def halving(x: Any) -> Any:
    steps = 0
    while np.abs(x).max() > 0.1:
        x, steps = x / 2, steps + 1
    return x, steps


def writing(x: Any) -> Any:
    x[0] = 5
    x[1:] *= 2
    look = x[::2]
    look += 1
    return x, look.sum()


def filling(x: Any) -> Any:
    y = np.zeros(5, like=x)
    for i in range(5):
        y[i] = x[i] ** 2
    y.reshape(5, 1).T[0, 2] = 7
    return y


def filling_blank(x: Any) -> Any:
    y = fnp.zeros((5, 2))
    for i in range(5):
        y[i, 0] = x[i] ** 2
        y[i] += x[i - 1]
    return y


def outs(x: Any) -> Any:
    out = np.zeros_like(x)
    np.multiply(x, 2, out=out)
    np.add(out, 1, out=out, where=x > 0)
    return out


def caught(x: Any) -> Any:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return x * 0


def newton(c: Any) -> Any:
    def f(x: Any) -> Any:
        return x * x - c

    x, slope = c, fg.grad(f)
    while abs(f(x)) > 1e-10:
        x = x - f(x) / slope(x)
    return x


def tree_of(p: Any) -> Any:
    return {"a": p["w"] * 2, "b": [p["b"], None, "text"]}


SPD = A(3, 3) @ A(3, 3).T + np.eye(3)


def rows_by_number(x: Any, n: Any) -> Any:
    y = np.stack([x, x * 2])
    row, column = y[n], y[:, n]
    look = row[1:3]
    look += 1
    row[0] = 7
    column *= 3
    backwards = y[n][::-1]
    y[n, 1] = x[0] ** 2
    return y, backwards, row


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "if": (branches, ((A(3),), (A(3, seed=1),), (-abs(A(3)),))),
    "while": (halving, ((A(3),), (A(3) * 5,), (A(3) * 20,))),
    "a mask": (lambda x: x[x > 0].sum(), ((A(5),), (A(5, seed=1),), (A(5, seed=2),))),
    "an index": (lambda x: x[int(np.argmax(x))] + x[np.argmin(x)], ((A(5),), (A(5, seed=1),))),
    "len": (lambda x: len(np.unique(x)) * x, ((A(3),), (np.ones(3),))),
    "writes": (writing, ((A(5),), (A(5, seed=1),))),
    "a filled array": (filling, ((A(5),), (A(5, seed=1),))),
    "a filled array, blank": (filling_blank, ((A(5),), (A(5, seed=1),))),
    "its gradient": (fg.grad(lambda x: np.sum(filling_blank(x) ** 2)), ((A(5),), (A(5, seed=1),))),
    "out=": (outs, ((A(4),), (A(4, seed=1),))),
    "an error that is caught": (caught, ((SPD,), (-SPD,), (SPD + np.eye(3),))),
    "Newton's method": (newton, ((2.0,), (3.0,), (5.0,))),
    "trees": (tree_of, (({"w": A(3), "b": 2.0},),)),
    "arguments and views returned": (lambda x: (x, x, x.T, x[0]), ((A(3, 2),),)),
    "Python's numbers": (
        lambda x, n: (x * 2 + n, -x, x / 3, x > 2, np.sin(x), n // 2, x**n),
        ((2.5, 3), (1.5, 4)),
    ),
    "numbers beside single precision": (lambda x, a: (x * a, x * 2 * a), ((2.5, A(3, dtype=np.float32)),)),
    "a range": (lambda x, n: sum([x * k for k in range(n)], x), ((A(3), 3), (A(3), 5))),
    "hessian": (fg.hessian(lambda x: np.sum(np.power(x, 3)) * x[0]), ((A(4),), (A(4, seed=1),))),
    "vmap of grad": (fg.vmap(fg.grad(lambda x: np.sum(np.sin(x) ** 2))), ((A(4, 3),),)),
    "jacfwd": (fg.jacfwd(lambda x: np.cumsum(x) ** 2), ((A(4),),)),
    "checkpoint": (fg.grad(lambda x: np.sum(fg.checkpoint(lambda y: np.sin(y) * y)(x) ** 2)), ((A(4),),)),
    "an integer array": (
        lambda i, x: x[i] * (i % 2),
        ((np.array([2, 0, 1]), A(3)), (np.array([1, 1, 0]), A(3))),
    ),
    "views at a number": (rows_by_number, ((A(4), 0), (A(4, seed=1), 1))),
    "the slope of views at a number": (
        fg.grad(lambda x, n: sum(np.sum(v**2) for v in rows_by_number(x, n))),
        ((A(4), 0), (A(4, seed=1), 1)),
    ),
    "the slope of what is joined": (
        fg.grad(lambda x: np.sum(np.concatenate([x[2:], x[:2] * 3]) ** 2)),
        ((A(4),), (A(4, seed=1),)),
    ),
    "Fortran's order": (lambda x: x.ravel("K"), ((np.asfortranarray(A(2, 3)),), (A(2, 3),))),
    "large arrays": (
        lambda x: (np.tanh(x) * 2 + x @ x - np.sin(x * 3), x.sum(0)),
        ((A(150, 150),), (A(150, 150, seed=1),)),
    ),
}


@pytest.mark.parametrize(("fun", "calls"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs(fun: Any, calls: Any) -> None:
    assert is_compiled(check(fun, *calls))


@pytest.mark.parametrize(("fun", "calls"), PROGRAMS.values(), ids=PROGRAMS)
def test_sources_run_without_funcgrad(fun: Any, calls: Any) -> None:
    compiled = jit(fun)
    source = compiled.source(*calls[0])
    assert not re.search("funcgrad|import (?!numpy|math|annotations)", source)
    space: dict[str, Any] = {}
    exec(source, space)
    name = re.findall(r"^def (\w+)\(", source, re.MULTILINE)[-1]
    assert_same(space[name](*copied(calls[0])), fun(*copied(calls[0])))


def test_lower_tells_what_a_program_costs() -> None:
    x = A(200, 300)
    text = str(jit(fg.value_and_grad(lambda x: np.sum(np.tanh(x) * 2 * x + 0 * np.exp(x * 1.0)))).lower(x))
    lowered = jit(lambda x: (np.sin(x) + np.sin(x)) @ x.T).lower(x)
    assert lowered.after.steps < lowered.before.steps
    assert lowered.after.flops == pytest.approx(2 * 200 * 200 * 300, rel=0.01)
    assert lowered.buffer_bytes > 0
    assert lowered.paths == 1
    assert re.search(r"recorded +\d+ steps", text)
    assert "tanh" in text


def test_custom_rules_run_inside() -> None:
    @fg.custom_vjp
    def clipped(x: Any) -> Any:
        return np.sin(x)

    clipped.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (np.clip(ct * np.cos(x), -0.5, 0.5),))
    assert is_compiled(check(fg.grad(lambda x: np.sum(clipped(x) * 3)), (A(5),), (A(5, seed=1),)))


# ---- what is closed over ---------------------------------------------------------------------------------------------
def test_an_array_that_is_closed_over_is_read_anew() -> None:
    a = np.arange(3.0)

    def fun(x: Any) -> Any:
        return a * x + (a * 2).sum()

    compiled, x = jit(fun), A(3)
    for k in range(12):
        if k % 3 == 0:
            a[k % 2] += 1
        assert_same(compiled(x), fun(x))


class Model:
    def __init__(self) -> None:
        self.w, self.options = A(3), {"scale": 2.0}

    def loss(self, x: Any) -> Any:
        return np.sum(self.w * x) * self.options["scale"]


def test_attributes_and_globals_are_read_anew() -> None:
    model = Model()
    compiled, x = jit(model.loss), A(3)
    for change in (None, None, None, "w", None, None, "scale", None, None):
        if change == "w":
            model.w = model.w * 2
        elif change == "scale":
            model.options["scale"] = 3.0
        assert_same(compiled(x), model.loss(x))


def test_a_change_is_seen_on_all_paths() -> None:
    a = np.arange(1.0, 4.0)
    fun = lambda x: x * (a * 3) if x[0] > 0 else x - (a * 2)
    compiled, x = jit(fun), abs(A(3)) + 1
    for k in range(24):
        if k == 12:
            a[1] = 10
        assert_same(compiled(x), fun(x))
        if k in (2, 5, 8, 11, 13, 17, 20):
            x = -x


def test_what_keeps_changing_is_named_once() -> None:
    a, x = np.arange(3.0), A(3)
    compiled = jit(lambda x: a * x)

    def change_and_compare(times: int) -> None:
        for _ in range(times):
            np.add(a, 1, out=a)
            assert_same(compiled(x), a * x)

    with pytest.warns(CompileWarning, match="closes over a, which has changed"):
        change_and_compare(12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        change_and_compare(1)


# ---- what is refused -------------------------------------------------------------------------------------------------
COUNTER = [0]


def counted(x: Any) -> Any:
    COUNTER[0] += 1
    return x * COUNTER[0]


RNG = np.random.default_rng(0)
IMPURE = {
    "random numbers": lambda x: x + RNG.normal(),
    "a random array": lambda x: x * RNG.normal(size=3),
    "the time": lambda x: x + time.perf_counter(),
    "a counter": counted,
    "a random way": lambda x: (
        x if RNG.normal() > 10 else np.sin(x) if COUNTER.append(0) or len(COUNTER) % 2 else x
    ),
    "a random result": lambda x: (x, RNG.normal()),
}


@pytest.mark.parametrize("fun", IMPURE.values(), ids=IMPURE)
def test_impure_functions_are_caught(fun: Any) -> None:
    compiled = jit(fun)
    compiled(A(3))
    with pytest.raises(ImpureFunctionError, match="Pass it as an argument"):
        compiled(A(3))


def test_the_line_is_named() -> None:
    compiled = jit(IMPURE["random numbers"])
    compiled(A(3))
    with pytest.raises(ImpureFunctionError, match=r"in add at test_jit.py, line \d+"):
        compiled(A(3))


def test_an_engine_may_draw_random_numbers_as_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Engine.program  # JAX does, when it is imported for the first program
    monkeypatch.setattr(Engine, "program", lambda self, paths: (np.random.random(), program(self, paths))[1])  # noqa: NPY002
    compiled, x = jit(branches), A(3)
    for y in (x, -x, x):
        np.testing.assert_array_equal(compiled(y.copy()), branches(y))


def test_too_many_ways_are_run_eagerly_with_one_warning() -> None:
    def fun(x: Any) -> Any:
        return math.sin(x) * 2

    compiled = jit(fun)

    def compare(times: int) -> None:
        for k in range(times):
            assert_same(compiled(k / 8), fun(k / 8))

    with pytest.warns(CompileWarning, match=r"part at test_jit.py, line \d+, in fun") as warned:
        compare(2 * MOST_PATHS)
    assert len(warned) == 1
    assert only(compiled).is_eager


def test_what_can_be_no_argument_is_refused() -> None:
    with pytest.raises(ArgumentError, match="neither a number or an array"):
        jit(lambda x: x)(np.array(["a"]))
    with pytest.raises(ArgumentError, match="engine is 'torch'"):
        jit(np.sin, engine="torch")


# ---- signatures ------------------------------------------------------------------------------------------------------
def test_there_is_a_program_for_each_signature() -> None:
    seen: list[Any] = []

    @jit
    def fun(x: Any, y: Any = 1.0, how: str = "sum") -> Any:
        seen.append(how)
        return (x * y).sum() if how == "sum" else x * y

    for _ in range(4):
        for x in (A(3), A(4), A(3, dtype=np.float32), 2.0):
            assert_same(fun(x), np.sum(x * 1.0) if np.ndim(x) else np.multiply(x, 1.0).sum())
        assert_same(fun(A(3), y=2.0, how="none"), A(3) * 2.0)
    assert len(fun.compiled) == 5
    assert len(seen) == 10


def test_static_arguments() -> None:
    fun = lambda x, n, *, flip: sum([x * k for k in range(n)]) * (-1 if flip else 1)
    compiled = jit(fun, static_argnums=1, static_argnames="flip")
    for _ in range(3):
        for n, flip in ((2, True), (3, False)):
            assert_same(compiled(A(3), n, flip=flip), fun(A(3), n, flip=flip))
    assert len(compiled.compiled) == 2


def decorated_at_home(x: Any) -> Any:
    return x * 2


def test_names_and_pickles() -> None:
    compiled = jit(decorated_at_home)
    assert compiled.__name__ == "decorated_at_home"
    assert_same(pickle.loads(pickle.dumps(compiled))(A(3)), A(3) * 2)


# ---- results, threads, memory ----------------------------------------------------------------------------------------
def test_results_are_the_callers_own() -> None:
    compiled = jit(lambda x: (np.tanh(x) * 2, x))
    x = A(200, 200)
    for _ in range(3):
        compiled(x)
    first, same = compiled(x)
    kept = first.copy()
    assert same is not x
    assert not np.may_share_memory(same, x)
    compiled(x + 1)
    np.testing.assert_array_equal(first, kept)


def heavy(x: Any) -> Any:
    y = np.tanh(x) * 2 + x
    z = np.sin(y) * y
    return z @ z, z


def test_threads_don_t_share_buffers() -> None:
    compiled: Jit = jit(heavy)
    given = [A(120, 120, seed=k) for k in range(24)]
    with ThreadPoolExecutor(4) as pool:
        for x, out in zip(given, pool.map(compiled, given), strict=True):
            assert_same(out, heavy(x))
    assert only(compiled).program is not None


def test_threads_in_a_program_give_the_same_bits() -> None:
    fun = fg.value_and_grad(lambda x: np.sum(np.tanh(2 * x + 1) * np.exp(-x * x)) + np.sum(np.sqrt(abs(x))))
    x = A(100_003)
    one, several = jit(fun), jit(fun, threads=3)
    for _ in range(4):
        (value, slope), (wanted, expected) = several(x), one(x)
        assert value == wanted
        np.testing.assert_array_equal(slope, expected)
    assert "shared_out" in only(several).program.text
    x[5] = np.nan
    with np.errstate(all="raise"):
        assert np.isnan(several(x)[0])
    with pytest.raises(ArgumentError, match="threads is 0"):
        jit(fun, threads=0)


def test_an_error_in_a_thread_is_raised() -> None:
    compiled = jit(lambda x: np.exp(x) * 2 + x, threads=2)
    x = A(100_000)
    for _ in range(3):
        compiled(x)
    x[80_000] = 1e4
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        compiled(x)


def test_memory_stays_flat() -> None:
    compiled = jit(fg.value_and_grad(lambda x: np.sum(np.tanh(x) * x)))
    x = A(100, 100)
    for _ in range(5):
        compiled(x)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(50):
        compiled(x)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < x.nbytes / 8
    assert tree.leaves(compiled(x))[1].shape == x.shape


def test_lanes_that_are_made_meanwhile_are_no_other_way() -> None:
    program = """
import numpy as np, funcgrad as fg
f = lambda x: fg.jvp(lambda x: np.sum(np.tanh(x) + x * x - x / 3), (x,), (x,))
g = fg.grad(lambda x: np.sum(np.sqrt(x) * np.exp(x) + x))
x = np.ones(3)
for fun in (f, g):
    for calls in (0, 40, 110):
        compiled = fg.jit(fun)
        compiled(x)
        for _ in range(calls):
            fun(x)
        compiled(x + 1)
        compiled(x)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("shape", [(5000,), (70, 50)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_choice_of_zero_is_exact_also_beside_infinities(shape: tuple[int, ...], dtype: str) -> None:
    """A large np.where(mask, x, 0) runs as a product."""

    def fun(x: Any) -> Any:
        return np.where(x > 0.5, x, 0)

    compiled = jit(fun)
    for k in range(5):
        x = A(*shape, seed=k, dtype=dtype)
        if k > 2:
            x.flat[:4] = -np.inf, np.nan, np.inf, np.finfo(dtype).max
        found, expected = compiled(x), fun(x)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("shape", [(7,), (100_000,), (300, 400)])
def test_the_slope_of_tanh_keeps_its_digits(shape: tuple[int, ...]) -> None:
    """Far out, and beside NaN; alone, and in blocks."""
    gradient = fg.grad(lambda x: np.sum(np.tanh(x) * x))
    compiled = jit(gradient)
    for k, scale in enumerate((1.0, 3.0, 10.0, 0.01, 10.0)):
        x = scale * A(*shape, seed=k)
        if k == 4:
            x.flat[0] = np.nan
        np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-12)
