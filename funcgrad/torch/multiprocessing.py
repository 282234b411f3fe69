# ruff: noqa: F401 (these are the public names)

"""torch.multiprocessing: Python's, for queues and pools of plain data. Tensors are copied from process to
process, not shared.

`spawn` and `Process` work as Python's do: each process has tensors of its own.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import (
    Barrier,
    Event,
    JoinableQueue,
    Lock,
    Manager,
    Pipe,
    Pool,
    Process,
    Queue,
    Semaphore,
    SimpleQueue,
    Value,
    cpu_count,
    current_process,
    get_context,
    get_start_method,
    set_start_method,
)
from typing import Any


def get_all_sharing_strategies() -> set[str]:
    """How tensors may be shared between processes: they are copied."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """How tensors are shared: they are copied."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepted: tensors are copied."""


def spawn(
    fn: Any,
    args: Any = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Run fn(i, *args) in `nprocs` new processes. Raises RuntimeError where one of them ends with an error."""
    context: Any = _multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for i, process in enumerate(processes):
        process.join()
        if process.exitcode:
            raise RuntimeError(f"process {i} terminated with exit code {process.exitcode}")
    return None
