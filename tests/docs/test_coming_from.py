"""The tables for people who come from elsewhere are true: both columns are run and compared, row by row.

A row without further words on values promises that both sides give the same. "`A` there, `B` here" in the
last column says what each side gives, or the exception that it raises. The left-hand side needs the peer; the
right-hand side always runs.
"""

import contextlib
import pathlib
import re
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

from funcgrad import tree

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGES = {
    "jax": "coming_from_jax.md",
    "autograd": "coming_from_autograd.md",
    "torch": "coming_from_pytorch.md",
}


class Row(NamedTuple):
    """A row of a table: code there, code here, and what each gives (None: the same)."""

    peer: str
    there: str
    here: str
    values: tuple[str, str] | None


def rows():
    for peer, page in PAGES.items():
        text = (DOCS / page).read_text(encoding="utf-8")
        for there, here, remark in re.findall(r"^\| `(.+?)` \| `(.+?)` \|(.*)\|$", text, re.MULTILINE):
            said = re.search(r"`([^`]+)` there.*?`([^`]+)` here", remark)
            yield Row(peer, there, here, (said[1], said[2]) if said else None)


def prepared(peer: str, which: int) -> dict[str, Any]:
    """The names that the page's first (there) or second (here) block makes."""
    blocks = re.findall(
        r"^```python\n(.*?)^```", (DOCS / PAGES[peer]).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    names: dict[str, Any] = {}
    exec(blocks[which], names)
    return names


def result(code: str, names: dict[str, Any]) -> Any:
    """The value of the last expression, or the class of what is raised."""
    *statements, last = code.split("; ")
    names = dict(names)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for statement in statements:
            exec(statement, names)
        try:
            return exec(last, names) if last.startswith("import ") else eval(last, names)
        except Exception as error:  # noqa: BLE001 (the page says which)
            return type(error)


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays in a result, without the peer's types."""
    return [np.asarray(x.detach() if hasattr(x, "detach") else x) for x in tree.leaves(value)]


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, (type, np.dtype)) or expected is None:
        assert found is expected or found == expected
        return
    assert not isinstance(found, type), found
    for x, y in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def said(text: str) -> Any:
    """A value, or a class of exceptions, that the page writes down."""
    value = eval(text, {"nan": np.nan, "np": np, "LinAlgError": np.linalg.LinAlgError})
    return np.array(value) if isinstance(value, list) else value


@contextlib.contextmanager
def settings(peer: str):
    """JAX in double precision; PyTorch's default put back afterwards."""
    if peer == "jax":
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            yield
    elif peer == "torch":
        torch = pytest.importorskip("torch")
        before = torch.get_default_dtype()
        yield
        torch.set_default_dtype(before)
    else:
        pytest.importorskip(peer)
        yield


ROWS = list(rows())


def test_the_tables_are_found():
    for peer, page in PAGES.items():
        lines = re.findall(r"^\| `", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert len([row for row in ROWS if row.peer == peer]) == len(lines) > 20


@pytest.fixture(scope="module")
def ours():
    return {peer: prepared(peer, 1) for peer in PAGES}


@pytest.fixture(scope="module")
def theirs():
    return {}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.peer}: {row.here}")
def test_the_right_hand_column(row, ours):
    found = result(row.here, ours[row.peer])
    if row.values is not None:
        assert_same(found, said(row.values[1]))
    else:
        assert not isinstance(found, type) or not issubclass(found, Exception)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.peer}: {row.there}")
def test_the_left_hand_column(row, ours, theirs):
    with settings(row.peer):
        if row.peer not in theirs:
            theirs[row.peer] = prepared(row.peer, 0)
        found = result(row.there, theirs[row.peer])
        if row.values is not None:
            assert_same(found, said(row.values[0]))
        elif "draw(" not in row.here:  # a picture is not to be compared
            assert_same(found, result(row.here, ours[row.peer]))
