"""Attention: against the original over a table of settings and masks; derivatives against differences; vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer, check_same, flat, given, gradients

F: Any = ft.nn.functional
INF = np.inf


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


CAUSAL = np.tril(np.ones((3, 4), bool))
PRODUCTS = [
    ([(2, 2, 3, 4), (2, 2, 4, 4), (2, 2, 4, 5)], {}, None),
    ([(3, 4), (4, 4), (4, 5)], {"scale": 0.3}, None),
    ([(2, 3, 4), (2, 4, 4), (2, 4, 5)], {"is_causal": True}, None),
    ([(2, 2, 3, 4), (2, 2, 4, 4), (2, 2, 4, 5)], {}, CAUSAL),
    ([(2, 2, 3, 4), (2, 2, 4, 4), (2, 2, 4, 5)], {}, arrays((2, 1, 3, 4), seed=3)[0]),
    ([(2, 3, 4), (2, 4, 4), (2, 4, 5)], {}, np.array([[True] * 4, [False] * 4, [True, False] * 2])),
    ([(2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)], {"enable_gqa": True}, None),
    ([(1, 2, 3, 4), (2, 1, 4, 4), (2, 1, 4, 5)], {}, arrays((3, 4), seed=3)[0]),
]


@pytest.mark.parametrize(("shapes", "settings", "mask"), PRODUCTS)
def test_products(torch, shapes, settings, mask):
    inputs = arrays(*shapes) + ([] if mask is None else [mask])
    found = []
    for library in (ft, torch):
        tensors = given(library, inputs)
        out = library.nn.functional.scaled_dot_product_attention(*tensors, **settings)
        wanted = [t for t in tensors if t.requires_grad]
        fused = "enable_gqa" in settings or (mask is not None and mask.dtype == bool)
        # the original's fused product has no second one
        found.append((flat(out), gradients(library, out, wanted, not fused)))
    for mine, other in zip(*found, strict=True):
        check_same(mine, other, 1e-8, "attention")


def test_single_precision_and_node(torch):
    names = []
    for library in (ft, torch):
        tensors = given(library, arrays((2, 2, 3, 4), (2, 2, 4, 4), (2, 2, 4, 4), dtype=np.float32))
        out = library.nn.functional.scaled_dot_product_attention(*tensors)
        names.append((str(out.dtype), out.grad_fn.name()))
    assert names[0] == names[1]


HEADS = [
    ({}, 1, {}),
    ({"batch_first": True, "bias": False}, 1, {"need_weights": False}),
    ({"add_bias_kv": True, "add_zero_attn": True}, 1, {"average_attn_weights": False}),
    ({}, 3, {}),
    ({"batch_first": True, "add_zero_attn": True}, 3, {"need_weights": False}),
    ({"kdim": 3, "vdim": 2}, 3, {}),
    ({"kdim": 3, "vdim": 2, "bias": False, "add_bias_kv": True}, 3, {}),
]


def _inputs(settings: dict[str, Any], count: int) -> list[np.ndarray]:
    if count == 1:
        return arrays((3, 2, 4))
    widths = (4, settings.get("kdim", 4), settings.get("vdim", 4))
    first = settings.get("batch_first", False)
    return arrays(*[(2, n, w) if first else (n, 2, w) for n, w in zip((3, 5, 5), widths, strict=True)])


@pytest.mark.parametrize(("settings", "count", "options"), HEADS)
def test_layers(torch, settings, count, options):
    def call(layer: Any, *x: Any) -> Any:
        return layer(*(x if count == 3 else x * 3), **options)

    second = options.get("need_weights", True)  # the original has no second derivative of its fused product
    make = lambda nn: nn.MultiheadAttention(4, 2, **settings)
    check_layer(torch, make, _inputs(settings, count), call=call, nodes=False, second=second)


MASKS = [
    {"attn_mask": np.triu(np.ones((3, 3), bool), 1)},
    {"attn_mask": np.triu(np.full((3, 3), -INF), 1), "is_causal": True},
    {"attn_mask": arrays((4, 3, 3), seed=5)[0]},
    {"key_padding_mask": np.array([[False, False, True], [False, True, True]])},
    {
        "key_padding_mask": np.array([[0.0, 0.5, -INF], [0, -1, -2]]),
        "attn_mask": np.triu(np.full((3, 3), -INF), 1),
    },
]


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("settings", [{}, {"batch_first": True, "add_zero_attn": True, "add_bias_kv": True}])
@pytest.mark.parametrize("need_weights", [True, False])
def test_masks(torch, masks, settings, need_weights):
    if settings and "is_causal" in masks and not need_weights:
        pytest.skip("the original takes its hint for the mask, and then hides the keys that were put behind")

    def call(layer: Any, x: Any) -> Any:
        library = ft if isinstance(x, ft.Tensor) else torch
        tensors = {k: library.tensor(m) if isinstance(m, np.ndarray) else m for k, m in masks.items()}
        if settings.get("batch_first"):
            x = x.transpose(0, 1)
        return layer(x, x, x, need_weights=need_weights, **tensors)

    make = lambda nn: nn.MultiheadAttention(4, 2, **settings)
    check_layer(torch, make, arrays((3, 2, 4)), call=call, nodes=False, second=need_weights, tolerance=1e-8)


def test_one_example(torch):
    def call(layer: Any, x: Any) -> Any:
        library = ft if isinstance(x, ft.Tensor) else torch
        return layer(x, x, x, key_padding_mask=library.tensor([False, False, True]))

    check_layer(torch, lambda nn: nn.MultiheadAttention(4, 2), arrays((3, 4)), call=call, nodes=False)


def test_rows_that_see_nothing(torch):
    for need_weights in (True, False):
        found = []
        for library in (ft, torch):
            library.manual_seed(0)
            layer = library.nn.MultiheadAttention(4, 2).double()
            x = library.tensor(arrays((3, 2, 4))[0])
            mask = library.tensor(np.array([[True] * 3, [False] * 3]))
            found.append(layer(x, x, x, key_padding_mask=mask, need_weights=need_weights)[0].detach().numpy())
        np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_dropout_drops_weights():
    ft.manual_seed(0)
    q = ft.ones(1, 200, 4)
    out = F.scaled_dot_product_attention(q, q, ft.ones(1, 200, 1), dropout_p=0.25)
    assert abs(float(out.mean()) - 1) < 0.02
    assert len(set(out.flatten().tolist())) > 10
    layer = ft.nn.MultiheadAttention(4, 2, dropout=0.5)
    one, other = (layer(q, q, q, need_weights=False)[0] for _ in range(2))
    assert not ft.equal(one, other)
    layer.eval()
    assert ft.equal(layer(q, q, q)[0], layer(q, q, q)[0])


def test_against_differences():
    q, k, v, mask = (
        ft.tensor(a, requires_grad=True) for a in arrays((1, 2, 1), (1, 2, 1), (1, 2, 1), (2, 2))
    )
    run = F.scaled_dot_product_attention
    assert ft.autograd.gradcheck(run, (q, k, v, mask), check_forward_ad=True)
    assert ft.autograd.gradgradcheck(run, (q, k, v, mask))
    layer = ft.nn.MultiheadAttention(2, 2).double()
    x = ft.tensor(arrays((2, 1, 2))[0], requires_grad=True)
    for whole in (lambda x: layer(x, x, x), lambda x: layer(x, x, x, need_weights=False)[0]):
        assert ft.autograd.gradcheck(whole, x, check_forward_ad=True)
        assert ft.autograd.gradgradcheck(whole, x)


def test_vmap():
    layer = ft.nn.MultiheadAttention(4, 2).double()
    x, q = (ft.tensor(a) for a in arrays((3, 4, 1, 4), (3, 2, 4)))

    def total(x: Any) -> Any:
        return (layer(x, x, x)[0] ** 2).sum()

    def product(q: Any) -> Any:
        return (F.scaled_dot_product_attention(q, q, q, is_causal=True) ** 2).sum()

    for run, operand in ((total, x), (ft.func.grad(total), x), (product, q), (ft.func.grad(product), q)):
        found: Any = ft.func.vmap(run)(operand)
        for k, each in enumerate(operand.unbind()):
            np.testing.assert_allclose(
                found[k].detach().numpy(), run(each).detach().numpy(), rtol=1e-9, atol=1e-12
            )


ERRORS = [
    lambda t: t.nn.MultiheadAttention(5, 2),
    lambda t: t.nn.MultiheadAttention(0, 2),
    lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(3, 2, 4)] * 3, is_causal=True),
    lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(3, 2, 4)] * 3, attn_mask=t.zeros(2, 3)),
    lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(3, 2, 4)] * 3, attn_mask=t.zeros(3, 3, 3)),
    lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(3, 2, 4)] * 3, key_padding_mask=t.zeros(3, 3)),
    lambda t: t.nn.MultiheadAttention(4, 2)(*[t.zeros(3, 2, 5)] * 3),
    lambda t: t.nn.MultiheadAttention(4, 2)(t.zeros(3, 4), t.zeros(3, 1, 4), t.zeros(3, 1, 4)),
    lambda t: t.nn.functional.scaled_dot_product_attention(t.zeros(4), t.zeros(3, 4), t.zeros(3, 4)),
    lambda t: t.nn.functional.scaled_dot_product_attention(
        t.zeros(2, 4), t.zeros(3, 4).double(), t.zeros(3, 4)
    ),
    lambda t: t.nn.functional.scaled_dot_product_attention(
        t.zeros(2, 4), t.zeros(3, 4), t.zeros(3, 4), t.zeros(2, 3), is_causal=True
    ),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)
