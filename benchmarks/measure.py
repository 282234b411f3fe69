"""Time, memory and import time, measured so that a busy machine spoils none of the comparisons.

Time is the processor time of this process, all its threads together: what other processes take does not
count. But a processor that is shared, or warm, changes its speed by half within seconds. So runs take turns,
each turn of one is divided by the turn of the other beside it, and the median of these ratios counts.
"""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import median
from time import process_time
from typing import Any

SAMPLE = 0.004  # seconds: a run that is shorter is repeated within a sample
ROUNDS = 100
BUDGET = 2.0  # seconds that one library may use for one problem; the slow ones drop out of the last rounds


def seconds_per_call(runs: Mapping[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """The time of one call of each run, in each round. The runs take turns, so that all see the same machine."""
    repeats = {name: _repeats(run) for name, run in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    used = dict.fromkeys(runs, 0.0)
    gc.collect()
    gc.freeze()  # what the libraries have imported is no work for the collector while we measure
    for _ in range(ROUNDS):
        for name, run in runs.items():
            if used[name] < BUDGET:
                spent = _sample(run, repeats[name])
                used[name] += spent
                seconds[name].append(spent / repeats[name])
    gc.unfreeze()
    return seconds


def ratio(seconds: list[float], to: list[float]) -> float:
    """How much longer one run takes than another, given the times of both, round by round."""
    return median(x / y for x, y in zip(seconds, to))


def _repeats(run: Callable[[], Any]) -> int:
    run()  # the first call may fill caches
    return max(1, math.ceil(SAMPLE / max(_sample(run, 1), 1e-7)))


def _sample(run: Callable[[], Any], repeats: int) -> float:
    start = process_time()
    for _ in range(repeats):
        run()
    return process_time() - start


def peak_bytes(run: Callable[[], Any]) -> int:
    """The most memory that Python and NumPy held at once during `run`, beyond what was there before."""
    run()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    result = run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak - before


_IMPORT = "from time import process_time; start = process_time(); import {}; print(process_time() - start)"


def import_seconds(modules: tuple[str, ...], rounds: int = 30) -> dict[str, list[float]]:
    """The time of `import module` in a fresh interpreter, per round: modules in turn, bytecode cached."""
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(rounds):
            for module in modules:
                command = [sys.executable, "-c", _IMPORT.format(module)]
                run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
                seconds[module].append(float(run.stdout))
    return seconds
