"""Objects of the user's own classes beside tracers: they answer where they would for NumPy's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.errors import FuncgradError, UnsupportedFunctionError

w = np.array([0.7, 1.3, 0.4])


class Dual:
    """Forward mode, as somebody has written it."""

    def __init__(self, x: Any, t: Any = 0.0) -> None:
        self.x, self.t = x, t

    def __mul__(self, y: Any) -> Dual:
        y = y if isinstance(y, Dual) else Dual(y)
        return Dual(self.x * y.x, self.x * y.t + self.t * y.x)

    __rmul__ = __mul__

    def __add__(self, y: Any) -> Dual:
        y = y if isinstance(y, Dual) else Dual(y)
        return Dual(self.x + y.x, self.t + y.t)

    __radd__ = __add__


class Point:
    """A vector, whose numbers are in a tuple, and which NumPy leaves operators to."""

    __array_priority__ = 1000

    def __init__(self, *numbers: Any) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.numbers, dtype)

    def __rmul__(self, factor: Any) -> Point:
        return Point(*(factor * x for x in self.numbers))

    def __rsub__(self, y: Any) -> Any:
        return y[0] - self.numbers[0]

    def __radd__(self, y: Any) -> Any:
        return sum(self.numbers) + y


PROGRAMS = {
    "x * dual": lambda w: (w[0] * Dual(w[1], 1.0)).t,
    "x + dual": lambda w: (w[0] + w[1] * Dual(w[2], w[0])).t,
    "dual * x": lambda w: (Dual(w[0], w[1]) * w[2]).t,
    "x * point": lambda w: (w[0] * Point(w[1], w[2])).numbers[1],
    "array - point": lambda w: w - Point(w[1], 2.0),
    "x += point": lambda w: _added(w[0], Point(w[1], w[2])),
}


def _added(x: Any, point: Point) -> Any:
    x += point
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_answer_as_they_would_for_numbers(name: str) -> None:
    f, t, h = PROGRAMS[name], np.array([1.0, -0.5, 2.0]), 1e-6
    expected = (f(w + h * t) - f(w - h * t)) / (2 * h)
    assert np.isclose(grad(f)(w) @ t, expected, rtol=1e-7)
    assert np.isclose(jvp(f, (w,), (t,))[1], expected, rtol=1e-7)
    assert np.allclose(vmap(f)(np.stack([w, w])), f(w))


class Odd:
    """No numbers, no operators."""


@pytest.mark.parametrize("f", [lambda w: w[0] * Odd(), lambda w: w * Odd(), lambda w: w * Dual(1.0)])
def test_others_are_refused(f: Any) -> None:
    with pytest.raises((FuncgradError, TypeError)):
        grad(f)(w)


@pytest.mark.parametrize("name", ["std", "var"])
def test_a_method_that_pandas_has_otherwise_is_refused(name: str) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    s = pd.Series([1.0, 2.0, 4.0])

    def f(w: Any, **ddof: Any) -> Any:
        return getattr(np.exp(s * w), name)(**ddof)

    with pytest.raises(UnsupportedFunctionError, match=f"divides by n - 1.*x.{name}\\(ddof=1\\)"):
        grad(f)(w)
    t, h = np.array([1.0, -0.5, 2.0]), 1e-6
    assert np.isclose(grad(lambda w: f(w, ddof=1))(w) @ t, (f(w + h * t) - f(w - h * t)) / (2 * h), rtol=1e-6)
    assert np.isfinite(grad(lambda w: w.std())(w)).all()  # without a Series, NumPy's
