"""Notebooks end with exercises whose solutions run, are stored with their output, and fit their column."""

import json
import pathlib

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
COLUMNS = 100  # what the docs show without going on in the next line


def cells(notebook, kind):
    return [c for c in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == kind]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_three_exercises_with_folded_solutions(notebook):
    texts = ["".join(c["source"]) for c in cells(notebook, "markdown")]
    asked = [k for text in texts for k in (1, 2, 3) if f"**{k}.** " in text]
    assert asked == [1, 2, 3]
    folded = [c for c in cells(notebook, "code") if "hide-cell" in c["metadata"].get("tags", ())]
    assert len(folded) == 3
    assert all(c["metadata"]["jupyter"] == {"source_hidden": True} for c in folded)
    assert sum("assert" in "".join(c["source"]) for c in folded) >= 2


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_lines_of_code_fit_their_column(notebook):
    lines = [line for c in cells(notebook, "code") for line in "".join(c["source"]).split("\n")]
    assert [line for line in lines if len(line) > COLUMNS] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_output_is_stored_and_holds_no_failure(notebook):
    outputs = [out for c in cells(notebook, "code") for out in c["outputs"]]
    assert {out["output_type"] for out in outputs} <= {"stream", "display_data", "execute_result"}
    assert any("image/png" in out.get("data", ()) for out in outputs)
