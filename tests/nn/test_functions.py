"""The functions of funcgrad.nn: values against PyTorch's, refusals, and promises beside derivatives."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, nn, vmap
from funcgrad.errors import ArgumentError
from tests.grouping import in_groups

_RNG = np.random.default_rng(0)
X, Y, P = _RNG.normal(size=(3, 4)), _RNG.normal(size=(3, 4)), _RNG.uniform(0.1, 0.9, size=(3, 4))
IMAGE, KERNEL, BIAS = _RNG.normal(size=(2, 4, 7, 6)), _RNG.normal(size=(4, 2, 3, 2)), _RNG.normal(size=4)
SCALE, SHIFT = _RNG.normal(size=4), _RNG.normal(size=4)
Q, K, V = _RNG.normal(size=(2, 3, 5)), _RNG.normal(size=(2, 4, 5)), _RNG.normal(size=(2, 4, 2))
SEEN = _RNG.uniform(size=(3, 4)) < 0.7
CLASSES = np.array([2, 0, 3])
SEQUENCE, H, C = _RNG.normal(size=(5, 2, 3)), _RNG.normal(size=(2, 4)), _RNG.normal(size=(2, 4))
LOGS = np.log(_RNG.dirichlet(np.ones(3), size=(6, 2)))
W_X, W_H, B_X, B_H = (_RNG.normal(size=shape) for shape in ((3, 16), (4, 16), (16,), (16,)))


def recurrent(kind: str, gates: int, **options: Any) -> Any:
    """PyTorch's layer with our weights: the outputs and the last state."""
    torch = pytest.importorskip("torch")
    layer = getattr(torch.nn, kind)(3, 4, **options).double()
    n = 4 * gates
    bias = np.zeros(n) if kind != "GRU" else B_H[:n]
    for name, value in zip(layer._flat_weights_names, (W_X.T[:n], W_H.T[:n], B_X[:n], bias), strict=True):
        getattr(layer, name).data = torch.tensor(value.copy())
    state = torch.tensor(H)[None]
    out, last = layer(torch.tensor(SEQUENCE), (state, torch.tensor(C)[None]) if kind == "LSTM" else state)
    return out, *(last if isinstance(last, tuple) else (last,))


def flat(out: Any) -> list[Any]:
    return [x for part in out for x in flat(part)] if isinstance(out, (tuple, list)) else [out]


# name -> our call, and PyTorch's with F = torch.nn.functional and t = torch.tensor
SAME = {
    "softmax": (lambda: nn.softmax(X, axis=0), "F.softmax(t(X), 0)"),
    "logsumexp": (lambda: nn.logsumexp(X, axis=(0, 1)), "torch.logsumexp(t(X), (0, 1))"),
    "gelu": (lambda: nn.gelu(X), "F.gelu(t(X))"),
    "gelu tanh": (lambda: nn.gelu(X, approximate=True), "F.gelu(t(X), approximate='tanh')"),
    "mish": (lambda: nn.mish(X), "F.mish(t(X))"),
    "selu": (lambda: nn.selu(X), "F.selu(t(X))"),
    "celu": (lambda: nn.celu(X, 0.7), "F.celu(t(X), 0.7)"),
    "hard_silu": (lambda: nn.hard_silu(4 * X), "F.hardswish(4 * t(X))"),
    "softplus": (lambda: nn.softplus(X, 3.0), "F.softplus(t(X), 3.0)"),
    "conv": (
        lambda: nn.conv(IMAGE, KERNEL, BIAS, stride=(2, 1), padding=(0, 1), dilation=(1, 2), groups=2),
        "F.conv2d(t(IMAGE), t(KERNEL), t(BIAS), (2, 1), (0, 1), (1, 2), 2)",
    ),
    "conv of one": (lambda: nn.conv(IMAGE[0, :2], KERNEL), "F.conv2d(t(IMAGE[0, :2]), t(KERNEL))"),
    "conv same": (
        lambda: nn.conv(IMAGE[:, :2], KERNEL, padding="same"),
        "F.conv2d(t(IMAGE[:, :2]), t(KERNEL), padding='same')",
    ),
    "conv_transpose": (
        lambda: nn.conv_transpose(IMAGE, KERNEL, BIAS, stride=2, padding=1, output_padding=1, groups=2),
        "F.conv_transpose2d(t(IMAGE), t(KERNEL), t(BIAS), 2, 1, 1, 2)",
    ),
    "unfold": (lambda: nn.unfold(IMAGE, (3, 2), stride=2), "F.unfold(t(IMAGE), (3, 2), stride=2)"),
    "max_pool": (
        lambda: nn.max_pool(IMAGE, (3, 2), stride=2, padding=1, ceil_mode=True),
        "F.max_pool2d(t(IMAGE), (3, 2), 2, 1, ceil_mode=True)",
    ),
    "avg_pool": (
        lambda: nn.avg_pool(IMAGE, (3, 2), stride=2, padding=1, count_padding=False),
        "F.avg_pool2d(t(IMAGE), (3, 2), 2, 1, count_include_pad=False)",
    ),
    "adaptive": (lambda: nn.adaptive_avg_pool(IMAGE, (3, 4)), "F.adaptive_avg_pool2d(t(IMAGE), (3, 4))"),
    "layer_norm": (lambda: nn.layer_norm(X, SCALE, SHIFT), "F.layer_norm(t(X), (4,), t(SCALE), t(SHIFT))"),
    "rms_norm": (lambda: nn.rms_norm(X, SCALE), "F.rms_norm(t(X), (4,), t(SCALE))"),
    "group_norm": (
        lambda: nn.group_norm(IMAGE, 2, SCALE, SHIFT),
        "F.group_norm(t(IMAGE), 2, t(SCALE), t(SHIFT))",
    ),
    "batch_norm": (
        lambda: nn.batch_norm(IMAGE, nn.batch_statistics(4), SCALE, SHIFT, training=True),
        "(lambda m, v: (F.batch_norm(t(IMAGE), m, v, t(SCALE), t(SHIFT), True), m, v))(t(np.zeros(4)), t(np.ones(4)))",
    ),
    "batch_norm afterwards": (
        lambda: nn.batch_norm(IMAGE, nn.BatchStatistics(BIAS, BIAS**2), SCALE, training=False)[0],
        "F.batch_norm(t(IMAGE), t(BIAS), t(BIAS) ** 2, t(SCALE))",
    ),
    "attention": (
        lambda: nn.attention(Q, K, V, SEEN),
        "F.scaled_dot_product_attention(t(Q), t(K), t(V), t(SEEN))",
    ),
    "attention causal": (
        lambda: nn.attention(Q, K[:, :3], V[:, :3], causal=True, scale=0.3),
        "F.scaled_dot_product_attention(t(Q), t(K[:, :3]), t(V[:, :3]), is_causal=True, scale=0.3)",
    ),
    "rnn": (
        lambda: nn.rnn(SEQUENCE, H, W_X[:, :4], W_H[:, :4], B_X[:4], activation="relu"),
        "recurrent('RNN', 1, nonlinearity='relu')",
    ),
    "lstm": (lambda: nn.lstm(SEQUENCE, (H, C), W_X, W_H, B_X), "recurrent('LSTM', 4)"),
    "gru": (
        lambda: nn.gru(SEQUENCE, H, W_X[:, :12], W_H[:, :12], B_X[:12], B_H[:12]),
        "recurrent('GRU', 3)",
    ),
    "mse": (lambda: nn.mse(X, Y), "F.mse_loss(t(X), t(Y))"),
    "huber": (
        lambda: nn.huber(X, Y, 0.4, reduction="sum"),
        "F.huber_loss(t(X), t(Y), reduction='sum', delta=0.4)",
    ),
    "smooth_l1": (lambda: nn.smooth_l1(X, Y, 0.4), "F.smooth_l1_loss(t(X), t(Y), beta=0.4)"),
    "binary": (lambda: nn.binary_cross_entropy(P, P[::-1]), "F.binary_cross_entropy(t(P), t(P[::-1]))"),
    "logits": (
        lambda: nn.binary_cross_entropy_with_logits(X, P, reduction="none"),
        "F.binary_cross_entropy_with_logits(t(X), t(P), reduction='none')",
    ),
    "kl": (lambda: nn.kl_divergence(X, P, reduction="sum"), "F.kl_div(t(X), t(P), reduction='sum')"),
    "poisson": (lambda: nn.poisson_nll(P, P, log=False), "F.poisson_nll_loss(t(P), t(P), log_input=False)"),
    "gaussian": (
        lambda: nn.gaussian_nll(X, Y, P, full=True),
        "F.gaussian_nll_loss(t(X), t(Y), t(P), full=True)",
    ),
    "cross_entropy": (
        lambda: nn.cross_entropy(X, CLASSES, weights=P[0], ignore=0, smoothing=0.2),
        "F.cross_entropy(t(X), t(CLASSES), t(P[0]), ignore_index=0, label_smoothing=0.2)",
    ),
    "cross_entropy of pixels": (
        lambda: nn.cross_entropy(IMAGE, np.abs(IMAGE[:, 0]).astype(int), axis=1, reduction="none"),
        "F.cross_entropy(t(IMAGE), t(np.abs(IMAGE[:, 0]).astype(int)), reduction='none')",
    ),
    "cross_entropy of probabilities": (lambda: nn.cross_entropy(X, P), "F.cross_entropy(t(X), t(P))"),
    "ctc": (
        lambda: nn.ctc(LOGS, [[1, 1, 2], [2, 1, 0]], [6, 5], [3, 2]),
        "F.ctc_loss(t(LOGS), t([[1, 1, 2], [2, 1, 0]]), t([6, 5]), t([3, 2]))",
    ),
}


@in_groups(SAME)
def test_the_value_is_pytorchs(pair: Any) -> None:
    torch = pytest.importorskip("torch")
    names = {"torch": torch, "F": torch.nn.functional, "t": lambda x: torch.tensor(np.array(x)), **globals()}
    ours, theirs = flat(pair[0]()), flat(eval(pair[1], names))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b.detach().numpy().reshape(np.shape(a)), rtol=1e-9, atol=1e-12)


REFUSED = {
    "complex": (lambda: nn.relu(1j), "real numbers"),
    "axis": (lambda: nn.softmax(X, axis=2), "name each axis once"),
    "axis twice": (lambda: nn.logsumexp(X, axis=(0, -2)), "name each axis once"),
    "floats as indices": (lambda: nn.one_hot(X, 3), r"astype\(int\)"),
    "index": (lambda: nn.embedding([0, 3], X), "index 3, where the table has 3 rows"),
    "rate": (lambda: nn.dropout(X, 2, np.random.default_rng(0)), "probability"),
    "seed": (lambda: nn.dropout(X, 0.5, 0), "default_rng"),  # type: ignore[arg-type]
    "channels": (lambda: nn.conv(IMAGE, KERNEL), "4 channels, and the kernel takes 2"),
    "groups": (lambda: nn.conv(IMAGE, KERNEL, groups=3), "divisor"),
    "stride": (lambda: nn.conv(IMAGE, KERNEL, groups=2, stride=0), "at least 1"),
    "stride of three": (
        lambda: nn.conv(IMAGE, KERNEL, groups=2, stride=(1, 1, 1)),
        "3 numbers for 2 spatial axes",
    ),
    "padding": (lambda: nn.conv(IMAGE, KERNEL, groups=2, padding="full"), "'same', 'valid' or numbers"),
    "window": (lambda: nn.max_pool(IMAGE, (9, 9)), "no window"),
    "window as a number": (lambda: nn.max_pool(IMAGE, 2), "a number for each axis"),  # type: ignore[arg-type]
    "margin": (lambda: nn.max_pool(IMAGE, (2, 2), padding=2), "half a window"),
    "scale": (lambda: nn.layer_norm(X, X), r"give \(4,\)"),
    "one value": (lambda: nn.batch_norm(X[:1], nn.batch_statistics(4), training=True), "larger batch"),
    "mask and causal": (lambda: nn.attention(Q, K, V, SEEN, causal=True), "np.tri"),
    "keys": (lambda: nn.attention(Q, K, V[:, :1]), "give"),
    "gates": (lambda: nn.gru(SEQUENCE, H, W_X, W_H), r"kernel \(3, 16\)"),
    "activation": (lambda: nn.rnn(SEQUENCE, H, W_X, W_H, activation="sin"), "'tanh' or 'relu'"),
    "reduction": (lambda: nn.mse(X, Y, reduction="max"), "'mean', 'sum' or 'none'"),
    "shapes": (lambda: nn.mse(X, Y[:, :3]), "don't broadcast"),
    "probability": (lambda: nn.binary_cross_entropy(X, P), "give probabilities"),
    "class": (lambda: nn.cross_entropy(X, [0, 1, 4]), "target 4 of 4 classes"),
    "target": (lambda: nn.cross_entropy(X, [[0, 1, 2]]), r"give integers \(3,\)"),
    "lengths": (lambda: nn.ctc(LOGS, [[1], [2]], [6, 7], [1, 1]), "larger than 6 inputs"),
}


@in_groups(REFUSED)
def test_what_does_not_fit_is_refused(pair: Any) -> None:
    with pytest.raises(ArgumentError, match=pair[1]) as caught:
        pair[0]()
    assert str(caught.value).startswith("funcgrad.nn.")


@pytest.mark.parametrize("name", nn.__all__)
def test_a_public_name_says_what_it_raises_and_shows_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(nn, name)) or ""
    assert ">>> " in text or inspect.isclass(getattr(nn, name))
    source = inspect.getsource(getattr(nn, name))
    assert "raise ArgumentError" not in source or "Raises" in text


def test_integers_lists_and_numbers_become_floats() -> None:
    assert nn.relu([1, -2]).dtype == nn.conv([[[1, 2, 3]]], [[[1, 1]]]).dtype == float
    assert nn.prelu(np.array([1, -2], np.float32), 0.5).dtype == np.float32
    assert nn.mse(np.array([1, 2], np.float32), 0).dtype == np.float32


def test_dropout_keeps_the_mean_and_what_it_keeps() -> None:
    x = np.full((100, 100), 3.0)
    out = nn.dropout(x, 0.25, np.random.default_rng(0))
    assert set(np.unique(out)) == {0.0, 4.0}
    assert abs(out.mean() - 3) < 0.1
    assert not nn.dropout(x, 1, np.random.default_rng(0)).any()
    whole = nn.dropout(np.ones((4, 6, 5)), 0.5, np.random.default_rng(0), axis=(0, 1))
    assert (np.ptp(whole, axis=2) == 0).all()
    slopes = grad(lambda x: np.sum(nn.dropout(x, 0.25, np.random.default_rng(0))))(x)
    np.testing.assert_array_equal(slopes, out / 3)


def test_no_derivative_goes_through_running_statistics() -> None:
    def moved(x: Any) -> Any:
        statistics = nn.batch_norm(x, nn.batch_statistics(4), training=True)[1]
        return np.sum(statistics.mean) + np.sum(statistics.var)

    np.testing.assert_array_equal(grad(moved)(X), np.zeros_like(X))


def test_statistics_of_a_batch_of_batches_are_those_of_each() -> None:
    batches = _RNG.normal(size=(5, 3, 4))
    out, found = vmap(lambda x: nn.batch_norm(x, nn.batch_statistics(4), training=True))(batches)
    for k, x in enumerate(batches):
        expected, statistics = nn.batch_norm(x, nn.batch_statistics(4), training=True)
        np.testing.assert_allclose(out[k], expected)
        np.testing.assert_allclose(found.mean[k], statistics.mean)
        np.testing.assert_allclose(found.var[k], statistics.var)


def test_a_query_that_sees_nothing_gets_zeros() -> None:
    seen = SEEN.copy()
    seen[1] = False
    out = nn.attention(Q, K, V, seen)
    assert not out[:, 1].any()
    assert np.isfinite(grad(lambda q: np.sum(nn.attention(q, K, V, seen)))(Q)).all()


# ---- large arrays ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "function",
    [nn.elu, nn.selu, lambda x: nn.celu(x, 0.5), lambda x: nn.elu(x, 0.3), lambda x: nn.elu(x, -1.0)],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_large_arrays_of_two_pieces_are_as_small_ones(function: Any, dtype: Any) -> None:
    x = (4 * np.random.default_rng(1).normal(size=20_000)).astype(dtype)
    for n, special in enumerate((0.0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).smallest_subnormal)):
        x[n::97] = special
    for f in (function, grad(lambda v: np.sum(function(v)))):
        found, wanted = f(x), np.concatenate([f(part) for part in np.split(x, 100)])
        assert found.dtype == wanted.dtype == dtype
        np.testing.assert_array_equal(found, wanted)
        number = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found)[number], np.signbit(wanted)[number])


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("loss", [nn.mse, nn.huber, nn.smooth_l1, nn.binary_cross_entropy_with_logits])
def test_losses_of_large_arrays_add_up_all_elements(loss: Any, reduction: str) -> None:
    x = np.random.default_rng(1).normal(size=(2, 201, 99)).astype(np.float32)
    y = np.random.default_rng(2).uniform(size=x.shape).astype(np.float32)
    found, each = loss(x, y, reduction=reduction), loss(x, y, reduction="none")
    assert found.dtype == np.float32
    wanted = getattr(np, reduction)(each, dtype=np.float64)
    np.testing.assert_allclose(found, wanted, rtol=5e-7)


@pytest.mark.parametrize("given", [(), ("scale",), ("scale", "bias")])
@pytest.mark.parametrize("width", [7, 300])
def test_layer_norm_of_many_rows_is_that_of_each(given: tuple[str, ...], width: int) -> None:
    drawn = np.random.default_rng(1)
    x, ct = drawn.normal(size=(2, 10, 70_000 // width // 10, width)) + 1
    scale, bias = drawn.normal(size=(2, width))
    named = {"scale": scale, "bias": bias}

    def loss(x: Any, named: Any, ct: Any) -> Any:
        return np.sum(nn.layer_norm(x, **named) * ct)

    both = grad(loss, argnums=(0, 1))
    shown = {name: named[name] for name in given}
    of_x, of_named = both(np.concatenate([x, x]), shown, np.concatenate([ct, ct]))
    parts = [both(part, shown, c) for part, c in zip(x, ct, strict=True)]
    np.testing.assert_allclose(of_x[:10], [part for part, _ in parts], rtol=1e-10, atol=1e-12)
    for name in given:
        np.testing.assert_allclose(of_named[name], 2 * sum(part[name] for _, part in parts), rtol=1e-10)
    np.testing.assert_allclose(grad(loss)(np.concatenate([x, x]), shown, np.concatenate([ct, ct])), of_x)
