"""torch.optim: optimizers."""

from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.optim.sgd import SGD
