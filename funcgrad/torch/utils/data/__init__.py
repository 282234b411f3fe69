"""torch.utils.data: datasets, samplers, and the DataLoader that makes batches of them.

datasets.py   what has items      samplers.py   in which order      collate.py   items into batches
loader.py     DataLoader          workers.py    threads that fetch batches ahead
"""

from funcgrad.torch.utils.data.collate import default_collate, default_convert
from funcgrad.torch.utils.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from funcgrad.torch.utils.data.loader import DataLoader
from funcgrad.torch.utils.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from funcgrad.torch.utils.data.workers import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]
