"""extend.opaque: functions that are one step, of any arguments, keywords and outputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import extend
from funcgrad.errors import OutputError, RuleError

X = np.array([0.3, 0.5])


def sine(x: Any, thing: Any, *, scale: Any) -> Any:
    assert isinstance(thing, str)
    return {"value": np.sin(x) * scale, "how": thing, "count": 3}


def pull_sine(ct: Any, call: extend.Called) -> Any:
    assert ct["how"] is None
    x, scale = call.args[0], call.kwargs["scale"]
    return {0: ct["value"] * scale * np.cos(x), "scale": np.sum(ct["value"] * np.sin(x))}


def push_sine(t: Any, call: extend.Called) -> Any:
    x, scale = call.args[0], call.kwargs["scale"]
    assert set(t) == set(call.wanted)
    terms = [t[0] * scale * np.cos(x)] if 0 in t else []
    terms += [t["scale"] * np.sin(x)] if "scale" in t else []
    return {"value": sum(terms[1:], terms[0]), "how": None, "count": None}


RULES = {
    "pull": {"pull": pull_sine},
    "push": {"push": push_sine},
    "both": {"pull": pull_sine, "push": push_sine},
}


@pytest.mark.parametrize("batch", ["one by one", "traced"])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_either_rule_serves_every_transform(rules: Any, batch: str) -> None:
    declared = extend.opaque(sine, batch=batch, **rules)

    def f(x: Any, scale: Any = 2.0) -> Any:
        out = declared(x, "C", scale=scale)
        assert out["how"] == "C"
        return np.sum(out["value"])

    value = lambda x: declared(x, "C", scale=2.0)["value"]
    slope = 2 * np.cos(X)
    np.testing.assert_allclose(fg.grad(f)(X), slope)
    np.testing.assert_allclose(fg.grad(f, 1)(X, 2.0), np.sum(np.sin(X)))
    np.testing.assert_allclose(fg.jvp(f, (X, 2.0), (X, 1.0))[1], np.sum(slope * X + np.sin(X)))
    np.testing.assert_allclose(fg.hessian(f)(X), np.diag(-2 * np.sin(X)))
    np.testing.assert_allclose(fg.vmap(fg.grad(f))(X), slope)
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(fg.vmap(f)(x)))(X), slope)
    np.testing.assert_allclose(fg.grad(lambda s: np.sum(fg.vmap(f, (0, None))(X, s)))(2.0), np.sum(np.sin(X)))
    np.testing.assert_allclose(fg.jacfwd(fg.vmap(value))(X), np.diag(slope))
    pairs = np.arange(12.0).reshape(3, 2, 2)
    np.testing.assert_allclose(fg.vmap(fg.vmap(fg.grad(f)))(pairs), 2 * np.cos(pairs))
    assert fg.vmap(fg.grad(f))(np.ones((0, 3))).shape == (0, 3)


def test_code_that_tracers_cannot_enter_is_differentiated_and_batched() -> None:
    @extend.opaque(
        pull=lambda ct, call: (float(ct) * math.cos(call.args[0]),),
        push=lambda t, call: float(t[0]) * math.cos(call.args[0]),
    )
    def f(x: Any) -> float:
        assert isinstance(x, float)
        return math.sin(x)

    assert isinstance(f(0.5), float)
    assert fg.grad(f)(0.5) == math.cos(0.5)
    assert fg.jvp(f, (0.5,), (2.0,))[1] == 2 * math.cos(0.5)
    np.testing.assert_allclose(fg.vmap(f)(X), np.sin(X))
    np.testing.assert_allclose(fg.vmap(fg.grad(f))(X), np.cos(X))
    np.testing.assert_allclose(fg.vmap(lambda x: fg.jvp(f, (x,), (x,))[1])(X), X * np.cos(X))
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(fg.vmap(f)(x)))(X), np.cos(X))


class Model:
    """An object that is no pytree."""

    def __init__(self, power: int) -> None:
        self.power = power

    @extend.opaque(pull=lambda ct, call: (None, {"a": ct * call.args[0].power * call.args[1]["a"]}))
    def run(self, params: Any) -> Any:
        return params["a"] ** self.power


def test_arguments_may_be_trees_and_objects_and_it_may_be_a_method() -> None:
    assert fg.grad(Model(2).run)({"a": 3.0}) == {"a": 6.0}


def test_a_list_may_have_an_array_for_its_cotangent() -> None:
    dot = extend.opaque(lambda xs: sum(xs), pull=lambda ct, call: (ct * np.array([1.0, 1.0]),))
    assert fg.grad(dot)([1.0, 2.0]) == [1.0, 1.0]


def test_only_what_takes_part_is_wanted() -> None:
    wanted = []

    def pull(ct: Any, call: extend.Called) -> Any:
        wanted.append(call.wanted)
        return ct * call.args[1], ct * call.args[0]

    product = extend.opaque(lambda x, y: x * y, pull=pull)
    assert fg.grad(product, 1)(2.0, 3.0) == 2
    assert fg.grad(product, (0, 1))(2.0, 3.0) == (3, 2)
    assert wanted == [(1,), (0, 1)]


def test_mistakes_are_named() -> None:
    with pytest.raises(RuleError, match="has no rule"):
        fg.grad(extend.opaque(sine))(1.0, "", scale=1.0)
    with pytest.raises(RuleError, match="one cotangent for each argument"):
        fg.grad(extend.opaque(lambda x, y: x * y, pull=lambda ct, call: ct))(1.0, 2.0)
    with pytest.raises(RuleError, match="has shape"):
        fg.grad(extend.opaque(lambda x: x.sum(), pull=lambda ct, call: (np.ones(3),)))(X)
    with pytest.raises(RuleError, match="batch is"):
        extend.opaque(sine, batch="leading")
    with pytest.raises(RuleError, match="takes functions"):
        extend.opaque(3)
    with pytest.raises(OutputError, match="differ"):
        fg.vmap(extend.opaque(lambda x: (x, str(x)), pull=lambda ct, call: (ct[0],)))(X)


# ---- tracers that stay usable ----------------------------------------------------------------------------------------


def test_tracers_stay_usable_for_those_who_ask() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2)
        return np.sum(x**2)

    _, pull = fg.vjp(f, X, keep_tracers=True)
    assert (kept[0] + 1).shape == (2,)
    np.testing.assert_allclose(pull(1.0)[0], 2 * X)
    fg.jvp(f, (X,), (X,), keep_tracers=True)
    assert (np.sin(kept[1]) * kept[0]).shape == (2,)
    fg.vjp(f, X)
    with pytest.raises(fg.errors.EscapedTracerError):
        np.sin(kept[2])
