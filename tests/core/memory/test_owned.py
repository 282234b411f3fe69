"""Large cotangents, in place and in blocks: the result of small ones, and nobody else's array touched."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import elementwise_grad, grad, vjp
from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.sweep import Node, make_node, sweep
from funcgrad.core.memory import owned
from funcgrad.core.memory.owned import BLOCK, OWNED

N = 2 * BLOCK + 7  # two blocks and a rest
ONE = np.linspace(-3, 3, N)
FUNCTIONS = {
    "tanh": np.tanh,
    "sin": np.sin,
    "negative": np.negative,
    "half": lambda x: 0.5 * x,
    "twice": lambda x: x * 2,
    "minus": lambda x: 1 - x,
    "square": lambda x: x**2,
    "several": lambda x: np.exp(-(x**2)) * np.tanh(2 * x + 1) - 3 * np.cos(x),
    "product": lambda x: x * np.sin(x) * x,
    "by a row": lambda x: x * np.linspace(0, 1, x.shape[-1]) if x.ndim > 1 else np.sin(x) / 3,
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "complex": lambda x: x + 0.5j * x[::-1],
    "table": lambda x: np.stack([x, x[::-1]]),
    "columns": lambda x: np.stack([x, x[::-1]]).T,
    "backwards": lambda x: x[::-1],
    "every other": lambda x: np.repeat(x, 2)[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_cotangents_give_what_small_ones_give(
    name: str, layout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, x = FUNCTIONS[name], layout(ONE)
    before = x.copy()
    out, pull_back = vjp(f, x)
    ct = np.cos(out.real).astype(out.dtype)
    kept = ct.copy()
    found = pull_back(ct)[0], pull_back(ct)[0]  # twice: the tape is kept, so nothing of it may be overwritten
    whole = grad(lambda x: np.sum((ct * f(x)).real))(x)
    monkeypatch.setattr(owned, "BLOCK", x.size)  # no blocks
    monkeypatch.setattr(OWNED, "scaling", 0)  # nothing is overwritten
    expected = pull_back(ct)[0]
    for part in found:
        assert part.dtype == x.dtype
        np.testing.assert_array_equal(part, expected)
    np.testing.assert_allclose(whole, expected, rtol=1e-5 if x.dtype == np.float32 else 1e-12, atol=1e-6)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(ct, kept)


@pytest.mark.parametrize("f", [np.tanh, np.negative, lambda x: 0.5 * x, lambda x: x * ONE])
def test_a_cotangent_that_somebody_holds_is_not_overwritten(f: Any) -> None:
    held, count = np.ones(N), OWNED.scaling
    assert count > 0
    same = custom(lambda x: x * 1.0, lambda ct: held)
    (part,) = vjp(lambda x: same(f(x)), ONE)[1](np.zeros(N))
    np.testing.assert_array_equal(held, 1)
    np.testing.assert_allclose(part, elementwise_grad(f)(ONE), rtol=1e-12)


def test_where_the_counts_can_not_be_told_apart_nothing_is_overwritten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = OWNED.scaling, OWNED.merging
    for module in (owned, sys.modules[Node.__module__]):
        monkeypatch.setattr(module, "getrefcount", lambda x: 1)
    OWNED.measure(sweep, make_node)
    assert (OWNED.scaling, OWNED.merging) == (0, 0)
    monkeypatch.undo()
    OWNED.measure(sweep, make_node)
    assert (OWNED.scaling, OWNED.merging) == counts


def test_minus_a_complex_infinity_is_no_product() -> None:
    ct = np.full(N, complex(np.inf, 1.0))
    (part,) = vjp(lambda x: 1 - x, np.zeros(N, complex))[1](ct)
    assert part[0] == complex(-np.inf, -1.0)
