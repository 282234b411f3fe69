"""Objects that are no arrays, watched in boxes of a class of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.compat.autograd as autograd
from funcgrad.compat.autograd.core import make_jvp, make_vjp
from funcgrad.compat.autograd.extend import Box, VSpace, defjvp, defvjp, primitive, vspace
from funcgrad.compat.autograd.tracer import getval, isbox


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Any) -> Any:
        return add(self, other)


class PointSpace(VSpace):
    """As programs write it: no more than what they need."""

    def zeros(self) -> Any:
        return Point(0.0, 0.0)

    def _add(self, x: Any, y: Any) -> Any:
        return Point(x.x + y.x, x.y + y.y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return Point(x.x * a, x.y * a)


point, first, second = primitive(Point), primitive(lambda p: p.x), primitive(lambda p: p.y)
add = primitive(lambda p, q: Point(p.x + q.x, p.y + q.y))
defvjp(point, lambda ans, x, y: lambda g: first(g), lambda ans, x, y: lambda g: second(g))
defvjp(first, lambda ans, p: lambda g: point(g, 0.0 * g))
defvjp(second, lambda ans, p: lambda g: point(0.0 * g, g))
defvjp(add, lambda ans, p, q: lambda g: g, lambda ans, p, q: lambda g: g)
defjvp(point, lambda g, ans, x, y: point(g, 0.0 * g), lambda g, ans, x, y: point(0.0 * g, g))
defjvp(first, "same")
defjvp(second, "same")
defjvp(add, lambda g, ans, p, q: g, lambda g, ans, p, q: g)


class PointBox(Box):
    __slots__ = ()
    x, y = property(first), property(second)

    def __add__(self, other: Any) -> Any:
        return add(self, other)


PointBox.register(Point)
PointSpace.register(Point)
P = Point(1.0, 3.0)


def energy(p: Any) -> Any:
    return p.x**3 * p.y


def pair(p: Any) -> tuple[float, float]:
    assert type(p) is Point
    return float(p.x), float(p.y)


def test_gradients_are_objects_of_the_class() -> None:
    grad = autograd.grad
    assert pair(grad(energy)(P)) == (9.0, 1.0)
    assert pair(grad(lambda p: energy(p + p))(P)) == (144.0, 16.0)  # two ways to one object
    assert pair(grad(lambda p: energy(p + Point(1.0, 0.0)) * np.exp(p.x))(P)) == pytest.approx(
        (60 * np.e, 8 * np.e)
    )
    with pytest.warns(UserWarning, match="independent"):
        assert pair(grad(lambda p: 2.0)(P)) == (0.0, 0.0)


def test_they_lie_in_containers_and_come_out_of_primitives() -> None:
    found = autograd.grad(lambda d: energy(d["p"]) * d["a"])({"p": P, "a": 2.0})
    assert pair(found["p"]) == (18.0, 2.0)
    assert found["a"] == 3.0
    pull, out = make_vjp(lambda a: point(a, a**2), 3.0)
    assert pair(out) == (3.0, 9.0)
    assert pull(Point(1.0, 2.0)) == 13.0
    assert pair(make_vjp(lambda p: p + p, P)[0](Point(1.0, 2.0))) == (2.0, 4.0)


def test_derivatives_of_any_order_in_both_modes() -> None:
    # energy(point(a, a**2)) = a**5
    composed = lambda a: energy(point(a, a**2))
    assert autograd.grad(composed)(2.0) == 80.0
    assert autograd.grad(autograd.grad(composed))(2.0) == 160.0
    # the slope of the energy in x, 3 x**2 y, at (a, a)
    inner = lambda a: autograd.grad(energy)(point(a, a)).x
    assert autograd.grad(inner)(2.0) == 36.0
    assert make_jvp(composed, 2.0)(1.0) == (32.0, 80.0)
    assert make_jvp(energy, P)(Point(1.0, 2.0)) == (3.0, 11.0)


def test_what_the_program_sees_is_a_box() -> None:
    def looked_at(p: Any) -> Any:
        assert type(p) is PointBox
        assert isbox(p)
        assert isinstance(p, Box)
        assert getval(p) is P
        assert p._value is P
        assert p._node is not None
        assert type(vspace(p)) is PointSpace
        return p.x

    assert pair(autograd.grad(looked_at)(P)) == (1.0, 0.0)
    assert not isbox(P)


def test_a_class_without_a_space_is_refused_where_one_is_needed() -> None:
    class Lonely:
        pass

    class LonelyBox(Box):
        pass

    LonelyBox.register(Lonely)
    content = primitive(lambda x: 2.0)
    defvjp(content, lambda ans, x: lambda g: Lonely())
    assert type(autograd.grad(content)(Lonely())) is Lonely
    with pytest.raises(TypeError, match="objects of Lonely"):
        autograd.grad(lambda x: content(x) + content(x))(Lonely())


def test_names_of_extend_are_in_builtins_too() -> None:
    from funcgrad.compat.autograd import builtins, extend
    from funcgrad.compat.autograd.numpy import numpy_jvps, numpy_vjps

    assert builtins.primitive is extend.primitive
    assert builtins.Box is Box
    assert numpy_jvps.untake is numpy_vjps.untake
    with pytest.raises(AttributeError, match="no attribute 'primitives'"):
        builtins.primitives  # noqa: B018
