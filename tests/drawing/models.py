"""Functions that the tests draw, and what is asked of their pictures."""

import xml.etree.ElementTree as ET

import numpy as np

import funcgrad as fg


def layer(w, b, x):
    h = np.tanh(x @ w + b)
    return np.mean(h**2)


LAYER = (np.full((4, 8), 0.1), np.zeros(8), np.ones((32, 4)))


def recurrent(w, u, xs):
    h = np.zeros(4)
    for t in range(20):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum(h)


RECURRENT = (np.full((4, 4), 0.1), np.full((4, 3), 0.2), np.ones((20, 3)))


def energy(x):
    return np.sum(x**4) + np.sum(np.cos(x))


def descent(x):
    for _ in range(4):
        x = x - 0.1 * fg.grad(energy)(x)
    return x


def assigning(x):
    y = np.zeros_like(x)
    y[0] = np.sin(x[0])
    y[1:] = x[1:] ** 2
    q, r = np.linalg.qr(np.outer(y, y) + np.eye(3))
    return np.sum(np.where(y > 0, y, 0.1 * y)) + q[0, 0] + np.linalg.norm(r)


def network(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return {"loss": np.mean(x**2), "last": x}


NETWORK = ([(np.full((6, 6), 0.1), np.zeros(6)) for _ in range(8)], np.ones((5, 6)))


def nested_loops(x):
    for _ in range(5):
        x = np.cos(x)
        for _ in range(6):
            x = np.sin(x) * 0.9
        x = x + 1.0
    return x


MODELS = {
    "layer": (layer, LAYER),
    "recurrent": (recurrent, RECURRENT),
    "descent": (descent, (np.ones(3),)),
    "assigning": (assigning, (np.array([0.3, 0.5, 0.7]),)),
    "network": (network, NETWORK),
    "nested loops": (nested_loops, (0.3,)),
    "hessian": (fg.hessian(energy), (np.ones(3),)),
    "per example": (fg.vmap(fg.grad(energy)), (np.ones((5, 3)),)),
    "forward mode": (lambda x: fg.jvp(energy, (x,), (x,)), (np.ones(3),)),
    "checkpoint": (fg.checkpoint(energy), (np.ones(3),)),
}

SVG = "{http://www.w3.org/2000/svg}"


def operations(drawing):
    return [v.label for v in drawing.graph.vertices() if v.kind not in ("input", "output", "constant")]


def shapes_of(svg, kind):
    return [g for g in ET.fromstring(svg).iter(f"{SVG}g") if g.get("class", "").split()[:1] == [kind]]
