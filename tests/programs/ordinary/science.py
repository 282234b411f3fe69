"""Light, money, molecules, waves."""

import cmath
import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Vec:
    x: float
    y: float
    z: float

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y, self.z - o.z)

    def __mul__(self, s):
        return Vec(self.x * s, self.y * s, self.z * s)

    def dot(self, o):
        return self.x * o.x + self.y * o.y + self.z * o.z

    def unit(self):
        return self * (1 / math.sqrt(self.dot(self)))


class Sphere:
    def __init__(self, center, radius, shine):
        self.center, self.radius, self.shine = center, radius, shine

    def hit(self, origin, ray):
        to = origin - self.center
        b = to.dot(ray)
        disc = b * b - to.dot(to) + self.radius**2
        if disc < 0:
            return None
        t = -b - math.sqrt(disc)
        return t if t > 1e-6 else None


def traced(spheres, origin, ray, depth=2):
    hits = [(t, s) for s in spheres if (t := s.hit(origin, ray)) is not None]
    if not hits:
        return 0.2 + 0.3 * (ray.y + 1)
    t, sphere = min(hits, key=lambda pair: pair[0])
    point = origin + ray * t
    normal = (point - sphere.center).unit()
    light = max(normal.dot(Vec(1.0, 1.0, -1.0).unit()), 0.0)
    if depth == 0:
        return light
    return (1 - sphere.shine) * light + sphere.shine * traced(
        spheres, point, ray - normal * (2 * ray.dot(normal)), depth - 1
    )


def ray_tracing(radius):
    """Mean brightness of a small picture of two mirrors."""
    spheres = [Sphere(Vec(0.0, 0.0, 3.0), radius, 0.3), Sphere(Vec(0.8, 0.3, 2.0), 0.4, 0.5)]
    image = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            image[i, j] = traced(spheres, Vec(0.0, 0.0, 0.0), Vec((j - 1.5) / 4, (1.5 - i) / 4, 1.0).unit())
    return image.mean()


def option_tree(market):
    """An American put on a binomial tree."""
    spot, rate, sigma = market
    steps, maturity, strike = 8, 1.0, 1.1
    dt = maturity / steps
    up = math.exp(sigma * math.sqrt(dt))
    p = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.zeros(steps + 1)
    for j in range(steps + 1):
        values[j] = max(strike - spot * up ** (2 * j - steps), 0)
    for n in range(steps - 1, -1, -1):
        for j in range(n + 1):
            kept = math.exp(-rate * dt) * (p * values[j + 1] + (1 - p) * values[j])
            values[j] = max(kept, strike - spot * up ** (2 * j - n))
    return values[0]


def stochastic_volatility(parameters):
    """A call under Heston's model, by a few simulated paths."""
    kappa, theta, xi = parameters
    rng, paths, steps, dt = np.random.default_rng(8), 16, 5, 0.2
    price, var = np.ones(paths), np.full(paths, 0.04)
    for _ in range(steps):
        z1, z2 = rng.standard_normal((2, paths))
        z2 = -0.7 * z1 + math.sqrt(1 - 0.49) * z2
        positive = np.maximum(var, 0)
        price *= np.exp(-0.5 * positive * dt + np.sqrt(positive * dt) * z1)
        var += kappa * (theta - positive) * dt + xi * np.sqrt(positive * dt) * z2
    return np.mean(np.where(price > 0.95, price - 0.95, 0.0))


def bond(coupon):
    """Duration of a bond at the yield that its price implies, found by Newton's method."""
    flows = [(t, 100 * float(coupon) / 2 + (100 if t == 3.0 else 0)) for t in np.arange(0.5, 3.5, 0.5)]
    rate = 0.05
    while True:
        value = sum(c * math.exp(-rate * t) for t, c in flows) - 98.0
        slope = sum(-t * c * math.exp(-rate * t) for t, c in flows)
        rate -= value / slope
        if abs(value) < 1e-13 * 98:
            break
    return -slope / 98.0


def overlap(a, b, r2):
    return (math.pi / (a + b)) ** 1.5 * math.exp(-a * b / (a + b) * r2)


def boys(t):
    return 1 - t / 3 if t < 1e-8 else 0.5 * math.sqrt(math.pi / t) * math.erf(math.sqrt(t))


def hartree_fock(distance):
    """Energy of a hydrogen molecule: restricted Hartree-Fock, three gaussians per atom."""
    exponents, weights = [3.4252509, 0.6239137, 0.1688554], [0.1543290, 0.5353281, 0.4446345]
    places = [0.0, distance]
    basis = [
        [(a, c * (2 * a / math.pi) ** 0.75, place) for a, c in zip(exponents, weights)] for place in places
    ]
    n = len(basis)
    s, core, two = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n, n, n))
    for i in range(n):
        for j in range(n):
            for a, c, x in basis[i]:
                for b, d, y in basis[j]:
                    r2, mid = (x - y) ** 2, (a * x + b * y) / (a + b)
                    part, reduced = c * d * overlap(a, b, r2), a * b / (a + b)
                    s[i, j] += part
                    core[i, j] += part * reduced * (3 - 2 * reduced * r2)
                    for place in places:
                        factor = 2 * math.sqrt((a + b) / math.pi)
                        core[i, j] -= part * factor * boys((a + b) * (mid - place) ** 2)
    for i, j, k, m in np.ndindex(n, n, n, n):
        for a, c, x in basis[i]:
            for b, d, y in basis[j]:
                left, p = c * d * overlap(a, b, (x - y) ** 2), a + b
                for e, f, z in basis[k]:
                    for g, h, u in basis[m]:
                        right, q = f * h * overlap(e, g, (z - u) ** 2), e + g
                        between = (a * x + b * y) / p - (e * z + g * u) / q
                        w = p * q / (p + q)
                        two[i, j, k, m] += left * right * 2 * math.sqrt(w / math.pi) * boys(w * between**2)
    values, vectors = np.linalg.eigh(s)
    x = vectors @ np.diag(values**-0.5) @ vectors.T
    density, energy = np.zeros((n, n)), 0.0
    for _ in range(3):
        fock = core + np.einsum("kl,ijkl->ij", density, two) - 0.5 * np.einsum("kl,ikjl->ij", density, two)
        energy = 0.5 * np.sum(density * (core + fock))
        _, c = np.linalg.eigh(x.T @ fock @ x)
        occupied = (x @ c)[:, 0]
        density = 2 * np.outer(occupied, occupied)
    return energy + 1.0 / distance


def kinetics(rates):
    """A stiff chain of reactions (Robertson's): implicit Euler, Newton's method in each step."""
    k1, k2, k3 = rates
    y = np.array([1.0, 0.0, 0.0])
    for h in (1e-3, 1e-2, 1e-1):
        new = y.copy()
        for _ in range(6):
            a, b, c = new
            rate = np.array([-k1 * a + k2 * b * c, k1 * a - k2 * b * c - k3 * b**2, k3 * b**2])
            jac = np.array([[-k1, k2 * c, k2 * b], [k1, -k2 * c - 2 * k3 * b, -k2 * b], [0, 2 * k3 * b, 0]])
            new -= np.linalg.solve(np.eye(3) - h * jac, new - y - h * rate)
        y = new
    return y[0] + 1e3 * y[1]


def tunnelling(height):
    """How much of a wave packet is behind a barrier: Crank and Nicolson's method, complex numbers."""
    n, dt, dx = 16, 0.05, 0.5
    x = np.arange(n) * dx
    barrier = height * np.exp(-((x - 4.0) ** 2))
    psi = np.array([cmath.exp(-((v - 2.0) ** 2) + 2j * v) for v in x])
    psi /= np.sqrt(np.sum(np.abs(psi) ** 2))
    h = np.zeros((n, n), dtype=complex)
    for i in range(n):
        h[i, i] = 1 / dx**2 + barrier[i]
        if i > 0:
            h[i, i - 1] = h[i - 1, i] = -0.5 / dx**2
    left, right = np.eye(n) + 0.5j * dt * h, np.eye(n) - 0.5j * dt * h
    for _ in range(5):
        psi = np.linalg.solve(left, right @ psi)
    return np.sum(np.abs(psi[n // 2 :]) ** 2)


def bilateral(widths):
    """Noise that is left in a picture by a filter that keeps edges."""
    space, tone = widths
    image = np.add.outer(np.arange(5) > 2, np.zeros(5)) + 0.1 * np.random.default_rng(9).standard_normal(
        (5, 5)
    )
    padded = np.pad(image, 1, mode="edge")
    out = np.empty_like(image)
    for i in range(5):
        for j in range(5):
            total = weight = 0.0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    v = padded[i + 1 + di, j + 1 + dj]
                    w = math.exp(-(di**2 + dj**2) / (2 * space**2) - (v - image[i, j]) ** 2 / (2 * tone**2))
                    total, weight = total + w * v, weight + w
            out[i, j] = total / weight
    return np.std(out[:3]) + np.std(out[3:])


def epidemic(rates):
    """Height of a wave: susceptible, infected, recovered, in three regions that people travel between."""
    beta, gamma = rates
    travel = np.array([[0.9, 0.08, 0.02], [0.05, 0.9, 0.05], [0.02, 0.08, 0.9]])
    state = np.zeros((3, 3), dtype=np.float64)
    state[:, 0], state[0, 1] = [1.0, 0.8, 1.2], 0.01
    peak, history = 0.0, []
    for day in range(8):
        s, i, _ = state.T
        infected = beta * s * (travel @ i) * (0.7 if day > 5 else 1.0)
        state += np.stack([-infected, infected - gamma * i, gamma * i], axis=1)
        history.append(float(state[:, 1].sum()))
        peak = max(peak, history[-1])
    return peak + sum(history) / len(history)


def wavelets(signal):
    """Sparsity of a signal in Haar's basis, soft thresholds."""
    x, parts = np.array(signal, dtype=float), []
    while len(x) > 1:
        mean, detail = (x[0::2] + x[1::2]) / math.sqrt(2), (x[0::2] - x[1::2]) / math.sqrt(2)
        parts.append(np.sign(detail) * np.maximum(np.abs(detail) - 0.1, 0))
        x = mean
    for detail in reversed(parts):
        back = np.empty(2 * len(detail))
        back[0::2], back[1::2] = (x + detail) / math.sqrt(2), (x - detail) / math.sqrt(2)
        x = back
    return np.sum((x - signal) ** 2) + sum(np.abs(p).sum() for p in parts)
