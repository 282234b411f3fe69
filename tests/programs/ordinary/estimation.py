"""Filters, likelihoods, curves."""

import math

import numpy as np


def extended_kalman(noise):
    """Negative log likelihood of ranges and bearings of something that moves."""
    rng = np.random.default_rng(3)
    x, cov = np.array([1.0, 2.0, 0.3, -0.1]), np.eye(4) * 0.5
    f = np.eye(4)
    f[0, 2] = f[1, 3] = 0.5
    total = 0.0
    for t in range(4):
        measured = np.array([2.2 + 0.1 * t, 1.0 - 0.05 * t]) + 0.05 * rng.normal(size=2)
        x, cov = f @ x, f @ cov @ f.T + noise[0] ** 2 * np.eye(4)
        r = math.hypot(x[0], x[1])
        h = np.array([r, math.atan2(x[1], x[0])])
        jac = np.zeros((2, 4))
        jac[0, :2] = x[0] / r, x[1] / r
        jac[1, :2] = -x[1] / r**2, x[0] / r**2
        s = jac @ cov @ jac.T + np.diag([noise[1] ** 2, 0.1 * noise[1] ** 2])
        innovation = measured - h
        innovation[1] = (innovation[1] + math.pi) % (2 * math.pi) - math.pi
        gain = np.linalg.solve(s, jac @ cov).T
        x = x + gain @ innovation
        cov = (np.eye(4) - gain @ jac) @ cov
        total += 0.5 * (innovation @ np.linalg.solve(s, innovation) + math.log(np.linalg.det(s)))
    return total


def hidden_markov(logits):
    """Log likelihood of a sequence of symbols: forward algorithm with scaling."""
    symbols = [0, 1, 1, 0, 2, 1]
    transition = np.exp(logits[:, :3])
    transition /= transition.sum(axis=1, keepdims=True)
    emission = np.exp(logits[:, 3:])
    emission /= emission.sum(axis=1)[:, None]
    alpha, total = np.full(3, 1 / 3), 0.0
    for symbol in symbols:
        new = np.zeros(3)
        for j in range(3):
            for i in range(3):
                new[j] += alpha[i] * transition[i, j]
            new[j] *= emission[j, symbol]
        scale = new.sum()
        total += math.log(scale)
        alpha = new / scale
    return total


def logsumexp(values):
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values))


def random_field(scores):
    """Negative log probability of the right tags in a chain."""
    tags = [0, 2, 1, 1]
    unary, pair = scores[:4], scores[4:]
    table = [list(unary[0])]
    for t in range(1, 4):
        row = []
        for j in range(3):
            row.append(unary[t][j] + logsumexp([table[-1][i] + pair[i][j] for i in range(3)]))
        table.append(row)
    gold = sum(unary[t][tag] for t, tag in enumerate(tags)) + sum(pair[a][b] for a, b in zip(tags, tags[1:]))
    return logsumexp(table[-1]) - gold


def gaussian_process(log_parameters):
    """Negative log marginal likelihood, by Cholesky's factors."""
    amplitude, scale, noise = (math.exp(p) for p in log_parameters)
    x = np.linspace(0, 2, 6)
    y = np.sin(3 * x)
    k = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            k[i, j] = amplitude**2 * math.exp(-0.5 * ((x[i] - x[j]) / scale) ** 2)
    k[np.diag_indices(6)] += noise**2
    lower = np.linalg.cholesky(k)
    alpha = np.linalg.solve(lower.T, np.linalg.solve(lower, y))
    return 0.5 * y.dot(alpha) + np.log(np.diag(lower)).sum() + 3 * math.log(2 * math.pi)


class Spline:
    """A natural cubic spline."""

    def __init__(self, x, y):
        n = len(x)
        self.x, self.y = x, y
        h = np.diff(x)
        upper, right = np.zeros(n), np.zeros(n)
        for i in range(1, n - 1):
            below, on = h[i - 1], 2 * (h[i - 1] + h[i])
            wanted = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
            pivot = on - below * upper[i - 1]
            upper[i] = h[i] / pivot
            right[i] = (wanted - below * right[i - 1]) / pivot
        self.m = np.zeros(n)
        for i in range(n - 2, 0, -1):
            self.m[i] = right[i] - upper[i] * self.m[i + 1]

    def __call__(self, t):
        i = min(max(int(np.searchsorted(self.x, t)) - 1, 0), len(self.x) - 2)
        h, a, b = self.x[i + 1] - self.x[i], self.x[i + 1] - t, t - self.x[i]
        smooth = (self.m[i] * (a**3 / h - h * a) + self.m[i + 1] * (b**3 / h - h * b)) / 6
        return smooth + (self.y[i] * a + self.y[i + 1] * b) / h


def spline(heights):
    """Bending and length of a curve through points."""
    curve = Spline(np.linspace(0, 1, len(heights)) ** 1.5, heights)
    samples = [curve(t) for t in np.linspace(0, 1, 9)]
    return sum(math.sqrt((b - a) ** 2 + 0.01) for a, b in zip(samples, samples[1:])) + 1e-3 * np.sum(
        curve.m**2
    )


def bundle_adjustment(parameters):
    """Squared errors of points seen by two cameras: rotation vectors, translation, a lens with distortion."""
    cameras, points = parameters[:12].reshape(2, 6), parameters[12:].reshape(3, 3)
    seen = np.array([[[0.1, 0.2], [0.3, -0.1], [-0.2, 0.1]], [[0.0, 0.25], [0.2, 0.0], [-0.3, 0.1]]])
    residuals = []
    for camera, pixels in zip(cameras, seen):
        w, t = camera[:3], camera[3:]
        theta = np.linalg.norm(w)
        axis = w / theta
        for point, pixel in zip(points, pixels):
            turned = point * math.cos(theta) + np.cross(axis, point) * math.sin(theta)
            turned = turned + axis * np.dot(axis, point) * (1 - math.cos(theta)) + t
            flat = turned[:2] / turned[2]
            r2 = float(flat[0]) ** 2 + float(flat[1]) ** 2
            residuals.append(flat * (1 + 0.1 * r2) - pixel)
    return np.sum(np.concatenate(residuals) ** 2)
