"""docs/tour.md is true: the functions that it names are called, in the order in which it names them."""

import doctest
import pathlib
import re
import sys

import numpy as np

import funcgrad
from funcgrad.core.arrays.methods import RUNNERS

PACKAGE = pathlib.Path(funcgrad.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "tour.md").read_text(encoding="utf-8")


def named():
    """(file, function) for each stop of the tour; generated functions have a file in angle brackets."""
    return re.findall(
        r"^- `([^`]+(?:\.py|>))` `([^`]+)`", PAGE.split("## What was not on this tour")[0], re.MULTILINE
    )


def called(fun, *args):
    """(file, function) for each call of the package's Python code, generated too, while `fun` runs."""
    calls = []

    def watch(frame, event, arg):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(f"{PACKAGE}/"):
            calls.append((str(pathlib.Path(file).relative_to(PACKAGE)), frame.f_code.co_qualname))
        elif event == "call" and file.startswith("<funcgrad"):
            calls.append((file, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        result = fun(*args)
    finally:
        sys.setprofile(before)
    return calls, result


def example():
    """The gradient function that the page makes."""
    names = {}
    for shown in doctest.DocTestParser().get_examples(PAGE.replace("```", "")):
        exec(shown.source, names)
    return names["gradient"]


def test_the_tour_is_true():
    gradient, x = example(), np.array([0.0, 0.5])
    for _ in range(RUNNERS.often + 1):
        gradient(x)  # then there are lanes, and pulls
    calls, result = called(gradient, x)
    np.testing.assert_allclose(result, np.sin(2 * x))
    at = 0
    for stop in named():
        assert stop in calls[at:], f"{stop} is not called after {calls[at - 1]}"
        at = calls.index(stop, at) + 1


def test_the_tour_begins_and_ends_where_the_call_does():
    stops = named()
    assert len(stops) > 30
    assert stops[0] == ("transforms/derivatives.py", "Grad.__call__")
    sweep = stops.index(("core/engine/sweep.py", "sweep"))
    assert stops.index(("core/arrays/methods.py", "ArrayMethods.__array_ufunc__")) < sweep < len(stops) - 1
