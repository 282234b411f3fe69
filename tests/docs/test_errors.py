"""docs/errors.md lists every exception that funcgrad raises, in the order of the hierarchy, and shows each."""

import inspect
import pathlib
import re

import pytest

from funcgrad import errors

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
CLASSES = {
    name: c for name, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, errors.FuncgradError)
}


def test_every_exception_has_a_section_and_nothing_else_has():
    assert list(SECTIONS) == [name for name in vars(errors) if name in CLASSES]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_section_shows_its_exception(name):
    is_abstract = bool(CLASSES[name].__subclasses__())
    assert is_abstract or f"funcgrad.errors.{name}: " in SECTIONS[name]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_what_else_an_exception_is(name):
    """The page says: each is also a TypeError or ValueError, or what its section names."""
    others = [
        c.__name__
        for c in CLASSES[name].__mro__
        if c.__module__ == "builtins" and c not in (Exception, object)
    ]
    ordinary = {"TypeError", "ValueError"} & set(others)
    named = re.findall(r"Also an?\s+`(\w+)`", SECTIONS[name])
    assert name == "FuncgradError" or ordinary or named
    assert set(named) <= set(others)


def test_the_tree_in_the_module_is_the_hierarchy():
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__)
    assert sorted(drawn) == sorted(set(CLASSES) - {"FuncgradError"})
