"""The arithmetic of update rules, done in two ways: in place on plain arrays, or anew on tracers.

A rule is a formula of verbs. Each verb returns its first operand, changed; those with `out` return a
temporary of that number. `InPlace` writes into the operand and into scratch that was allocated beforehand.
`Anew` makes new values: what it is given may be tracers, and is left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TEMPORARIES = 3


class InPlace:
    """Verbs on one-dimensional arrays of one length that write into their first operand, without copies."""

    __slots__ = ("inner", "temporaries")

    def __init__(self, scratch: list[np.ndarray]) -> None:
        self.inner, *self.temporaries = scratch

    def _scaled(self, y: Any, alpha: Any) -> Any:
        return y if alpha == 1 else np.multiply(y, alpha, out=self.inner)

    def add(self, x: Any, y: Any, alpha: Any = 1.0) -> Any:
        """x + alpha * y."""
        return np.add(x, self._scaled(y, alpha), out=x)

    def scale(self, x: Any, alpha: Any) -> Any:
        """x * alpha, where alpha is a number or an array."""
        return np.multiply(x, alpha, out=x)

    def divide(self, x: Any, y: Any) -> Any:
        """x / y, where y is a number or an array."""
        return np.divide(x, y, out=x)

    def shift(self, x: Any, alpha: Any) -> Any:
        """x + alpha, where alpha is a number."""
        return np.add(x, alpha, out=x)

    def lerp(self, x: Any, y: Any, weight: Any) -> Any:
        """x + weight * (y - x)."""
        step = np.subtract(y, x, out=self.inner)
        return np.add(x, np.multiply(step, weight, out=step), out=x)

    def add_product(self, x: Any, y: Any, z: Any, alpha: Any) -> Any:
        """x + alpha * y * z."""
        return np.add(x, np.multiply(self._scaled(y, alpha), z, out=self.inner), out=x)

    def add_quotient(self, x: Any, y: Any, z: Any, alpha: Any) -> Any:
        """x + alpha * y / z."""
        return np.add(x, np.divide(self._scaled(y, alpha), z, out=self.inner), out=x)

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger of x and y."""
        return np.maximum(x, y, out=x)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        """x, limited to [low, high]."""
        return np.minimum(np.maximum(x, low, out=x), high, out=x)

    def assign(self, x: Any, y: Any) -> Any:
        """y, in the place of x."""
        np.copyto(x, y)
        return x

    def copied(self, x: Any, out: int) -> Any:
        """A copy of x."""
        return self.assign(self.temporaries[out], x)

    def times(self, x: Any, y: Any, out: int) -> Any:
        """x * y."""
        return np.multiply(x, y, out=self.temporaries[out])

    def root(self, x: Any, out: int) -> Any:
        """The square root of x."""
        return np.sqrt(x, out=self.temporaries[out])

    def sign(self, x: Any, out: int) -> Any:
        """The sign of x."""
        return np.sign(x, out=self.temporaries[out])

    def absolute(self, x: Any, out: int) -> Any:
        """|x|."""
        return np.absolute(x, out=self.temporaries[out])

    def positive(self, x: Any, out: int) -> Any:
        """1 where x > 0, else 0."""
        return np.greater(x, 0, out=self.temporaries[out], casting="unsafe")


class Anew:
    """The same verbs on anything that speaks NumPy, tracers above all; each makes a new value."""

    def add(self, x: Any, y: Any, alpha: Any = 1.0) -> Any:
        """x + alpha * y."""
        return x + y * alpha

    def scale(self, x: Any, alpha: Any) -> Any:
        """x * alpha, where alpha is a number or an array."""
        return x * alpha

    def divide(self, x: Any, y: Any) -> Any:
        """x / y, where y is a number or an array."""
        return x / y

    def shift(self, x: Any, alpha: Any) -> Any:
        """x + alpha, where alpha is a number."""
        return x + alpha

    def lerp(self, x: Any, y: Any, weight: Any) -> Any:
        """x + weight * (y - x)."""
        return x + (y - x) * weight

    def add_product(self, x: Any, y: Any, z: Any, alpha: Any) -> Any:
        """x + alpha * y * z."""
        return x + y * alpha * z

    def add_quotient(self, x: Any, y: Any, z: Any, alpha: Any) -> Any:
        """x + alpha * y / z."""
        return x + y * alpha / z

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger of x and y."""
        return np.maximum(x, y)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        """x, limited to [low, high]."""
        return np.minimum(np.maximum(x, low), high)

    def assign(self, x: Any, y: Any) -> Any:
        """y, in the place of x."""
        return y

    def copied(self, x: Any, out: int) -> Any:
        """x: nothing here is written to."""
        return x

    def times(self, x: Any, y: Any, out: int) -> Any:
        """x * y."""
        return x * y

    def root(self, x: Any, out: int) -> Any:
        """The square root of x. Rules take it of average squares, where it is a norm: its slope at 0 is 0."""
        nonzero = x != 0
        return np.where(nonzero, np.sqrt(np.where(nonzero, x, 1)), 0)

    def sign(self, x: Any, out: int) -> Any:
        """The sign of x."""
        return np.sign(x)

    def absolute(self, x: Any, out: int) -> Any:
        """|x|."""
        return np.abs(x)

    def positive(self, x: Any, out: int) -> Any:
        """1 where x > 0, else 0."""
        return (x > 0).astype(x.dtype)
