"""Worker threads that fetch batches ahead: results come in order, not more than a few wait, errors keep their
traceback.

NumPy releases the interpreter while it computes, and so does reading files: threads help where batches are
loaded or computed. They share the memory of the program: a dataset is not copied, and the random streams are
everybody's (`worker_init_fn` may make one for each worker).
"""

from __future__ import annotations

import itertools
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_local = threading.local()


class WorkerInfo(NamedTuple):
    """What a worker knows of itself: its number, how many there are, its seed, and the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, what it knows of itself; None elsewhere."""
    return getattr(_local, "info", None)


class Ended:
    """A worker's share of an iterable dataset is at its end."""


class Failed(NamedTuple):
    """What went wrong in a worker."""

    error: BaseException


class Workers:
    """Threads with a queue of tasks each and one of results; they end when this is closed or forgotten."""

    def __init__(self, infos: list[WorkerInfo], init: Callable[[int], Any] | None) -> None:
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.tasks: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in infos]
        self.close = weakref.finalize(self, _end, self.tasks)
        self.threads = [
            threading.Thread(
                target=_work,
                args=(info, init, tasks, self.results),
                daemon=True,
                name=f"DataLoader {info.id}",
            )
            for info, tasks in zip(infos, self.tasks)
        ]
        for thread in self.threads:
            thread.start()


def _end(tasks: list[queue.SimpleQueue[Any]]) -> None:
    for each in tasks:
        each.put(None)


def _work(
    info: WorkerInfo, init: Any, tasks: queue.SimpleQueue[Any], results: queue.SimpleQueue[Any]
) -> None:
    """The life of a worker: its tasks are (stop, epoch, number, function)."""
    _local.info = info
    failed = _attempt(info, lambda: init(info.id)) if init is not None else None
    while (task := tasks.get()) is not None:
        stopped, epoch, number, function = task
        if stopped.is_set():
            continue
        found = failed if isinstance(failed, Failed) else _attempt(info, function)
        results.put((epoch, number, found))
        del task, function, found


def _attempt(info: WorkerInfo, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:  # noqa: BLE001 (it is raised again in the thread that waits for this batch)
        error.add_note(f"Caught {type(error).__name__} in DataLoader worker thread {info.id}.")
        return Failed(error)


class Ahead:
    """The batches of one epoch: `fetchers[i](index)` runs in worker i, `ahead` batches are on the way."""

    def __init__(
        self,
        workers: Workers,
        fetchers: list[Callable[[Any], Any]],
        indices: Iterator[Any],
        ahead: int,
        timeout: float,
        ordered: bool,
    ) -> None:
        self.workers, self.fetchers, self.indices = workers, fetchers, indices
        self.timeout, self.ordered = timeout or None, ordered
        self.epoch, self.stopped = object(), threading.Event()
        self.active = dict.fromkeys(range(len(fetchers)))
        self.turns = itertools.cycle(range(len(fetchers)))
        self.owner: dict[int, int] = {}  # of the batches on the way
        self.done: dict[int, Any] = {}  # batches that came before their turn
        self.sent = self.next = 0
        weakref.finalize(self, self.stopped.set)
        for _ in range(ahead):
            self._send()

    def _send(self) -> None:
        if not self.active:
            return
        index = next(self.indices, Ended)
        if index is Ended:
            return
        worker = next(turn for turn in self.turns if turn in self.active)
        self.owner[self.sent] = worker
        fetch = self.fetchers[worker]
        self.workers.tasks[worker].put((self.stopped, self.epoch, self.sent, lambda: fetch(index)))
        self.sent += 1

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        while self.owner or self.done:
            number = self.next if self.ordered else next(iter(self.done), None)
            if number not in self.done:
                self._receive()
                continue
            found = self.done.pop(number)
            self.next += 1
            self._send()
            if isinstance(found, Failed):
                raise found.error
            if found is not Ended:
                return found
        raise StopIteration

    def _receive(self) -> None:
        try:
            epoch, number, found = self.workers.results.get(timeout=self.timeout)
        except queue.Empty:
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None
        if epoch is not self.epoch:  # of an epoch that was left early
            return
        worker = self.owner.pop(number)
        if found is Ended:
            self.active.pop(worker, None)
        self.done[number] = found
