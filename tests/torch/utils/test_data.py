"""Datasets, samplers and loaders: the same orders, batches and texts as the original; and the worker threads."""

from __future__ import annotations

import gc
import threading
import time
import traceback
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from funcgrad.torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info

PROGRAMS = [
    # splits and orders
    "print([list(s.indices) for s in D.random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(42))])",
    "print([list(s.indices) for s in D.random_split(range(11), [0.3, 0.3, 0.4])])",
    "print([len(s) for s in D.random_split(range(3), [0.9, 0.1])])",
    "D.random_split(range(10), [3, 8])",
    "D.random_split(range(10), [1.5, -0.5])",
    "print(list(D.RandomSampler(range(9))), list(D.RandomSampler(range(9))))",
    "print(list(D.RandomSampler(range(5), num_samples=13)))",
    "print(list(D.RandomSampler(range(50), replacement=True, num_samples=70, generator=torch.Generator().manual_seed(3))))",
    "print(list(D.SubsetRandomSampler([5, 7, 11, 13])))",
    "print(list(D.WeightedRandomSampler([0.1, 0.9, 0.4], 20)))",
    "print(list(D.WeightedRandomSampler([0.1, 0.9, 0.4], 2, replacement=False)))",
    "print(list(D.BatchSampler(range(7), 3, False)), list(D.BatchSampler(range(7), 3, True)))",
    "print(len(D.BatchSampler(range(7), 3, False)))",
    "D.BatchSampler(range(3), 0, False)",
    "D.BatchSampler(range(3), 2, 1)",
    "D.RandomSampler(range(3), replacement=3)",
    "D.RandomSampler(range(3), num_samples=-1)",
    "D.WeightedRandomSampler([1.0], 0)",
    # datasets
    "d = D.TensorDataset(torch.arange(4), torch.arange(8).view(4, 2))\nprint(len(d), d[1], d[:2])",
    "D.TensorDataset(torch.ones(2), torch.ones(3))",
    "d = D.ConcatDataset([range(3), range(10, 14)])\nprint(len(d), [d[i] for i in (0, 2, 3, 6, -1, -7)])\nd[-8]",
    "D.ConcatDataset([])",
    "d = D.StackDataset(range(3), [5, 6, 7])\nprint(len(d), d[1], d.__getitems__([0, 2]))",
    "d = D.StackDataset(a=range(3), b=[5, 6, 7])\nprint(d[1], d.__getitems__([0, 2]))",
    "D.StackDataset(range(3), range(4))",
    "d = D.Subset(range(10, 20), [3, 5, 7])\nprint(len(d), d[1], d.__getitems__([0, 2]))",
    # collation
    "print(D.default_collate([1, 2]), D.default_collate([1.5, 2]), D.default_collate([True, False]))",
    "print(D.default_collate(['a', 'b']))",
    "print(D.default_collate([(1, 'x', [2.0, 3]), (4, 'y', [5.0, 6])]))",
    "print(D.default_collate([{'a': torch.ones(2), 'b': {'c': 1}}, {'a': torch.zeros(2), 'b': {'c': 2}}]))",
    "print(D.default_collate([P(1, torch.ones(1)), P(2, torch.zeros(1))]))",
    "print(D.default_collate([np.ones(2, np.float32), np.zeros(2, np.float32)]))",
    "print(D.default_collate([np.float32(1), np.float32(2)]))",
    "D.default_collate([object()])",
    "D.default_collate([np.array(['a'])])",
    "D.default_collate([[1, 2], [3]])",
    "print(D.default_convert([np.ones(2), (1, 'a'), {'x': np.float32(2)}, P(1, np.zeros(1))]))",
    # loaders
    "for b in D.DataLoader(range(10), 4, shuffle=True): print(b)\nprint(torch.rand(2))",
    "g = torch.Generator().manual_seed(5)\nprint(list(D.DataLoader(range(10), 4, shuffle=True, generator=g)), torch.rand(2))",
    "l = D.DataLoader(range(10), 4, drop_last=True)\nprint(len(l), list(l))",
    "print(list(D.DataLoader(range(3), batch_size=None)))",
    "print(list(D.DataLoader(range(6), batch_sampler=[[0, 5], [1]])))",
    "print(list(D.DataLoader(range(6), 2, sampler=D.WeightedRandomSampler([1.0] * 6, 5))))",
    "print(list(D.DataLoader([(torch.ones(2), 1)] * 3, 2)))",
    "print(list(D.DataLoader(range(5), 2, collate_fn=list)))",
    "print(list(D.DataLoader(It(), 3)), list(D.DataLoader(It(), 3, drop_last=True)), list(D.DataLoader(It(), None)))",
    "print(list(D.DataLoader(D.ChainDataset([It(), It()]), 5)))",
    "D.DataLoader(It(), 2, shuffle=True)",
    "D.DataLoader(range(3), shuffle=True, sampler=range(3))",
    "D.DataLoader(range(3), batch_size=2, batch_sampler=[[0]])",
    "D.DataLoader(range(3), batch_size=None, drop_last=True)",
    "D.DataLoader(range(3), num_workers=-1)",
    "D.DataLoader(range(3), prefetch_factor=3)",
    "D.DataLoader(range(3), persistent_workers=True)",
    "D.DataLoader(range(3), timeout=-1)",
    "D.DataLoader(range(3)).batch_size = 3",
    "len(D.DataLoader(It()))",
    "D.Dataset()[0]",
    "iter(D.IterableDataset())",
]
HEAD = """
import numpy as np
from collections import namedtuple
D = torch.utils.data
P = namedtuple("P", "a b")
class It(D.IterableDataset):
    def __iter__(self):
        return iter(range(7))
torch.manual_seed(7)
"""


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_original_prints_the_same(same, program):
    same(HEAD + program)


# ---- worker threads --------------------------------------------------------------------------------------------------
class Slow(Dataset[Any]):
    """Items that take longer the earlier they are; counts how many have been fetched."""

    def __init__(self, n: int = 12) -> None:
        self.n, self.fetched = n, []

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        time.sleep(0.002 * (self.n - i) / self.n)
        self.fetched.append(i)
        return i


def threads() -> int:
    return sum(thread.name.startswith("DataLoader") for thread in threading.enumerate())


def wait_for(condition) -> bool:
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_batches_come_in_order(workers):
    loader = DataLoader(Slow(), 2, num_workers=workers)
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[i, i + 1] for i in range(0, 12, 2)]
    assert wait_for(lambda: threads() == 0)


def test_the_order_is_that_without_workers():
    orders = []
    for workers in (0, 2):
        ft.manual_seed(3)
        orders.append([b.tolist() for b in DataLoader(range(20), 3, shuffle=True, num_workers=workers)])
    assert orders[0] == orders[1]


def test_out_of_order_gives_all():
    found = [b.item() for b in DataLoader(Slow(), num_workers=3, in_order=False)]
    assert sorted(found) == list(range(12))


def test_only_a_few_batches_wait():
    data = Slow(40)
    iterator = iter(DataLoader(data, 1, num_workers=2, prefetch_factor=2))
    next(iterator)
    time.sleep(0.1)
    assert len(data.fetched) <= 5


def test_leaving_early_ends_the_workers():
    for batch in DataLoader(Slow(100), 2, num_workers=2):
        assert batch.tolist() == [0, 1]
        break
    del batch
    gc.collect()
    assert wait_for(lambda: threads() == 0)


def test_persistent_workers_stay_until_the_loader_goes():
    started = []
    loader = DataLoader(Slow(), 3, num_workers=2, persistent_workers=True, worker_init_fn=started.append)
    for _ in range(2):
        next(iter(loader))
    assert len(list(loader)) == 4
    assert threads() == 2
    assert sorted(started) == [0, 1]
    del loader
    gc.collect()
    assert wait_for(lambda: threads() == 0)


class Broken(Dataset[Any]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> Any:
        if i == 2:
            raise KeyError(f"no item {i}")
        return i


def test_errors_keep_their_traceback():
    iterator = iter(DataLoader(Broken(), num_workers=2))
    assert [next(iterator).item(), next(iterator).item()] == [0, 1]
    with pytest.raises(KeyError, match="no item 2") as caught:
        next(iterator)
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise KeyError(f"no item {i}")' in text
    assert "DataLoader worker thread 0" in text
    assert next(iterator).item() == 3
    assert next(iterator, None) is None


def test_an_error_at_the_start_of_a_worker():
    def init(number):
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        next(iter(DataLoader(Slow(), num_workers=1, worker_init_fn=init)))


def test_a_timeout():
    class Stuck(Slow):
        def __getitem__(self, i):
            time.sleep(0.5)

    with pytest.raises(RuntimeError, match=r"timed out after 0\.01 seconds"):
        next(iter(DataLoader(Stuck(1), num_workers=1, timeout=0.01)))


class Shared(IterableDataset[Any]):
    """Each worker takes every n-th number; without workers, one takes all."""

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        assert info is None or info.dataset is self
        return iter(range(first, 11, step))


@pytest.mark.parametrize("workers", [0, 2, 3])
def test_workers_know_their_share_of_an_iterable(workers):
    found = [b.tolist() for b in DataLoader(Shared(), 2, num_workers=workers)]
    assert sorted(i for batch in found for i in batch) == list(range(11))
    if workers == 2:
        assert found == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]
    assert get_worker_info() is None


def test_a_model_is_trained_from_a_loader():
    ft.manual_seed(0)
    x = ft.randn(64, 3)
    y = x @ ft.tensor([[1.0], [-2.0], [0.5]])
    model = ft.nn.Linear(3, 1)
    optimizer = ft.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(25):
        for inputs, targets in DataLoader(TensorDataset(x, y), 16, shuffle=True, num_workers=2):
            optimizer.zero_grad()
            ((model(inputs) - targets) ** 2).mean().backward()
            optimizer.step()
    np.testing.assert_allclose(model.weight.detach().numpy(), [[1.0, -2.0, 0.5]], atol=0.02)
