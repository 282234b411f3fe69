"""Arrays that a recording met as they were: closed over, or made by code that no tracer reached.

Such an array may be told apart from its equals only by where it lies. If two recordings found the same memory
at the same place of the program, the array lives outside: the program looks into it anew at each call. If
they found equal numbers in different memory, the function makes the array anew each time, and the numbers are
part of the program.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

LARGE = 1 << 20  # bytes; of larger arrays a fingerprint is kept, not a copy


class Constant:
    """An array among the operands of a step, and what was in it."""

    __slots__ = ("array", "content", "lives_outside")

    def __init__(self, array: np.ndarray, content: Any = None) -> None:
        self.array = array
        self.content = content_of(array) if content is None else content
        self.lives_outside = False

    def is_same_place(self, other: Constant) -> bool:
        """Is this the same piece of memory?"""
        a, b = self.array, other.array
        if a is b:
            return True
        return a.base is not None and a.base is b.base and _where(a) == _where(b)

    def equals(self, other: Any) -> bool:
        """The same numbers, in the same shape and dtype? (NaN is equal to NaN.)"""
        return isinstance(other, Constant) and same_content(self.content, other.content)

    @property
    def value(self) -> np.ndarray:
        """The array to compute with: as it is now, if it lives outside, else as it was."""
        if self.lives_outside or not isinstance(self.content, np.ndarray):
            return self.array
        return self.content

    def __repr__(self) -> str:
        return f"array{self.array.shape}"


def _where(a: np.ndarray) -> Any:
    return a.__array_interface__["data"], a.shape, a.strides, a.dtype


def content_of(array: np.ndarray) -> Any:
    """What is in an array: a copy that nobody changes, or a fingerprint."""
    if array.size > 1 and not any(array.strides):  # one number, repeated
        return np.broadcast_to(array[(slice(1),) * array.ndim].copy(), array.shape)
    if array.nbytes <= LARGE or array.dtype.hasobject:
        return array.copy("K")
    return (array.shape, array.dtype.str, hashlib.sha1(np.ascontiguousarray(array).data).hexdigest())


def same_content(a: Any, b: Any) -> bool:
    """Are two contents equal, bit for bit?"""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return same_numbers(a, b)
    return type(a) is type(b) is tuple and a == b


def same_numbers(a: np.ndarray, b: np.ndarray) -> bool:
    """Are two arrays equal? NaN is equal to NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind in "fc":
        return bool(np.array_equal(a, b, equal_nan=True)) and _same_signs(a, b)
    return bool(np.array_equal(a, b))


def _same_signs(a: Any, b: Any) -> bool:
    """Zeros have signs, which count."""
    if a.dtype.kind == "c":
        return _same_signs(a.real, b.real) and _same_signs(a.imag, b.imag)
    return bool((np.signbit(a) == np.signbit(b))[a == 0].all()) if a.size else True


def same(a: Any, b: Any) -> bool:
    """Are two constants of two recordings equal: numbers, arrays, and containers of them?"""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return same_numbers(a, b)
    if isinstance(a, (float, complex, np.floating, np.complexfloating)):
        return same_numbers(np.asarray(a), np.asarray(b))
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, Constant):
        return a.equals(b)
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 (what can't be compared is not known to be equal)
        return False
