"""The way into a program for calls like the last one: other arguments, other facts and other programs are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import jit
from tests.compiler.agreement import assert_same, is_compiled

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
OTHERS: dict[str, Any] = {
    "shape": X[:2].copy(),
    "axes": X.ravel(),
    "dtype": X.astype(np.float32),
    "byte order": X.astype(">f8"),
    "order": np.asfortranarray(X),
    "strides": X[:, ::-1],
    "a number": 2.0,
    "a scalar": np.float64(2.0),
    "an integer": 2,
}


def entered(compiled: Any, args: Any) -> Any:
    """What the way into the program of the last call gives."""
    assert compiled.latest is not None
    return compiled.latest[0](args)


@pytest.mark.parametrize("how", OTHERS)
def test_arguments_of_another_kind_do_not_enter(how: str) -> None:
    compiled = jit(lambda x, y: x * y)
    for _ in range(3):
        compiled(X, 3.0)
    assert_same(entered(compiled, (X, 5.0))[0], X * 5.0)
    other = OTHERS[how]
    assert entered(compiled, (other, 3.0)) is None
    for args in ((X,), (X, 3.0, 1.0), (), (X, 3), (X, np.float64(3.0)), (X, None)):
        assert entered(compiled, args) is None
    for _ in range(4):  # in turns
        assert_same(np.asarray(compiled(other, 3.0)), np.asarray(other * 3.0))
        assert_same(compiled(X, 3.0), X * 3.0)


def test_facts_are_asked() -> None:
    scale = 2.0
    compiled = jit(lambda x: x * scale)  # noqa: F821 (it is deleted below)
    for _ in range(3):
        compiled(X)
    old = compiled.latest[0]
    scale = 3.0
    assert old((X,)) is None
    for _ in range(3):
        assert_same(compiled(X), X * 3.0)
    scale = 2.0
    assert old((X,)) is None  # the program is another one
    del scale  # a cell without content can't be asked
    assert entered(compiled, (X,)) is None
    with pytest.raises(NameError, match="scale"):
        compiled(X)


def test_ways_are_kept_for_each_signature() -> None:
    compiled = jit(lambda x: x * 2)
    ways = []
    for _ in range(4):
        for x in (X, X[0].copy()):
            assert_same(compiled(x), x * 2)
            ways.append(compiled.latest and compiled.latest[0])
    assert ways[-1] is ways[-3] is not ways[-2]
    assert ways[-2] is ways[-4]
    assert is_compiled(compiled)


def test_what_is_written_into_is_asked_too() -> None:
    def fun(x: Any, y: Any) -> Any:
        x[0] = 5.0
        return x * y

    compiled = jit(fun)
    for _ in range(4):
        assert_same(compiled(X, X * 2), fun(X.copy(), X * 2))
        own = X.copy()
        assert_same(compiled(own, own), np.concatenate([[[25.0, 25.0]], X[1:] ** 2]))
        assert np.array_equal(own, X)


@pytest.mark.parametrize("args", [(), (1.0,), (np.float32(2.0), 3)])
def test_few_arguments(args: Any) -> None:
    def fun(*xs: Any) -> Any:
        return np.float64(1.5) + sum(xs)

    compiled = jit(fun)
    for _ in range(4):
        assert_same(compiled(*args), fun(*args))
    assert is_compiled(compiled)
