"""The pages on adding things are true: what they show is followed. (Their examples are doctests.)"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pathlib
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import extend
from funcgrad.core.arrays.methods import LANES
from funcgrad.core.engine import declare
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.primitive import Primitive
from funcgrad.nn.kernels import activations
from tests.rules import samples, test_sweep
from tests.rules.samples import nn as layers

ROOT = pathlib.Path(__file__).parents[2]
RULE = (ROOT / "docs" / "adding_a_rule.md").read_text(encoding="utf-8")
TRANSFORM = (ROOT / "docs" / "adding_a_transform.md").read_text(encoding="utf-8")
LAYER = (ROOT / "docs" / "adding_a_layer.md").read_text(encoding="utf-8")
OPTIMIZER = (ROOT / "docs" / "adding_an_optimizer.md").read_text(encoding="utf-8")
SCIPY = (ROOT / "docs" / "adding_a_scipy_function.md").read_text(encoding="utf-8")


def test_every_verb_is_there() -> None:
    verbs = dict(re.findall(r"^\|[^|]*\| `(\w+)\(([^|]*)\|", RULE, re.MULTILINE))
    assert len(verbs) == 9
    for verb, rest in verbs.items():
        assert callable(getattr(declare, verb))
        assert hasattr(extend, verb) != ("inside funcgrad only" in rest), verb


def test_every_option_is_one() -> None:
    (named,) = re.findall(
        r"What else a function can do is said in the same declaration: (.*?)\n\Z", RULE, re.DOTALL
    )
    options = re.findall(r"`(\w+)` \(", named)
    assert len(options) == 6
    assert set(options) <= set(inspect.signature(Primitive).parameters)


CHECKS = [name for name in vars(test_sweep) if name.startswith("test_") and "linear_functions" not in name]


@pytest.mark.parametrize("check", CHECKS)
def test_a_rule_is_one_place_and_a_line_of_samples(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The declaration and the sample of the page are all that every check of a rule asks for."""
    declared, sampled = re.findall(r"^```python\n((?:elementwise|S)\(np\.hypot.*)\n```$", RULE, re.MULTILINE)
    for files in re.findall(r"in `((?:funcgrad|tests)/[^`]*\.py)`\n", RULE):
        assert (ROOT / files).is_file()
    monkeypatch.delitem(CATALOGUE, np.hypot)
    monkeypatch.setitem(LANES, np.hypot, None)
    del LANES[np.hypot]
    try:
        eval(declared, {**vars(declare), "np": np})
        (sample,) = eval(sampled, {**vars(samples), "np": np})
        assert CATALOGUE[np.hypot].kind == "elementwise"
        inspect.getclosurevars(getattr(test_sweep, check)).nonlocals["check"](sample)
    finally:
        CATALOGUE.pop(np.hypot, None)  # monkeypatch puts the old one back


def test_a_transform_is_two_places() -> None:
    """Each of ours is in a file of transforms/, or built on it, and named in __init__.py; nowhere else."""
    places = re.findall(r"Two places: a file in `([^`]*)`, and `([^`]*)`", TRANSFORM)
    assert places == [("funcgrad/transforms/", "funcgrad/__init__.py")]
    assert all((ROOT / place).exists() for place in places[0])
    for name in ("grad", "vmap", "jacrev", "hvp", "checkpoint", "root"):
        assert name in funcgrad.__all__
        assert getattr(funcgrad, name).__module__.startswith("funcgrad.transforms.")
        mentioned = [
            p
            for p in (ROOT / "funcgrad").glob("*.py")
            if re.search(rf'"{name}"', p.read_text(encoding="utf-8"))
        ]
        assert [p.name for p in mentioned] == ["__init__.py"]


@cache
def defined(page: str) -> dict[str, Any]:
    """What the examples of a page define."""
    names: dict[str, Any] = {}
    test = doctest.DocTestParser().get_doctest(
        re.sub(r"^```.*$", "", page, flags=re.MULTILINE), names, "page", None, 0
    )
    doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None, clear_globs=False)
    return test.globs


@pytest.mark.parametrize("check", CHECKS)
def test_a_layer_needs_one_line_of_samples(check: str) -> None:
    (sampled,) = re.findall(r"^```python\n(N\(.*)\n```$", LAYER, re.MULTILINE)
    sample = eval(sampled, {**vars(layers), **defined(LAYER)})
    # which is about functions that are in the catalogue themselves
    if check != "test_both_lanes_record_the_same":
        inspect.getclosurevars(getattr(test_sweep, check)).nonlocals["check"](sample)


def test_a_layer_is_three_places() -> None:
    """Each of ours has a kernel, a function over it, and PyTorch's name for it."""
    places = re.findall(
        r"kernel in `([^`]*)`, a function in `([^`]*)`, and PyTorch's name for it in `([^`]*)`", LAYER
    )
    assert places == [("funcgrad/nn/kernels/", "funcgrad/nn/", "funcgrad/torch/nn/")]
    assert all((ROOT / place).is_dir() for place in places[0])
    torch = importlib.import_module("funcgrad.torch")
    for name in ("silu", "mish", "softplus", "gelu"):
        assert hasattr(activations, name.upper())
        assert name in funcgrad.nn.__all__
        assert name in torch.nn.functional.__all__
        assert name in {module.lower() for module in torch.nn.__all__}


def test_an_optimizer_is_two_places() -> None:
    """Each of ours has a rule in a file of optim/, and a class in algorithms.py: its hyperparameters alone."""
    (places,) = re.findall(
        r"Two places: its rule, in a file of `([^`]*)`, and its class, in `([^`]*)`", OPTIMIZER
    )
    assert all((ROOT / place).exists() for place in places)
    for kind in funcgrad.optim.Optimizer.__subclasses__():
        if kind.__module__ == "funcgrad.optim.algorithms":
            assert kind.rule.kernel.__module__.startswith("funcgrad.optim.")
            assert {
                name
                for name in vars(kind)
                if inspect.isfunction(vars(kind)[name]) and not name.startswith("__")
            } == set()


def test_the_optimizer_of_the_page_steps_alike_in_both_worlds() -> None:
    names = defined(OPTIMIZER)
    torch, rng = names["torch"], np.random.default_rng(0)
    ours = names["Lion"](lr=0.1, weight_decay=0.01)
    x = rng.normal(size=5)
    w, state = torch.nn.Parameter(torch.tensor(x)), ours.init(x)
    theirs = names["TorchLion"]([w], lr=0.1, weight_decay=0.01)
    for _ in range(4):
        gradient = rng.normal(size=5)
        x, state = ours.update(gradient, state, x)
        w.grad = torch.tensor(gradient)
        theirs.step()
        np.testing.assert_allclose(w.detach().numpy(), x, rtol=1e-12)


def test_the_files_that_the_pages_name_are_there() -> None:
    for text in (RULE, TRANSFORM, LAYER, OPTIMIZER, SCIPY):
        for name in re.findall(r"`((?:core|transforms|rules|funcgrad|tests|docs)/[\w/.]+\.(?:py|md))`", text):
            assert (ROOT / name).exists() or (ROOT / "funcgrad" / name).exists(), name


def test_a_scipy_function_is_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The declaration of the page is all that a function needs which has no rule."""
    theirs = pytest.importorskip("scipy.linalg")
    from funcgrad.scipy import linalg

    (declared,) = re.findall(
        r'^>>> (@Chapter\("linalg"\)\.composite.*?)^>>> grad', SCIPY, re.MULTILINE | re.DOTALL
    )
    a = np.array([1.0, 2.0, 4.0])
    assert linalg.fiedler(a)[0, 2] == 3  # the chapter is loaded
    monkeypatch.delitem(CATALOGUE, theirs.fiedler)
    with pytest.raises(funcgrad.errors.UnsupportedFunctionError, match="fiedler"):
        funcgrad.grad(lambda a: linalg.fiedler(a)[0, 2])(a)
    space: dict[str, Any] = {"np": np, "Chapter": importlib.import_module("funcgrad.scipy.declare").Chapter}
    exec(re.sub(r"^\.\.\. ", "", declared, flags=re.MULTILINE), space)
    try:
        np.testing.assert_array_equal(funcgrad.grad(lambda a: linalg.fiedler(a)[0, 2])(a), [-1, 0, 1])
    finally:
        del CATALOGUE[theirs.fiedler]


def test_every_verb_of_scipys_chapters_is_there() -> None:
    pytest.importorskip("scipy")
    chapter = importlib.import_module("funcgrad.scipy.declare").Chapter
    verbs = re.findall(r"`chapter\.(\w+)\(", SCIPY)
    assert len(verbs) >= 8
    assert [verb for verb in verbs if not hasattr(chapter, verb)] == []
