"""Train on more than fits: a data set on disk, larger than the memory of the workers that compute with it.

    python examples/out_of_core.py [--short] [--rows N] [--limit 500MB] [--workers 2] [--address tcp://...]

The data are written to Zarr first, chunk by chunk. A cluster of processes on this machine then fits a logistic
regression by L-BFGS, whole passes over the data, and trains a small network by Adam, a chunk at each step. The code is
plain NumPy; what makes it larger than memory is that X is a Dask array. On a real cluster, `--address` is all that
changes. Each process may use as much as `--limit`; the dashboard shows what they do.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import numpy as np
import scipy.optimize

import funcgrad as fg
from funcgrad import optim, tree
from funcgrad.dask import chunks_of, computed

da: Any = import_module("dask.array")
distributed: Any = import_module("distributed")
tqdm: Any = import_module("tqdm").tqdm

COLUMNS, HIDDEN = 50, 16


def write(folder: str, rows: int, chunk: int) -> tuple[Any, Any]:
    """Data on disk, of which no process has ever held more than some chunks: X, and y of zeros and ones."""
    rng = da.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS), chunks=(chunk, COLUMNS))
    score = X[:, 0] - 2 * X[:, 1] + np.tanh(3 * X[:, 2] * X[:, 3])
    y = (score + 0.5 * rng.normal(size=rows, chunks=chunk) > 0).astype(float)
    # together, so that both come of the same X
    import_module("dask").compute(
        da.to_zarr(X, f"{folder}/X.zarr", overwrite=True, compute=False),
        da.to_zarr(y, f"{folder}/y.zarr", overwrite=True, compute=False),
    )
    return da.from_zarr(f"{folder}/X.zarr"), da.from_zarr(f"{folder}/y.zarr")


def logistic_loss(w: Any, X: Any, y: Any) -> Any:
    """The mean negative log-likelihood, with a small penalty."""
    z = X @ w
    return np.mean(np.logaddexp(0, z) - y * z) + 1e-3 * np.sum(w**2)


def fit(X: Any, y: Any, passes: Callable[[Any], None] = lambda w: None) -> Any:
    """The weights of a logistic regression, by SciPy's L-BFGS."""
    found = scipy.optimize.minimize(
        computed(fg.value_and_grad(logistic_loss)),
        np.zeros(X.shape[1]),
        args=(X, y),
        jac=True,
        method="L-BFGS-B",
        callback=passes,
    )
    return found.x


def network(p: dict[str, Any], X: Any) -> Any:
    """The score of each row."""
    return np.tanh(X @ p["inner"] + p["bias"]) @ p["outer"]


def network_loss(p: dict[str, Any], X: Any, y: Any) -> Any:
    """The mean negative log-likelihood of a network of one layer."""
    z = network(p, X)
    return np.mean(np.logaddexp(0, z) - y * z)


def train(batches: Callable[[], Any], epochs: int, step: Callable[[], Any] = lambda: None) -> dict[str, Any]:
    """The parameters after Adam has seen all batches so many times."""
    rng = np.random.default_rng(1)
    p: dict[str, Any] = {
        "inner": rng.normal(size=(COLUMNS, HIDDEN)) / np.sqrt(COLUMNS),
        "bias": np.zeros(HIDDEN),
        "outer": np.zeros(HIDDEN),
    }
    adam = optim.Adam(0.02)
    state = adam.init(p)
    differentiate = computed(fg.value_and_grad(network_loss))
    for _ in range(epochs):
        for X, y in batches():
            _, gradient = differentiate(p, X, y)
            p, state = adam.update(gradient, state, p)
            step()
    return p


def accuracy(z: Any, y: Any) -> Any:
    """The share of rows whose score has the right sign."""
    return np.mean((z > 0) == (y > 0))


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Fit and train on a cluster; in the short form also in memory, and how far apart the results are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--short", action="store_true", help="some rows only, and the same in memory to compare"
    )
    parser.add_argument("--rows", type=int, default=12_500_000, help="of 400 bytes each")
    parser.add_argument("--limit", default="500MB", help="of each worker's memory")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--address", help="of a cluster's scheduler, instead of one on this machine")
    options = parser.parse_args(arguments)
    rows, chunk, epochs = (8_000, 1_000, 2) if options.short else (options.rows, 50_000, 1)
    with ExitStack() as stack:
        if options.address:
            client = stack.enter_context(distributed.Client(options.address))
        else:
            cluster = distributed.LocalCluster(
                n_workers=options.workers,
                threads_per_worker=1,
                memory_limit=options.limit,
                dashboard_address=":0",
            )
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
        print(f"dashboard: {client.dashboard_link}")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        X, y = write(folder, rows, chunk)
        print(f"{X.nbytes / 1e9:.2f} GB in {X.npartitions} chunks")
        with tqdm(desc="L-BFGS", unit="step", disable=None) as bar:
            w = fit(X, y, lambda w: bar.update())
        with tqdm(desc="Adam", unit="chunk", total=epochs * X.npartitions, disable=None) as bar:
            p = train(lambda: chunks_of(X, y), epochs, bar.update)
        scores = computed(lambda: (accuracy(X @ w, y), accuracy(network(p, X), y)))()
        found = dict(zip(("logistic regression", "network"), scores, strict=True))
        if options.short:
            found["difference"] = difference(X, y, w, p, epochs)
    for name, value in found.items():
        print(f"{name}: {value:.4g}")
    return found


def difference(X: Any, y: Any, w: Any, p: dict[str, Any], epochs: int) -> float:
    """The largest difference of what was found to the same, found in memory."""
    chunks = np.cumsum(X.chunks[0])[:-1]
    X, y = computed(lambda: (X, y))()
    in_memory = (fit(X, y), train(lambda: zip(np.split(X, chunks), np.split(y, chunks), strict=True), epochs))
    pairs = zip(tree.leaves((w, p)), tree.leaves(in_memory), strict=True)
    return max(float(np.max(np.abs(a - b))) for a, b in pairs)


if __name__ == "__main__":
    main()
