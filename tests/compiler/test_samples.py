"""Every sample of the catalogue, and its derivative, eagerly and compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import jit, tree, vjp
from tests.compiler.agreement import assert_same, is_compiled
from tests.rules.samples import Sample, collect

CHAPTERS: dict[str, list[tuple[str, Sample]]] = {}
for _text, _sample in collect():
    CHAPTERS.setdefault(_text.split("-")[0], []).append((_text, _sample))


def pulled(call: Callable[..., Any]) -> Callable[..., Any]:
    """The value of a call and the gradients of a weighted sum of what it returns."""

    def weights(out: Any) -> Any:
        if out.dtype.kind not in "fc":
            return None
        return (0.5 + np.arange(out.size).reshape(out.shape) / 7).astype(out.dtype)[()]

    def both(*xs: Any) -> Any:
        out, pull = vjp(call, *xs)
        return out, pull(tree.map(weights, out))

    return both


def others(leaves: list[Any]) -> list[Any]:
    """Other values, in whose places none lies that was far away."""

    def other(x: Any) -> Any:
        is_floating = isinstance(x, np.ndarray) and x.dtype.kind in "fc"
        return np.asarray(np.roll(x, 1) * x.dtype.type(1.0009765625)) if is_floating else x

    return [*map(other, leaves)]


def disagreements(samples: list[tuple[str, Sample]], of: Callable[[Any], Any]) -> list[str]:
    found = []
    for text, sample in samples:
        leaves, call = sample.leaves()
        fun = of(call)
        compiled = jit(fun)
        for k, values in enumerate([leaves, leaves, leaves, others(leaves) if sample.rolls else leaves]):
            try:
                expected = fun(*values)
            except Exception:  # noqa: BLE001 (what has no derivative, or is refused for other values)
                continue
            try:
                assert_same(compiled(*values), expected)
            except Exception as error:  # noqa: BLE001
                found.append(f"{text}, call {k}: {type(error).__name__} {error}")
        if not is_compiled(compiled):
            found.append(f"{text} is not compiled")
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_values(chapter: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert disagreements(CHAPTERS[chapter], lambda call: call) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_derivatives(chapter: str) -> None:
    samples = [(text, s) for text, s in CHAPTERS[chapter] if "rev" in s.modes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert disagreements(samples, pulled) == []
