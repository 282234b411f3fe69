"""The questions that Python may ask of a value, on whose answers the way of a program depends.

A kind of guard has a function that gives, for a value, the outcome (what is compared between calls: hashable)
and the answer (what the one who asked gets), and an expression that gives the outcome in a program's source.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.compiler.outcomes import complex_of, content_of, float_of, number_of, spec_of

Answer = Callable[[Any], tuple[Any, Any]]


def _same(convert: Callable[[Any], Any]) -> Answer:
    """The outcome is the answer."""

    def ask(x: Any) -> tuple[Any, Any]:
        answer = convert(x)
        return answer, answer

    return ask


ANSWERS: dict[str, Answer] = {
    "bool": _same(bool),
    "int": _same(int),
    "index": _same(operator.index),
    "float": lambda x: (float_of(x), float(x)),
    "complex": lambda x: (complex_of(x), complex(x)),
    "number": lambda x: (number_of(x), x.item() if hasattr(x, "item") else x),
    "content": lambda x: (content_of(x), np.array(x)),
    "spec": _same(spec_of),
}

# The functions that ask, of those kinds that no expression of Python asks for.
OUTCOMES: dict[str, Callable[[Any], Any]] = {
    "float": float_of, "complex": complex_of, "number": number_of, "content": content_of, "spec": spec_of,
}  # fmt: skip

# How the source of a program asks; {} is the value.
EXPRESSIONS = {"bool": "bool({})", "int": "int({})", "index": "int({})"}
