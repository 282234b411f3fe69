"""torch.optim.lr_scheduler: schedules of learning rates.

base.py      what they have in common       decays.py    factors on the learning rate, epoch by epoch
cosine.py    cosine annealing               cycles.py    learning rate and momentum up and down
plateau.py   by a measure                   compound.py  several after, or beside, one another
"""

from funcgrad.torch.optim.lr_scheduler.base import LRScheduler
from funcgrad.torch.optim.lr_scheduler.compound import ChainedScheduler, SequentialLR
from funcgrad.torch.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from funcgrad.torch.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from funcgrad.torch.optim.lr_scheduler.decays import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from funcgrad.torch.optim.lr_scheduler.plateau import ReduceLROnPlateau

_LRScheduler = LRScheduler

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
