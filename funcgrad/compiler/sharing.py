"""Blocks of elementwise work, shared out among threads."""

from __future__ import annotations

from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="funcgrad-jit")


def shared_out(work: Callable[..., None], count: int, memory: Sequence[tuple[Any, ...]]) -> None:
    """work(first, last, *memory[k]) for parts of range(count), each in a thread with memory of its own.

    The calling thread takes the first part. Which block is computed does not depend on the threads, so neither
    do the results. What one of them raises is raised here.
    """
    threads = len(memory)
    ends = [count * k // threads for k in range(threads + 1)]
    pool = _pool(threads - 1)
    others = [
        pool.submit(copy_context().run, work, ends[k], ends[k + 1], *memory[k]) for k in range(1, threads)
    ]
    try:
        work(ends[0], ends[1], *memory[0])
    finally:
        errors = [future.exception() for future in others]  # the memory is in use until then
    for error in errors:
        if error is not None:
            raise error
