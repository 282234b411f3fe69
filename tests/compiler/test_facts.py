"""All that a compiled function can see is watched, or makes it run eagerly; and arguments may share memory."""

from __future__ import annotations

import array
import collections
import contextvars
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from funcgrad import jit
from funcgrad.compiler import facts
from funcgrad.compiler.facts import Content
from funcgrad.compiler.overlaps import own_copies
from funcgrad.errors import CompileWarning, ImpureFunctionError
from tests.compiler.agreement import assert_same, is_compiled

X = np.array([1.0, 2.0, 3.0])
SCALE = 1.0
GENERATOR, RANDOM = np.random.default_rng(0), random.Random(0)
Change = Callable[[float], Any]


def _set_scale(v: float) -> None:
    global SCALE
    SCALE = v


class Pair:
    kind = 1.0

    def __init__(self) -> None:
        self.w = 1.0


class Other(Pair):
    kind = 7.0


def _functions() -> Iterator[tuple[str, Any, Change]]:
    def attribute(x):
        return x * attribute.k

    attribute.k = 1.0
    yield "a function's attribute", attribute, lambda v: setattr(attribute, "k", v)

    def default(x, s=1.0):
        return x * s

    yield "defaults", default, lambda v: setattr(default, "__defaults__", (v,))

    def keyword(x, *, s=1.0):
        return x * s

    yield "keyword defaults", keyword, lambda v: setattr(keyword, "__kwdefaults__", {"s": v})

    def one(x):
        return x * 1.0

    def two(x):
        return x * 2.0

    yield (
        "code of a function that is called",
        lambda x: one(x),
        lambda v: setattr(one, "__code__", two.__code__),
    )
    yield "globals()", lambda x: x * globals()["SCALE"], _set_scale
    yield "eval", lambda x: x * eval("SCALE"), _set_scale
    vectorised = types.SimpleNamespace(k=1.0)
    asked = np.vectorize(lambda: vectorised.k)
    yield (
        "numpy.vectorize",
        lambda x: x * asked(),
        (lambda v: setattr(vectorised, "k", v)),
    )


def _objects() -> Iterator[tuple[str, Any, Change]]:
    pair, shadowed, names = Pair(), Pair(), Pair()
    yield "another class", lambda x: x * pair.kind, lambda v: setattr(pair, "__class__", Other)
    yield (
        "an attribute in front of the class's",
        lambda x: x * shadowed.kind,
        (lambda v: setattr(shadowed, "kind", v)),
    )
    yield "a name put together", lambda x: x * getattr(names, "".join("w")), lambda v: setattr(names, "w", v)
    variable = contextvars.ContextVar("variable", default=1.0)
    yield "a context variable", lambda x: x * variable.get(), variable.set
    config: dict[str, float] = {}
    yield "a key that was not there", lambda x: x * config.get("rate", 1.0), lambda v: config.update(rate=v)


def _data() -> Iterator[tuple[str, Any, Change]]:
    for name, held in {
        "bytearray": bytearray([1, 2]),
        "array.array": array.array("d", [1.0]),
        "memoryview": memoryview(bytearray(2)),
        "UserDict": collections.UserDict({0: 1.0}),
        "UserList": collections.UserList([1.0]),
        "ChainMap": collections.ChainMap({0: 1.0}),
        "matrix": np.matrix([[1.0], [2.0]]),
        "masked array": np.ma.array([1.0, 2.0], mask=[False, True]),
        "large array": np.ones(20_000),
    }.items():
        is_whole = name in ("bytearray", "memoryview")
        yield (
            name,
            lambda x, held=held: x * float(np.ravel(held[0])[0]),
            lambda v, held=held, is_whole=is_whole: held.__setitem__(0, int(v) if is_whole else v),
        )
    inner = {"a": 1.0}
    yield (
        "mappingproxy",
        lambda x, held=types.MappingProxyType(inner): x * held["a"],
        (lambda v: inner.update(a=v)),
    )
    objects, within = np.empty(1, object), [1.0]
    objects[0] = within
    yield "a list in an array", lambda x: x * objects[0][0], lambda v: within.__setitem__(0, v)
    mask = np.ma.array([1.0, 5.0], mask=[False, True])
    yield "a mask", lambda x: x * float(mask.sum()), lambda v: np.ma.getmaskarray(mask).__setitem__(1, False)
    polynomial = np.poly1d([1.0, 0.0])
    yield "poly1d", lambda x: x * polynomial(1.0), lambda v: polynomial.coeffs.__setitem__(0, v)


SEEN = {name: (fun, change) for name, fun, change in (*_functions(), *_objects(), *_data())}


@pytest.mark.parametrize("how", SEEN)
def test_it_is_watched(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(facts, "LARGE", 1 << 16)
    fun, change = SEEN[how]
    compiled = jit(fun)
    try:
        before = fun(X)
        for _ in range(3):
            assert_same(compiled(X), before)
        change(6.0)
        assert not np.array_equal(fun(X), before)
        for _ in range(3):
            assert_same(compiled(X), fun(X))
        assert is_compiled(compiled)
    finally:
        _set_scale(1.0)


def test_modules_that_are_imported_as_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = types.ModuleType("settings_of_a_user")
    monkeypatch.setitem(sys.modules, settings.__name__, settings)
    monkeypatch.setenv("RATE_OF_A_USER", "1.5")

    def fun(x):
        import os

        from settings_of_a_user import rate  # pyright: ignore[reportMissingImports]

        return x * rate * float(os.environ["RATE_OF_A_USER"])

    compiled = jit(fun)
    for rate, variable in ((2.0, "1.5"), (3.0, "1.5"), (3.0, "4")):
        settings.rate = rate
        monkeypatch.setenv("RATE_OF_A_USER", variable)
        for _ in range(3):
            assert_same(compiled(X), X * rate * float(variable))


def test_a_library_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(lambda x: x * np.pi)
    for value in (3.0, 4.0):
        monkeypatch.setattr(np, "pi", value)
        for _ in range(3):
            assert_same(compiled(X), X * value)


class _Opaque:
    """Numbers where nobody can look for them, as in objects of extensions."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(3)


@pytest.mark.parametrize(
    ("held", "message"),
    [(iter([1.0] * 20), "takes something from"), (_Opaque(), "into which nobody can look")],
    ids=["iterator", "opaque"],
)
def test_what_can_not_be_watched_makes_it_run_eagerly(held: Any, message: str) -> None:
    def fun(x):
        return x * (next(held) if hasattr(held, "__next__") else np.asarray(held))

    compiled = jit(fun)
    with pytest.warns(CompileWarning, match=message):
        assert_same(compiled(X), X)
    assert_same(compiled(X), X)


# ---- static arguments ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Config:
    rate: float


@pytest.mark.parametrize(
    "values",
    [((1,), (1.0,), (True,)), (0.0, -0.0), (Config(1), Config(1.0))],
    ids=["tuples", "zeros", "data"],
)
def test_static_arguments_that_are_equal_but_not_the_same(values: Any) -> None:
    def fun(x, v):
        return x * (v[0] if isinstance(v, tuple) else v.rate if isinstance(v, Config) else v)

    x, compiled = np.arange(3), jit(fun, static_argnums=1)
    for _ in range(3):
        for v in values:
            assert_same(compiled(x, v), fun(x, v))
            assert np.array_equal(np.signbit(compiled(x, v)), np.signbit(fun(x, v)))


def test_a_static_argument_is_watched() -> None:
    pair, compiled = Pair(), jit(lambda pair, x: x * pair.w)
    for w in (1.0, 3.0, 2.0):
        pair.w = w
        for _ in range(3):
            assert_same(compiled(pair, X), X * w)


# ---- random numbers ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.randint(2),  # noqa: NPY002
        lambda: random.choice([0, 1]),
        lambda: GENERATOR.integers(2),
        lambda: RANDOM.choice([0, 1]),
    ],
    ids=["np.random", "random", "Generator", "Random"],
)
def test_random_numbers_that_are_equal_by_chance_are_caught(draw: Any) -> None:
    for _ in range(8):
        compiled = jit(lambda x: x * draw())
        compiled(X)
        for _ in range(2):
            with pytest.raises(ImpureFunctionError):
                compiled(X)


def test_random_numbers_with_a_seed_are_none() -> None:
    def fun(x):
        return x * np.random.default_rng(3).normal()

    def seeded(x):
        np.random.seed(3)  # noqa: NPY002
        return x * np.random.normal()  # noqa: NPY002

    state = np.random.get_state()  # noqa: NPY002
    for f in (fun, seeded):
        compiled = jit(f)
        for _ in range(4):
            assert_same(compiled(X), f(X))
        assert is_compiled(compiled)
    np.random.set_state(state)  # noqa: NPY002


# ---- arguments that share memory -----------------------------------------------------------------------------------------
def _writes() -> dict[str, Callable[[Any, Any], Any]]:
    def item(x, y):
        x[0] = 5.0
        return x.sum() * y

    def out(x, y):
        np.multiply(x, 2.0, out=x)
        return y * 1.0

    def whole(x, y):
        x[...] = y[::-1] * 2
        return x + y

    def view(x, y):
        v = x[1:]
        v += 1
        return x * y

    return {f.__name__: f for f in (item, out, whole, view)}


@pytest.mark.parametrize("how", _writes())
@pytest.mark.parametrize(
    "other", [lambda a: a, lambda a: a[::-1], lambda a: a.copy()], ids=["same", "view", "own"]
)
def test_arguments_that_share_memory(how: str, other: Callable[[Any], Any]) -> None:
    fun = _writes()[how]
    compiled = jit(fun)
    for _ in range(4):
        expected, found = X.copy(), X.copy()
        assert_same(compiled(found, other(found)), fun(expected, other(expected)))
        assert np.array_equal(found, X)  # it is the caller's
        assert_same(compiled(X, X * 2), fun(X.copy(), X * 2))


def test_an_argument_that_is_closed_over() -> None:
    buffer = X.copy()

    def fun(x):
        x[0] = 5.0
        return x * buffer[0]

    compiled = jit(fun)
    for _ in range(3):
        buffer[:] = X
        assert_same(compiled(buffer), np.array([25.0, 10.0, 15.0]))
        assert_same(compiled(X), np.array([5.0, 2.0, 3.0]) * buffer[0])


def test_copies_share_what_their_arrays_share() -> None:
    base = np.arange(12.0).reshape(3, 4)
    given = [base[0], base[:, ::-2], 3, np.ones(2), base.T, np.empty(0)]
    made = own_copies(given)
    for x, y in zip(given, made, strict=True):
        assert np.array_equal(x, y)
        assert np.shape(x) == np.shape(y)
        assert not isinstance(x, np.ndarray) or not np.may_share_memory(x, y)
    made[0][3] = 77.0
    assert made[1][0, 0] == made[4][3, 0] == 77.0
    assert base.max() == 11.0


@pytest.mark.parametrize("shape", [(), (3,), (200, 100), (100, 200, 3), (20_001,)])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("large", [1 << 14, 1 << 30])
def test_content_is_compared_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], turned: bool, large: int
) -> None:
    monkeypatch.setattr(facts, "LARGE", large)
    x = np.zeros(shape)
    x = x[..., ::2].T if turned and shape else x
    content = Content(x)
    assert content.is_in(x)
    assert turned or content.is_in(x.copy())
    last = tuple(n - 1 for n in x.shape)
    for value in (-0.0, np.nan, 5e-324):
        x[last] = value
        assert not content.is_in(x)
    x[last] = 0.0
    assert content.is_in(x)
    assert not content.is_in(x.astype(np.float32))
    assert not content.is_in(x[None])
