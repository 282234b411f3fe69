"""docs/api.md has every public name, and no other."""

import importlib
import inspect
import pathlib
import re

import pytest

import funcgrad

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PUBLIC = {name for name in funcgrad.__all__ if not inspect.ismodule(getattr(funcgrad, name))}
MODULES = ("tree", "extend", "testing", "debug", "errors")


def test_every_public_name_is_there_and_no_other():
    shown = re.findall(r"^\.\. auto(?:function|class):: (\w+)$", PAGE, re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(shown) == PUBLIC


@pytest.mark.parametrize("name", MODULES)
def test_a_public_module_has_a_section(name):
    assert f"## funcgrad.{name}\n" in PAGE
    assert inspect.getdoc(importlib.import_module(f"funcgrad.{name}"))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(funcgrad, name))
