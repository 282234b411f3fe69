"""The questions that Python may ask of a value, on whose answers the way of a program depends.

A kind of guard has a function that gives, for a value, the outcome (what is compared between calls: hashable) and the answer
(what the one who asked gets), and an expression that gives the outcome in a program's source.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np


def _float(x: Any) -> tuple[Any, float]:
    answer = float(x)
    return _exact(answer), answer


def _exact(x: float) -> Any:
    """A float as something that is equal to itself: NaN, and the sign of zero, count."""
    return x.hex()


def _complex(x: Any) -> tuple[Any, complex]:
    answer = complex(x)
    return (_exact(answer.real), _exact(answer.imag)), answer


def _number(x: Any) -> tuple[Any, Any]:
    answer = x.item() if hasattr(x, "item") else x
    return ("nan" if answer != answer else answer), answer


def _content(x: Any) -> tuple[Any, Any]:
    array = np.array(x)
    return (array.shape, array.dtype.str, array.tobytes()), array


def _spec(x: Any) -> tuple[Any, Any]:
    outcome = (x.shape, x.dtype.char) if isinstance(x, (np.ndarray, np.generic)) else type(x)
    return outcome, outcome


def _same(convert: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    def ask(x: Any) -> tuple[Any, Any]:
        answer = convert(x)
        return answer, answer

    return ask


ANSWERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "bool": _same(bool),
    "int": _same(int),
    "index": _same(operator.index),
    "float": _float,
    "complex": _complex,
    "number": _number,
    "content": _content,
    "spec": _spec,
}


def outcome_of(kind: str) -> Callable[[Any], Any]:
    """The function from a value to the outcome of a guard."""
    ask = ANSWERS[kind]
    return lambda x: ask(x)[0]


# How the source of a program asks; {} is the value.
EXPRESSIONS = {"bool": "bool({})", "int": "int({})", "index": "int({})"}
