"""DataLoader: a dataset in batches, in this thread or by worker threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from typing import Any

from funcgrad.torch.random.generator import Generator
from funcgrad.torch.utils.data.collate import default_collate, default_convert
from funcgrad.torch.utils.data.datasets import IterableDataset, rows_of
from funcgrad.torch.utils.data.samplers import BatchSampler, RandomSampler, SequentialSampler, random_seed
from funcgrad.torch.utils.data.workers import Ahead, Ended, WorkerInfo, Workers

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Iterates over a dataset in batches of `batch_size` (None: single items), in the order of a sampler or
    `shuffle`.

    `collate_fn` makes a batch of a list of items. With num_workers > 0 as many threads fetch batches ahead,
    `prefetch_factor` each; they end with the iteration, unless `persistent_workers`. `pin_memory`,
    `pin_memory_device` and `multiprocessing_context` mean nothing here and are accepted.

    >>> import funcgrad.torch as torch
    >>> from funcgrad.torch.utils.data import DataLoader, TensorDataset
    >>> data = TensorDataset(torch.arange(5), torch.arange(5) ** 2)
    >>> for x, y in DataLoader(data, batch_size=2, num_workers=2):
    ...     print(x, y)
    tensor([0, 1]) tensor([0, 1])
    tensor([2, 3]) tensor([4, 9])
    tensor([4]) tensor([16])
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        _check_exclusive(shuffle, sampler, batch_sampler, batch_size, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            sampler = (
                repeat(None)
                if iterable
                else RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.num_workers, self.timeout, self.in_order = dataset, num_workers, timeout, in_order
        self.batch_size, self.drop_last, self.sampler = batch_size, drop_last, sampler
        self.batch_sampler = batch_sampler
        self.generator, self.worker_init_fn = generator, worker_init_fn
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.multiprocessing_context, self.persistent_workers = multiprocessing_context, persistent_workers
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._workers: Workers | None = None
        self._ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__dict__.get("_ready"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        seed = random_seed(self.generator)
        indices = iter(self._index_sampler)
        if not self.num_workers:
            return _in_this_thread(self._fetcher(), indices)
        workers = self._workers or self._started(seed)
        if self.persistent_workers:
            self._workers = workers
        fetchers = [self._fetcher() for _ in range(self.num_workers)]
        ahead = self.num_workers * (self.prefetch_factor or 2)
        return Ahead(workers, fetchers, indices, ahead, self.timeout, self.in_order)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _started(self, seed: int) -> Workers:
        infos = [WorkerInfo(i, self.num_workers, seed + i, self.dataset) for i in range(self.num_workers)]
        return Workers(infos, self.worker_init_fn)

    def _fetcher(self) -> Callable[[Any], Any]:
        """A function from what the sampler gives to a batch, or to `Ended`."""
        dataset, batched = self.dataset, self.batch_sampler is not None
        if isinstance(dataset, IterableDataset):
            return _Consecutive(dataset, batched, self.drop_last, self.collate_fn)
        return _ByNumber(dataset, batched, self.collate_fn)

    def __len__(self) -> int:
        dataset: Any = self.dataset
        if not isinstance(dataset, IterableDataset):
            return len(self._index_sampler)
        count = len(dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class _ByNumber:
    def __init__(self, dataset: Any, batched: bool, collate: Callable[[Any], Any]) -> None:
        self.dataset, self.batched, self.collate = dataset, batched, collate

    def __call__(self, index: Any) -> Any:
        if not self.batched:
            return self.collate(self.dataset[index])
        if self.collate is default_collate and (found := rows_of(self.dataset, index)) is not None:
            return found
        fetch = getattr(self.dataset, "__getitems__", None)
        return self.collate(fetch(index) if callable(fetch) else [self.dataset[i] for i in index])


class _Consecutive:
    """The next items of an iterable dataset; its iterator is made where it is first used, in the worker."""

    def __init__(self, dataset: Any, batched: bool, drop_last: bool, collate: Callable[[Any], Any]) -> None:
        self.dataset, self.batched, self.drop_last, self.collate = dataset, batched, drop_last, collate
        self.items: Any = None

    def __call__(self, index: Any) -> Any:
        if self.items is None:
            self.items = iter(self.dataset)
        if not self.batched:
            item = next(self.items, Ended)
            return Ended if item is Ended else self.collate(item)
        batch = list(islice(self.items, len(index)))
        if not batch or (self.drop_last and len(batch) < len(index)):
            return Ended
        return self.collate(batch)


def _in_this_thread(fetch: Callable[[Any], Any], indices: Iterator[Any]) -> Iterator[Any]:
    for index in indices:
        found = fetch(index)
        if found is Ended:
            return
        yield found


# ---- what does not go together ---------------------------------------------------------------------------------------
def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if given is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
            )


def _check_exclusive(
    shuffle: Any, sampler: Any, batch_sampler: Any, batch_size: int | None, drop_last: bool
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
        )
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
