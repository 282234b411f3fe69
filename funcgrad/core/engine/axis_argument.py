"""The `axis` argument of a primitive, checked and counted from 0 before any rule sees it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple


class AxisArgument:
    """How a function reads `axis`: among the axes of its first operand, or of its output (`among_output`).

    NumPy's functions differ in what else they take, so the function itself is asked, once.
    """

    def __init__(self, function: Callable[..., Any], name: str, among_output: bool) -> None:
        self.function, self.name, self.among_output = function, name, among_output

    @cached_property
    def takes_lists(self) -> bool:
        """Are lists taken as axes, and booleans as integers?"""
        return self.among_output or self._takes(np.ones((1, 1)), [0])

    @cached_property
    def numbers_have_one(self) -> bool:
        """Does an array without axes count as one with an axis, as in `np.sum(1.5, axis=0)`?"""
        return not self.among_output and self._takes(np.ones(()), 0)

    def _takes(self, x: Any, axis: Any) -> bool:
        try:
            self.function(x, axis=axis)
        except (TypeError, ValueError):
            return False
        return True

    def normalised(self, axis: Any, ndim: int) -> Any:
        """The axis or axes of an array of rank `ndim`, counted from 0; None for all."""
        if isinstance(axis, (list, bool)) and not self.takes_lists:
            raise TypeError(f"np.{self.name}: axis={axis!r} is a {type(axis).__name__}; give an integer, or a tuple of integers")
        if isinstance(axis, (range, np.ndarray)) and np.ndim(axis) and self.takes_lists and not self.among_output:
            axis = tuple(axis)
        if isinstance(axis, (tuple, list)):
            return normalize_axis_tuple(axis, ndim + (len(axis) if self.among_output else 0))
        if ndim == 0 and axis in (0, -1) and self.numbers_have_one:
            return None
        index: Any = axis
        return normalize_axis_index(operator.index(index), ndim + self.among_output)
