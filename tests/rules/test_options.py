"""Options and arguments in unusual forms: they are read as NumPy reads them, or refused as it refuses them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import jvp, vjp, vmap

V = np.array([1.3, -2.1, 0.4, 0.9])
M = np.arange(6.0).reshape(2, 3) ** 2 + 0.5
S = np.array(1.5)
E = np.zeros((0, 3))

# Each line is a function of `x`; what comes of it is NumPy's, be it a value or an error.
TAKEN: dict[str, list[Any]] = {
    # an axis of a number; lists and booleans as axes
    "np.sum(x, axis=0)": [S, M],
    "np.max(x, axis=-1)": [S, M],
    "np.argmax(x, axis=0)": [S, M],
    "np.cumsum(x, axis=0)": [S, M],
    "np.mean(x, axis=0)": [S],
    "np.prod(x, axis=[0, 1])": [M],
    "np.any(x, axis=True)": [M],
    "np.flip(x, axis=[0, 1])": [M],
    "np.flip(x, axis=range(2))": [M],
    "np.logaddexp.reduce(x, axis=0)": [S, M],
    "np.logaddexp.reduce(x, axis=[0])": [M],
    "np.add.accumulate(x)": [S, V],
    "np.hypot.accumulate(x)": [S, V],
    # nothing to take a statistic of
    "np.median(x, axis=0)": [E],
    "np.nanquantile(x, [0.2, 0.5], axis=0)": [E],
    "np.quantile(x, 0.3, axis=-1)": [E],
    # positions
    "np.take(x, [])": [V, M],
    "np.take(x, True)": [V],
    "np.take(x, [True, False])": [V, M],
    "np.take(x, np.array([True, False, True, True]))": [V],
    "np.take(x, [1.0], mode='wrap')": [V],
    "np.take(x, np.array([1.0]))": [V],
    "np.take(x, None)": [V],
    "np.take(x, slice(2))": [V],
    "np.choose(np.array([1.0]), [x, 2 * x])": [V],
    "np.choose([True, False, True, False], [x, 2 * x])": [V],
    # masks
    "np.sum(x, where=[1, 0, 1, 0])": [V],
    "np.sum(x, where=None)": [V],
    "np.sum(x, where=np.array([1, 0, 1, 0]))": [V],
    "np.where(None, x, 0.0)": [V],
    "np.where('a', x, 0.0)": [V],
    # what stands for NaN and infinity
    "np.nan_to_num(x, nan='a')": [V],
    "np.nan_to_num(x, nan=1j)": [V],
    "np.nan_to_num(x, nan=[[0.0], [1.0]])": [V],
    "np.nan_to_num(x / np.array([0, 1, 1, 0]), posinf=[5.0, 6.0, 7.0, 8.0])": [V],
    "np.nan_to_num(np.array([np.inf + 1j, 2 + 1j * np.inf, 1, 1]) * x, posinf=np.inf)": [V],
    # ranges, numbers and booleans where arrays are expected
    "np.convolve(x, 2.0)": [V],
    "np.convolve(range(2), x)": [V],
    "np.correlate(x, 2.0)": [V],
    "np.cross(x, range(3))": [M],
    "np.roll(x, [True, False])": [V],
    "np.roll(x, range(2), range(2))": [M],
    "np.vander(x, -1)": [V],
    "np.polyder(x, 1.0)": [V],
    "np.linspace(x, 1.0, True)": [S],
    "np.full_like(x, 1 + 2j)": [V],
    "np.linspace(x, 4, 5, retstep=True)[1]": [V.astype(np.float32), S.astype(np.float32)],
    "np.tensordot(x, x[:, :1], 1)": [E],
    "np.linalg.vector_norm(x, ord=None)": [V, M],
    "np.linalg.norm(x, -2)": [E],
    "np.insert(x, 1, 1 + 2j)": [V],
    "np.insert(x, [0, 2], np.array([1, 2j]))": [V],
    "np.quantile(x, np.array([0, 1]))": [V.astype(np.float16)],
    "np.lexsort(x)": [V, M],
    "np.lexsort((x, -x), axis=0)": [V, M],
    "np.concatenate(v for v in [x, x])": [V],
    "np.stack(map(np.sin, [x, x]))": [V],
    "np.cov(x, ddof=1.5)": [M],
    "np.cov(x, ddof=2.0)": [M],
    "np.cov(x, fweights=[1.5, 1, 1])": [M],
    "np.cov(x, fweights=[1.0, 2, 1])": [M],
    "np.cov(x, aweights=[-1.5, 1, 1])": [M],
    "np.cov(x, aweights=[0, 0, 0])": [M],
}


def outcome(f: Callable[[], Any]) -> Any:
    """The value, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f()
        except (TypeError, ValueError, IndexError, ArithmeticError) as error:
            return error


def assert_same(came: Any, expected: Any) -> None:
    if isinstance(expected, Exception):
        assert isinstance(came, Exception)
        assert (
            {*type(came).__mro__}
            & {TypeError, ValueError, IndexError, ZeroDivisionError}
            & {*type(expected).__mro__}
        )
        return
    assert came.dtype == expected.dtype
    np.testing.assert_array_equal(came, expected)


@pytest.mark.parametrize("text", TAKEN)
def test_values_and_errors_are_those_of_numpy(text: str) -> None:
    f = eval(f"lambda x: {text}", {"np": np})
    for x in TAKEN[text]:
        expected = outcome(lambda: f(x))
        assert_same(outcome(lambda: vjp(f, x)[0]), expected)
        assert_same(outcome(lambda: vmap(f)(x[None])[0]), expected)
        if isinstance(expected, Exception) or not expected.size or expected.dtype not in (float, complex):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            t, h = np.cos(np.arange(x.size)).reshape(x.shape), 1e-6
            slope = (f(x + h * t) - f(x - h * t)) / (2 * h)
            t_out = jvp(f, (x,), (t,))[1]
            (ct,) = vjp(f, x)[1](np.ones_like(expected))
        finite = np.isfinite(slope)
        np.testing.assert_allclose(t_out[finite], slope[finite], rtol=1e-6, atol=1e-8)
        if finite.all():
            np.testing.assert_allclose(np.sum(ct * t), np.sum(t_out), rtol=1e-9, atol=1e-12)
