"""Other libraries' objects beside tracers, wherever programs may use them: exact, or refused by name."""

from __future__ import annotations

import functools
import subprocess
import sys
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jacobian, jvp, value_and_grad, vjp, vmap
from funcgrad.errors import (
    EscapedTracerError,
    FuncgradError,
    NonDifferentiableError,
    OutputError,
    TracerConversionError,
)
from tests.interop.objects import FUNCTIONS, INDICES, OBJECTS, PLACES, USES, F, W

w = np.array([0.7, 1.3, 0.4])
direction = np.array([1.0, -0.5, 2.0])
SLOW = {"Dask", "unyt", "torch", "jax", "sparse"}  # of which every third place will do
# What these libraries themselves can't do, and say in words of their own.
THEIR_OWN = {("Dask", "flat"), ("Dask", "interp"), ("jax", "F.dot"), ("polars frame", "output of F")}


def numbers(x: Any) -> np.ndarray:
    """The numbers of an output, whatever object they are in."""
    x = getattr(x, "magnitude", x)
    x = x.compute() if hasattr(x, "compute") else x
    x = x.todense() if hasattr(x, "todense") else x
    x = x.to_value("") if hasattr(x, "to_value") else x
    return np.asarray(getattr(x, "x", x), float)


def check(f: Any, w: np.ndarray, is_theirs: bool = False) -> None:
    """Value, gradient and tangent of f are right, or refused."""
    t, h = np.resize(direction, w.shape), 1e-6
    try:
        plain = numbers(f(w.copy()))
        slope = (numbers(f(w + h * t)) - numbers(f(w - h * t))) / (2 * h)
    except Exception:  # noqa: BLE001 (what can't be done with arrays need not be done with tracers)
        return
    for run in (_by_tape, _by_tangent, _by_batch):
        try:
            value, pushed = run(f, w, t)
        except FuncgradError as error:
            says_what_to_write(error)
            continue
        except Exception:
            if is_theirs:
                continue
            raise
        np.testing.assert_allclose(numbers(value), plain, rtol=1e-6, err_msg=run.__name__)
        np.testing.assert_allclose(numbers(pushed), slope, rtol=1e-4, atol=1e-5, err_msg=run.__name__)


def says_what_to_write(error: FuncgradError) -> None:
    assert ". " in str(error)


def _by_tape(f: Any, w: np.ndarray, t: np.ndarray) -> tuple[Any, Any]:
    out, pull = vjp(f, w)
    rows = [pull(row.reshape(np.shape(out)))[0] for row in np.eye(np.size(out))]
    return out, np.reshape([numbers(row) @ t for row in rows], np.shape(out))


def _by_tangent(f: Any, w: np.ndarray, t: np.ndarray) -> tuple[Any, Any]:
    return jvp(f, (w,), (t,))


def _by_batch(f: Any, w: np.ndarray, t: np.ndarray) -> tuple[Any, Any]:
    value, pushed = jvp(vmap(f), (np.stack([w + 1, w]),), (np.stack([t, t]),))
    return value[1], pushed[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OBJECTS)
def test_an_operand(name: str) -> None:
    f = OBJECTS[name]()
    if name == "jax":
        f = f.astype(np.float64) if f.dtype == np.float64 else pytest.skip("jax computes in single precision")
    for place, use in [*PLACES.items()][:: 3 if name in SLOW else 1]:
        if "percent" not in name:  # astropy gives the results of some functions in percent, ours are numbers
            check(lambda w: use(w, f), w, (name, place) in THEIR_OWN)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["Series", "Series of names", "DataArray", "pint", "astropy", "zarr", "pyarrow", "Unknown"]
)
def test_more_functions(name: str) -> None:
    f = OBJECTS[name]()
    for use in FUNCTIONS.values():
        check(lambda w: use(w, f), w)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INDICES)
def test_an_index(name: str) -> None:
    index = INDICES[name]()
    for use in USES.values():
        check(lambda w: use(w, index), W[:3] if "mask" in name else W)


TAKEN = {
    "memmap", "recarray", "Unknown", "Series", "column", "Float64 Series", "Index", "extension array", "DataArray", "Variable",
    "pint", "pint metres", "astropy", "unyt", "Dask", "h5py", "zarr", "pyarrow", "pyarrow chunks", "torch", "poly1d",
}  # fmt: skip
ON_THE_LEFT = TAKEN - {"poly1d", "unyt"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(TAKEN))
def test_what_is_taken(name: str) -> None:
    f = OBJECTS[name]()
    for product in (lambda w: w * f, lambda w: f * w)[: 1 + (name in ON_THE_LEFT)]:
        np.testing.assert_array_equal(jacobian(product)(w), np.diag(F))
        np.testing.assert_array_equal(jvp(product, (w,), (w,))[1], F * w)


REFUSED = {
    "Series of labels": r"Series of pandas whose index is not 0, 1, 2, .*Write x\.to_numpy\(\)",
    "DataFrame": r"DataFrame of pandas, whose methods go column by column.*Write x\.to_numpy\(\)",
    "astropy metres": r"Quantity of astropy with the unit m, which would be lost. Write x\.to_value\('m'\)",
    "unyt metres": r"unyt_array of unyt with the unit m, which would be lost. Write x\.to_value\('m'\)",
    "astropy unit": r"of astropy, which is no array of numbers",
    "SciPy sparse": r"a sparse matrix. Write x\.toarray\(\)",
    "Polynomial": r"Polynomial of numpy, whose operators .*Write x\(w\) for its values",
    "Doubling": r"Doubling of tests, which computes otherwise than an ndarray. Write np\.asarray\(x\)",
    "ragged": r"an Array of awkward, which np\.asarray\(x\) makes no array of",
    "matrix": r"np\.matrix.* Write np\.asarray\(x\), and @",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_beside_a_tracer(name: str) -> None:
    f = OBJECTS[name]()

    def product(w):
        return w * f

    for run in (jacobian(product), lambda w: jvp(product, (w,), (w,)), lambda w: vmap(product)(w[None])):
        with pytest.raises(
            NonDifferentiableError, match="beside a tracer, at test_objects.py, line .*" + REFUSED[name]
        ):
            run(w)


LOSING_METHODS = [
    "Series",
    "DataFrame",
    "DataArray",
    "pint",
    "astropy metres",
    "polars",
    "awkward",
    "matrix",
    "SciPy sparse",
]


@pytest.mark.parametrize("name", LOSING_METHODS)
def test_as_an_argument(name: str) -> None:
    with pytest.raises(NonDifferentiableError, match=r"grad: argument 0 is .*Write "):
        grad(np.sum)(OBJECTS[name]())


@pytest.mark.parametrize("name", ["memmap", "h5py", "zarr", "torch", "astropy"])
def test_as_an_argument_that_is_an_array(name: str) -> None:
    np.testing.assert_array_equal(grad(lambda x: np.sum(x * x))(OBJECTS[name]()), 2 * F)
    np.testing.assert_array_equal(vmap(lambda x: x * x)(OBJECTS[name]()), F * F)


# ---- outputs that hold a tracer --------------------------------------------------------------------------------------


class Box:
    def __init__(self, content: Any) -> None:
        self.content = content

    def method(self) -> Any:
        return self.content


HIDING = {
    "a box": Box,
    "a list in a box": lambda x: Box([1, x]),
    "a closure": lambda x: lambda: x,
    "a default": lambda x: lambda y=x: y,
    "a bound method": lambda x: Box(x).method,
    "a generator": lambda x: (x for _ in [x]),
    "an iterator": lambda x: map(abs, [x]),
    "an error": lambda x: ValueError(x),
    "a mapping": lambda x: MappingProxyType({"a": x}),
    "a record": lambda x: np.array([(Box(x), 1.0)], dtype=[("a", object), ("b", float)]),
    "a partial": lambda x: functools.partial(np.add, x),
    "a set": lambda x: {1, (2, Box(x))},
    "an object array": lambda x: np.frompyfunc(lambda i: x[int(i)], 1, 1)(np.arange(2)),
}


@pytest.mark.parametrize("hiding", HIDING.values(), ids=HIDING)
def test_no_transform_hands_out_a_live_tracer(hiding: Any) -> None:
    for transform in (grad, value_and_grad, jacobian):
        with pytest.raises(OutputError, match=r"holds? (a )?tracer"):
            transform(lambda x: (np.sum(x), hiding(x)), has_aux=True)(w)
    for run in (lambda f: vjp(f, w, has_aux=True), lambda f: jvp(f, (w,), (w,), has_aux=True)):
        with pytest.raises(OutputError, match=r"holds? (a )?tracer"):
            run(lambda x: (x * x, {"aux": hiding(x)}))
        with pytest.raises(OutputError, match=r"holds? (a )?tracer|among its outputs"):
            run(lambda x: (hiding(x), 0))


def test_no_table_hands_out_a_live_tracer() -> None:
    pd = pytest.importorskip("pandas")
    for table in (pd.Series, pd.Index, lambda x: pd.DataFrame({"a": x})):
        with pytest.raises(OutputError, match=r"tracer"):
            grad(lambda x: (np.sum(x), table([x[0], x[1]])), has_aux=True)(w)


def test_tracers_of_outer_transforms_may_be_in_a_box() -> None:
    def g(x):
        (_, box), slope = value_and_grad(lambda y: (y * y, Box(x)), has_aux=True)(2.0)
        return box.content * slope

    assert grad(g)(3.0) == 4.0


def test_a_tracer_that_has_escaped_is_no_output() -> None:
    kept: list[Any] = []
    grad(lambda x: (kept.append(x), x * x)[1])(2.0)
    for run in (
        grad,
        value_and_grad,
        lambda f: lambda x: vjp(f, x),
        lambda f: lambda x: jvp(f, (x,), (x,)),
        jacobian,
    ):
        with pytest.raises(EscapedTracerError, match=r"the output at .* has already returned"):
            run(lambda x: kept[0])(2.0)
    with pytest.raises(EscapedTracerError):
        value_and_grad(lambda x: (x, kept[0]), has_aux=True)(2.0)


def test_functions_of_pandas_are_named() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.outer(F, F))
    with pytest.raises(
        TracerConversionError, match=r"^DataFrame\.__matmul__ of pandas at test_objects.py.*a\.to_numpy\(\)"
    ):
        grad(lambda w: np.sum(table @ w))(w)
    np.testing.assert_allclose(grad(lambda w: np.sum(np.dot(table, w)))(w), table.to_numpy().sum(0))


def test_functions_of_dask_refuse_what_they_would_lose() -> None:
    da = pytest.importorskip("dask.array")
    x = da.from_array(F, chunks=2)
    functions = {
        "sum": lambda w: da.sum(x * w),
        "dot": lambda w: x.dot(w),
        "map_blocks": lambda w: da.map_blocks(lambda b: b * w[0], x).sum(),
        "beside": lambda w: np.sum(w) * da.map_blocks(np.multiply, x, w[0]).sum(),
    }
    for f in functions.values():
        with pytest.raises(
            TracerConversionError, match=r"a function of Dask at test_objects.py, line .*np\.sum\(a \* x\)"
        ):
            grad(f)(w)
    assert numbers(grad(lambda w: np.sum(x * w))(w)).tolist() == F.tolist()
    seed = grad(lambda w: np.mean(x * w[0]))(w)
    assert hasattr(seed, "__dask_graph__"), (
        "the sweep begins with an array of Dask, not one as large as the data"
    )


def test_libraries_that_swallow_our_errors() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    calls = {
        "brentq": lambda w: optimize.brentq(lambda x: x - w[0], 0, 2),
        "minimize": lambda w: optimize.minimize(lambda x: (x[0] - w[0]) ** 2, [0.0]).fun,
        "fsolve": lambda w: optimize.fsolve(lambda x: x - w[0], [1.0])[0],
    }
    for name, f in calls.items():
        message = rf"scipy\.optimize\.{name} at test_objects.py, .*Write funcgrad\.scipy\.optimize\.{name} \(or funcgrad\.root"
        with pytest.raises(TracerConversionError, match=message):
            grad(f)(w)


def test_an_error_of_ones_own_in_a_callback_is_kept() -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def f(w):
        return optimize.brentq(lambda x: int("no number"), 0, 2) * w[0]

    with pytest.raises(ValueError, match="invalid literal"):
        grad(f)(w)


CRASHING = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
from fractions import Fraction
from funcgrad import grad, vmap
from tests.interop.objects import OBJECTS, PLACES
for n in range(50): np.full(40 + n, 7.7)  # what the allocator hands out again is not zero
w = np.ones((2, 3))
objects = [np.array([1.5, 0.5, 2.0], dtype=object), [Fraction(1, 3), 2, 5], np.array([[1, None], [2, "a"]], dtype=object)]
makers = [np.asarray, np.array, np.full_like, np.asanyarray, np.copyto, np.stack, np.broadcast_to, np.repeat, np.take, np.where]
for _ in range(4):
    for a in objects:
        for make in makers:
            for call in (lambda v: make(a, like=v), lambda v: make(v, a), lambda v: make(a, v), lambda v: make(v > 0, a, v)):
                try: vmap(lambda v: call(v) * v)(w)
                except Exception: pass
                try: grad(lambda v: np.sum(call(v) * v))(w[0])
                except Exception: pass
for name in ("awkward", "ragged", "pyarrow", "polars", "zarr"):
    try: a = OBJECTS[name]()
    except BaseException: continue
    for use in PLACES.values():
        try: grad(lambda v: use(v, a))(w[0])
        except Exception: pass
print("survived")
"""


def test_nothing_ends_the_interpreter() -> None:
    run = subprocess.run(
        [sys.executable, "-c", CRASHING], capture_output=True, text=True, timeout=100, check=False
    )
    assert run.stdout.strip().endswith("survived"), run.stderr[-2000:]
