"""Models that are trained: networks of two sizes, a recurrent one, and logistic regression."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.problem import Gradients, Race

Generator = np.random.Generator


def layers(rng: Generator, *sizes: int) -> tuple[np.ndarray, ...]:
    """Weights and biases of a network with these layers, in single precision: (w1, b1, w2, b2, ...)."""
    params = []
    for n, m in itertools.pairwise(sizes):
        params += [rng.normal(size=(n, m)) / np.sqrt(n), np.zeros(m)]
    return tuple(p.astype(np.float32) for p in params)


def normal(rng: Generator, *shape: int) -> np.ndarray:
    """Random numbers in single precision."""
    return rng.normal(size=shape).astype(np.float32)


# ---- a small regression network --------------------------------------------------------------------------------------
def mlp(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, y: Any) -> Any:
    """Mean squared error of a network with two hidden layers of tanh."""
    h = xp.tanh(x @ w1 + b1)
    h = xp.tanh(h @ w2 + b2)
    out = h @ w3 + b3
    return xp.mean((out - y) ** 2)


def mlp_by_hand(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, y: Any) -> Any:
    """Backpropagation."""
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    e = h2 @ w3 + b3 - y
    value = np.mean(e**2)
    ct = e * (2 / e.size)
    dw3, db3 = h2.T @ ct, ct.sum(axis=0)
    ct = (ct @ w3.T) * (1 - h2 * h2)
    dw2, db2 = h1.T @ ct, ct.sum(axis=0)
    ct = (ct @ w2.T) * (1 - h1 * h1)
    return value, (x.T @ ct, ct.sum(axis=0), dw2, db2, dw3, db3)


# ---- a classifier ----------------------------------------------------------------------------------------------------
def classifier(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, label: Any) -> Any:
    """Cross-entropy of a network with two hidden layers of rectified units; `label` is one-hot."""
    h = xp.maximum(x @ w1 + b1, 0)
    h = xp.maximum(h @ w2 + b2, 0)
    z = h @ w3 + b3
    z = z - xp.max(z, axis=1, keepdims=True)
    return xp.mean(xp.log(xp.sum(xp.exp(z), axis=1)) - xp.sum(z * label, axis=1))


def classifier_torch(
    torch: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, label: Any
) -> Any:
    """The same with the functions that PyTorch has for it."""
    h = torch.relu(x @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return torch.nn.functional.cross_entropy(h @ w3 + b3, label)


def classifier_by_hand(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, label: Any) -> Any:
    """Backpropagation: the scores' cotangent is softmax minus label; rectified units pass it where > 0."""
    h1 = x @ w1
    h1 += b1
    np.maximum(h1, 0, out=h1)
    h2 = h1 @ w2
    h2 += b2
    np.maximum(h2, 0, out=h2)
    z = h2 @ w3 + b3
    z -= z.max(axis=1, keepdims=True)
    e = np.exp(z)
    total = e.sum(axis=1)
    value = np.mean(np.log(total) - np.sum(z * label, axis=1))
    ct = (e / total[:, None] - label) / np.float32(len(x))
    dw3, db3 = h2.T @ ct, ct.sum(axis=0)
    ct = ct @ w3.T
    ct *= h2 > 0
    dw2, db2 = h1.T @ ct, ct.sum(axis=0)
    ct = ct @ w2.T
    ct *= h1 > 0
    return value, (x.T @ ct, ct.sum(axis=0), dw2, db2, dw3, db3)


def large_mlp_by_hand(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, y: Any) -> Any:
    """`mlp_by_hand` for large layers: buffers are reused."""
    h1 = x @ w1
    h1 += b1
    np.tanh(h1, out=h1)
    h2 = h1 @ w2
    h2 += b2
    np.tanh(h2, out=h2)
    e = h2 @ w3 + b3 - y
    value = np.mean(e**2)
    ct = e * (2 / e.size)
    dw3, db3 = h2.T @ ct, ct.sum(axis=0)
    ct = _through_tanh(ct @ w3.T, h2)
    dw2, db2 = h1.T @ ct, ct.sum(axis=0)
    ct = _through_tanh(ct @ w2.T, h1)
    return value, (x.T @ ct, ct.sum(axis=0), dw2, db2, dw3, db3)


def _through_tanh(ct: np.ndarray, h: np.ndarray) -> np.ndarray:
    h *= h  # no longer needed
    np.subtract(1, h, out=h)
    ct *= h
    return ct


# ---- a recurrent network ---------------------------------------------------------------------------------------------
def rnn(xp: Any, wx: Any, wh: Any, b: Any, wo: Any, xs: Any, y: Any) -> Any:
    """Mean squared error of the last state's read-out; one step for each element of `xs`."""
    h = xs[0] @ wx + b
    for x in xs[1:]:
        h = xp.tanh(x @ wx + h @ wh + b)
    return xp.mean((h @ wo - y) ** 2)


def rnn_by_hand(wx: Any, wh: Any, b: Any, wo: Any, xs: Any, y: Any) -> Any:
    """Backpropagation through time."""
    h = xs[0] @ wx + b
    hs = [h]
    for x in xs[1:]:
        h = np.tanh(x @ wx + h @ wh + b)
        hs.append(h)
    e = h @ wo - y
    value = np.mean(e**2)
    ct = e * (2 / e.size)
    dwo = h.T @ ct
    ct = ct @ wo.T
    dwx, dwh, db = np.zeros_like(wx), np.zeros_like(wh), np.zeros_like(b)
    for t in range(len(xs) - 1, 0, -1):
        ct = ct * (1 - hs[t] * hs[t])
        dwx += xs[t].T @ ct
        dwh += hs[t - 1].T @ ct
        db += ct.sum(axis=0)
        ct = ct @ wh.T
    dwx += xs[0].T @ ct
    db += ct.sum(axis=0)
    return value, (dwx, dwh, db, dwo)


# ---- logistic regression ---------------------------------------------------------------------------------------------
def logistic(xp: Any, w: Any, x: Any, sign: Any) -> Any:
    """The mean negative log-likelihood; `sign` is +1 or -1."""
    return xp.mean(xp.logaddexp(0.0, -sign * (x @ w)))


def logistic_torch(torch: Any, w: Any, x: Any, sign: Any) -> Any:
    """The same with the function that PyTorch has for it."""
    return torch.mean(torch.nn.functional.softplus(-sign * (x @ w)))


def logistic_by_hand(w: np.ndarray, x: np.ndarray, sign: np.ndarray) -> Any:
    """The derivative of log(1 + exp(m)) is 1 / (1 + exp(-m))."""
    m = -sign * (x @ w)
    value = np.mean(np.logaddexp(0.0, m))
    np.negative(m, out=m)
    np.exp(m, out=m)
    m += 1
    np.divide(-1 / len(m), m, out=m)
    m *= sign
    return value, (m @ x,)


def one_hot(rng: Generator, n: int, classes: int) -> np.ndarray:
    """Random labels."""
    return np.eye(classes, dtype=np.float32)[rng.integers(classes, size=n)]


def _small_mlp(rng: Generator) -> Gradients:
    return Gradients(mlp, mlp_by_hand, layers(rng, 10, 32, 32, 1), (normal(rng, 32, 10), normal(rng, 32, 1)))


def large_mlp(rng: Generator) -> Gradients:
    """The network with large layers, of tanh."""
    params = layers(rng, 784, 512, 512, 10)
    return Gradients(mlp, large_mlp_by_hand, params, (normal(rng, 256, 784), normal(rng, 256, 10)))


def classifier_problem(rng: Generator) -> Gradients:
    """The network with large layers, of rectified units."""
    params = layers(rng, 784, 512, 512, 10)
    data = (normal(rng, 256, 784), one_hot(rng, 256, 10))
    return Gradients(classifier, classifier_by_hand, params, data, for_torch=classifier_torch)


def recurrent(rng: Generator) -> Gradients:
    """The recurrent network."""
    params = (
        normal(rng, 4, 16) / 2,
        normal(rng, 16, 16) / 4,
        np.zeros(16, np.float32),
        normal(rng, 16, 1) / 4,
    )
    return Gradients(rnn, rnn_by_hand, params, (normal(rng, 20, 8, 4), normal(rng, 8, 1)))


def _logistic(rng: Generator) -> Gradients:
    data = (rng.normal(size=(50_000, 50)), np.where(rng.random(50_000) < 0.5, -1.0, 1.0))
    return Gradients(logistic, logistic_by_hand, (rng.normal(size=50) / 7,), data, for_torch=logistic_torch)


# With this seed every rectified unit is further from its kink than rounding reaches: all libraries see the
# same.
SEED = 0

LINES = (
    Race("MLP 10-32-32-1, batch 32", 2.3, _small_mlp(np.random.default_rng(SEED))),
    Race("MLP 784-512-512-10 (tanh), batch 256", 1.15, large_mlp(np.random.default_rng(SEED))),
    Race("MLP 784-512-512-10 (relu), batch 256", 1.15, classifier_problem(np.random.default_rng(SEED))),
    Race("RNN 4-16-1, 20 steps, batch 8", 2.3, recurrent(np.random.default_rng(SEED))),
    Race("logistic regression 50,000 x 50", 1.1, _logistic(np.random.default_rng(SEED))),
)
