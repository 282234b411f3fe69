"""Gradients on Dask arrays against those that one writes by hand: time, tasks, bytes, with one worker and with two.

A model is `function(params, X, y)`, plain NumPy, and `by_hand(params, X, y)`, its value and its gradient, by the
shortest way on the same arrays. (tests/interop/test_dask.py holds all of them to the targets in tasks.)
"""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import funcgrad
from benchmarks.peers import Peer
from benchmarks.problem import HAND, Figure, Race, Result
from funcgrad import tree

COLUMNS, HIDDEN = 10, 8


class Model(NamedTuple):
    """A loss, its value and gradient by hand, and parameters."""

    function: Callable[..., Any]
    by_hand: Callable[..., Any]
    params: Any


def _logistic(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


def _linear(w, X, y):
    return np.mean((X @ w - y) ** 2)


def _linear_by_hand(w, X, y):
    r = X @ w - y
    return np.mean(r**2), (2 / len(y)) * (X.T @ r)


def _ridge(w, X, y):
    return _linear(w, X, y) + 0.1 * np.sum(w**2)


def _ridge_by_hand(w, X, y):
    value, gradient = _linear_by_hand(w, X, y)
    return value + 0.1 * np.sum(w**2), gradient + 0.2 * w


def _logistic_regression(w, X, y):
    z = X @ w
    return np.mean(np.logaddexp(0, z) - y * z)


def _logistic_regression_by_hand(w, X, y):
    z = X @ w
    return np.mean(np.logaddexp(0, z) - y * z), X.T @ ((_logistic(z) - y) / len(y))


def _poisson(w, X, y):
    z = X @ w
    return np.mean(np.exp(z) - y * z)


def _poisson_by_hand(w, X, y):
    z = X @ w
    rate = np.exp(z)
    return np.mean(rate - y * z), X.T @ ((rate - y) / len(y))


def _huber(w, X, y):
    r = X @ w - y
    size = np.abs(r)
    return np.mean(np.where(size < 1, 0.5 * r**2, size - 0.5))


def _huber_by_hand(w, X, y):
    r = X @ w - y
    size = np.abs(r)
    value = np.mean(np.where(size < 1, 0.5 * r**2, size - 0.5))
    return value, X.T @ (np.where(size < 1, r, np.sign(r)) / len(y))


def _perceptron(p, X, y):
    h = np.tanh(X @ p["a"] + p["b"])
    return np.mean((h @ p["c"] + p["d"] - y) ** 2)


def _perceptron_by_hand(p, X, y):
    h = np.tanh(X @ p["a"] + p["b"])
    r = h @ p["c"] + p["d"] - y
    g = r * (2 / len(y))
    dz = g[:, None] * p["c"] * (1 - h * h)
    return np.mean(r**2), {"a": X.T @ dz, "b": dz.sum(axis=0), "c": h.T @ g, "d": g.sum()}


def _softmax(w, X, y):
    z = X @ w
    # what is subtracted changes nothing: nor need its derivative be computed
    z = z - funcgrad.stop_gradient(np.max(z, axis=1, keepdims=True))
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - y * z[:, 1] - (1 - y) * z[:, 0])


def _softmax_by_hand(w, X, y):
    z = X @ w
    z = z - np.max(z, axis=1, keepdims=True)
    e = np.exp(z)
    total = np.sum(e, axis=1)
    value = np.mean(np.log(total) - y * z[:, 1] - (1 - y) * z[:, 0])
    wanted = y[:, None] * np.array([-1.0, 1, 0]) + np.array([1.0, 0, 0])
    return value, X.T @ ((e / total[:, None] - wanted) / len(y))


def _gauss(w, X, y):
    return np.mean(0.5 * ((X - w[0]) / np.exp(w[1])) ** 2 + w[1])


def _gauss_by_hand(w, X, y):
    z = (X - w[0]) / np.exp(w[1])
    square = z**2
    value = np.mean(0.5 * square + w[1])
    return value, np.stack([-np.mean(z) / np.exp(w[1]), 1 - np.mean(square)])


def _curve(w, X, y):
    return np.sum((w[0] * np.exp(-w[1] * X[:, 0]) + w[2] - y) ** 2)


def _curve_by_hand(w, X, y):
    x = X[:, 0]
    e = np.exp(-w[1] * x)
    r = w[0] * e + w[2] - y
    return np.sum(r**2), np.stack([2 * np.sum(r * e), -2 * np.sum(r * w[0] * x * e), 2 * np.sum(r)])


def _standardised(w, X, y):
    return _linear(w, (X - np.mean(X, axis=0)) / np.std(X, axis=0), y)


def _standardised_by_hand(w, X, y):
    return _linear_by_hand(w, (X - np.mean(X, axis=0)) / np.std(X, axis=0), y)


_W = np.linspace(-0.2, 0.3, COLUMNS)
_LAYERS = {
    "a": np.linspace(-0.3, 0.3, COLUMNS * HIDDEN).reshape(COLUMNS, HIDDEN),
    "b": np.zeros(HIDDEN),
    "c": np.linspace(-1, 1, HIDDEN),
    "d": np.float64(0.1),
}
MODELS = {
    "linear regression": Model(_linear, _linear_by_hand, _W),
    "ridge regression": Model(_ridge, _ridge_by_hand, _W),
    "logistic regression": Model(_logistic_regression, _logistic_regression_by_hand, _W),
    "Poisson regression": Model(_poisson, _poisson_by_hand, _W),
    "Huber regression": Model(_huber, _huber_by_hand, _W),
    "perceptron": Model(_perceptron, _perceptron_by_hand, _LAYERS),
    "softmax": Model(_softmax, _softmax_by_hand, np.linspace(-0.2, 0.2, COLUMNS * 3).reshape(COLUMNS, 3)),
    "normal distribution": Model(_gauss, _gauss_by_hand, np.array([0.1, 0.2])),
    "decay curve": Model(_curve, _curve_by_hand, np.array([1.0, 0.5, 0.1])),
    "standardised columns": Model(_standardised, _standardised_by_hand, _W),
}


def data(rows: int, chunks: int, columns: int = COLUMNS) -> tuple[Any, Any]:
    """Lazy random data: each chunk is made when it is needed, and never kept."""
    X = (
        import_module("dask.array")
        .random.default_rng(0)
        .normal(size=(rows, columns), chunks=(rows // chunks, columns))
    )
    return X, (X[:, 0] > 0).astype(float)


def lazy_leaves(result: Any) -> list[Any]:
    """The lazy arrays in a result."""
    return [x for x in tree.leaves(result) if hasattr(x, "__dask_graph__")]


def graph(result: Any) -> dict[Any, Any]:
    """The tasks that are sent to a scheduler for this result."""
    found: dict[Any, Any] = {}
    for x in import_module("dask").optimize(*lazy_leaves(result)):
        found.update(x.__dask_graph__())
    return found


@dataclass
class Lazy:
    """A line that needs Dask: it is not judged where that is not installed."""

    line: Race | Figure

    @property
    def name(self) -> str:
        return self.line.name

    def result(self, peers: Sequence[Peer]) -> Result:
        """Measure it, without peers: none of them takes Dask arrays."""
        if importlib.util.find_spec("distributed") is None:
            return Result(self.name, self.line.reference, self.line.target, {})
        return self.line.result([])


def _both(model: Model, rows: int, chunks: int) -> tuple[Any, Any]:
    X, y = data(rows, chunks)
    return model.by_hand(model.params, X, y), funcgrad.value_and_grad(model.function)(model.params, X, y)


def runs(model: Model, rows: int = 1_000_000, chunks: int = 10) -> dict[str, Callable[[], Any]]:
    """Value and gradient by hand and by funcgrad: the graph is built and computed, in one thread."""
    dask = import_module("dask")
    X, y = data(rows, chunks)
    differentiate = funcgrad.value_and_grad(model.function)
    compute = lambda result: tree.leaves(dask.compute(result, scheduler="sync"))
    return {
        HAND: lambda: compute(model.by_hand(model.params, X, y)),
        "funcgrad": lambda: compute(differentiate(model.params, X, y)),
    }


def tasks_ratio(model: Model) -> float:
    """The tasks of value and gradient by those of the hand-written one."""
    hand, ours = _both(model, 200_000, 20)
    return len(graph(ours)) / len(graph(hand))


def bytes_ratio(model: Model) -> float:
    """The same of the pickled graph, which is what goes to the scheduler."""
    cloudpickle = import_module("cloudpickle")
    hand, ours = _both(model, 200_000, 20)
    return len(cloudpickle.dumps(graph(ours), pickle.HIGHEST_PROTOCOL)) / len(cloudpickle.dumps(graph(hand)))


@contextmanager
def cluster(count: int) -> Iterator[Any]:
    """Workers of one thread each on this machine, and their client."""
    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def in_turns(
    model: Model, rows: int, times: int, measure: Callable[[Callable[[], Any]], float]
) -> list[tuple[float, float]]:
    """What is measured of the gradient by hand and of ours, on the workers of the current client."""
    dask = import_module("dask")
    X, y = data(rows, 40)
    functions = model.by_hand, funcgrad.value_and_grad(model.function)
    pairs = []
    for _ in range(times):
        hand, ours = (measure(lambda run=run: dask.compute(run(model.params, X, y))) for run in functions)
        pairs.append((hand, ours))
    return pairs


def on_workers(count: int, model: Model = MODELS["logistic regression"], rows: int = 8_000_000) -> float:
    """The time on a cluster of this machine by that of the hand-written gradient, in turns."""

    def seconds(run: Callable[[], Any]) -> float:
        start = perf_counter()
        run()
        return perf_counter() - start

    with cluster(count):
        return median(ours / hand for hand, ours in in_turns(model, rows, 5, seconds)[1:])


def moved(count: int, model: Model = MODELS["logistic regression"], rows: int = 2_000_000) -> float:
    """The bytes that workers have sent to each other, by those for the hand-written gradient."""
    with cluster(count) as client:

        def sent(run: Callable[[], Any]) -> float:
            before = sum(client.run(_sent).values())
            run()
            return sum(client.run(_sent).values()) - before

        pairs = in_turns(model, rows, 9, sent)
        return median(ours for _, ours in pairs) / max(1, median(hand for hand, _ in pairs))


def _sent(dask_worker: Any) -> int:
    return dask_worker.transfer_outgoing_bytes_total


def _lines(name: str) -> tuple[Lazy, ...]:
    model = MODELS[name]
    return (
        Lazy(Race(f"Dask: {name}", 1.1, lambda peers: runs(model))),
        Lazy(Figure("  tasks", 1.2, partial(tasks_ratio, model), HAND)),
        Lazy(Figure("  bytes of the graph", 2, partial(bytes_ratio, model), HAND)),
    )


LINES = (
    *_lines("linear regression"),
    *_lines("logistic regression"),
    *_lines("perceptron"),
    Lazy(Figure("Dask: logistic regression, 1 worker", 1.1, partial(on_workers, 1), HAND)),
    Lazy(Figure("Dask: logistic regression, 2 workers", 1.1, partial(on_workers, 2), HAND)),
    Lazy(Figure("  bytes moved between them", 1.2, partial(moved, 2), HAND)),
)
