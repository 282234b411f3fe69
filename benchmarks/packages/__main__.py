"""Run every workload with the original and with funcgrad, compare, and print a table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.packages.workloads import WORKLOADS


def measured(name: str) -> dict[str, Any]:
    """A workload's numbers, and the least time of its runs within some seconds (the first one imports)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = WORKLOADS[name]()
        seconds: list[float] = []
        while len(seconds) < 3 or sum(seconds) < 2:
            start = time.process_time()
            WORKLOADS[name]()
            seconds.append(time.process_time() - start)
    return {"numbers": np.concatenate([np.ravel(x) for x in found]).tolist(), "seconds": min(seconds)}


def in_a_process(name: str, which: str) -> dict[str, Any] | str:
    """The same, in a process of its own; what went wrong, if something did."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.packages", which, name],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


def row(name: str) -> tuple[str, bool]:
    """A line of the table, and whether the numbers agree."""
    original, ours = in_a_process(name, "original"), in_a_process(name, "funcgrad")
    for who, found in (("autograd", original), ("funcgrad", ours)):
        if isinstance(found, str):
            return f"| {name} | {who} fails: {found} | |", who == "autograd"
    x, y = np.array(ours["numbers"]), np.array(original["numbers"])  # type: ignore[index]
    same = bool(np.allclose(x, y, rtol=1e-5, atol=1e-7))
    ratio = original["seconds"] / ours["seconds"]  # type: ignore[index]
    return f"| {name} | {'the same' if same else f'differ by {np.max(abs(x - y)):.1e}'} | {ratio:.2f} |", same


def main() -> int:
    """The table; or, with two arguments, one workload with the original or with funcgrad."""
    if len(sys.argv) == 3:
        if sys.argv[1] == "funcgrad":
            from funcgrad.compat import install_autograd

            install_autograd()
        print(json.dumps(measured(sys.argv[2])))
        return 0
    print("| package | numbers | speed, as a multiple of autograd's |\n|---|---|---:|")
    ok = True
    for name in WORKLOADS:
        line, same = row(name)
        print(line, flush=True)
        ok = ok and same
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
