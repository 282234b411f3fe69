"""Stretches of elementwise work on large arrays, run in blocks that stay in the cache."""

from __future__ import annotations

from funcgrad.compiler.steps import Step


class Loop(Step):
    """Several elementwise steps on arrays of one size, run block by block."""

    __slots__ = ("inner",)
