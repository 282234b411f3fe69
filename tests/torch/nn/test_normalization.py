"""Normalization and dropout against the original; derivatives; statistics; the same random stream."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.directions import check_directions
from tests.torch.nn.layers import arrays, check_errors, check_layer, numbers

LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("BatchNorm1d", (3,), {}, (4, 3)),
    ("BatchNorm1d", (3,), {"momentum": None, "bias": False}, (4, 3, 2)),
    ("BatchNorm2d", (3,), {"eps": 0.1, "momentum": 0.3}, (2, 3, 2, 3)),
    ("BatchNorm2d", (3,), {"affine": False}, (2, 3, 2, 3)),
    ("BatchNorm3d", (2,), {"track_running_stats": False}, (2, 2, 1, 2, 3)),
    ("LayerNorm", (4,), {}, (2, 3, 4)),
    ("LayerNorm", ((3, 4),), {"bias": False, "eps": 0.1}, (2, 3, 4)),
    ("LayerNorm", (4,), {"elementwise_affine": False}, (4,)),
    ("GroupNorm", (2, 4), {}, (2, 4, 3)),
    ("GroupNorm", (4, 4), {"affine": False}, (2, 4, 2, 2)),
    ("GroupNorm", (1, 4), {"bias": False}, (2, 4)),
    ("InstanceNorm1d", (3,), {}, (2, 3, 4)),
    ("InstanceNorm1d", (3,), {"affine": True}, (3, 4)),
    ("InstanceNorm2d", (3,), {"affine": True, "track_running_stats": True}, (2, 3, 2, 3)),
    ("InstanceNorm3d", (2,), {"affine": True}, (2, 2, 1, 2, 3)),
    ("RMSNorm", (4,), {}, (2, 3, 4)),
    ("RMSNorm", ((3, 4),), {"eps": 0.1, "elementwise_affine": False}, (2, 3, 4)),
    ("LocalResponseNorm", (3,), {"alpha": 0.5, "k": 2.0}, (2, 5, 3)),
    ("LocalResponseNorm", (2,), {"alpha": 0.5}, (2, 3, 2, 2)),
]
IDS = [f"{name}-{k}" for k, (name, *_) in enumerate(LAYERS)]
# of several nodes in the original: for one example the last of them is another
COMPOSED = ("InstanceNorm1d",)


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


def made(library: Any, name: str, args: Any, settings: Any) -> Any:
    """The layer with parameters that are neither 0 nor 1."""
    layer = getattr(library.nn, name)(*args, **settings)
    with library.no_grad():
        for k, p in enumerate(layer.parameters()):
            p.copy_(library.linspace(0.5 - k, 2.0, p.numel()).reshape(p.shape))
    return layer


@pytest.mark.parametrize(("name", "args", "settings", "shape"), LAYERS, ids=IDS)
def test_as_the_original(torch: Any, name: str, args: Any, settings: Any, shape: Any) -> None:
    libraries = {id(ft.nn): ft, id(torch.nn): torch}
    for mode, dtype in ((True, np.float64), (False, np.float64), (True, np.float32)):
        inputs = arrays(shape, dtype=dtype)
        check_layer(
            torch,
            lambda nn: made(libraries[id(nn)], name, args, settings).train(mode),
            [3 * inputs[0] + 1],
            tolerance=1e-9 if dtype == np.float64 else 2e-5,
            second=dtype == np.float64,
            nodes=name not in COMPOSED,
        )


@pytest.mark.parametrize(("name", "args", "settings", "shape"), LAYERS, ids=IDS)
def test_derivatives(name: str, args: Any, settings: Any, shape: Any) -> None:
    layer = made(
        ft, name, args, {**settings, **({"track_running_stats": False} if "Norm" in name[-6:-2] else {})}
    ).double()
    (x,) = arrays(shape)
    check_directions(layer, x)
    rows = ft.tensor(np.stack([x, 2 * x + 1]))
    each = ft.func.vmap(layer)(rows)
    np.testing.assert_allclose(each[1].detach().numpy(), layer(rows[1]).detach().numpy())


@pytest.mark.parametrize(
    ("name", "args", "settings", "shape"), LAYERS[:4] + LAYERS[13:14], ids=IDS[:4] + IDS[13:14]
)
def test_running_statistics(torch: Any, name: str, args: Any, settings: Any, shape: Any) -> None:
    states = []
    for library in (ft, torch):
        layer = made(library, name, args, settings)
        for seed in range(3):
            layer(library.tensor(arrays(shape, seed=seed, dtype=np.float32)[0]))
        out = layer.eval()(library.tensor(arrays(shape, dtype=np.float32)[0]))
        states.append({**{k: numbers(v) for k, v in layer.state_dict().items()}, "out": numbers(out)})
        layer.reset_running_stats()
        assert layer.running_mean.abs().sum().item() == layer.num_batches_tracked.item() == 0
    assert list(states[0]) == list(states[1])
    for key, value in states[0].items():
        np.testing.assert_allclose(value, states[1][key], rtol=1e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize(
    ("name", "shape"), [("BatchNorm1d", (5, 3)), ("LayerNorm", (5, 3)), ("RMSNorm", (5, 3))]
)
def test_ensembles(name: str, shape: Any) -> None:
    settings = {"track_running_stats": False} if name == "BatchNorm1d" else {}
    layers = [made(ft, name, (3,), settings) for _ in range(2)]
    parameters, _ = ft.func.stack_module_state(layers)
    x = ft.tensor(arrays(shape, dtype=np.float32)[0])
    each = ft.func.vmap(lambda p: ft.func.functional_call(layers[0], p, (x,)))(
        {k: 2 * p for k, p in parameters.items()}
    )
    np.testing.assert_allclose(
        each[1].detach().numpy(), 2 * layers[1](x).detach().numpy(), rtol=1e-5, atol=1e-6
    )


def test_statistics_of_many_examples_at_once_are_refused() -> None:
    with pytest.raises(RuntimeError, match="inside vmap"):
        ft.func.vmap(ft.nn.BatchNorm1d(3))(ft.ones(2, 4, 3))


def test_states_of_early_versions(same: Any) -> None:
    same("""
layer = torch.nn.Sequential(torch.nn.BatchNorm1d(2)); state = layer.state_dict()
print(state._metadata)
del state["0.num_batches_tracked"]; state._metadata["0"]["version"] = 1
print(layer.load_state_dict(state), layer.state_dict())
layer[0].num_batches_tracked.add_(3); state = layer.state_dict(); del state["0.num_batches_tracked"]
try: layer.load_state_dict(state)
except RuntimeError as error: print(error)
""")


def test_statistics_of_a_functional_call_are_its_own() -> None:
    layer = ft.nn.BatchNorm1d(2)
    buffers = {k: v.clone() for k, v in layer.named_buffers()}
    ft.func.functional_call(
        layer, {**dict(layer.named_parameters()), **buffers}, ft.tensor([[1.0, 2.0], [3.0, 5.0]])
    )
    assert layer.running_mean.tolist() == [0.0, 0.0]
    assert buffers["running_mean"].tolist() != [0.0, 0.0]


DROPOUTS = [
    ("Dropout", {}, (3, 4)),
    ("Dropout", {"p": 0.2, "inplace": True}, (3, 4)),
    ("Dropout", {"p": 0.0}, (3, 4)),
    ("Dropout", {"p": 1.0}, (3, 4)),
    ("Dropout1d", {}, (2, 3, 4)),
    ("Dropout1d", {}, (3, 4)),
    ("Dropout2d", {"p": 0.3}, (2, 3, 2, 2)),
    ("Dropout3d", {}, (2, 3, 1, 2, 2)),
    ("Dropout3d", {}, (3, 1, 2, 2)),
    ("AlphaDropout", {"p": 0.3}, (3, 4)),
    ("AlphaDropout", {"p": 1.0}, (3, 4)),
    ("FeatureAlphaDropout", {}, (2, 3, 4)),
]


@pytest.mark.parametrize(
    ("name", "settings", "shape"), DROPOUTS, ids=[f"{d[0]}-{k}" for k, d in enumerate(DROPOUTS)]
)
def test_dropout(torch: Any, name: str, settings: Any, shape: Any) -> None:
    def call(layer: Any, x: Any) -> Any:
        (ft if isinstance(x, ft.Tensor) else torch).manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return layer(x.clone())

    for mode in (True, False):
        check_layer(torch, lambda nn: getattr(nn, name)(**settings).train(mode), arrays(shape), call=call)


@pytest.mark.parametrize(
    "run",
    [
        lambda t: t.nn.BatchNorm1d(3)(t.ones(3)),
        lambda t: t.nn.BatchNorm2d(3)(t.ones(3, 3)),
        lambda t: t.nn.BatchNorm1d(3)(t.ones(1, 3)),
        lambda t: t.nn.BatchNorm1d(3)(t.ones(2, 4)),
        lambda t: t.nn.BatchNorm1d(3)(t.ones(2, 3).long()),
        lambda t: t.nn.functional.batch_norm(t.ones(2, 3), None, None),
        lambda t: t.nn.LayerNorm(4)(t.ones(3)),
        lambda t: t.nn.LayerNorm((2, 4))(t.ones(3, 4)),
        lambda t: t.nn.LayerNorm(())(t.ones(3)),
        lambda t: t.nn.functional.layer_norm(t.ones(3), (3,), weight=t.ones(4)),
        lambda t: t.nn.RMSNorm(4)(t.ones(3)),
        lambda t: t.nn.GroupNorm(2, 3),
        lambda t: t.nn.GroupNorm(2, 4)(t.ones(2, 5)),
        lambda t: t.nn.GroupNorm(4, 4)(t.ones(1, 4)),
        lambda t: t.nn.GroupNorm(2, 4)(t.ones(4)),
        lambda t: t.nn.InstanceNorm1d(3)(t.ones(3)),
        lambda t: t.nn.InstanceNorm1d(3, affine=True)(t.ones(2, 4, 5)),
        lambda t: t.nn.InstanceNorm1d(3)(t.ones(2, 3, 1)),
        lambda t: t.nn.LocalResponseNorm(2)(t.ones(3)),
        lambda t: t.nn.Dropout(2.0),
        lambda t: t.nn.functional.dropout(t.ones(3), -1.0),
        lambda t: t.nn.functional.dropout1d(t.ones(3)),
        lambda t: t.nn.functional.dropout(t.ones(3).long()),
        lambda t: t.nn.functional.feature_alpha_dropout(t.ones(3), 0.5, True),
    ],
)
def test_errors(torch: Any, run: Any) -> None:
    check_errors(torch, run)
