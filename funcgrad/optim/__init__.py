"""Optimizers as pure functions on pytrees: `init(params)`, `update(gradients, state, params)`.

Every optimizer is an immutable object that holds its hyperparameters: numbers, or schedules (functions of the
number of updates made so far). All state is in the state that `init` makes, a pytree. Formulas and names are
those of PyTorch's optimizers, whose facade in `funcgrad.torch.optim` runs the same kernels. Each has its name
in small letters, too: `optim.adam` is `optim.Adam`.

>>> import numpy as np
>>> from funcgrad import optim, value_and_grad
>>> def loss(params):
...     return np.sum((params["w"] * 2.0 - params["b"] - 1.0) ** 2)
>>> params = {"w": np.zeros(3), "b": 1.0}
>>> optimizer = optim.Adam(lr=lambda step: 0.1 / (1 + step / 50))
>>> state = optimizer.init(params)
>>> for _ in range(200):
...     value, gradients = value_and_grad(loss)(params)
...     params, state = optimizer.update(gradients, state, params)
>>> bool(value < 1e-8)
True

Its parts::

    arithmetic.py     the verbs of formulas, in place and anew
    rules.py          what a rule is
    descent.py, moments.py, adaptive.py   the rules
    leaves.py         one leaf, by blocks
    optimizer.py      init and update
    algorithms.py     the optimizers
    quasi_newton.py   L-BFGS; wolfe.py, its line search
"""

from funcgrad.optim.algorithms import (
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
from funcgrad.optim.optimizer import Optimizer, State
from funcgrad.optim.quasi_newton import LBFGS, LBFGSState, Minimum, minimize

# For those who think of an optimizer as a function of its settings.
adadelta, adagrad, adam, adamax, adamw, asgd = Adadelta, Adagrad, Adam, Adamax, AdamW, ASGD
lbfgs, nadam, radam, rmsprop, rprop, sgd = LBFGS, NAdam, RAdam, RMSprop, Rprop, SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGSState",
    "Minimum",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "State",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "asgd",
    "lbfgs",
    "minimize",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
]
