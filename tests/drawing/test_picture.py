"""Drawings: what is shown, in which box, in which format."""

import re
import threading
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import debug
from funcgrad.core.arrays.spec import Spec
from funcgrad.drawing.graph import Group, groups_in, vertices_in
from funcgrad.errors import ArgumentError, OutputError
from tests.drawing.models import (
    LAYER,
    MODELS,
    NETWORK,
    RECURRENT,
    SVG,
    assigning,
    descent,
    layer,
    network,
    operations,
    recurrent,
    shapes_of,
)


def labels(drawing):
    return [v.label for v in drawing.graph.vertices()]


def edges(drawing):
    return {(e.source.label, e.target.label) for e in drawing.graph.edges}


def titles(drawing):
    return [group.title for group in groups_in(drawing.graph.root)][1:]


def test_operations_inputs_and_edges_are_those_of_the_tape():
    picture = fg.draw(layer)(*LAYER)
    assert labels(picture) == ["w", "b", "x", "matmul", "add", "tanh", "power", "mean", "out"]
    chain = {("matmul", "add"), ("add", "tanh"), ("tanh", "power"), ("power", "mean"), ("mean", "out")}
    assert edges(picture) == chain | {("x", "matmul"), ("w", "matmul"), ("b", "add")}
    slots = {e.source.label: e.slot for e in picture.graph.edges if e.target.label == "matmul"}
    assert slots == {"x": 0, "w": 1}


def test_shapes_dtypes_kinds_details_and_lines():
    picture = fg.draw(lambda x: np.sum(x[1:] * np.float32(2), axis=0))(np.ones((3, 2), np.float32))
    getitem, multiply, total = [v for v in picture.graph.vertices() if v.kind not in ("input", "output")]
    assert (getitem.kind, multiply.kind, total.kind) == ("linear", "elementwise", "linear")
    assert (getitem.detail, multiply.detail, total.detail) == ("[1:]", "y=2", "axis=0")
    assert getitem.outs == (Spec((2, 2), np.dtype(np.float32)),)
    assert total.outs == (Spec((2,), np.dtype(np.float32)),)
    assert multiply.line.file == __file__
    assert "np.float32(2)" in multiply.line.text


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("fold", [False, True])
def test_svg_shows_each_vertex_and_box_and_nothing_overlaps(name, backward, fold):
    fun, args = MODELS[name]
    picture = fg.draw(fun, backward=backward, fold=fold)(*args)
    svg = picture.to_svg()
    shown = shapes_of(svg, "vertex")
    assert len(shown) == len(picture.graph.vertices())
    assert len(shapes_of(svg, "group")) == len(titles(picture))
    boxes = [tuple(float(g.find(f"{SVG}rect").get(k)) for k in ("x", "y", "width", "height")) for g in shown]
    width, height = (float(ET.fromstring(svg).get(k)) for k in ("width", "height"))
    for i, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width + 1
        assert 0 <= y <= y + h <= height + 1
        for other_x, other_y, other_w, other_h in boxes[:i]:
            assert x >= other_x + other_w or other_x >= x + w or y >= other_y + other_h or other_y >= y + h


@pytest.mark.parametrize("name", MODELS)
def test_lines_lead_downwards(name):
    fun, args = MODELS[name]
    for edge in shapes_of(fg.draw(fun, backward=True)(*args).to_svg(), "edge"):
        *_, line = edge.iter(f"{SVG}path")
        ys = [float(y) for y in re.findall(r"(?:[MC ][\d.-]+ |V)([\d.-]+)", line.get("d"))]
        assert len(ys) > 1
        assert all(a <= b for a, b in pairwise(ys))


def test_hover_tells_shape_and_line():
    (tanh,) = [
        g for g in shapes_of(fg.draw(layer)(*LAYER).to_svg(), "vertex") if "tanh" in g.find(f"{SVG}text").text
    ]
    told = tanh.find(f"{SVG}title").text.splitlines()
    assert told[:3] == ["tanh", "elementwise", "(32, 8) float64"]
    assert re.fullmatch(r"models.py, line \d+, in layer", told[3])
    assert told[4] == "h = np.tanh(x @ w + b)"


def test_kinds_have_different_colours():
    svg = fg.draw(assigning)(np.ones(3)).to_svg()
    fills = {g.get("class"): g.find(f"{SVG}rect").get("fill") for g in shapes_of(svg, "vertex")}
    assert len(set(fills.values())) == len(fills) >= 8


def test_text_is_escaped():
    fun = lambda x: np.sum(x)
    fun.__name__ = 'a<b>&"c"'
    picture = fg.draw(fun)(np.ones(2))
    assert 'a<b>&"c": 1 operation' in "".join(ET.fromstring(picture.to_svg()).itertext())
    assert picture.to_dot().startswith('digraph "a<b>&\\"c\\"" {')


def test_outputs_of_one_call_stay_apart():
    picture = fg.draw(assigning)(np.ones(3))
    assert {(e.output, e.target.label) for e in picture.graph.edges if e.source.label == "linalg.qr"} == {
        (0, "getitem"),
        (1, "linalg.norm"),
    }


def test_assignment_is_an_operation():
    picture = fg.draw(assigning)(np.ones(3))
    assert [v.kind for v in picture.graph.vertices() if v.label == "x[index] = v"] == ["assignment"] * 2
    assert ("power", "x[index] = v") in edges(picture)


def test_what_no_output_needs_is_left_out():
    def fun(x):
        np.exp(x)
        return np.sin(x)

    assert operations(fg.draw(fun)(1.0)) == ["sin"]


def test_constant_arrays_are_shown_and_numbers_written_in():
    a = np.ones(3)
    picture = fg.draw(lambda x: x * a + a * 2.5 * x)(np.ones(3))
    constants = [v for v in picture.graph.vertices() if v.kind == "constant"]
    assert len(constants) == 2
    assert {e.slot for e in picture.graph.edges if e.source in constants} == {0, 1}


def test_arguments_are_named_by_path():
    picture = fg.draw(lambda p, *, scale: p["w"] * scale + p["b"][0], fold=False)(
        {"w": 1.0, "b": [2.0]}, scale=3.0
    )
    assert {v.label for v in picture.graph.vertices() if v.kind == "input"} == {
        "p['w']",
        "p['b'][0]",
        "scale",
    }
    named = fg.draw(network)(*NETWORK)
    assert {v.label for v in named.graph.vertices() if v.kind == "output"} == {"out['loss']", "out['last']"}


def test_integers_and_other_arguments_stay_what_they_are():
    def power(x, n, how):
        assert type(n) is int
        assert how == "often"
        for _ in range(n):
            x = x * x
        return x

    assert operations(fg.draw(power, fold=False)(1.5, 3, "often")) == ["multiply"] * 3


# ---- boxes ---------------------------------------------------------------------------------------------------------------


def test_transforms_are_boxes_within_boxes():
    picture = fg.draw(lambda x: fg.vmap(fg.grad(energy_of))(x) * 2.0)(np.ones((5, 3)))
    (mapped,) = [item for item in picture.graph.root.items if isinstance(item, Group)]
    (inner,) = [item for item in mapped.items if isinstance(item, Group)]
    assert (mapped.title, inner.title) == ("vmap of energy_of", "grad of energy_of")
    assert [item.title for item in inner.items if isinstance(item, Group)] == ["backward sweep"]
    assert "multiply" in [v.label for v in picture.graph.root.items if not isinstance(v, Group)]


def energy_of(x):
    return np.sum(np.sin(x) * x)


def test_two_runs_of_one_transform_are_two_boxes():
    picture = fg.draw(lambda x: fg.grad(energy_of)(x) + fg.grad(energy_of)(2.0 * x))(np.ones(3))
    assert titles(picture) == ["grad of energy_of", "backward sweep"] * 2


@pytest.mark.parametrize(
    ("fun", "title"),
    [
        (lambda x: fg.jvp(energy_of, (x,), (np.ones(3),))[1], "jvp of energy_of"),
        (lambda x: fg.vjp(energy_of, x)[1](1.0)[0], "pullback"),
        (fg.jacfwd(np.sin), "jacfwd of sin"),
        (fg.jacrev(np.sin), "jacrev of sin"),
    ],
)
def test_each_transform_has_its_box(fun, title):
    assert title in titles(fg.draw(fun)(np.ones(3)))


def test_what_is_one_step_for_the_engine_is_one_operation():
    square = fg.custom_vjp(lambda x: x * x)
    square.defvjp(lambda x: (x * x, x), lambda x, ct: (2 * ct * x,))
    assert [v.kind for v in fg.draw(square)(2.0).graph.vertices()] == ["input", "opaque", "output"]
    assert len(operations(fg.draw(fg.checkpoint(energy_of))(np.ones(3)))) == 1


# ---- the way back --------------------------------------------------------------------------------------------------------


def test_backward_leads_from_the_cotangent_to_those_of_the_arguments():
    picture = fg.draw(layer, backward=True)(*LAYER)
    assert titles(picture) == ["forward", "backward sweep"]
    forward, sweep = (item for item in picture.graph.root.items if isinstance(item, Group))
    assert [v.label for v in vertices_in(forward)] == ["matmul", "add", "tanh", "power", "mean"]
    ends = {v.label for v in picture.graph.vertices() if v.kind == "output"}
    assert ends == {"out", "ct of w", "ct of b", "ct of x"}
    inside = set(vertices_in(sweep))
    assert [e.target in inside for e in picture.graph.edges if e.source.label == "ct of out"] == [True]


def test_what_is_pulled_belongs_to_the_line_of_the_call():
    picture = fg.draw(layer, backward=True)(*LAYER)
    (_, sweep) = (item for item in picture.graph.root.items if isinstance(item, Group))
    lines = [v.line.text for v in vertices_in(sweep)]
    assert lines == sorted(lines, reverse=True)  # "return ..." comes before "h = ...", on the way back
    assert set(lines) == {"h = np.tanh(x @ w + b)", "return np.mean(h**2)"}


# ---- formats -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_mermaid_and_dot_have_all_vertices_edges_and_boxes(name):
    fun, args = MODELS[name]
    picture = fg.draw(fun)(*args)
    vertices, groups = len(picture.graph.vertices()), len(titles(picture))
    mermaid, dot = picture.to_mermaid(), picture.to_dot()
    assert mermaid.startswith("flowchart TD\n")
    assert len(re.findall(r"^ +n\d+[(\[]", mermaid, re.MULTILINE)) == vertices
    assert len(re.findall(r"^  n\d+ -", mermaid, re.MULTILINE)) == len(picture.graph.edges)
    assert (
        len(re.findall(r"^ +subgraph", mermaid, re.MULTILINE))
        == groups
        == len(re.findall(r"^ +end$", mermaid, re.MULTILINE))
    )
    assert len(re.findall(r"^ +n\d+ \[label=", dot, re.MULTILINE)) == vertices
    assert len(re.findall(r"^  n\d+ -> n\d+ \[", dot, re.MULTILINE)) == len(picture.graph.edges)
    assert dot.count("subgraph cluster_") == groups
    assert dot.count("{") == dot.count("}")


def test_mermaid_of_a_small_function():
    assert fg.draw(lambda x: np.sin(x) * x)(1.0).to_mermaid().splitlines()[:8] == [
        "flowchart TD",
        '  n0(["x"]):::kind_input',
        '  n1["sin"]:::kind_elementwise',
        '  n2["multiply"]:::kind_elementwise',
        '  n3(["out"]):::kind_output',
        '  n0 -->|"() float64"| n1',
        '  n1 -->|"() float64"| n2',
        '  n0 -->|"() float64"| n2',
    ]


def test_listing_reads_like_the_loop():
    lines = str(fg.draw(recurrent)(*RECURRENT)).splitlines()
    assert lines[0] == "recurrent: 101 operations"
    assert "  20 ×:" in lines
    assert any(line.startswith("    %1 = matmul(w, array, then last %5) ") for line in lines)
    assert any(line.startswith("    %2 = getitem(xs, …) ") for line in lines)


def test_notebooks_get_html_svg_and_text():
    picture = fg.draw(layer)(*LAYER)
    assert picture._repr_mimebundle_() == {
        "text/html": picture.to_html(), "image/svg+xml": picture.to_svg(), "text/plain": repr(picture)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        ("svg", "<svg"),
        ("mmd", "flowchart"),
        ("dot", "digraph"),
        ("txt", "layer: 5"),
        ("html", "<!doctype html>"),
    ],
)
def test_save(tmp_path, suffix, start):
    fg.draw(layer)(*LAYER).save(tmp_path / f"x.{suffix}")
    assert (tmp_path / f"x.{suffix}").read_text(encoding="utf-8").startswith(start)


# ---- nothing else is changed, and what can't be drawn is refused -----------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_drawing_changes_no_result(name):
    fun, args = MODELS[name]
    seen = []

    def watched(*args):
        out = fun(*args)
        seen.append(fg.stop_gradient(out))
        return out

    before = [np.copy(x) for x in fg.tree.leaves(args)]
    fg.draw(watched, backward=True)(*args)
    fg.draw(watched)(*args)
    for x, copy in zip(fg.tree.leaves(args), before, strict=True):
        np.testing.assert_array_equal(x, copy)
        assert not isinstance(x, np.ndarray) or x.flags.writeable
    assert len(seen) == 2
    expected = fg.tree.leaves(fun(*args))
    assert [np.shape(x) for x in fg.tree.leaves(seen[0])] == [np.shape(x) for x in expected]


def test_drawing_inside_a_transform_leaves_the_derivative_alone():
    def fun(x):
        y = np.sin(x) * x
        assert operations(fg.draw(y)) == ["sin", "multiply"]
        assert operations(fg.draw(np.exp)(y)) == ["exp"]
        return y

    assert fg.grad(fun)(0.7) == pytest.approx(np.sin(0.7) + 0.7 * np.cos(0.7))


def test_drawing_while_debugging():
    with debug.nans(), debug.lines():
        assert operations(fg.draw(layer)(*LAYER)) == ["matmul", "add", "tanh", "power", "mean"]


def test_drawing_in_threads():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(str(fg.draw(descent)(np.ones(3))))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [str(fg.draw(descent)(np.ones(3)))] * 4


def test_a_tensor_is_drawn_under_the_names_of_its_graph():
    torch = pytest.importorskip("funcgrad.torch")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = (x * x).sum().exp()
    assert operations(fg.draw(out)) == ["MulBackward0", "SumBackward0", "ExpBackward0"]
    out.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy() * np.exp(5.0), rtol=1e-6)


def test_refusals():
    with pytest.raises(OutputError, match="no floating output of <lambda> depends"):
        fg.draw(lambda x: 3.0)(1.0)
    with pytest.raises(ArgumentError, match="draw takes a function, not float"):
        fg.draw(3.0)
    with pytest.raises(ArgumentError, match="limit must be an int of at least 8, not 2"):
        fg.draw(layer, limit=2)
    with pytest.raises(ArgumentError, match=r"'x.png' ends in none of \.svg"):
        fg.draw(layer)(*LAYER).save("x.png")
    with pytest.raises(OutputError, match="no tape behind it"):
        fg.vmap(lambda x: fg.draw(x))(np.ones(3))
