"""docs/api.md has every public name, and no other."""

import importlib
import inspect
import pathlib
import re

import pytest

import funcgrad

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PUBLIC = {name for name in funcgrad.__all__ if not inspect.ismodule(getattr(funcgrad, name))}
MODULES = ("tree", "extend", "nn", "optim", "testing", "dask", "debug", "errors")


def test_every_public_name_is_there_and_no_other():
    top = PAGE.split("## funcgrad.")[0]
    shown = re.findall(r"^\.\. auto(?:function|class):: (\w+)$", top, re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(shown) == PUBLIC


@pytest.mark.parametrize("name", MODULES)
def test_a_public_module_has_a_section(name):
    module = importlib.import_module(f"funcgrad.{name}")
    (section,) = re.findall(rf"^## funcgrad\.{name}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^\.\. auto(?:function|class):: (?:[\w.]+\.)?(\w+)$", section, re.MULTILINE)
    is_whole = ":members:" in section or "errors.md" in section
    assert is_whole or set(shown) == {x for x in module.__all__ if not x.endswith("Error")}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(funcgrad, name))
