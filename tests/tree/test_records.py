"""Dataclasses, attrs classes and SimpleNamespace are containers as they stand."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jvp, tree, value_and_grad, vmap
from funcgrad.errors import NonDifferentiableError


class Kind(Enum):
    RELU = 1


@dataclass
class Plain:
    w: Any
    b: Any = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    w: Any
    b: Any = 1.0
    depth: int = field(default=3, metadata={"static": True})
    name: str = "relu"
    kind: Kind = Kind.RELU
    activation: Callable[[Any], Any] = np.sin.__class__  # a class is a setting, too


@dataclass
class Derived:
    w: Any
    square: Any = field(init=False)

    def __post_init__(self) -> None:
        self.square = self.w * self.w


class Child(Plain):
    pass


def of_attrs(frozen: bool) -> Any:
    attrs = pytest.importorskip("attrs", reason="attrs is not installed")
    return attrs.make_class("Attrs", {"w": attrs.field(), "_b": attrs.field(default=1.0)}, frozen=frozen)


def loss(p: Any) -> Any:
    return np.sum(p.w**3) * getattr(p, "b", 2.0)


@pytest.mark.parametrize(
    "make",
    [Plain, lambda w: Frozen(w=w), Derived, Child, lambda w: SimpleNamespace(w=w, b=1.0)],
    ids=lambda m: m.__name__,
)
def test_they_are_differentiated(make: Any) -> None:
    w = np.array([1.0, 2.0])
    p = make(w)
    slope = grad(loss)(p)
    factor = getattr(p, "b", 2.0)
    assert type(slope) is type(p)
    np.testing.assert_allclose(slope.w, 3 * w**2 * factor)
    np.testing.assert_allclose(value_and_grad(loss)(p)[1].w, slope.w)
    np.testing.assert_allclose(
        jvp(loss, (p,), (tree.map(np.ones_like, p),))[1], sum(map(np.sum, tree.leaves(slope)))
    )
    np.testing.assert_allclose(hessian(loss)(p).w.w, np.diag(6 * w * factor))
    np.testing.assert_allclose(
        vmap(loss, (tree.map(lambda x: 0 if np.ndim(x) else None, p),))(p), w**3 * factor
    )


@pytest.mark.parametrize("frozen", [False, True])
def test_attrs_classes(frozen: bool) -> None:
    made = of_attrs(frozen)(np.array([1.0, 2.0]))
    slope = grad(lambda p: np.sum(p.w**2) * p._b)(made)
    assert type(slope) is type(made)
    np.testing.assert_allclose(slope.w, 2 * made.w)
    np.testing.assert_allclose(slope._b, 5)


def test_settings_travel_along() -> None:
    p = Frozen(w=1.0, depth=5, name="tanh")
    assert tree.leaves(p) == [1.0, 1.0]
    assert tree.map(lambda x: x + 1, p) == Frozen(w=2.0, b=2.0, depth=5, name="tanh")
    assert tree.structure(p) != tree.structure(Frozen(w=1.0, depth=4))
    assert repr(tree.structure(Plain(1, [2]))) == "Plain(w=*, b=[*])"
    assert tree.structure(p).node_type is Frozen
    assert pickle.loads(pickle.dumps(tree.structure(Plain(1)))) == tree.structure(Plain(2))


def test_what_the_constructor_derives_is_derived_anew() -> None:
    assert grad(lambda p: p.square)(Derived(3.0)) == Derived(6.0)


@dataclass
class TakesMore:
    w: Any
    seed: InitVar[int] = 0


@dataclass(init=False)
class OwnConstructor:
    w: Any

    def __init__(self, text: str) -> None:
        self.w = float(text)


@pytest.mark.parametrize("x", [TakesMore(1.0), OwnConstructor("1.5"), object()])
def test_what_cannot_be_rebuilt_is_refused_with_what_to_write(x: Any) -> None:
    with pytest.raises(NonDifferentiableError, match=r"tree\.register_node or register_dataclass"):
        grad(lambda p: p.w)(x)
