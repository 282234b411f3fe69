"""Modules that change shapes, and containers: against the original."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.directions import check_directions
from tests.torch.nn.layers import arrays, check_errors, check_layer

LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("Identity", (3, 4), {"more": 1}, (2, 3)),
    ("Flatten", (), {}, (2, 3, 4)),
    ("Flatten", (0, 1), {}, (2, 3, 4)),
    ("Unflatten", (1, (2, 3)), {}, (2, 6)),
    ("PixelShuffle", (2,), {}, (2, 8, 2, 3)),
    ("PixelUnshuffle", (2,), {}, (2, 2, 4, 6)),
    ("ChannelShuffle", (2,), {}, (2, 4, 2, 2)),
    ("Linear", (4, 2), {}, (2, 3, 4)),
    ("Linear", (4, 2), {"bias": False}, (3, 4)),
    ("Linear", (4, 2), {"bias": False}, (4,)),
    ("Upsample", (), {"scale_factor": 2}, (1, 2, 3)),
    ("Upsample", (5,), {}, (1, 2, 3)),
    ("Upsample", (), {"scale_factor": 1.6}, (1, 2, 4)),
    ("Upsample", (), {"scale_factor": 1.6, "recompute_scale_factor": True}, (1, 2, 4)),
    ("Upsample", ((4, 2),), {}, (1, 2, 3, 3)),
    ("Upsample", ((4, 2),), {"mode": "nearest-exact"}, (1, 2, 3, 3)),
    ("Upsample", ((2, 3, 4),), {}, (1, 2, 2, 2, 2)),
    ("Upsample", (5,), {"mode": "linear"}, (1, 2, 3)),
    ("Upsample", ((5, 2),), {"mode": "bilinear"}, (1, 2, 3, 4)),
    ("Upsample", (), {"scale_factor": (2.0, 1.5), "mode": "bilinear"}, (1, 2, 3, 4)),
    ("Upsample", ((5, 1),), {"mode": "bilinear", "align_corners": True}, (1, 2, 3, 4)),
    ("Upsample", ((3, 3, 3),), {"mode": "trilinear"}, (1, 2, 2, 2, 2)),
    ("Upsample", ((5, 6),), {"mode": "bicubic"}, (1, 2, 3, 4)),
    ("Upsample", ((5, 6),), {"mode": "bicubic", "align_corners": True}, (1, 2, 3, 4)),
    ("Upsample", ((2, 2),), {"mode": "area"}, (1, 2, 3, 4)),
    ("UpsamplingNearest2d", (), {"scale_factor": 2}, (1, 2, 2, 2)),
    ("UpsamplingBilinear2d", (), {"scale_factor": 2}, (1, 2, 2, 2)),
]


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


@pytest.mark.parametrize(
    ("name", "args", "settings", "shape"), LAYERS, ids=[f"{x[0]}-{k}" for k, x in enumerate(LAYERS)]
)
def test_as_the_original(torch: Any, name: str, args: Any, settings: Any, shape: Any) -> None:
    make = lambda nn: getattr(nn, name)(*args, **settings)
    check_layer(torch, make, arrays(shape), tolerance=2e-6 if "mode" in settings else 1e-9)
    check_directions(make(ft.nn).double(), arrays(shape)[0])


@pytest.mark.parametrize("settings", [{}, {"bias": False}])
def test_bilinear(torch: Any, settings: dict[str, Any]) -> None:
    check_layer(torch, lambda nn: nn.Bilinear(3, 2, 4, **settings), arrays((5, 3), (5, 2)))
    check_layer(torch, lambda nn: nn.Bilinear(3, 2, 4, **settings), arrays((2, 5, 3), (2, 5, 2)))


def test_one_pixel_does_not_spoil_the_others() -> None:
    x = ft.tensor([[[[np.inf, 1.0], [2.0, np.nan]]]])
    assert ft.isfinite(ft.nn.functional.interpolate(x, scale_factor=2)).sum().item() == 8


@pytest.mark.parametrize(
    "run",
    [
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3)),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3), size=2, scale_factor=2),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3), size=(2, 2)),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3, 3), scale_factor=(2,)),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3), 2, mode="bilinear"),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3), 2, mode="x"),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2, 3), 2, align_corners=True),
        lambda t: t.nn.functional.interpolate(t.ones(1, 2), 2),
        lambda t: t.nn.PixelShuffle(2)(t.ones(1, 3, 2, 2)),
        lambda t: t.nn.PixelUnshuffle(2)(t.ones(1, 3, 3, 2)),
        lambda t: t.nn.ChannelShuffle(2)(t.ones(1, 3, 3, 2)),
        lambda t: t.nn.Unflatten(1, 3),
        lambda t: t.nn.Linear(3, 2)(t.ones(2, 4)),
        lambda t: t.nn.Linear(3, 2)(t.ones(2, 3).double()),
        lambda t: t.nn.Bilinear(3, 2, 1)(t.ones(2, 3), t.ones(3, 2)),
        lambda t: t.nn.Bilinear(3, 2, 1)(t.ones(2, 4), t.ones(2, 2)),
        lambda t: t.nn.Bilinear(0, 2, 1),
    ],
)
def test_errors(torch: Any, run: Any) -> None:
    check_errors(torch, run)
