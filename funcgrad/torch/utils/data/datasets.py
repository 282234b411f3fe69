"""Datasets: what has items by number, or one after another."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, Generic, TypeVar

import numpy as np

from funcgrad.torch.graph import modes
from funcgrad.torch.random import randperm
from funcgrad.torch.random.generator import Generator
from funcgrad.torch.tensors.storage import Shared
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Base of datasets with items by number: define `__getitem__`, and `__len__`.

    `__getitems__(numbers)`, if it is defined, gives a whole batch as a list.
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError(
            f"Subclasses of Dataset should implement __getitem__: {type(self).__name__} does not"
        )

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """Base of datasets whose items come one after another: define `__iter__`.

    With several workers each iterates over the whole dataset; `get_worker_info()` tells it which part is its
    own.
    """

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors whose rows belong together: item i is the tuple of their i-th rows."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


def rows_of(dataset: Any, indices: Sequence[int]) -> list[Tensor] | None:
    """A batch of a TensorDataset (or of a Subset of one), read at once; None of any other."""
    while type(dataset) is Subset:
        dataset, indices = dataset.dataset, [dataset.indices[i] for i in indices]
    if type(dataset) is not TensorDataset or modes.MODE.get() is not None:
        return None
    where = np.asarray(indices, np.int64)
    columns = [(t, t.value) for t in dataset.tensors]
    if any(type(x) not in (np.ndarray, Shared) or t.node is not None for t, x in columns):
        return None
    return [make_tensor(x.view(np.ndarray)[where]) for _, x in columns]


class StackDataset(Dataset[Any]):
    """Datasets side by side: item i is the tuple of their items i, or the dict, if they were given by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, but both types are "
                "given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        self._length = len(self._each()[0])
        if any(len(dataset) != self._length for dataset in self._each()):
            raise ValueError("Size mismatch between datasets")

    def _each(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = [_items(dataset, indices) for dataset in self._each()]
        rows = zip(*columns)
        return (
            [dict(zip(self.datasets, row)) for row in rows] if isinstance(self.datasets, dict) else list(rows)
        )

    def __len__(self) -> int:
        return self._length


def _items(dataset: Any, indices: list[Any]) -> list[Any]:
    fetch = getattr(dataset, "__getitems__", None)
    if not callable(fetch):
        return [dataset[i] for i in indices]
    found: Any = fetch(indices)
    if not isinstance(found, list):
        raise TypeError("Nested dataset's `__getitems__` should return a list")
    if len(found) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}: __getitems__ has to return one "
            "item for each index"
        )
    return found


class ConcatDataset(Dataset[Any]):
    """Datasets one after another, by number."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset: use ChainDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Any) -> list[int]:
        """Where each dataset ends."""
        return list(accumulate(len(dataset) for dataset in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
        return chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T]):
    """The items of a dataset at these numbers."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        return self.dataset[[self.indices[i] for i in idx] if isinstance(idx, list) else self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        numbers = [self.indices[i] for i in indices]
        fetch = getattr(self.dataset, "__getitems__", None)
        return fetch(numbers) if callable(fetch) else [self.dataset[i] for i in numbers]  # type: ignore[return-value]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Random disjoint shares of a dataset; `lengths` are numbers of items, or fractions that sum to 1."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    numbers = randperm(int(sum(lengths)), generator=generator).tolist()
    ends = list(accumulate(int(n) for n in lengths))
    return [Subset(dataset, numbers[end - int(n) : end]) for n, end in zip(lengths, ends)]


def _from_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return lengths
