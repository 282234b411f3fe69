"""Live pictures: the HTML that notebooks show, and what its scripts decide."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.drawing.live import FACTS, SHOWN, STATES, static
from funcgrad.drawing.values import told
from funcgrad.errors import ArgumentError
from tests.drawing.models import LAYER, MODELS, RECURRENT, SVG, layer, nested_loops, recurrent

VOID = {"meta", "link", "br", "img"}


class Page(HTMLParser):
    """Finds the states and the data, and that every tag is closed by its own."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.data = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open
        self.states = {
            found[1]: ET.fromstring(found[2])
            for found in re.finditer(r'data-open="([^"]*)"[^>]*>(<svg.*?</svg>)</div>', text, re.DOTALL)
        }
        self.facts = json.loads(self.data) if self.data else None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][1].get("class") == "fg-data":
            self.data += data


def members(state):
    return [
        [int(k) for k in g.get("data-members").split()]
        for g in state.iter(f"{SVG}g")
        if g.get("class", "").startswith("vertex")
    ]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_each_state_shows_every_operation_once(name, backward):
    fun, args = MODELS[name]
    picture = fg.draw(fun, backward=backward)(*args)
    page = Page(picture.to_html())
    count = len(page.facts["facts"])
    assert 1 <= len(page.states) <= STATES
    assert next(iter(page.states)) == ""
    for state in page.states.values():
        assert sorted(k for shown in members(state) for k in shown) == list(range(count))
    assert len(members(page.states[""])) == len(picture.graph.vertices())
    assert page.facts["steps"]
    untold = {page.facts["facts"][number][0] for number, text in page.facts["steps"] if not text}
    assert untold <= {"x[index] = v"}  # what is written into keeps its values for itself
    assert sum(len(members(state)) for state in page.states.values()) <= SHOWN or len(page.states) == 1


def test_nothing_is_fetched_from_elsewhere(tmp_path):
    fg.draw(recurrent)(*RECURRENT).save(tmp_path / "picture.html")
    fg.trace(layer)(*LAYER).save(tmp_path / "table.html")
    for name in ("picture.html", "table.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.startswith("<!doctype html>")
        assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
        assert not any("src" in attrs or "href" in attrs for _, attrs in Page(text).tags)


def test_a_repetition_opens_to_its_first_and_last_rounds():
    page = Page(fg.draw(recurrent)(*RECURRENT).to_html())
    heads = lambda state: [t.text for t in state.iter(f"{SVG}text") if t.get("font-weight") == "600"]
    assert heads(page.states[""]) == ["20 ×"]
    assert heads(page.states["0."]) == ["round 1", "round 2", "17 ×", "round 20"]
    assert heads(page.states["0. 0.m"]) == [
        "round 1",
        "round 2",
        "round 3",
        "round 4",
        "14 ×",
        "round 19",
        "round 20",
    ]


def test_loops_within_loops_open_by_themselves():
    page = Page(fg.draw(nested_loops)(0.3).to_html())
    assert set(page.states) == {"", "0.", "0.0.", "0. 0.0."}
    keys = {g.get("data-key") for g in page.states["0."].iter(f"{SVG}g")} - {None}
    assert keys == {"0.", "0.0."}


def test_the_steps_are_those_of_the_sweep():
    def fun(x, y):
        return np.sin(x) * y

    x, y = 0.5, 3.0
    page = Page(fg.draw(fun)(x, y).to_html())
    facts = page.facts["facts"]
    steps = [(facts[number][0], float(text)) for number, text in page.facts["steps"]]
    slopes = fg.grad(fun, argnums=(0, 1))(x, y)
    rounded = lambda v: pytest.approx(v, rel=1e-3)
    assert steps == [
        ("multiply", 1.0),
        ("sin", y),
        ("x", rounded(slopes[0])),
        ("y", rounded(slopes[1])),
    ]
    values = {fact[0]: fact[3] for fact in facts}
    assert values == {
        "x": "0.5",
        "y": "3",
        "sin": f"{np.sin(x):.4g}",
        "multiply": f"{np.sin(x) * y:.4g}",
        "out": values["multiply"],
    }


def test_what_ends_the_sweep_is_told_and_the_picture_is_there():
    broken = fg.custom_vjp(lambda x: x * x)
    broken.defvjp(lambda x: (x * x, x), lambda x, ct: 1 / 0)
    page = Page(fg.draw(lambda x: np.sin(broken(x)))(2.0).to_html())
    assert page.facts["note"] == "The sweep ends with ZeroDivisionError: division by zero"
    assert next(page.facts["facts"][k][0] for k, _ in page.facts["steps"]) == "sin"


def test_a_large_picture_keeps_no_values():
    def many(x):
        for k in range(FACTS):
            x = np.sin(x) if k % 7 else x * 0.5
        return x

    page = Page(fg.draw(many)(0.5).to_html())
    assert page.facts["facts"] == page.facts["steps"] == []
    assert page.facts["note"].startswith(f"More than {FACTS} operations")
    assert next(page.states[""].iter(f"{SVG}title")).text


def test_text_can_not_end_the_script():
    fun = lambda x: np.sum(x)
    fun.__name__ = "</script><b>"
    page = Page(fg.draw(fun)(np.ones(2)).to_html())
    assert [tag for tag, _ in page.tags].count("b") == 0


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.float64(1 / 3), "0.3333"),
        (np.array([1.0, 2.5]), "[1, 2.5]"),
        (np.arange(10.0), "0 … 9, mean 4.5"),
        (np.full(9, 2.0), "2 everywhere"),
        (np.append(np.arange(9.0), [np.nan, np.inf]), "0 … 8, mean 4, 2 not finite"),
        (np.array([1 + 2j]), "[1+2j]"),
        (np.full(8, 3 + 4j), "magnitude 5 everywhere"),
        ((np.float64(1), None), "1; 0"),
        ("text", ""),
    ],
)
def test_values_in_words(x, text):
    assert told(x) == text


# ---- the flame view ------------------------------------------------------------------------------------------------------


def outer(x):
    return inner(x) * 2.0 + inner(np.cos(x))


def inner(x):
    return np.sum(np.exp(x))


def test_a_flame_view_follows_the_calls():
    table = fg.trace(outer)(np.ones(500))
    assert [[line.function for line in row.path] for row in table.rows if row.operation == "exp"] == [
        ["outer", "inner"]
    ] * 2
    flame = ET.fromstring(
        re.search(r'<svg xmlns="[^"]*" data-measure="memory".*?</svg></svg>', table.to_html())[0]
    )
    cells = {
        c.find(f"{SVG}title").text: (float(c.get("y")), float(c.get("data-x")), float(c.get("data-w")))
        for c in flame
    }
    (exp,) = [
        spot
        for title, spot in cells.items()
        if title.startswith("exp (elementwise): 8.0 kB, 100 %, 2 operations")
    ]
    assert exp[1:] == (0.0, 100.0)
    assert exp[0] == max(y for y, _, _ in cells.values())
    assert [title for title, (y, _, _) in cells.items() if y == 0] == ["outer: 8.0 kB, 100 %, 7 operations"]


@pytest.mark.parametrize("measure", ["time", "forward", "backward", "memory"])
def test_cells_fill_what_is_above_them(measure):
    table = fg.trace(recurrent)(*RECURRENT)
    view = ET.fromstring(
        re.search(rf'<svg xmlns="[^"]*" data-measure="{measure}".*?</svg></svg>', table.to_html())[0]
    )
    rows = {}
    for cell in view:
        rows.setdefault(float(cell.get("y")), []).append(
            (float(cell.get("data-x")), float(cell.get("data-w")))
        )
    for spots in rows.values():
        spots.sort()
        assert all(x + w <= other + 0.01 for (x, w), (other, _) in zip(spots, spots[1:]))
        assert sum(w for _, w in spots) <= 100.01
    assert sum(w for _, w in rows[22.0]) == pytest.approx(100, abs=0.5)


def test_what_is_added_up_has_no_flame_view():
    table = fg.trace(layer)(*LAYER)
    assert "funcgrad-flame" in table.to_html()
    assert "funcgrad-flame" not in table.by("operation").to_html()
    with pytest.raises(ArgumentError, match=r"'x.svg' ends in none of \.html, \.txt"):
        table.save("x.svg")


# ---- the scripts ---------------------------------------------------------------------------------------------------------


def run(name, expression):
    """What an expression gives, in which `m` has the script's functions."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, which runs the script")
    code = f"const m = (function () {{ const module = {{}}; {static(name)}; return module.exports; }})();"
    command = [node, "-e", f"{code}console.log(JSON.stringify({expression}))"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@pytest.mark.parametrize(
    ("states", "current", "key", "to"),
    [
        (["", "0."], "", "0.", "0."),
        (["", "0."], "0.", "0.", ""),
        (["", "0.", "0.0.", "0. 0.0."], "0. 0.0.", "0.0.", "0."),
        (["", "0.", "0.0.", "0. 0.0."], "0. 0.0.", "0.", ""),  # with what lies within
        (["", "0.", "1."], "0.", "1.", "1."),  # both would be too large: the nearest that has it
        ([""], "", "0.", None),
    ],
)
def test_a_click_opens_and_closes(states, current, key, to):
    assert run("picture.js", f"m.toggled({json.dumps(states)}, {current!r}, {key!r})") == to


def test_what_hovering_tells():
    facts = [["sin", "elementwise", "() float64", str(k), "a.py, line 1"] for k in range(6)]
    text = run("picture.js", f"m.tell({json.dumps(facts)}, [0, 1, 2, 3, 4, 5], {{5: '0.5'}})")
    assert text.splitlines() == [
        "sin  (elementwise)", "() float64", "round 1: value 0", "round 2: value 1", "…", "round 6: value 5", "round 6: ct 0.5",
        "a.py, line 1",
    ]  # fmt: skip
    assert run("picture.js", f"m.tell({json.dumps(facts)}, [2], null)").splitlines()[2] == "value 2"
    data = {"facts": [["x", "input", "", "1", ""], *facts], "steps": [[1, "1"], [0, "0.5"]], "back": False}
    assert run("picture.js", f"m.stepText({json.dumps(data)}, 1)") == "ct of x = 0.5"
    assert "ct of its output = 1" in run("picture.js", f"m.stepText({json.dumps(data)}, 0)")


def test_enlarging_a_cell():
    to = "{x: 20, w: 40}"
    assert run("flame.js", f"m.zoomed(30, 20, {to})") == pytest.approx({"x": 25, "w": 50})
    assert run("flame.js", f"m.zoomed(0, 100, {to})") == pytest.approx({"x": 0, "w": 100})
    assert run("flame.js", f"[m.zoomed(60, 10, {to}), m.zoomed(0, 20, {to})]") == [None, None]
