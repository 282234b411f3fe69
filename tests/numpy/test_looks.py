"""Whatever code may later write a tracer into begins as an array that it can be written into: also what is
computed from integers, booleans, and arrays that were there before.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pytest

import funcgrad.numpy as fnp
from funcgrad import grad, jvp, vmap
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.core.memory.looks import Look

DATA = np.array([3.0, 1.0, 2.0])
# Each is a new array of floats, whose element 1 (in all axes) is written.
NEW = """
np.arange(4) * .5
np.array([0, 1]) / 2
1.0 + (np.linspace(0, 1, 5) < 0.5)
np.fft.rfftfreq(6)
np.fft.fftfreq(6) * 2
np.where(np.arange(4) > 1, 1., 0.)
np.loadtxt(io.StringIO("1 2\\n3 4"))
np.load(saved())
np.random.default_rng(0).standard_normal(3)
np.random.RandomState(0).rand(2, 2)
np.random.RandomState(0).normal(size=3)
np.arange(4).astype(float)
np.zeros(3, dtype=int) + 0.5
np.ones(3, bool) * 2.0
(np.arange(4) % 2).astype(np.float64)
np.sqrt(np.arange(4))
np.sin(np.array([1, 2, 3]))
np.cumsum(np.arange(4) / 4)
np.concatenate([np.arange(3), np.linspace(0, 1, 3)])
np.stack([np.arange(3), np.arange(3)]).mean(axis=0)
np.asarray(DATA) * 2
np.asarray(DATA).copy()
np.asarray(DATA)[[0, 1]]
np.asarray(DATA)[np.asarray(DATA) > 1.5]
np.array(DATA)
np.copy(DATA)
np.sort(DATA)
np.cumsum(DATA)
np.diff(DATA)
np.exp(np.asarray(DATA))
np.clip(DATA, 1, 2)
np.interp([0.5, 1.5], [0, 1, 2], DATA)
np.repeat(DATA, 2)
np.tile(DATA, 2)
np.roll(DATA, 1)
np.outer(DATA, DATA)
np.vstack([DATA, DATA])
np.linalg.inv(np.diag(DATA))
np.array([1, 2, 3]).dot(np.diag(DATA))
np.polyfit([0, 1, 2], DATA, 1)
np.histogram(DATA, 2)[1]
np.meshgrid(np.arange(3), np.arange(3))[0] * 1.0
np.indices((2, 2))[0] / 2
np.einsum("i,j->ij", np.arange(3), np.arange(3)) * 1.0
(np.eye(3, dtype=int) == 1) * 1.0
-np.arange(3) / 2
2.0 ** np.arange(3)
np.arange(6).reshape(2, 3).T / 2
np.array([True, False]).astype(float)
np.float64([1, 2])
np.random.default_rng(1).permutation(DATA)
np.nan_to_num(DATA)
np.add.outer(np.arange(2), DATA)
np.add.accumulate(np.asarray(DATA))
np.full(3, 2) / 1
np.zeros_like(np.arange(3), dtype=float)
np.fromiter((k for k in range(3)), float)
np.piecewise(DATA, [DATA > 1.5], [1.0, 2.0])
np.select([np.arange(3) > 1], [1.0], 0.5)
np.apply_along_axis(np.sum, 0, np.ones((2, 2)))
np.vectorize(float)(np.arange(3))
np.polynomial.polynomial.polyval(DATA, [1.0, 2.0])
np.lib.stride_tricks.sliding_window_view(DATA, 2) * 1.0
""".strip().splitlines()


def saved() -> io.BytesIO:
    """A file with an array."""
    file = io.BytesIO()
    np.save(file, DATA)
    file.seek(0)
    return file


@pytest.mark.parametrize("line", NEW)
def test_a_tracer_can_be_written_into_it(line: str) -> None:
    def f(x: Any, np: Any = fnp) -> Any:
        y = eval(line, {"np": np, "DATA": DATA, "io": io, "saved": saved, "float": float})
        y[(1,) * y.ndim] = x * x
        y *= x
        return y.sum()

    expected = (f(2 + 1e-6, np) - f(2 - 1e-6, np)) / 2e-6
    assert grad(f)(2.0) == pytest.approx(expected, rel=1e-7)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)


# The same of the traced array x: what has no derivative in x may still be written into.
OF_TRACED = """
1.0 * (x > 0)
(x > 0) / 2
(x > 0).astype(float)
np.array(x > 0, float)
np.where(x > 0, 1.0, 0.0)
1 - (x > 0) * 1.0
~(x > 0) + 0.0
((x > 0) & (x < 2)) * 0.5
np.argsort(x) / 2
np.cumsum(x > 0) / 2
np.logical_and(x > 0, x < 1) * 2.0
np.isfinite(x) * 1.0
np.sign(x) * 1.0
np.floor(x) + 0.5
np.mean(np.outer(x > 0, x > 0), 0)
np.searchsorted([0.0, 1.0], x) * 0.5
(x > 0) * np.array([1.0, 2.0, 3.0])
""".strip().splitlines()


@pytest.mark.parametrize("line", OF_TRACED)
def test_a_tracer_can_be_written_into_what_comes_of_comparisons(line: str) -> None:
    def f(x: Any, np: Any = fnp) -> Any:
        y = eval(line, {"np": np, "x": x, "float": float})
        y[1] = x[0] * x[0]
        y += x
        return (y * x).sum()

    x, t = np.array([0.5, -0.3, 1.2]), np.array([1.0, 2.0, -1.0])
    expected = (f(x + 1e-6 * t, np) - f(x - 1e-6 * t, np)) / 2e-6
    assert grad(f)(x) @ t == pytest.approx(expected, rel=1e-7)
    assert jvp(f, (x,), (t,))[1] == pytest.approx(expected, rel=1e-7)
    assert type(grad(lambda x: (np.sum(x), x > 0), has_aux=True)(x)[1]) is np.ndarray


# Writes of what is not traced into a plain array `v`, here of shape (4, 3), which just happen.
WRITES = """
v -= np.mean(np.ones((4, 1)) * v, 0)
v[...] = v - np.mean(np.ones((4, 1)) * v, 0)
np.add(v, np.ones(3), out=v)
np.copyto(v, np.zeros(3))
np.add.at(v, ([0, 0], [1, 1]), np.ones(2))
np.place(v, v > 0, np.ones(2))
np.putmask(v, v > 0, np.zeros(3))
np.put_along_axis(v, np.argmax(v, 1)[:, None], np.zeros((4, 1)), 1)
np.add.reduce(np.ones((2, 4, 3)), axis=0, out=v)
np.cumsum(np.ones((4, 3)), axis=0, out=v)
np.multiply(np.ones((4, 3)), 2.0, out=v, where=v > 0)
np.fill_diagonal(v, np.zeros(3))
np.put(v, [0, 5], np.zeros(2))
v[np.arange(2)] = np.linspace(0, 1, 3)
v += np.arange(3)
np.matmul(np.ones((4, 4)), v.copy(), out=v)
np.clip(np.ones((4, 3)) * 5, 0, 1, out=v)
""".strip().splitlines()


@pytest.mark.parametrize("line", WRITES)
def test_what_is_not_traced_is_written_into_plain_arrays(line: str) -> None:
    def f(x: Any, np: Any = fnp) -> Any:
        v = start.copy()
        exec(line, {"np": np, "v": v})
        return x * np.sum(v**2)

    start = np.random.default_rng(0).standard_normal((4, 3))
    assert grad(f)(1.0) == pytest.approx(f(1.0, np), rel=1e-14)


def test_looks_are_arrays_to_everybody() -> None:
    def f(x: Any) -> Any:
        counts, mask = fnp.arange(3), fnp.linspace(0, 1, 3) > 0.2
        assert type(counts) is type(mask) is Look
        assert isinstance(counts, np.ndarray)
        assert (repr(counts), str(mask)) == ("array([0, 1, 2])", "[False  True  True]")
        assert [type(i) for i in counts] == [np.int64] * 3
        assert type(pickle.loads(pickle.dumps(counts))) is np.ndarray
        assert counts.tolist() == [0, 1, 2]
        assert type(counts.sum()) is np.int64
        assert type(counts[1:]) is type(counts.copy()) is type(~mask) is type(counts + 1) is Look
        assert type(counts / 2) is type(counts.astype(float)) is BlankTracer
        counts[0] = 7
        assert DATA[counts[1:]].tolist() == [1.0, 2.0]
        y = x * fnp.ones(3)
        y[mask] = counts[mask] * x
        return fnp.sum(y[counts[1:]]), (counts, mask)

    slope, aux = grad(f, has_aux=True)(2.0)
    assert slope == 3.0
    assert [type(a) for a in aux] == [np.ndarray, np.ndarray]
    assert type(fnp.arange(3)) is np.ndarray


def test_an_import_inside_the_function_counts() -> None:
    space: dict[str, Any] = {}  # a module that has not imported it
    for line in ("import funcgrad.numpy as np", "from funcgrad import numpy as np"):
        text = f"def f(x):\n {line}\n r = 1.0 * (x > 0)\n r[0] = x[0]\n return np.sum(r * x)"
        exec(text, space)
        assert np.array_equal(grad(space["f"])(np.array([3.0, 2.0])), [6.0, 1.0])


def test_what_is_written_into_a_look_is_seen_in_the_array() -> None:
    a = DATA.copy()

    def f(x: Any) -> Any:
        fnp.asarray(a)[0] = 5.0
        with pytest.raises((TypeError, ValueError)):
            fnp.asarray(a)[0] = x
        return x * a[0]

    assert grad(f)(1.0) == 5.0


def test_under_vmap() -> None:
    def f(x: Any) -> Any:
        y = fnp.arange(3) * 0.5
        y[fnp.arange(3) > 1] = x
        return y

    np.testing.assert_array_equal(vmap(f)(np.array([1.0, 2.0])), [[0, 0.5, 1], [0, 0.5, 2]])


# ---- records and iterators -------------------------------------------------------------------------------------------
def bodies(x: Any, np: Any = fnp) -> Any:
    p = np.zeros(3, dtype=[("mass", float), ("place", float, 2), ("kind", int)])
    p["mass"] = 1.0
    p["kind"][1] = 2
    for i in range(3):
        p["place"][i] = [x * i, i]
        p[i]["mass"] += x
    p[0] = (x * x, [1.0, x], 5)
    p[1:]["mass"] *= 2.0
    q = p.copy()
    q["mass"][0] = 0.0
    assert (len(p), p.shape, p.dtype.names, int(p["kind"].sum())) == (3, (3,), ("mass", "place", "kind"), 7)
    assert [int(r["kind"]) for r in p[[0, 1]]] == [5, 2]
    heavy = p[p["mass"] > 1.0]
    return np.sum(p["mass"][:, None] * p["place"]) + np.sum(heavy["place"] ** 2) + np.sum(q["mass"])


def iterated(x: Any, np: Any = fnp) -> Any:
    a, g = np.ones((2, 3)) * x, np.zeros((2, 3))
    it = np.nditer(a, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        g[it.multi_index] = it[0] ** 2 * (1 + it.multi_index[1])
        it.iternext()
    with np.nditer(g, op_flags=["readwrite"]) as elements:
        for v in elements:
            v[...] = v * x
    return sum(u * v for u, v in np.nditer([a, g[0]])) + g.sum()


@pytest.mark.parametrize("f", [bodies, iterated])
def test_records_and_iterators(f: Any) -> None:
    expected = (f(0.7 + 1e-6, np) - f(0.7 - 1e-6, np)) / 2e-6
    assert grad(f)(0.7) == pytest.approx(expected, rel=1e-7)
    assert jvp(f, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)
