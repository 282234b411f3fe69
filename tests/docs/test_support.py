"""The table of what is supported is what the catalogue says."""

from __future__ import annotations

import importlib.util
import pathlib
import re
from typing import Any

import numpy as np
import pytest

scipy = pytest.importorskip("scipy")
ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
WITH = re.search(r"with NumPy (\S+) and SciPy (\S+);", PAGE)


def support() -> Any:
    """docs/support.py, as a module."""
    specification = importlib.util.spec_from_file_location("support", ROOT / "docs" / "support.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_what_the_page_on_scipy_lists_is_so() -> None:
    page = (ROOT / "docs" / "support_scipy.md").read_text(encoding="utf-8")
    made_with = re.search(r"with SciPy (\S+)\. ", page)
    assert made_with is not None
    if scipy.__version__ != made_with[1]:
        pytest.skip(f"the page was made with SciPy {made_with[1]}")
    now = {(part, name): status for part, found in support().scipy_parts() for name, status in found}
    for section in page.split("## scipy.")[1:]:
        for status, names in re.findall(r"^\| (\w+) \| (`.*`) \|$", section, re.MULTILINE):
            for name in re.findall(r"`(\w+)`", names):
                assert now[section.split()[0], name] == status, "run `python docs/support.py`"


def rows() -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]


def test_the_page_is_up_to_date() -> None:
    assert WITH is not None
    if (np.__version__, scipy.__version__) != WITH.groups():
        pytest.skip(f"the page was made with NumPy {WITH[1]} and SciPy {WITH[2]}")
    assert support().page() == PAGE, "run `python docs/support.py`"


def test_what_has_a_derivative_has_it_in_both_modes_and_in_batches() -> None:
    found = [row for row in rows() if len(row) > 3 and row[1] in ("differentiable", "composite")]
    assert len(found) > 400
    assert [row[0] for row in found if row[3:5] != ["yes", "yes"] or row[5] not in ("whole", "each")] == []


def test_what_is_refused_says_why() -> None:
    assert [row[0] for row in rows() if row[1] == "refused" and len(row[-1].split()) < 3] == []
