"""Machine learning by hand."""

import math

import numpy as np


def tsne(points):
    """Divergence of a plane embedding from affinities in space."""
    y = np.asarray(points).reshape(5, 2)
    rng = np.random.RandomState(0)
    x = rng.randn(5, 3)
    p = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            if i != j:
                p[i, j] = np.exp(-np.sum((x[i] - x[j]) ** 2))
        p[i] /= p[i].sum()
    p = np.maximum((p + p.T) / 10, 1e-12)
    squared = np.sum(y**2, 1)
    q = 1 / (1 + squared[:, None] + squared[None, :] - 2 * y.dot(y.T))
    q[range(5), range(5)] = 0.0
    q = np.maximum(q / q.sum(), 1e-12)
    return np.sum(p * np.log(p / q))


def factorisation(data):
    """What is left of a positive matrix after some multiplicative updates of two factors."""
    rng = np.random.default_rng(5)
    w, h = rng.random((4, 2)), rng.random((2, 3))
    v = np.array(data, copy=True).reshape(4, 3)
    for _ in range(4):
        h *= (w.T @ v) / (w.T @ w @ h + 1e-9)
        w *= (v @ h.T) / (w @ h @ h.T + 1e-9)
    return np.linalg.norm(v - w @ h)


class LayerNorm:
    def __init__(self, width):
        self.gain, self.bias = np.ones(width), np.zeros(width)

    def __call__(self, x):
        mean = x.mean(axis=-1, keepdims=True)
        return self.gain * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) + self.bias


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Transformer:
    """One block with two heads."""

    def __init__(self, weights, width=4, heads=2):
        self.heads, self.width = heads, width
        names, at = ("q", "k", "v", "o"), 0
        self.w = {}
        for name in names:
            self.w[name] = weights[at : at + width**2].reshape(width, width)
            at += width**2
        self.norms = [LayerNorm(width) for _ in range(2)]

    def attend(self, x):
        steps, size = len(x), self.width // self.heads
        mask = np.triu(np.full((steps, steps), -np.inf), k=1)
        out = np.zeros_like(x)
        for head in range(self.heads):
            part = slice(head * size, (head + 1) * size)
            q, k, v = (x @ self.w[name][:, part] for name in "qkv")
            out[:, part] = softmax(q @ k.T / math.sqrt(size) + mask) @ v
        return out @ self.w["o"]

    def __call__(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + gelu(self.norms[1](x))


def transformer(weights):
    """Mean surprise at the next word."""
    tokens = [0, 3, 1, 2, 1]
    table = np.random.default_rng(6).standard_normal((4, 4))
    x = table[tokens[:-1]].copy()
    for position in range(len(x)):
        x[position] += np.sin(position / 10000 ** (np.arange(4) / 4))
    probabilities = softmax(Transformer(weights)(x) @ table.T)
    return -np.mean(np.log(probabilities[np.arange(len(x)), tokens[1:]]))


def convolution(kernel):
    """Loss of a small image under a convolution by loops, pooling, and a linear layer."""
    image = np.random.default_rng(7).random((6, 6))
    kernel = kernel.reshape(3, 3)
    out = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            out[i, j] = np.sum(image[i : i + 3, j : j + 3] * kernel)
    out = np.maximum(out, 0)
    pooled = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            pooled[i, j] = out[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max()
    scores = pooled.flatten() @ np.array([[0.5, -0.2], [0.1, 0.3], [-0.4, 0.2], [0.3, 0.1]])
    return -scores[1] + np.log(np.sum(np.exp(scores)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent(weights):
    """Squared error of a cell with memory that predicts a wave."""
    size = 2
    w = weights.reshape(4 * size, size + 2)
    h, c = np.zeros(size), np.zeros(size)
    wave, loss = [math.sin(0.7 * t) for t in range(6)], 0.0
    for now, after in zip(wave[:-1], wave[1:]):
        z = w @ np.hstack([h, [now], [1.0]])
        i, f, o = (sigmoid(z[k * size : (k + 1) * size]) for k in range(3))
        c = f * c + i * np.tanh(z[3 * size :])
        h = o * np.tanh(c)
        loss += (h.sum() - after) ** 2
    return loss / (len(wave) - 1)


def training(log_rate):
    """Loss after some steps of Adam, as a function of the rate of learning."""
    rate = 10 ** float(log_rate)
    x = np.linspace(-1, 1, 7)
    y = 0.5 * x**2 - 0.3 * x
    w = np.array([0.1, -0.2, 0.3])
    m, v = np.zeros(3), np.zeros(3)
    features = np.column_stack([np.ones(7), x, x**2])
    for step in range(1, 6):
        g = 2 * features.T @ (features @ w - y) / 7
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        w -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
    return np.mean((features @ w - y) ** 2)


def mixture(parameters):
    """Log likelihood of a mixture of normal distributions, after one step of expectation and maximisation."""
    data = np.array([-1.2, -0.8, -1.0, 0.9, 1.3, 1.1, 0.2])
    means, widths, shares = list(parameters[:2]), [0.5, 0.7], [0.5, 0.5]

    def density(x, mean, width):
        return math.exp(-0.5 * ((x - mean) / width) ** 2) / (width * math.sqrt(2 * math.pi))

    resp = np.empty((len(data), 2))
    for n, x in enumerate(data):
        joint = [s * density(x, m, w) for s, m, w in zip(shares, means, widths)]
        resp[n] = np.array(joint) / sum(joint)
    for k in range(2):
        weight = resp[:, k].sum()
        means[k] = (resp[:, k] * data).sum() / weight
        widths[k] = math.sqrt((resp[:, k] * (data - means[k]) ** 2).sum() / weight + parameters[2] ** 2)
        shares[k] = weight / len(data)
    return sum(math.log(sum(s * density(x, m, w) for s, m, w in zip(shares, means, widths))) for x in data)
