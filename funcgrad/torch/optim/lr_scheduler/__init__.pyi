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
from funcgrad.torch.optim.lr_scheduler.compound import ChainedScheduler as ChainedScheduler
from funcgrad.torch.optim.lr_scheduler.decays import ConstantLR as ConstantLR
from funcgrad.torch.optim.lr_scheduler.cosine import CosineAnnealingLR as CosineAnnealingLR
from funcgrad.torch.optim.lr_scheduler.cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from funcgrad.torch.optim.lr_scheduler.cycles import CyclicLR as CyclicLR
from funcgrad.torch.optim.lr_scheduler.decays import ExponentialLR as ExponentialLR
from funcgrad.torch.optim.lr_scheduler.base import LRScheduler as LRScheduler
from funcgrad.torch.optim.lr_scheduler.decays import LambdaLR as LambdaLR
from funcgrad.torch.optim.lr_scheduler.decays import LinearLR as LinearLR
from funcgrad.torch.optim.lr_scheduler.decays import MultiStepLR as MultiStepLR
from funcgrad.torch.optim.lr_scheduler.decays import MultiplicativeLR as MultiplicativeLR
from funcgrad.torch.optim.lr_scheduler.cycles import OneCycleLR as OneCycleLR
from funcgrad.torch.optim.lr_scheduler.decays import PolynomialLR as PolynomialLR
from funcgrad.torch.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau
from funcgrad.torch.optim.lr_scheduler.compound import SequentialLR as SequentialLR
from funcgrad.torch.optim.lr_scheduler.decays import StepLR as StepLR
