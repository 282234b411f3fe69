"""What runs a call: the general lane at first, a lane of its own for what is called often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad
from funcgrad.core.arrays.methods import LANES, RUNNERS, ArrayMethods
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.kinds import OFTEN
from funcgrad.core.engine.primitive import Call
from funcgrad.core.memory.plain import LARGE
from funcgrad.torch.graph.tape import NamedPlan


def test_a_lane_is_made_for_what_is_called_often(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in (LANES, RUNNERS):
        monkeypatch.setitem(known, np.cosh, None)
        del known[np.cosh]
    monkeypatch.setitem(RUNNERS.calls, np.cosh, 0)
    x = np.array([0.3, 0.5])
    for _ in range(RUNNERS.often):
        np.testing.assert_allclose(grad(lambda x: np.sum(np.cosh(x)))(x), np.sinh(x))
    assert np.cosh not in RUNNERS
    np.testing.assert_allclose(grad(lambda x: np.sum(np.cosh(x)))(x), np.sinh(x))
    assert RUNNERS[np.cosh] is LANES[np.cosh] is not CATALOGUE[np.cosh]


@pytest.mark.parametrize("name", ["__floordiv__", "__rfloordiv__", "__pow__", "__rpow__", "__ge__"])
def test_operators_give_the_same_before_and_after(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.array([1.5, 2.5]), np.array([0.5, 2.0])
    found: list[Any] = []
    for often in (10**9, 0):
        monkeypatch.setattr(RUNNERS, "often", often)
        grad(lambda x: np.sum(found.append(getattr(x, name)(y)) or x))(x)
    before, after = (getattr(v, "_value", v) for v in found)
    np.testing.assert_array_equal(before, after)
    assert callable(getattr(ArrayMethods, name))


def test_a_power_with_a_modulus_is_refused() -> None:
    with pytest.raises(TypeError):
        grad(lambda x: pow(x, 2.0, 3.0))(1.5)


@pytest.mark.parametrize("function", [np.multiply, np.subtract, np.divide, np.matmul])
def test_a_pull_is_made_for_what_is_pulled_often(function: Any) -> None:
    primitive: Any = CATALOGUE[function]
    x, y, ct = np.full((2, 2), 3.0), np.full((2, 2), 2.0), np.array([[1.0, 10.0], [2.0, 20.0]])
    call = Call([x, y], tuple((name, None) for name in primitive.operand_names), {})
    plan = primitive.rule.plan(primitive, (0, 1), call)
    saved, first = plan.save(call, function(x, y)), plan.pull
    for _ in range(OFTEN - 1):
        before = plan.pull(ct, saved)
    assert plan.pull is first
    after = plan.pull(ct, saved)
    assert plan.pull is not first
    for part, same in zip(before, after, strict=True):
        np.testing.assert_array_equal(part, same)


def test_a_pull_is_made_for_what_is_large() -> None:
    tanh: Any = CATALOGUE[np.tanh]
    x = np.full(LARGE, 0.5)
    call = Call([x], (("x", None),), {})
    plan = tanh.rule.plan(tanh, (0,), call)
    first = plan.pull
    plan.pull(np.ones(LARGE), plan.save(call, np.tanh(x)))
    assert plan.pull is not first


def test_copies_of_a_plan_get_the_pull_that_is_made() -> None:
    sin: Any = CATALOGUE[np.sin]
    plan = sin.rule.plan(sin, (0,), Call([1.0], (("x", None),), {}))
    copy = NamedPlan(plan, "SinBackward0")
    for _ in range(OFTEN + 1):
        assert copy.pull(np.float64(2.0), (np.float64(0.5),))[0] == 2 * np.cos(0.5)
    made: Any = copy.pull
    assert made is plan.pull
    assert made.__code__.co_filename.startswith("<funcgrad pull")
