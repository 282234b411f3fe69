"""SGD, Adam and the others: hyperparameters. Formulas: descent.py, moments.py, adaptive.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from funcgrad.optim import adaptive, descent, moments
from funcgrad.optim.optimizer import Optimizer
from funcgrad.optim.rules import UpdateRule

# A number, a tracer, or a schedule: a function of the number of updates made so far.
Hyper = float | Callable[[int], Any] | Any
_dataclass = dataclasses.dataclass(frozen=True)


@_dataclass
class SGD(Optimizer):
    """Gradient descent: x - lr * gradient; `momentum` averages gradients, `nesterov` looks ahead.

    `weight_decay` adds weight_decay * x to the gradient, `maximize` turns it around; they mean the same
    everywhere. Sutskever et al., "On the importance of initialization and momentum in deep learning", ICML
    2013.
    """

    lr: Hyper = 1e-3
    momentum: Hyper = 0
    dampening: Hyper = 0
    weight_decay: Hyper = 0
    nesterov: bool = False
    maximize: bool = False
    rule: ClassVar[UpdateRule] = descent.SGD


@_dataclass
class ASGD(Optimizer):
    """Gradient descent that keeps the average of its iterates in state.slots["ax"].

    Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM J. Control Optim. 30,
    1992.
    """

    lr: Hyper = 1e-2
    lambd: Hyper = 1e-4
    alpha: Hyper = 0.75
    t0: Hyper = 1e6
    weight_decay: Hyper = 0
    maximize: bool = False
    rule: ClassVar[UpdateRule] = descent.ASGD


@_dataclass
class Rprop(Optimizer):
    """Steps by the gradient's sign: their sizes grow while it stays, shrink when it turns; for full batches.

    Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning", ICNN 1993.
    """

    lr: Hyper = 1e-2
    etas: tuple[Hyper, Hyper] = (0.5, 1.2)
    step_sizes: tuple[Hyper, Hyper] = (1e-6, 50)
    maximize: bool = False
    rule: ClassVar[UpdateRule] = descent.RPROP


@_dataclass
class Adam(Optimizer):
    """Steps along the average gradient, divided by the root of the average squared gradient.

    `amsgrad` divides by the largest such root so far (arXiv:1904.09237). Kingma and Ba, arXiv:1412.6980.
    """

    lr: Hyper = 1e-3
    betas: tuple[Hyper, Hyper] = (0.9, 0.999)
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0
    amsgrad: bool = False
    decoupled_weight_decay: bool = False
    maximize: bool = False
    rule: ClassVar[UpdateRule] = moments.ADAM


@_dataclass
class AdamW(Adam):
    """Adam whose weight decay does not pass through the averages. Loshchilov and Hutter, arXiv:1711.05101."""

    weight_decay: Hyper = 1e-2
    decoupled_weight_decay: bool = True


@_dataclass
class Adamax(Optimizer):
    """Adam with the largest gradient, slowly forgotten, for the average (arXiv:1412.6980, section 7.1)."""

    lr: Hyper = 2e-3
    betas: tuple[Hyper, Hyper] = (0.9, 0.999)
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0
    maximize: bool = False
    rule: ClassVar[UpdateRule] = moments.ADAMAX


@_dataclass
class NAdam(Optimizer):
    """Adam with Nesterov's momentum. Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop 2016."""

    lr: Hyper = 2e-3
    betas: tuple[Hyper, Hyper] = (0.9, 0.999)
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0
    momentum_decay: Hyper = 4e-3
    decoupled_weight_decay: bool = False
    maximize: bool = False
    rule: ClassVar[UpdateRule] = moments.NADAM


@_dataclass
class RAdam(Optimizer):
    """Adam that steps along the plain average until its step's variance is known. arXiv:1908.03265."""

    lr: Hyper = 1e-3
    betas: tuple[Hyper, Hyper] = (0.9, 0.999)
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0
    decoupled_weight_decay: bool = False
    maximize: bool = False
    rule: ClassVar[UpdateRule] = moments.RADAM


@_dataclass
class RMSprop(Optimizer):
    """Divides by the root of the average squared gradient (Tieleman and Hinton, lecture 6.5, 2012).

    `centered` divides by the standard deviation instead: Graves, arXiv:1308.0850, section 4.2.
    """

    lr: Hyper = 1e-2
    alpha: Hyper = 0.99
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0
    momentum: Hyper = 0
    centered: bool = False
    maximize: bool = False
    rule: ClassVar[UpdateRule] = adaptive.RMSPROP


@_dataclass
class Adagrad(Optimizer):
    """Divides by the root of the sum of all squared gradients. Duchi, Hazan and Singer, JMLR 12, 2011."""

    lr: Hyper = 1e-2
    lr_decay: Hyper = 0
    weight_decay: Hyper = 0
    initial_accumulator_value: float = 0
    eps: Hyper = 1e-10
    maximize: bool = False
    rule: ClassVar[UpdateRule] = adaptive.ADAGRAD


@_dataclass
class Adadelta(Optimizer):
    """Divides by the root of the average squared gradient, times that of squared steps. arXiv:1212.5701."""

    lr: Hyper = 1.0
    rho: Hyper = 0.9
    eps: Hyper = 1e-6
    weight_decay: Hyper = 0
    maximize: bool = False
    rule: ClassVar[UpdateRule] = adaptive.ADADELTA
