"""Pooling: against the original over a table of settings; ties, NaN, derivatives against differences, vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer

F: Any = ft.nn.functional


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


LAYERS = [
    ("MaxPool1d", (2, 3, 9), (2,), {}),
    ("MaxPool1d", (3, 9), (3, 2), {"padding": 1, "dilation": 2}),
    ("MaxPool2d", (2, 3, 6, 7), (2,), {}),
    ("MaxPool2d", (2, 3, 6, 7), ((3, 2),), {"stride": (2, 1), "padding": (1, 1), "dilation": (1, 2)}),
    ("MaxPool2d", (2, 3, 6, 7), (3, 2), {"ceil_mode": True}),
    ("MaxPool2d", (2, 3, 6, 6), (2, 3), {"ceil_mode": True, "padding": 1}),
    ("MaxPool2d", (2, 3, 6, 7), (3, 1), {"return_indices": True, "padding": 1}),
    ("MaxPool2d", (3, 6, 7), (2,), {}),
    ("MaxPool3d", (1, 2, 4, 5, 4), (2,), {"stride": (2, 1, 2)}),
    ("AvgPool1d", (2, 3, 9), (2,), {}),
    ("AvgPool1d", (2, 3, 9), (3, 2), {"padding": 1, "count_include_pad": False}),
    ("AvgPool2d", (2, 3, 6, 7), (2,), {}),
    ("AvgPool2d", (2, 3, 6, 7), ((3, 2),), {"stride": (2, 1), "padding": (1, 1)}),
    ("AvgPool2d", (2, 3, 6, 7), (3, 2), {"padding": 1, "count_include_pad": False, "ceil_mode": True}),
    ("AvgPool2d", (2, 3, 6, 7), (3, 2), {"padding": 1, "ceil_mode": True}),
    ("AvgPool2d", (2, 3, 6, 7), (3, 2), {"divisor_override": 5}),
    ("AvgPool2d", (3, 6, 7), (2,), {}),
    ("AvgPool3d", (1, 2, 4, 5, 4), (2,), {"padding": 1}),
    ("AdaptiveAvgPool1d", (2, 3, 9), (4,), {}),
    ("AdaptiveAvgPool2d", (2, 3, 6, 7), ((4, 3),), {}),
    ("AdaptiveAvgPool2d", (2, 3, 6, 7), (1,), {}),
    ("AdaptiveAvgPool2d", (3, 6, 7), ((None, 9),), {}),
    ("AdaptiveMaxPool1d", (2, 3, 9), (4,), {}),
    ("AdaptiveMaxPool2d", (2, 3, 6, 7), ((4, 3),), {"return_indices": True}),
    ("AdaptiveMaxPool2d", (2, 3, 6, 7), (3,), {}),
    ("LPPool1d", (2, 3, 9), (2, 3), {}),
    ("LPPool2d", (2, 3, 6, 7), (2, (2, 3)), {"stride": 2, "ceil_mode": True}),
]


@pytest.mark.parametrize(("kind", "shape", "sizes", "settings"), LAYERS)
def test_layers(torch, kind, shape, sizes, settings):
    second = not kind.startswith("LP")  # there the original takes two seconds to import what it needs
    check_layer(torch, lambda nn: getattr(nn, kind)(*sizes, **settings), arrays(shape), second=second)


def test_unpooling(torch):
    places = np.array([[[[0, 3], [9, 14]]]])
    check_layer(torch, lambda nn: nn.MaxUnpool2d(2), arrays((1, 1, 2, 2), places))
    check_layer(
        torch,
        lambda nn: nn.MaxUnpool2d(2),
        arrays((1, 1, 2, 2), places),
        call=lambda m, x, i: m(x, i, (1, 1, 5, 4)),
    )


@pytest.mark.parametrize("settings", [{}, {"stride": 1, "padding": 1}, {"dilation": 2, "stride": 1}])
def test_ties_and_what_is_no_number(torch, settings):
    x = np.round(arrays((2, 2, 6, 6))[0])
    x[0, 0, 1, 2] = x[0, 0, 1, 3] = x[1, 0, 5, 5] = np.nan
    x[1, 1] = -np.inf
    x[0, 1, :3] = np.inf
    found = []
    for library in (ft, torch):
        t = library.tensor(x, requires_grad=True)
        out, places = library.nn.functional.max_pool2d(t, 2, return_indices=True, **settings)
        (gradient,) = library.autograd.grad(out, t, library.ones_like(out))
        found.append([out.detach().numpy(), places.numpy(), gradient.numpy()])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_integers_and_single_precision_stay(torch):
    x = np.arange(32).reshape(2, 1, 4, 4)
    assert (
        F.max_pool2d(ft.tensor(x), 3, 1, 1).tolist()
        == torch.nn.functional.max_pool2d(torch.tensor(x), 3, 1, 1).tolist()
    )
    for pool in (F.avg_pool2d, F.max_pool2d):
        t = ft.tensor(x, dtype=ft.float32, requires_grad=True)
        out = pool(t, 3, 1, 1)
        out.sum().backward()
        assert out.dtype == t.grad.dtype == ft.float32


CALLS = [
    lambda x: F.max_pool2d(x, 2, 1),
    lambda x: F.max_pool2d(x, 2, 2),
    lambda x: F.avg_pool2d(x, 2, 1, 1),
    lambda x: F.avg_pool2d(x, (2, 3), 2, 1, count_include_pad=False),
    lambda x: F.adaptive_avg_pool2d(x, (2, 2)),
    lambda x: F.adaptive_max_pool2d(x, (2, 2)),
    lambda x: F.lp_pool2d(x, 2.0, 2, 1),
]


@pytest.mark.parametrize("run", CALLS)
def test_against_differences(run):
    x = ft.tensor(arrays((1, 1, 3, 3))[0], requires_grad=True)
    assert ft.autograd.gradcheck(run, x, check_forward_ad=True)
    assert ft.autograd.gradgradcheck(run, x)


@pytest.mark.parametrize("run", CALLS)
def test_vmap(run):
    x = ft.tensor(arrays((3, 2, 2, 4, 3))[0])
    for function in (run, ft.func.grad(lambda x: (run(x) ** 2).sum())):
        found = ft.func.vmap(function)(x)
        for k in range(3):
            np.testing.assert_allclose(
                found[k].numpy(), function(x.unbind()[k]).numpy(), rtol=1e-12, atol=1e-12
            )


@pytest.mark.parametrize("run", CALLS[:-1])
def test_results_are_contiguous(run):
    assert run(ft.zeros(2, 3, 4, 4)).is_contiguous()


ERRORS = [
    lambda t: t.nn.functional.max_pool2d(t.zeros(1, 2, 8, 8), 3, padding=2),
    lambda t: t.nn.functional.max_pool2d(t.zeros(1, 2, 8, 8), 9),
    lambda t: t.nn.functional.max_pool2d(t.zeros(1, 2, 8, 8), (2, 2, 2)),
    lambda t: t.nn.functional.max_pool2d(t.zeros(1, 2, 8, 8), 2, stride=0),
    lambda t: t.nn.functional.avg_pool2d(t.zeros(1, 2, 8, 8), 9),
    lambda t: t.nn.functional.avg_pool2d(t.zeros(1, 2, 8, 8), 3, padding=2),
    lambda t: t.nn.functional.avg_pool2d(t.zeros(1, 2, 8, 8), 3, divisor_override=0),
    lambda t: t.nn.functional.adaptive_avg_pool2d(t.zeros(8, 8), 2),
    lambda t: t.nn.functional.max_unpool2d(t.zeros(1, 1, 2, 2), t.full((1, 1, 2, 2), -1), 2),
    lambda t: t.nn.functional.max_pool1d(t.zeros(1, 2, 8, 8), 2),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)
