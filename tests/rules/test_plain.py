"""Functions without a derivative: their results are constants, in every trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import UnsupportedFunctionError

X = np.array([[0.3, -1.7, 2.5], [1.0, 2.5, -0.2]])
SORTED = np.array([-1.0, 0.5, 2.0])

CONSTANT = {
    "round": lambda x: np.round(x), "round to decimals": lambda x: np.round(x, 1),
    "around": lambda x: np.around(x, decimals=1), "method round": lambda x: x.round(1),
    "built-in round": lambda x: round(x, 1), "fix": np.fix, "rint": np.rint, "trunc": np.trunc, "floor": np.floor,
    "ceil": np.ceil, "floor_divide": lambda x: x // 0.4, "spacing": np.spacing, "comparison": lambda x: x > 0.5,
    "signbit": np.signbit, "isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf, "isposinf": np.isposinf,
    "isneginf": np.isneginf, "isreal": np.isreal, "iscomplex": np.iscomplex, "isclose": lambda x: np.isclose(x, 2.5),
    "isclose of a plain array": lambda x: np.isclose(X[0, 2], x),
    "logical": lambda x: np.logical_and(x > 0, np.logical_not(x > 1)), "bits": lambda x: (x > 0) ^ (x > 1) | ~(x > 2),
    "argmax": np.argmax, "argmax along an axis": lambda x: np.argmax(x, axis=-1),
    "argmin with keepdims": lambda x: np.argmin(x, keepdims=True),
    "argmax with keepdims": lambda x: np.argmax(x, axis=0, keepdims=True), "nanargmax": np.nanargmax,
    "nanargmin": lambda x: np.nanargmin(x, axis=1), "argsort": np.argsort,
    "argsort flattened": lambda x: np.argsort(x, axis=None), "argsort along the first": lambda x: x.argsort(axis=0),
    "any": lambda x: np.any(x > 2), "all": lambda x: np.all(x < 3, axis=1),
    "any of numbers": lambda x: np.any(x, axis=0, keepdims=True),
    "all where": lambda x: np.all(x > 0, where=np.array([True, False, False])),
    "count_nonzero": lambda x: np.count_nonzero(x > 0, axis=1), "count all": np.count_nonzero,
    "searchsorted": lambda x: np.searchsorted(SORTED, x), "digitize": lambda x: np.digitize(x, SORTED),
    "searchsorted in a tracer": lambda x: np.searchsorted(np.sort(x[0]), SORTED, side="right"),
    "searchsorted in both": lambda x: np.searchsorted(np.sort(x[0]), x[1]),
    "allclose": lambda x: np.allclose(x, x + 1e-12), "array_equal": lambda x: np.array_equal(x, x[::-1]),
    "array_equiv": lambda x: np.array_equiv(x, X),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTANT)
def test_results_are_constant(name: str) -> None:
    function = CONSTANT[name]
    plain = function(X) if name != "built-in round" else np.round(X, 1)
    value, t = jvp(function, (X,), (np.ones_like(X),))
    np.testing.assert_array_equal(value, plain)
    assert t.dtype.names is not None or not t.any()
    assert np.asarray(value).dtype == np.asarray(plain).dtype
    seen = []

    def loss(x: Any) -> Any:
        seen.append(function(x))
        part = seen[-1] * 1.0 if np.ndim(plain) else float(seen[-1])
        return np.sum(x) + np.sum(part)

    np.testing.assert_array_equal(grad(loss)(X), np.ones_like(X))
    assert isinstance(seen[0], Tracer) == (np.asarray(plain).dtype.kind == "f")
    batch = np.stack([X, -X, X + 1])
    expected = [function(b) if name != "built-in round" else np.round(b, 1) for b in batch]
    np.testing.assert_array_equal(vmap(function)(batch), expected)


def test_positions_of_elements() -> None:
    def f(x: Any) -> Any:
        rows, columns = np.nonzero(x > 1)
        np.testing.assert_array_equal(np.flatnonzero(x > 1), np.flatnonzero(X > 1))
        np.testing.assert_array_equal(np.argwhere(x > 1), np.argwhere(X > 1))
        return np.sum(x[rows, columns] ** 2)

    np.testing.assert_array_equal(grad(f)(X), np.where(X > 1, 2 * X, 0))


def test_queries() -> None:
    def f(x: Any) -> Any:
        assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((2, 3), 2, 6, 3)
        assert np.result_type(x, np.float32) == np.float64
        assert np.common_type(x) is np.float64
        assert np.can_cast(x.dtype, np.complex128)
        assert np.isrealobj(x)
        assert not np.iscomplexobj(x)
        return np.sum(x)

    np.testing.assert_array_equal(grad(f)(X), np.ones_like(X))
    assert vmap(lambda x: np.sum(x) * np.ndim(x) + np.size(x) * 0)(X).shape == (2,)


def test_queries_about_memory_and_text_see_the_values() -> None:
    def f(x: Any) -> Any:
        assert np.shares_memory(x, x)
        assert np.may_share_memory(x, x[1:])
        assert not np.shares_memory(x, x + 1)
        assert np.array_str(x) == np.array_str(X)
        assert np.array2string(x, precision=1) == np.array2string(X, precision=1)
        assert "2.5" in np.array_repr(x)
        return np.sum(x)

    grad(grad(lambda t: f(X * t)))(1.0)
    np.testing.assert_array_equal(grad(f)(X), np.ones_like(X))


def test_integers_of_a_batch() -> None:
    counts = np.array([[6, 4], [9, 3]])
    np.testing.assert_array_equal(vmap(lambda n: np.gcd(n[0], n[1]))(counts), [2, 3])
    np.testing.assert_array_equal(vmap(lambda n: np.lcm(n[0], n[1]) << 1)(counts), [24, 18])
    np.testing.assert_array_equal(
        vmap(lambda n: np.bitwise_count(n) & 3)(counts), np.bitwise_count(counts) & 3
    )
    np.testing.assert_array_equal(
        vmap(lambda n: np.unpackbits(n))(counts.astype(np.uint8)),
        np.unpackbits(counts.astype(np.uint8), axis=1),
    )


def test_files_and_dates_are_refused() -> None:
    with pytest.raises(UnsupportedFunctionError, match=r"np.save was called on a tracer.*has_aux=True"):
        grad(lambda x: np.save("never", x))(1.0)
    with pytest.raises(UnsupportedFunctionError, match="it is about dates"):
        grad(lambda x: np.is_busday(x))(1.0)
    with pytest.raises(UnsupportedFunctionError, match="it is about strings"):
        grad(lambda x: np.strings.str_len(x))(1.0)
