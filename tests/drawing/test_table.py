"""Tables: rows, bytes, sums, and their texts."""

import os
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.drawing.stack import Line
from funcgrad.errors import ArgumentError, OutputError
from tests.drawing.models import LAYER, MODELS, RECURRENT, assigning, layer, recurrent


def test_rows_are_the_operations_in_order():
    table = fg.trace(layer)(*LAYER)
    assert [row.operation for row in table.rows] == ["matmul", "add", "tanh", "power", "mean"]
    assert [row.out for row in table.rows] == ["(32, 8) float64"] * 4 + ["() float64"]
    assert [row.line.text[:6] for row in table.rows] == ["h = np"] * 3 + ["return"] * 2
    assert all(row.forward > 0 and row.backward > 0 and row.count == 1 for row in table.rows)
    assert len(table) == 5


def test_saved_counts_each_buffer_once_and_arguments_never():
    x = np.ones(1000)
    saved = lambda fun: [row.saved for row in fg.trace(fun)(x).rows]
    assert saved(lambda x: np.sin(x)) == [0]  # keeps the argument
    assert saved(lambda x: np.exp(x)) == [8000]  # keeps its result
    # the product keeps what is kept already
    assert saved(lambda x: np.exp(x) * np.exp(-x)) == [8000, 0, 8000, 0]
    assert saved(lambda x: x + 1.0) == [0]
    assert saved(lambda x: np.sum(np.sin(x.reshape(10, 100)[2:3] * 2.0))) == [0, 0, 0, 800, 0]
    assert saved(lambda x: np.sin((x * 2.0)[:2])) == [0, 0, 8000]  # a view keeps the whole


def test_total_adds_up():
    table = fg.trace(recurrent)(*RECURRENT)
    for field in ("saved", "forward", "backward", "count"):
        assert getattr(table.total, field) == pytest.approx(sum(getattr(row, field) for row in table.rows))
    assert table.total.count == len(table) == 101


@pytest.mark.parametrize("key", ["operation", "kind", "line"])
def test_by_adds_up_to_the_same_total(key):
    table = fg.trace(recurrent)(*RECURRENT)
    by = table.by(key)
    assert by.total.saved == table.total.saved
    assert by.total.count == 101
    assert by.total.forward == pytest.approx(table.total.forward)
    assert len(by) == len({getattr(row, key) for row in table.rows})
    times = [row.forward + row.backward for row in by.rows]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("name", MODELS)
def test_any_model_has_a_table(name):
    fun, args = MODELS[name]
    table = fg.trace(fun)(*args)
    assert table.total.count == fg.draw(fun)(*args).graph.operations
    assert ET.fromstring(table._table()).tag == "table"


def test_several_outputs_and_assignments():
    rows = {row.operation: row for row in fg.trace(assigning)(np.array([0.3, 0.5, 0.7])).rows}
    assert rows["linalg.qr"].out == "2 outputs"
    assert rows["linalg.qr"].saved >= 2 * 72  # q and r
    assert rows["x[index] = v"].kind == "assignment"


def test_text():
    lines = str(fg.trace(layer)(*LAYER)).splitlines()
    assert lines[0] == "layer: 5 operations"
    assert lines[1].split() == ["operation", "out", "saved", "forward", "backward", "line"]
    assert re.match(
        r"tanh +\(32, 8\) float64 +4\.1 kB +[\d.]+ .?s +[\d.]+ .?s  models\.py:\d+  h = np", lines[4]
    )
    assert lines[-1].startswith("total")
    assert len(lines) == 9


def test_long_tables_show_both_ends():
    table = fg.trace(recurrent)(*RECURRENT)
    lines = str(table).splitlines()
    assert len(lines) == 45
    assert lines[22] == "  ... 61 more ..."
    page = ET.fromstring(table._table())
    assert len(page.findall("tbody/tr")) == 41
    assert "61 more" in "".join(page.findall("tbody/tr")[20].itertext())


def test_html():
    table = fg.trace(layer)(*LAYER)
    page = ET.fromstring(table._table())
    assert page.find("caption").text == "layer: 5 operations"
    assert [cell.text for cell in page.findall("tbody/tr/td[1]")] == [
        "matmul",
        "add",
        "tanh",
        "power",
        "mean",
    ]
    assert "in layer" in page.findall("tbody/tr")[2].findall("td")[-1].get("title")
    assert table._repr_mimebundle_() == {"text/html": table.to_html(), "text/plain": repr(table)}


def test_arguments_can_be_written_again_and_are_unchanged():
    x = np.ones(100_000)
    fg.trace(lambda x, a: np.sum(x * a))(x, x)
    x[0] = 2.0
    assert x.sum() == 100_001


def test_refusals():
    with pytest.raises(ArgumentError, match="trace takes a function, not list"):
        fg.trace([1.0])
    with pytest.raises(ArgumentError, match="by one of operation, kind, line, not by 'size'"):
        fg.trace(layer)(*LAYER).by("size")
    with pytest.raises(OutputError, match="no floating output of rint depends"):
        fg.trace(np.rint)(1.0)


def test_a_cell_of_a_notebook_is_called_so():
    cell = Line(os.path.join("tmp", "ipykernel_123", "4567.py"), 6, "f")
    assert str(cell) == "cell, line 6, in f"
    assert str(cell._replace(file=os.path.join("work", "model.py"))) == "model.py, line 6, in f"
