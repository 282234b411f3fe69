# ruff: noqa
# Written by `python -m funcgrad.torch.stubs`: edit that, or the functions themselves.
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload
from funcgrad.torch.random.generator import Generator as Generator
from funcgrad.torch.tensors.dtypes import dtype as dtype
from funcgrad.torch.tensors.size import Size as Size
from funcgrad.torch.tensors.size import device as device
from funcgrad.torch.tensors.tensor import Number, Selected
from funcgrad.torch.tensors.tensor import Tensor as Tensor
from builtins import bool as _bool
from builtins import int as _int
from builtins import float as _float
from builtins import complex as _complex
from builtins import type as _type
from typing_extensions import TypeIs as _TypeIs
from funcgrad.torch.tensors.dtypes import dtype as _dtype
from funcgrad.torch.tensors.size import device as _device
from funcgrad.torch.utils.data.samplers import BatchSampler as BatchSampler
from funcgrad.torch.utils.data.datasets import ChainDataset as ChainDataset
from funcgrad.torch.utils.data.datasets import ConcatDataset as ConcatDataset
from funcgrad.torch.utils.data.loader import DataLoader as DataLoader
from funcgrad.torch.utils.data.datasets import Dataset as Dataset
from funcgrad.torch.utils.data.datasets import IterableDataset as IterableDataset
from funcgrad.torch.utils.data.samplers import RandomSampler as RandomSampler
from funcgrad.torch.utils.data.samplers import Sampler as Sampler
from funcgrad.torch.utils.data.samplers import SequentialSampler as SequentialSampler
from funcgrad.torch.utils.data.datasets import StackDataset as StackDataset
from funcgrad.torch.utils.data.datasets import Subset as Subset
from funcgrad.torch.utils.data.samplers import SubsetRandomSampler as SubsetRandomSampler
from funcgrad.torch.utils.data.datasets import TensorDataset as TensorDataset
from funcgrad.torch.utils.data.samplers import WeightedRandomSampler as WeightedRandomSampler
from funcgrad.torch.utils.data.workers import WorkerInfo as WorkerInfo
from funcgrad.torch.utils.data.collate import default_collate as default_collate
from funcgrad.torch.utils.data.collate import default_convert as default_convert
from funcgrad.torch.utils.data.workers import get_worker_info as get_worker_info
from funcgrad.torch.utils.data.datasets import random_split as random_split
