"""Transformers: against the original over a table of settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer

SIZES = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0}
# what the original says of its own speed
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")
CAUSAL = np.triu(np.full((3, 3), -np.inf), 1)
PADDING = np.array([[False, False, True], [False, True, True]])


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


def library_of(x: Any, torch: Any) -> Any:
    return ft if isinstance(x, ft.Tensor) else torch


LAYERS = [
    {},
    {"norm_first": True, "activation": "gelu", "batch_first": True},
    {"bias": False, "layer_norm_eps": 1e-3},
]


@pytest.mark.parametrize("settings", LAYERS)
def test_encoder_layers(torch, settings):
    make = lambda nn: nn.TransformerEncoderLayer(**SIZES, **settings)
    check_layer(torch, make, arrays((3, 2, 4)), second=False, nodes=False)


@pytest.mark.parametrize("settings", LAYERS)
def test_decoder_layers(torch, settings):
    make = lambda nn: nn.TransformerDecoderLayer(**SIZES, **settings)
    second = (2, 3, 4) if "batch_first" in settings else (5, 2, 4)
    check_layer(
        torch,
        make,
        arrays((2, 2, 4) if "batch_first" in settings else (3, 2, 4), second),
        second=False,
        nodes=False,
    )


def test_masked_stacks(torch):
    def encoded(m: Any, x: Any) -> Any:
        t = library_of(x, torch)
        return m(
            x,
            mask=t.tensor(CAUSAL),
            src_key_padding_mask=t.tensor(np.where(PADDING, -np.inf, 0)),
            is_causal=True,
        )

    def decoded(m: Any, x: Any, memory: Any) -> Any:
        t = library_of(x, torch)
        return m(x, memory, tgt_mask=t.tensor(CAUSAL), memory_key_padding_mask=t.tensor(PADDING))

    def encoder(nn: Any) -> Any:
        return nn.TransformerEncoder(nn.TransformerEncoderLayer(**SIZES), 2, nn.LayerNorm(4))

    def decoder(nn: Any) -> Any:
        return nn.TransformerDecoder(nn.TransformerDecoderLayer(**SIZES), 2)

    check_layer(torch, encoder, arrays((3, 2, 4)), call=encoded, second=False, nodes=False, tolerance=1e-8)
    check_layer(
        torch, decoder, arrays((3, 2, 4), (3, 2, 4)), call=decoded, second=False, nodes=False, tolerance=1e-8
    )


@pytest.mark.parametrize("settings", [{}, {"batch_first": True, "norm_first": True, "bias": False}])
def test_whole(torch, settings):
    def make(nn: Any) -> Any:
        return nn.Transformer(**SIZES, num_encoder_layers=1, num_decoder_layers=2, **settings)

    def call(m: Any, src: Any, tgt: Any) -> Any:
        mask = m.generate_square_subsequent_mask(tgt.shape[1 if settings else 0]).to(tgt.dtype)
        return m(src, tgt, tgt_mask=mask, tgt_is_causal=True)

    shapes = [(2, 3, 4), (2, 2, 4)] if settings else [(3, 2, 4), (2, 2, 4)]
    check_layer(torch, make, arrays(*shapes), call=call, second=False, nodes=False, tolerance=1e-8)


def test_reference_numbers():
    ft.manual_seed(0)
    layer = ft.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
    out = layer(ft.arange(8.0).reshape(2, 1, 4))
    np.testing.assert_allclose(out.detach().numpy()[0, 0], [-1.15403, -0.39902, -0.03060, 1.58366], atol=1e-5)
    assert list(layer.state_dict())[:4] == [
        "self_attn.in_proj_weight",
        "self_attn.in_proj_bias",
        "self_attn.out_proj.weight",
        "self_attn.out_proj.bias",
    ]


def test_second_derivatives():
    layer = ft.nn.TransformerEncoderLayer(2, 1, 2, dropout=0.0).double()
    x = ft.tensor(arrays((2, 1, 2))[0], requires_grad=True)
    assert ft.autograd.gradgradcheck(layer, x)


def test_dropout_only_while_training():
    layer = ft.nn.TransformerEncoderLayer(4, 2, 6)
    x = ft.ones(3, 2, 4)
    assert not ft.equal(layer(x), layer(x))
    layer.eval()
    assert ft.equal(layer(x), layer(x))


ERRORS = [
    lambda t: t.nn.TransformerEncoderLayer(4, 2, activation="some"),
    lambda t: t.nn.Transformer(4, 2, 1, 1, 6)(t.zeros(3, 2, 4), t.zeros(3, 1, 4)),
    lambda t: t.nn.Transformer(4, 2, 1, 1, 6)(t.zeros(3, 2, 4), t.zeros(3, 2, 5)),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)
