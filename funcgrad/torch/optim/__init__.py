"""torch.optim: optimizers, and the schedules of their learning rates.

optimizer.py   the base          groups.py, checkpoints.py   its parameter groups, its state as a dict
stepping.py    steps by a rule of funcgrad.optim              algorithms.py   SGD, Adam, ...      lbfgs.py   LBFGS
one_by_one.py    SparseAdam, Muon
lr_scheduler/  schedules         swa_utils.py                 averages of models
"""

from funcgrad.torch.optim import lr_scheduler, swa_utils
from funcgrad.torch.optim.algorithms import (
    ASGD,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)
from funcgrad.torch.optim.lbfgs import LBFGS
from funcgrad.torch.optim.one_by_one import Muon, SparseAdam
from funcgrad.torch.optim.optimizer import Optimizer

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]
