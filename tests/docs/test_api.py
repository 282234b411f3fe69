"""docs/api.md has every public name, and no other."""

import inspect
import pathlib
import re

import pytest

import funcgrad

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PUBLIC = {name for name, x in vars(funcgrad).items() if not name.startswith("_") and not inspect.ismodule(x)}


def test_every_public_name_is_there_and_no_other():
    shown = re.findall(r"^\.\. auto(?:function|class):: (\w+)$", PAGE, re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert set(shown) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_has_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(funcgrad, name))
