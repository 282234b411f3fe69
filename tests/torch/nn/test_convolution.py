"""Convolutions against the original over a table of settings; derivatives; forward mode; vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer

F = ft.nn.functional
# what the original says of its own speed
pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'")


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


CONVOLUTIONS = [
    ("Conv1d", (2, 3, 9), (3, 4, 3), {}),
    ("Conv1d", (2, 4, 9), (4, 6, 3), {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}),
    ("Conv1d", (3, 9), (3, 4, 4), {"padding": "same"}),
    ("Conv1d", (2, 3, 9), (3, 4, 3), {"padding": "same", "padding_mode": "circular"}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 3), {}),
    (
        "Conv2d",
        (2, 3, 6, 7),
        (3, 4, (3, 2)),
        {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "bias": False},
    ),
    ("Conv2d", (2, 4, 6, 7), (4, 6, 3), {"groups": 2, "padding": 1}),
    ("Conv2d", (2, 4, 6, 7), (4, 4, 3), {"groups": 4, "padding": 1}),
    ("Conv2d", (2, 4, 6, 7), (4, 4, 3), {"groups": 4, "stride": 2}),
    ("Conv2d", (2, 4, 6, 7), (4, 8, 3), {"groups": 4, "stride": 2, "padding": 1}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 3), {"padding": 4}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 1), {"stride": 3}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 2), {"padding": "same"}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 3), {"padding": "valid"}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 3), {"padding": 2, "padding_mode": "reflect"}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 3), {"padding": (1, 2), "padding_mode": "replicate", "stride": 2}),
    ("Conv2d", (2, 3, 6, 7), (3, 4, 3), {"padding": (1, 2), "padding_mode": "circular"}),
    ("Conv2d", (3, 6, 7), (3, 4, 3), {}),
    ("Conv2d", (0, 3, 6, 7), (3, 4, 3), {}),
    ("Conv3d", (1, 2, 4, 5, 3), (2, 3, 2), {"stride": (1, 2, 1), "padding": 1}),
    ("ConvTranspose1d", (2, 3, 5), (3, 4, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ("ConvTranspose2d", (2, 3, 4, 5), (3, 4, 3), {}),
    (
        "ConvTranspose2d",
        (2, 4, 4, 5),
        (4, 6, 3),
        {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2},
    ),
    (
        "ConvTranspose2d",
        (2, 4, 4, 5),
        (4, 4, (3, 2)),
        {"stride": (3, 1), "dilation": 2, "groups": 4, "bias": False},
    ),
    ("ConvTranspose2d", (3, 4, 5), (3, 4, 3), {"padding": 2}),
    ("ConvTranspose3d", (1, 2, 3, 3, 2), (2, 3, 2), {"stride": 2}),
]


@pytest.mark.parametrize(("kind", "shape", "sizes", "settings"), CONVOLUTIONS)
def test_layers(torch, kind, shape, sizes, settings):
    circular = settings.get("padding_mode") == "circular"
    check_layer(torch, lambda nn: getattr(nn, kind)(*sizes, **settings), arrays(shape), nodes=not circular)


def test_single_precision_stays(torch):
    def make(nn: Any) -> Any:
        return nn.Conv2d(3, 4, 3, padding=1)

    check_layer(torch, make, arrays((2, 3, 6, 7), dtype=np.float32), second=False, tolerance=1e-4)


def test_output_size_chooses_the_padding(torch):
    def call(layer: Any, x: Any) -> Any:
        return layer(x, output_size=(10, 9))

    check_layer(torch, lambda nn: nn.ConvTranspose2d(2, 3, 3, stride=2), arrays((1, 2, 4, 4)), call=call)


@pytest.mark.parametrize(
    ("kind", "shape", "settings"),
    [
        ("Unfold", (2, 3, 5, 6), {"kernel_size": (2, 3), "padding": 1, "stride": (1, 2), "dilation": (2, 1)}),
        ("Unfold", (3, 5, 6), {"kernel_size": 2}),
        ("Fold", (2, 12, 12), {"output_size": (4, 5), "kernel_size": 2}),
        (
            "Fold",
            (2, 12, 9),
            {"output_size": (4, 5), "kernel_size": (2, 3), "padding": (1, 0), "stride": (2, 1)},
        ),
        ("Fold", (12, 12), {"output_size": (4, 5), "kernel_size": 2}),
    ],
)
def test_windows_as_columns(torch, kind, shape, settings):
    check_layer(torch, lambda nn: getattr(nn, kind)(**settings), arrays(shape))


GEOMETRIES = [
    ((2, 2, 3), (1, 2, 2), {"stride": 2, "padding": 1}),
    ((1, 2, 2, 3), (2, 1, 2, 1), {"groups": 2, "padding": 1}),
    ((1, 1, 3, 3), (2, 1, 2, 2), {"stride": (2, 1), "dilation": (1, 2), "padding": (2, 0)}),
]


@pytest.mark.parametrize(("shape", "kernel", "settings"), GEOMETRIES)
@pytest.mark.parametrize("transposed", [False, True])
def test_against_differences(shape, kernel, settings, transposed):
    function = getattr(F, f"conv{'_transpose' * transposed}{len(shape) - 2}d")
    made = kernel[1] * settings.get("groups", 1) if transposed else kernel[0]
    channels = kernel[0] if transposed else shape[1]
    x, w, b = (
        ft.tensor(a, requires_grad=True) for a in arrays((shape[0], channels, *shape[2:]), kernel, (made,))
    )
    run = lambda *operands: function(*operands, **settings)
    assert ft.autograd.gradcheck(run, (x, w, b), check_forward_ad=True)
    assert ft.autograd.gradgradcheck(run, (x, w, b))


@pytest.mark.parametrize(("shape", "kernel", "settings"), GEOMETRIES)
@pytest.mark.parametrize("batched", [(0, None, None), (None, 0, None), (0, 0, 0), (None, None, 0)])
@pytest.mark.parametrize("transposed", [False, True])
def test_vmap(shape, kernel, settings, batched, transposed):
    function = getattr(F, f"conv{'_transpose' * transposed}{len(shape) - 2}d")
    made = kernel[1] * settings.get("groups", 1) if transposed else kernel[0]
    shapes = (shape[0], kernel[0] if transposed else shape[1], *shape[2:]), kernel, (made,)
    operands = [
        ft.tensor(a)
        for a in arrays(*[s if d is None else (3, *s) for s, d in zip(shapes, batched, strict=True)])
    ]

    def total(*operands: Any) -> Any:
        return (function(*operands, **settings) ** 2).sum()

    for run in (total, ft.func.grad(total, argnums=(0, 1, 2))):
        found: Any = ft.func.vmap(run, in_dims=batched)(*operands)
        for k in range(3):
            one = run(*[x if d is None else x.unbind()[k] for x, d in zip(operands, batched, strict=True)])
            for f, o in zip(
                found if isinstance(found, tuple) else (found,),
                one if isinstance(one, tuple) else (one,),
                strict=True,
            ):
                np.testing.assert_allclose(f[k].numpy(), o.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("size", "kernel", "padding", "dilation"),
    [((1100,), (5,), 4, 1), ((33, 40), (3, 2), (1, 0), (2, 1)), ((9, 12, 11), (3, 3, 2), 1, 1)],
)
def test_a_kernel_for_each_of_many_places(monkeypatch, size, kernel, padding, dilation):
    """By lines of the padded grid as by windows; the weight's gradient is the transpose."""
    rng = np.random.default_rng(3)
    x = ft.tensor(rng.standard_normal((2, 3, *size)), requires_grad=True)
    weight = ft.tensor(rng.standard_normal((3, 1, *kernel)), requires_grad=True)

    def run() -> Any:
        function = getattr(F, f"conv{len(size)}d")
        return function(x, weight, padding=padding, dilation=dilation, groups=3)

    out = run()
    ct = ft.tensor(rng.standard_normal(out.shape))
    ct_x, ct_weight = ft.autograd.grad(out, [x, weight], ct)
    for operand, gradient in ((x, ct_x), (weight, ct_weight)):
        assert float((operand * gradient).sum().detach()) == pytest.approx(float((out * ct).sum().detach()))
    monkeypatch.setattr("funcgrad.nn.kernels.convolution.LONG", 1 << 60)
    np.testing.assert_allclose(out.detach().numpy(), run().detach().numpy(), rtol=1e-12, atol=1e-13)


def test_many_examples_go_in_chunks(monkeypatch):
    from funcgrad.nn.kernels import convolution as kernels

    x, w, y = arrays((5, 4, 6, 6), (6, 2, 3, 3), (5, 6, 3, 3))
    geometry = kernels.Geometry((6, 6), (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), 2)
    calls = [(kernels.correlate, x, w), (kernels.spread, y, w), (kernels.weigh, x, y)]
    whole = [f(a, b, geometry) for f, a, b in calls]
    monkeypatch.setattr(kernels, "CHUNK", 1)
    for (f, a, b), expected in zip(calls, whole, strict=True):
        np.testing.assert_allclose(f(a, b, geometry), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kernel", "groups"), [(1, 1), (3, 1), (3, 2), (3, 4)])
def test_results_are_contiguous(kernel, groups):
    for kind in (ft.nn.Conv2d, ft.nn.ConvTranspose2d):
        x = ft.zeros(2, 4, 5, 5, requires_grad=True)
        out = kind(4, 4, kernel, groups=groups)(x)
        (gradient,) = ft.autograd.grad(out.sum(), x)
        assert all(t.is_contiguous() for t in (out, gradient))


ERRORS = [
    lambda t: t.nn.Conv2d(3, 4, 3)(t.zeros(2, 4, 5, 5)),
    lambda t: t.nn.Conv2d(3, 4, 3)(t.zeros(5, 5)),
    lambda t: t.nn.Conv2d(3, 4, 3)(t.zeros(2, 3, 2, 2)),
    lambda t: t.nn.ConvTranspose2d(3, 4, 3)(t.zeros(2, 4, 5, 5)),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), t.zeros(5)),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), stride=0),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), padding=-1),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), padding="some"),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), padding="same", stride=2),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), groups=3),
    lambda t: t.nn.functional.conv2d(t.zeros(2, 3, 5, 5), t.zeros(4, 3, 3, 3), stride=(1, 1, 1)),
    lambda t: t.nn.functional.conv_transpose2d(t.zeros(2, 3, 5, 5), t.zeros(3, 4, 3, 3), output_padding=1),
    lambda t: t.nn.ConvTranspose2d(3, 4, 3, stride=2)(t.zeros(1, 3, 8, 8), output_size=(19, 19)),
    lambda t: t.nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"),
    lambda t: t.nn.Conv2d(3, 4, 3, padding="some"),
    lambda t: t.nn.Conv2d(3, 4, 3, padding="same", stride=2),
    lambda t: t.nn.Conv2d(3, 4, 3, padding_mode="some"),
    lambda t: t.nn.Conv2d(3, 4, 3, groups=2),
    lambda t: t.nn.Conv2d(4, 3, 3, groups=2),
    lambda t: t.nn.Conv2d(4, 3, 3, groups=0),
    lambda t: t.nn.functional.fold(t.zeros(2, 5, 4), (3, 3), 2),
    lambda t: t.nn.functional.fold(t.zeros(2, 8, 5), (3, 3), 2),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)


def test_dtypes_that_differ_are_named():
    with pytest.raises(
        RuntimeError, match=r"Input type .*float64.* weight type .*float32.* should be the same.*to\(weight"
    ):
        ft.nn.Conv2d(1, 1, 1)(ft.zeros(1, 1, 2, 2, dtype=ft.float64))
