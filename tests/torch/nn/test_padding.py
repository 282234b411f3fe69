"""Padding: against the original over a table of modes; derivatives against differences; vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer, check_same, gradients

F: Any = ft.nn.functional


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


LAYERS = [
    ("ConstantPad1d", (2, 1.5), (2, 3, 4)),
    ("ConstantPad2d", ((1, 0, 2, 1), -2.0), (2, 3, 4)),
    ("ConstantPad3d", (1, 0.5), (1, 2, 3, 2)),
    ("ZeroPad1d", (1,), (2, 3)),
    ("ZeroPad2d", ((1, -1, 2, 0),), (2, 3, 4, 5)),
    ("ZeroPad3d", (1,), (1, 2, 3, 2)),
    ("ReflectionPad1d", ((2, 1),), (3, 4)),
    ("ReflectionPad2d", ((1, 2, 0, 1),), (2, 3, 4)),
    ("ReflectionPad3d", (1,), (1, 1, 2, 3, 2)),
    ("ReplicationPad1d", (2,), (2, 3, 4)),
    ("ReplicationPad2d", ((1, 5, 0, 1),), (1, 2, 3, 4)),
    ("ReplicationPad3d", (1,), (1, 2, 3, 2)),
    ("CircularPad1d", ((3, 1),), (2, 3, 4)),
    ("CircularPad2d", ((1, 2, 0, 3),), (1, 2, 3, 4)),
    ("CircularPad3d", (1,), (1, 2, 3, 2)),
]


@pytest.mark.parametrize(("kind", "settings", "shape"), LAYERS)
def test_layers(torch, kind, settings, shape):
    check_layer(torch, lambda nn: getattr(nn, kind)(*settings), arrays(shape), nodes="Circular" not in kind)


CALLS = [
    ((1, 2), "constant", None),
    ((1, 2, 0, 3, -1, 1), "constant", 2.0),
    ((-1, 1, 0, 1), "reflect", None),
    ((-1, 1, 1, -2), "replicate", None),
    ((-1, 1, 1, 0), "circular", None),
    ((-2, -2), "constant", None),
]


@pytest.mark.parametrize(("margins", "mode", "value"), CALLS)
def test_functions(torch, margins, mode, value):
    found = []
    for library in (ft, torch):
        x = library.tensor(
            arrays((2, 3, 4) if len(margins) > 2 or mode == "constant" else (3, 4))[0], requires_grad=True
        )
        out = library.nn.functional.pad(x, margins, mode, value)
        found.append(([out], gradients(library, out, [x], True)))
    for mine, other in zip(*found, strict=True):
        check_same(mine, other, 1e-12, f"pad {mode}")


@pytest.mark.parametrize(("margins", "mode", "value"), CALLS[:5])
def test_against_differences_and_vmap(margins, mode, value):
    x = ft.tensor(arrays((2, 3, 4))[0], requires_grad=True)
    run = lambda x: F.pad(x, margins, mode, value)
    assert ft.autograd.gradcheck(run, x, check_forward_ad=True)
    batch = ft.tensor(arrays((2, 2, 3, 4))[0])
    for function in (run, ft.func.grad(lambda x: (run(x) ** 2).sum())):
        found: Any = ft.func.vmap(function)(batch)
        for k, each in enumerate(batch.unbind()):
            np.testing.assert_allclose(found[k].numpy(), function(each).numpy(), rtol=1e-12)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_results_are_contiguous(mode):
    assert F.pad(ft.zeros(1, 2, 3, 3), (1, 1, 1, 1), mode).is_contiguous()


def test_dtypes_stay():
    assert F.pad(ft.tensor([[1, 2]]), (1, 1), value=7).tolist() == [[7, 1, 2, 7]]
    assert F.pad(ft.tensor([True]), (1, 0)).tolist() == [False, True]
    assert F.pad(ft.ones(1, 2, dtype=ft.float32), (1, 1), value=0.5).dtype == ft.float32


ERRORS = [
    lambda t: t.nn.functional.pad(t.zeros(2, 3), (1,)),
    lambda t: t.nn.functional.pad(t.zeros(2, 3), (1,) * 6),
    lambda t: t.nn.functional.pad(t.zeros(2, 3), (-4, 0)),
    lambda t: t.nn.functional.pad(t.zeros(2, 3), (1, 1), "some"),
    lambda t: t.nn.functional.pad(t.zeros(2, 3), (1, 1), "reflect", 2.0),
    lambda t: t.nn.functional.pad(t.zeros(1, 2, 3, 3), (1, 1), "reflect"),
    lambda t: t.nn.functional.pad(t.zeros(3), (1, 1), "replicate"),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)


@pytest.mark.parametrize(
    ("mode", "words"), [("reflect", "less than the corresponding"), ("circular", "more than once")]
)
def test_padding_that_is_too_wide(mode, words):
    with pytest.raises(RuntimeError, match=words):
        F.pad(ft.zeros(2, 3), (4, 0), mode)
