"""Folding: what repeats is shown once, and what is large stays small."""

import re

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.drawing.graph import Group, groups_in
from tests.drawing.models import (
    MODELS,
    NETWORK,
    RECURRENT,
    descent,
    network,
    operations,
    recurrent,
    shapes_of,
)


def test_a_loop_is_one_box_with_a_count():
    picture = fg.draw(recurrent)(*RECURRENT)
    (loop,) = [item for item in picture.graph.root.items if isinstance(item, Group)]
    assert loop.count == 20
    assert [v.label for v in loop.items] == ["matmul", "getitem", "matmul", "add", "tanh"]
    assert {(e.source.label, e.target.label) for e in picture.graph.edges if e.carried is loop} == {
        ("tanh", "matmul")
    }
    assert [v.detail for v in loop.items if v.label == "getitem"] == ["…"]
    assert picture.graph.operations == 101
    assert len(shapes_of(picture.to_svg(), "carried")) == 1
    assert operations(fg.draw(recurrent, fold=False)(*RECURRENT)).count("tanh") == 20


def test_loops_in_loops():
    fun, args = MODELS["nested loops"]
    (outer,) = [g for g in groups_in(fg.draw(fun)(*args).graph.root) if g.count == 5]
    (inner,) = [g for g in groups_in(outer) if g.count == 6]
    assert [v.label for v in inner.items] == ["sin", "multiply"]


def test_a_transform_in_a_loop():
    assert [(g.title, g.count) for g in groups_in(fg.draw(descent)(np.ones(3)).graph.root)][1:] == [
        ("", 4),
        ("grad of energy", 1),
        ("backward sweep", 1),
    ]


def test_layers_fold_with_their_parameters():
    picture = fg.draw(network)(*NETWORK)
    first, second, x = [v for v in picture.graph.vertices() if v.kind == "input"]
    assert (first.label, first.detail) == ("params[0][0] … params[7][0]", "8 of them")
    assert (second.label, x.label) == ("params[0][1] … params[7][1]", "x")


def test_two_rounds_are_not_folded():
    assert operations(fg.draw(lambda x: np.sin(np.cos(np.sin(np.cos(x)))))(1.0)) == ["cos", "sin"] * 2


def long_chain(x):
    for _ in range(2500):
        x = np.sin(x) * 0.9
    return x


def without_pattern(x):
    rng = np.random.default_rng(0)
    for k in rng.integers(0, 5, 5000):
        x = (np.sin, np.cos, np.tanh, np.arctan, np.negative)[k](x)
    return x


@pytest.mark.parametrize(
    ("fun", "backward"), [(long_chain, False), (long_chain, True), (without_pattern, False)]
)
def test_thousands_of_operations_make_a_small_picture(fun, backward):
    picture = fg.draw(fun, backward=backward)(0.5)
    assert picture.graph.operations >= 5000
    assert len(picture.graph.vertices()) <= 120
    assert len(picture.to_svg()) < 200_000


def test_many_inputs_and_outputs_are_gathered():
    picture = fg.draw(lambda xs: [np.sin(x) for x in xs])([float(k) for k in range(500)])
    assert [v.detail for v in picture.graph.vertices() if v.kind in ("input", "output")] == [
        "500 of them"
    ] * 2


def test_limit_counts():
    picture = fg.draw(without_pattern, limit=20)(0.5)
    assert 8 <= len(picture.graph.vertices()) <= 20
    counted = [v.label for v in picture.graph.vertices() if v.kind == "folded"]
    assert all(re.fullmatch(r"\d+ operations", label) for label in counted)
