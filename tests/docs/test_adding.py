"""The pages on adding things are true: what they show is followed, and does what they promise. (Their examples are doctests.)"""

from __future__ import annotations

import inspect
import pathlib
import re

import numpy as np
import pytest

import funcgrad
from funcgrad import extend
from funcgrad.core.arrays.methods import LANES
from funcgrad.core.engine import declare
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.primitive import Primitive
from tests.rules import samples, test_sweep

ROOT = pathlib.Path(__file__).parents[2]
RULE = (ROOT / "docs" / "adding_a_rule.md").read_text(encoding="utf-8")
TRANSFORM = (ROOT / "docs" / "adding_a_transform.md").read_text(encoding="utf-8")


def test_every_verb_is_there() -> None:
    verbs = dict(re.findall(r"^\|[^|]*\| `(\w+)\(([^|]*)\|", RULE, re.MULTILINE))
    assert len(verbs) == 9
    for verb, rest in verbs.items():
        assert callable(getattr(declare, verb))
        assert hasattr(extend, verb) != ("inside funcgrad only" in rest), verb


def test_every_option_is_one() -> None:
    (named,) = re.findall(r"What else a function can do is said in the same declaration: (.*?)\n\Z", RULE, re.DOTALL)
    options = re.findall(r"`(\w+)` \(", named)
    assert len(options) == 6
    assert set(options) <= set(inspect.signature(Primitive).parameters)


CHECKS = [name for name in vars(test_sweep) if name.startswith("test_") and "linear_functions" not in name]


@pytest.mark.parametrize("check", CHECKS)
def test_a_rule_is_one_place_and_a_line_of_samples(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The declaration and the sample of the page are all that every check of a rule asks for."""
    declared, sampled = re.findall(r"^```python\n((?:elementwise|S)\(np\.hypot.*)\n```$", RULE, re.MULTILINE)
    for files in re.findall(r"in `((?:funcgrad|tests)/[^`]*\.py)`\n", RULE):
        assert (ROOT / files).is_file()
    monkeypatch.delitem(CATALOGUE, np.hypot)
    monkeypatch.setitem(LANES, np.hypot, None)
    del LANES[np.hypot]
    try:
        eval(declared, {**vars(declare), "np": np})
        (sample,) = eval(sampled, {**vars(samples), "np": np})
        assert CATALOGUE[np.hypot].rule.kind == "elementwise"
        inspect.getclosurevars(getattr(test_sweep, check)).nonlocals["check"](sample)
    finally:
        CATALOGUE.pop(np.hypot, None)  # monkeypatch puts the old one back


def test_a_transform_is_two_places() -> None:
    """Each of ours is in a file of transforms/, or built on it, and named in funcgrad/__init__.py: nowhere else."""
    places = re.findall(r"Two places: a file in `([^`]*)`, and `([^`]*)`", TRANSFORM)
    assert places == [("funcgrad/transforms/", "funcgrad/__init__.py")]
    assert all((ROOT / place).exists() for place in places[0])
    for name in ("grad", "vmap", "jacrev", "hvp", "checkpoint", "root"):
        assert name in funcgrad.__all__
        assert getattr(funcgrad, name).__module__.startswith("funcgrad.transforms.")
        mentioned = [p for p in (ROOT / "funcgrad").glob("*.py") if re.search(rf'"{name}"', p.read_text(encoding="utf-8"))]
        assert [p.name for p in mentioned] == ["__init__.py"]


def test_the_files_that_the_pages_name_are_there() -> None:
    for text in (RULE, TRANSFORM):
        for name in re.findall(r"`((?:core|transforms|rules|funcgrad|tests|docs)/[\w/.]+\.(?:py|md))`", text):
            assert (ROOT / name).exists() or (ROOT / "funcgrad" / name).exists(), name
