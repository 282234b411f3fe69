"""Time, memory and import time, measured so that a busy machine spoils none of the comparisons.

Time is the processor time of this process, all its threads together: what other processes take does not count.
"""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

SAMPLE = 0.004  # seconds: a run that is shorter is repeated within a sample
ROUNDS = 200
BUDGET = 2.0  # seconds that one library may use for one problem; the slow ones drop out of the last rounds


def seconds_per_call(runs: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """The shortest time of one call of each run. The runs take turns, so that all see the same machine."""
    repeats = {name: _repeats(run) for name, run in runs.items()}
    best = dict.fromkeys(runs, math.inf)
    used = dict.fromkeys(runs, 0.0)
    gc.collect()
    gc.freeze()  # what the libraries have imported is no work for the collector while we measure
    for _ in range(ROUNDS):
        for name, run in runs.items():
            if used[name] < BUDGET:
                spent = _sample(run, repeats[name])
                used[name] += spent
                best[name] = min(best[name], spent / repeats[name])
    gc.unfreeze()
    return best


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


def import_seconds(modules: tuple[str, ...], rounds: int = 15) -> dict[str, float]:
    """The shortest time of `import module` in a fresh interpreter: the modules in turns, their bytecode cached."""
    best = dict.fromkeys(modules, math.inf)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(rounds):
            for module in modules:
                command = [sys.executable, "-c", _IMPORT.format(module)]
                run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
                best[module] = min(best[module], float(run.stdout))
    return best
