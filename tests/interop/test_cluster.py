"""On a cluster of processes: in bounded memory, and in spite of a worker that dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.lazy import MODELS
from funcgrad import value_and_grad
from funcgrad.dask import computed
from tests.optional import optional

dask = optional("dask")
da = optional("dask.array")
distributed = optional("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers of one thread each; a third of their memory is taken before they begin.

    Nobody waits half a minute for an answer of one that has died.
    """
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="600MB", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_data_larger_than_the_memory_of_a_worker(client: Any) -> None:
    columns, rows = 200, 400_000  # 640 MB, in chunks of 16 MB
    X = da.random.default_rng(0).normal(size=(rows, columns), chunks=(10_000, columns))
    y = (X[:, 0] > 0).astype(float)
    w = np.linspace(-0.1, 0.1, columns)
    model = MODELS["logistic regression"]
    both = computed(lambda: (value_and_grad(model.function)(w, X, y), model.by_hand(w, X, y)))
    (value, gradient), (expected, by_hand) = both()
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-9, atol=1e-12)


def test_a_worker_that_dies_changes_nothing(client: Any, tmp_path: Any) -> None:
    mark = str(tmp_path / "died")

    def load(block: Any, block_info: Any = None) -> Any:
        if block_info and block_info[0]["chunk-location"][0] == 5 and not os.path.exists(mark):
            with open(mark, "w", encoding="utf-8"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    x = np.linspace(-1.0, 1.0, 4000).reshape(400, 10)
    X = da.from_array(x, chunks=(50, 10)).map_blocks(load, dtype=float, meta=np.empty((0, 0)))
    y = (x[:, 0] > 0).astype(float)
    model = MODELS["perceptron"]
    value, gradient = computed(value_and_grad(model.function))(model.params, X, da.from_array(y, chunks=50))
    assert os.path.exists(mark)
    expected = value_and_grad(model.function)(model.params, x, y)
    np.testing.assert_allclose(value, expected[0])
    for name, part in gradient.items():
        np.testing.assert_allclose(part, expected[1][name], rtol=1e-9, atol=1e-12)


def test_rules_are_found_by_workers_that_have_imported_nothing(client: Any) -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-1.0, 1.0, 40)

    def f(w, x):
        return np.sum(np.tanh(special.erf(w * x)) * np.logaddexp(w, x))

    value, gradient = computed(value_and_grad(f))(0.5, da.from_array(x, chunks=10))
    np.testing.assert_allclose((value, gradient), value_and_grad(f)(0.5, x))
