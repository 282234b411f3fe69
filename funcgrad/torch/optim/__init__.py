# ruff: noqa: F401 (these are the public names)
"""torch.optim: optimizers."""

from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.optim.sgd import SGD
