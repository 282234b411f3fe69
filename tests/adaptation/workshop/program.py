# ruff: noqa
"""A program of somebody's, for plain NumPy and math: what `adapt` must follow. Tests: test_adapt.py.

Each public function is of one number, and has a derivative at 0.7.
"""

from __future__ import annotations

import abc
import asyncio
import cmath
import contextlib
import dataclasses
import enum
import functools
import math
import statistics
from collections.abc import Callable, Iterator
from math import sin
from typing import Any, NamedTuple

import numpy as np
from numpy import array

from workshop import helpers

calls = 0
STATE = {"last": None}
RNG = np.random.default_rng(0)


# ---- functions -------------------------------------------------------------------------------------------------------
def filled(x: float) -> Any:
    y = np.zeros(3)
    for i in range(3):
        y[i] = sin(i * x)
    return np.sum(y * array([x, 2 * x, 1.0]))


def helper(x: float, power: float = 2.0, *, scale: Callable[[float], float] = math.exp) -> Any:
    return scale(x) ** power


def calls_helpers(x: float) -> Any:
    return helper(x) + helpers.squares(x) + helpers.from_helper(x)


def recursive(x: float, n: int = 4) -> Any:
    return float(x) if n == 0 else math.sin(x) * recursive(x, n - 1)


def odd(x: float, n: int = 3) -> Any:
    return x if n == 0 else math.cos(even(x, n - 1))


def even(x: float, n: int = 2) -> Any:
    return x if n == 0 else odd(x, n - 1) + 1


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return 2 * function(*args)

    return call


@doubled
def decorated(x: float) -> Any:
    return math.cos(x)


@contextlib.contextmanager
def opened(x: float) -> Iterator[Any]:
    yield math.sqrt(x)


def in_context(x: float) -> Any:
    with opened(x) as root:
        return root * x


cubed = functools.partial(helper, power=3.0)
TABLE: dict[str, Any] = {"helper": helper, "tanh": np.tanh, "cubed": cubed}
STEPS = [helper, np.sinh]


def from_containers(x: float) -> Any:
    return sum(f(x) for f in TABLE.values()) + STEPS[0](x) * STEPS[1](x)


@functools.lru_cache(maxsize=None)
def grid(n: int) -> Any:
    return np.arange(n) * 0.5


@functools.lru_cache
def cached(x: float) -> Any:
    return math.log(x)


def with_caches(x: float) -> Any:
    @functools.cache
    def steps(n: int) -> Any:
        return 1.0 if n == 0 else x * steps(n - 1)

    return np.sum(grid(4) * x) + cached(x) + steps(5)


@functools.singledispatch
def kind(x: Any) -> Any:
    return 1000 * x


@kind.register
def _(x: float) -> Any:
    return math.atan(x)


def dispatched(x: float) -> Any:
    return kind(x)


def counting(start: float) -> Iterator[float]:
    value = start
    while True:
        yield value
        value = math.sin(value)


def generators(x: float) -> Any:
    source = counting(x)
    return sum(next(source) for _ in range(4)) + sum(math.exp(k * x) for k in range(3))


async def later(x: float) -> Any:
    await asyncio.sleep(0)
    return math.tan(x)


def asynchronous(x: float) -> Any:
    return asyncio.run(later(x))


def lambdas(x: float) -> Any:
    return (
        (lambda u: math.sqrt(u))(x)
        + max([x, 2 * x], key=lambda v: -math.exp(v))
        + [*map(math.sin, [x, 1.0])][0]
    )


def closures(x: float) -> Any:
    total = 0.0

    def add(v: float) -> None:
        nonlocal total
        total += math.sin(v)

    for k in range(3):
        add(k * x)
    return total


def imports_inside(x: float) -> Any:
    import numpy as numerics
    from math import tan

    from workshop.helpers import squares

    y = numerics.zeros(2)
    y[0] = tan(x)
    return y.sum() + squares(x)


def writes_its_module(x: float) -> Any:
    global calls
    calls += 1
    before = calls
    globals()["seen"] = before
    STATE["last"] = before
    return x * (globals()["seen"] == calls)


def evaluates(x: float) -> Any:
    local = 2.0
    return eval("math.sin(local * x)") + globals()["helper"](x)


def complex_numbers(x: float) -> Any:
    z = complex(x, 1.0) + complex(x)
    return abs(cmath.exp(1j * z)) + z.real + float(np.real(z))


def numbers(x: float) -> Any:
    parts = [
        abs(-x),
        round(x, 3) * 0,
        divmod(x, 0.2)[1],
        pow(x, 2),
        sorted([3 * x, x])[0],
        max(x, 0.1),
        min(x, 5.0),
    ]
    return (
        sum(parts)
        + int(x * 11) * x
        + math.floor(12 * x) * x
        + np.float64(x)
        + np.float32(1.0)
        + int(np.int64(9 * x)) * x
    )


def samples(x: float) -> Any:
    return (
        statistics.mean([x, 2 * x, 3.0])
        + statistics.stdev([x, x * x, 1.0])
        + statistics.fmean(k * x for k in range(3))
    )


def random_numbers(x: float) -> Any:
    rng = np.random.default_rng(4)
    np.random.seed(3)
    noise = rng.normal(x, 0.1, 3)
    noise[0] = x * x
    walk = np.random.randn(4)
    walk[1:] += x
    return noise.sum() * walk.sum() + np.random.uniform(0, x)


def questions(x: float) -> Any:
    a = np.array([x, 1.0])
    answers = [
        isinstance(x, float), isinstance(x, (int, float)), not isinstance(x, np.ndarray), np.isscalar(x),
        type(x) is float, type(a) is np.ndarray, type(a) == np.ndarray, isinstance(a, np.ndarray), not isinstance(a, float),
        {float: True}[type(x)], issubclass(type(a), np.ndarray), not hasattr(x, "__len__"), hasattr(a, "__len__"),
        isinstance(a.sum(), np.floating), isinstance(math.sin(x), float), not isinstance(x, str), isinstance(float, type),
        np.dtype(float) == np.float64, np.zeros(2, dtype=float).dtype == float, type(2.0) is float, type(1) is int,
    ]  # fmt: skip
    assert all(answers), answers
    match x:
        case float():
            return float(x) * sum(answers)
        case _:
            return 0 * x


# ---- classes ---------------------------------------------------------------------------------------------------------
class Shape(abc.ABC):
    made = 0
    registry: list[str] = []

    def __init__(self, size: float) -> None:
        self.size = size
        Shape.made += 1

    def __init_subclass__(cls) -> None:
        Shape.registry.append(cls.__name__)

    @abc.abstractmethod
    def area(self) -> Any: ...

    def report(self) -> Any:
        return math.log(self.area())


class Circle(Shape):
    def area(self) -> Any:
        return math.pi * self.size**2


class Ring(Circle):
    def __init__(self, size: float, hole: float = 0.1) -> None:
        super().__init__(size)
        self.hole = hole

    def area(self) -> Any:
        return super().area() - math.pi * self.hole**2


def inherits(x: float) -> Any:
    ring = Ring(x)
    assert isinstance(ring, Circle)
    assert isinstance(ring, Shape)
    assert type(ring) is Ring
    return ring.report() + Circle(x).area()


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Any) -> Vector:
        return type(self)(self.x + other.x, self.y + other.y) if isinstance(other, Vector) else NotImplemented

    @property
    def length(self) -> Any:
        return math.hypot(self.x, self.y)

    @classmethod
    def around(cls, angle: float) -> Vector:
        return cls(math.cos(angle), math.sin(angle))

    @staticmethod
    def diagonal(x: float) -> Vector:
        return Vector(x, x)


def operators(x: float) -> Any:
    return (Vector.around(x) + Vector.diagonal(x)).length


@dataclasses.dataclass
class Chain:
    step: float
    state: Any = dataclasses.field(default_factory=lambda: np.zeros(2))

    def run(self, n: int) -> Any:
        for _ in range(n):
            self.state[1] = self.state[0]
            self.state[0] = math.sin(self.step) + self.state[1]
        return self.state.sum()

    @functools.cached_property
    def decay(self) -> Any:
        return math.exp(-self.step)


def dataclass(x: float) -> Any:
    chain = dataclasses.replace(Chain(1.0), step=x)
    return chain.run(3) * chain.decay + chain.decay


class Pair(NamedTuple):
    first: float
    second: float

    def product(self) -> Any:
        return math.sin(self.first) * self.second


def named_tuple(x: float) -> Any:
    return Pair(x, 2.0)._replace(second=x).product()


class Form(enum.Enum):
    DISC = 2
    BALL = 3

    def size(self, r: float) -> Any:
        return math.pi * math.pow(r, 2) if self is Form.DISC else 4 / 3 * math.pi * math.sqrt(r) ** 6

    @property
    def doubled(self) -> int:
        return 2 * self.value


class Amount:
    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value)


def enums_and_conversions(x: float) -> Any:
    assert Form(2) is Form.DISC
    return sum(form.size(x) * form.doubled for form in Form) + float(Amount(x * x))


class Layer:
    def __init__(self, weight: float, activation: Callable[..., Any]) -> None:
        self.weight, self.activation = weight, activation

    def __call__(self, x: Any) -> Any:
        out = np.empty(2)
        out[:] = self.activation(self.weight * x)
        return out.mean()


class Network:
    def __init__(self, *weights: float) -> None:
        self.layers = [Layer(w, helper) for w in weights]

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


NETWORK = Network(0.5, -0.3)
forward = NETWORK.forward


def objects_from_before(x: float) -> Any:
    return NETWORK.forward(x) + forward(x)


def class_inside(x: float) -> Any:
    class Local(Shape):
        scale: float = math.pi

        def area(self) -> Any:
            return math.exp(self.size) * self.scale

    return Local(x).report()


def ufuncs(x: float) -> Any:
    y = np.sqrt([1, 2, 4])
    y[1] = np.hypot.reduce([x, 2.0, x * x])
    np.add.at(y, [0, 0], x)
    return (
        np.square([x, 2 * x]).sum() * np.add.reduce([x, y[1]])
        + np.maximum(x, [0.1, 5.0]).sum()
        + np.outer(y, [x, 1]).sum()
    )


# ---- arrays from before ----------------------------------------------------------------------------------------------
DATA = np.array([[1.0, 2.0], [3.0, 4.0]])
COUNTS = np.array([1, 2, 3])


class Model:
    def __init__(self) -> None:
        self.start = np.array([1.0, 0.0])

    def run(self, x: float) -> Any:
        state = self.start.copy()
        state[1] = math.sin(x)
        return state.sum()


MODEL = Model()


def arrays_from_before(x: float) -> Any:
    a, b, c, d = DATA.copy(), COUNTS / 2, DATA[DATA > 1.5], np.exp(DATA)
    for y in (a, b, c, d):
        y[0] = x * x
    steps = (COUNTS > 1) * 1.0
    steps += x
    return sum(y.sum() for y in (a, b, c, d)) * steps.prod() + MODEL.run(x)


def make_closure() -> Callable[[float], Any]:
    weights, total = np.array([1.0, 2.0]), np.zeros(2)

    def weighted(x: float) -> Any:
        nonlocal total
        y = weights * 2
        y[0] = x
        total = total + 1
        return y.sum()

    weighted.total = lambda: total
    return weighted


weighted = make_closure()
