"""What a compiled function depends on beside its arguments: what it closes over, wherever code names it, and np.errstate."""

import collections
import types
from dataclasses import dataclass, field

import numpy as np
import pytest

from funcgrad import custom_jvp, custom_vjp, extend, grad, jit, value_and_grad
from funcgrad.errors import CompileWarning


class Base:
    factor = 2.0

    def __mul__(self, x):
        return x * self.w


class Model(Base):
    def __init__(self):
        self.w, self.power = np.ones(3), 1

    @property
    def twice(self):
        return 2 * self.w

    @staticmethod
    def scaled(x):
        return x * Base.factor

    def __call__(self, x):
        return np.sum(self.scaled(self.twice * x) ** self.power)


class Slots:
    __slots__ = ("w",)


@dataclass
class Data:
    w: np.ndarray = field(default_factory=lambda: np.ones(3))


def dot(model, x):
    return np.sum(model.w * x)


def _seen():
    """Functions of x that see `holder` in some way, and changes of it."""
    model, slots, data, outer = Model(), Slots(), Data(), types.SimpleNamespace()
    slots.w = np.ones(3)
    outer.inner, outer.call = Model(), lambda x: np.sum(x * outer.inner.w)

    def entry(holder):
        return lambda: holder.w.__setitem__(0, 7.0)

    def whole(holder):
        return lambda: setattr(holder, "w", np.array([1.0, 5.0, 2.0]))

    return {
        "attribute that only a called function names, an entry": (lambda x: dot(model, x), entry(model)),
        "attribute that only a called function names": (lambda x: dot(model, x), whole(model)),
        "attribute of a list's item": (
            lambda x, models=(model,): sum(dot(m, x) for m in models),
            whole(model),
        ),
        "attribute that a call names": (lambda x: model(x), lambda: setattr(model, "power", 3)),
        "attribute that a property names": (lambda x: np.sum(model.twice * x), whole(model)),
        "attribute that an operator names": (lambda x: np.sum(model * x), whole(model)),
        "attribute by its name as a string": (lambda x: np.sum(getattr(model, "w") * x), whole(model)),  # noqa: B009
        "all attributes": (lambda x: sum(np.sum(v * x) for v in vars(data).values()), whole(data)),
        "attribute of what was met before": (lambda x: outer.call(x), whole(outer.inner)),
        "slot, an entry": (lambda x: dot(slots, x), entry(slots)),
        "slot": (lambda x: dot(slots, x), whole(slots)),
    }


@pytest.mark.parametrize("how", _seen())
def test_what_an_object_holds_is_read_anew(how):
    fun, change = _seen()[how]
    _check_before_and_after(fun, change)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("factor", 5.0),
        ("scaled", staticmethod(lambda x: x * 3.0)),
        ("twice", property(lambda self: 9 * self.w)),
        ("__call__", lambda self, x: np.sum(x * 100.0)),
    ],
)
def test_what_a_class_holds_is_read_anew(monkeypatch, name, value):
    model = Model()
    holder = Base if name == "factor" else Model
    _check_before_and_after(lambda x: model(x), lambda: monkeypatch.setattr(holder, name, value))


Pair = collections.namedtuple("Pair", "w rest")


@pytest.mark.parametrize(
    ("holder", "change"),
    [
        (collections.deque([1.0]), lambda x: x.append(3.0)),
        ({1.0}, lambda x: x.add(3.0)),
        (Pair(1.0, [2.0]), lambda x: x.rest.append(3.0)),
        (collections.OrderedDict(w=1.0), lambda x: x.update(w=3.0)),
        (collections.defaultdict(list, w=[1.0]), lambda x: x["w"].append(3.0)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_a_container_holds_is_read_anew(holder, change):
    def fun(x):
        return np.sum(x) * sum(map(np.sum, holder.values() if isinstance(holder, dict) else holder))

    _check_before_and_after(fun, lambda: change(holder))


SLOPE = [np.full(3, 2.0)]  # named by nothing but rules


def _with_rules():
    pulled, pushed, each = (
        custom_vjp(lambda x: 2 * x),
        custom_jvp(lambda x: 2 * x),
        custom_jvp(lambda x: 2 * x),
    )
    pulled.defvjp(lambda x: (2 * x, None), lambda _, ct: (SLOPE[0] * ct,))
    pushed.defjvp(lambda primals, ts: (2 * primals[0], SLOPE[0] * ts[0]))
    each.defjvps(lambda t, out, x: SLOPE[0] * t)
    return {
        "custom_vjp": pulled,
        "custom_jvp": pushed,
        "defjvps": each,
        "elementwise": extend.elementwise(lambda x: 2 * x, lambda x: SLOPE[0]),
        "opaque, pull": extend.opaque(lambda x: 2 * x, pull=lambda ct, call: (SLOPE[0] * ct,)),
        "opaque, push": extend.opaque(lambda x: 2 * x, push=lambda t, call: SLOPE[0] * t[0]),
        "composite": extend.composite(lambda x: SLOPE[0] * x, lambda x: SLOPE[0] * x),
    }


@pytest.mark.parametrize("kind", _with_rules())
def test_what_a_rule_closes_over_is_read_anew(monkeypatch, kind):
    monkeypatch.setitem(globals(), "SLOPE", [np.full(3, 2.0)])
    fun = _with_rules()[kind]
    x = np.array([1.0, 2.0, 3.0])
    slope = grad(jit(lambda x: np.sum(fun(x))))
    for expected in (2.0, 5.0):
        SLOPE[0][1] = expected
        for _ in range(3):
            np.testing.assert_array_equal(slope(x), [2.0, expected, 2.0])


def _check_before_and_after(fun, change):
    x = np.array([1.0, 2.0, 3.0])
    value, slope, within = jit(fun), grad(jit(fun)), jit(fun)
    before = fun(x)
    for step in (None, change):
        if step is not None:
            step()
            assert fun(x) != before
        for _ in range(3):
            assert value(x) == fun(x)
            np.testing.assert_allclose(slope(x), grad(fun)(x), rtol=1e-14)
            np.testing.assert_allclose(grad(lambda x: 1.0 * within(x))(x), grad(fun)(x), rtol=1e-14)


def _log_or_triple(x):
    try:
        with np.errstate(all="raise"):
            out = np.log(x)
    except FloatingPointError:
        out = x * 3
    return np.sum(out)


def _roots_are_real(x):
    with np.errstate(invalid="raise"):
        try:
            np.sqrt(x)
        except FloatingPointError:
            return np.sum(x**3)
    return np.sum(x * x)


@pytest.mark.parametrize("fun", [_log_or_triple, _roots_are_real])
def test_errors_that_the_function_asks_for_are_raised(fun):
    """Also by a step whose result nobody needs, as the logarithm where the gradient alone is asked for."""
    x = np.array([1.0, 2.0, 3.0])
    value, both, slope, of_compiled = jit(fun), jit(value_and_grad(fun)), jit(grad(fun)), grad(jit(fun))
    for given in (x, x, -x, -x, x, -x):
        expected, ct = value_and_grad(fun)(given)
        assert value(given) == both(given)[0] == expected
        for found in (slope(given), of_compiled(given), both(given)[1]):
            np.testing.assert_allclose(found, ct, rtol=1e-14)


def test_who_writes_into_what_it_closes_over_is_not_compiled() -> None:
    counter, same = np.array([1.0, 2.0]), np.array([1.0, 2.0])

    def growing(x):
        counter[:] += 1
        return np.sum(x * counter)

    x, compiled = np.array([1.0, 3.0]), jit(growing)
    assert compiled(x) == np.sum(x * (same + 1))
    with pytest.warns(CompileWarning, match="writes into counter, an array that it closes over"):
        assert compiled(x) == np.sum(x * (same + 2))
    for k in range(3, 6):
        assert compiled(x) == np.sum(x * (same + k))


@pytest.mark.filterwarnings("error")
def test_a_buffer_that_is_filled_each_time_is_no_counter() -> None:
    buffer = np.empty(2)

    def filling(x):
        buffer[:] = 3
        return np.sum(x * buffer)

    compiled = jit(filling)
    for k in range(4):
        assert compiled(np.full(2, float(k))) == 6 * k
