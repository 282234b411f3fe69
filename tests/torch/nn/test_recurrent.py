"""Recurrent layers against the original over a table of settings; derivatives; packed sequences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


LAYERS = [
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2, "bidirectional": True, "bias": False}),
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True}),
    ("LSTM", {"bias": False, "batch_first": True}),
    ("LSTM", {"proj_size": 2, "bidirectional": True}),
    ("GRU", {}),
    ("GRU", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("GRU", {"bias": False}),
]


@pytest.mark.parametrize(("kind", "settings"), LAYERS)
def test_layers(torch, kind, settings):
    check_layer(torch, lambda nn: getattr(nn, kind)(2, 3, **settings), arrays((4, 3, 2)), nodes=False)


@pytest.mark.parametrize(("kind", "settings"), LAYERS)
def test_states_and_single_sequences(torch, kind, settings):
    layers = settings.get("num_layers", 1) * (1 + settings.get("bidirectional", False))
    states = [(layers, settings.get("proj_size", 3))] + [(layers, 3)] * (kind == "LSTM")

    def call(layer: Any, x: Any, *hx: Any) -> Any:
        return layer(x, hx if kind == "LSTM" else hx[0])

    check_layer(
        torch, lambda nn: getattr(nn, kind)(2, 3, **settings), arrays((4, 2), *states), call=call, nodes=False
    )


@pytest.mark.parametrize(
    ("kind", "settings"), [("RNN", {"nonlinearity": "relu"}), ("LSTM", {"proj_size": 2}), ("GRU", {})]
)
@pytest.mark.parametrize("in_order", [True, False])
def test_packed_sequences(torch, kind, settings, in_order):
    lengths = np.array([4, 2, 2, 1] if in_order else [2, 4, 1, 2])

    def call(layer: Any, x: Any) -> Any:
        rnn = (ft if isinstance(x, ft.Tensor) else torch).nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, lengths.tolist(), enforce_sorted=in_order)
        out, last = layer(packed)
        return rnn.pad_packed_sequence(out, batch_first=True), last

    make = lambda nn: getattr(nn, kind)(2, 3, num_layers=2, bidirectional=True, **settings)
    check_layer(torch, make, arrays((5, 4, 2)), call=call, nodes=False)


CELLS = [
    ("RNNCell", {}),
    ("RNNCell", {"nonlinearity": "relu", "bias": False}),
    ("LSTMCell", {}),
    ("LSTMCell", {"bias": False}),
    ("GRUCell", {}),
    ("GRUCell", {"bias": False}),
]


@pytest.mark.parametrize(("kind", "settings"), CELLS)
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("lead", [(3,), ()])
def test_cells(torch, kind, settings, given, lead):
    states = [(*lead, 4)] * (given * (2 if kind == "LSTMCell" else 1))

    def call(cell: Any, x: Any, *hx: Any) -> Any:
        return cell(x, (hx if kind == "LSTMCell" else hx[0]) if given else None)

    check_layer(
        torch,
        lambda nn: getattr(nn, kind)(2, 4, **settings),
        arrays((*lead, 2), *states),
        call=call,
        nodes=False,
    )


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_single_precision_stays(torch, kind):
    check_layer(
        torch,
        lambda nn: getattr(nn, kind)(2, 3),
        arrays((4, 3, 2), dtype=np.float32),
        second=False,
        tolerance=1e-5,
    )


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_against_differences(kind):
    layer: Any = getattr(ft.nn, kind)(1, 1).double()
    x = ft.tensor(arrays((2, 1, 1))[0], requires_grad=True)
    names = ("weight_hh_l0", "bias_hh_l0")
    values = [getattr(layer, name).detach().requires_grad_() for name in names]

    def run(x: Any, *values: Any) -> Any:
        out, last = ft.func.functional_call(layer, dict(zip(names, values, strict=False)), (x,))
        return (out, *(last if isinstance(last, tuple) else (last,)))

    assert ft.autograd.gradcheck(run, (x, *values))
    assert ft.autograd.gradcheck(lambda w: run(x.detach(), w)[0], values[:1], check_forward_ad=True)
    assert ft.autograd.gradgradcheck(lambda *given: run(*given)[0], (x, values[0]))


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_vmap_and_functional_gradients(kind):
    layer: Any = getattr(ft.nn, kind)(2, 3).double()
    x = ft.tensor(arrays((3, 4, 1, 2))[0])

    def total(x: Any) -> Any:
        return (layer(x)[0] ** 2).sum()

    found = ft.func.vmap(ft.func.grad(total))(x)
    for k, each in enumerate(x.unbind()):
        leaf = each.clone().requires_grad_()
        (expected,) = ft.autograd.grad(total(leaf), leaf)
        for gradient in (found[k], ft.func.grad(total)(each)):
            np.testing.assert_allclose(gradient.detach().numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


def test_gradients_only_where_they_are_wanted():
    layer = ft.nn.LSTM(2, 3)
    layer.weight_hh_l0.requires_grad_(False)
    out, _ = layer(ft.ones(4, 1, 2))
    out.sum().backward()
    assert layer.weight_hh_l0.grad is None
    assert layer.weight_ih_l0.grad is not None


def test_dropout_lies_between_the_layers():
    ft.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer = ft.nn.GRU(2, 3, num_layers=2, dropout=1.0)
    one, other = layer(ft.ones(4, 1, 2))[0], layer(ft.zeros(4, 1, 2))[0]
    assert ft.equal(one, other)  # nothing of the first layer comes through
    layer.eval()
    assert not ft.equal(layer(ft.ones(4, 1, 2))[0], layer(ft.zeros(4, 1, 2))[0])
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last"):
        ft.nn.GRU(2, 3, dropout=0.5)


def test_reference_numbers():
    ft.manual_seed(0)
    out, _ = ft.nn.LSTM(2, 3)(ft.ones(2, 1, 2))
    np.testing.assert_allclose(out.detach().numpy()[0, 0], [-0.26930, -0.12397, 0.07440], atol=1e-5)
    layer = ft.nn.GRU(2, 3, bidirectional=True)
    layer.flatten_parameters()
    assert [[tuple(p.shape) for p in ps] for ps in layer.all_weights] == [[(9, 2), (9, 3), (9,), (9,)]] * 2


ERRORS = [
    lambda t: t.nn.LSTM(2, 3)(t.zeros(0, 1, 2)),
    lambda t: t.nn.LSTM(2, 3)(t.zeros(4, 1, 3)),
    lambda t: t.nn.LSTM(2, 3)(t.zeros(4, 1, 1, 2)),
    lambda t: t.nn.LSTM(2, 3)(t.zeros(4, 1, 2), (t.zeros(1, 2, 3), t.zeros(1, 1, 3))),
    lambda t: t.nn.LSTM(2, 3)(t.zeros(4, 1, 2), (t.zeros(1, 3), t.zeros(1, 3))),
    lambda t: t.nn.GRU(2, 3)(t.zeros(4, 2), t.zeros(1, 1, 3)),
    lambda t: t.nn.GRU(2, 3)(t.zeros(4, 1, 2), t.zeros(2, 1, 3)),
    lambda t: t.nn.GRU(2, 3)(t.zeros(4, 1, 2, dtype=t.float64)),
    lambda t: t.nn.GRU(2, 3, proj_size=1),
    lambda t: t.nn.LSTM(2, 3, proj_size=3),
    lambda t: t.nn.LSTM(2, 3, proj_size=-1),
    lambda t: t.nn.LSTM(2, 0),
    lambda t: t.nn.LSTM(2, 3, num_layers=0),
    lambda t: t.nn.LSTM(2, 3, dropout=2),
    lambda t: t.nn.RNN(2, 3, nonlinearity="some"),
    lambda t: t.nn.LSTMCell(2, 3)(t.zeros(1, 1, 2)),
    lambda t: t.nn.LSTMCell(2, 3)(t.zeros(1, 3)),
    lambda t: t.nn.GRUCell(2, 3)(t.zeros(2, 2), t.zeros(1, 3)),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)
