"""Every example on the pages of docs/, and in the README, runs and gives what it says."""

import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_give_what_they_say(page):
    # a fence is no output
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name in re.findall(r"^>>> import (\w+)", text, flags=re.MULTILINE):
        pytest.importorskip(name, reason=f"{name} is optional")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report = []
    failed, _ = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not failed, "".join(report)


def test_there_are_examples():
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert {name for name, text in texts.items() if ">>> " in text} >= {
        "README.md",
        "getting_started.md",
        "errors.md",
    }
