"""SGD, Adam and the others, as PyTorch has them. Their formulas are those of funcgrad.optim.

`foreach`, `fused` and `capturable` choose among PyTorch's implementations; here there is one, and they are
kept as settings only. With `differentiable=True` autograd sees the step: parameters that were computed,
gradients with a graph and a learning rate that requires grad get their derivatives.
"""

from __future__ import annotations

from typing import Any

from funcgrad.optim import adaptive, descent, moments
from funcgrad.torch.optim.optimizer import Params
from funcgrad.torch.optim.stepping import RuleOptimizer, settings, start

Choice = bool | None


def _defaults(given: dict[str, Any], order: str) -> dict[str, Any]:
    """The arguments of a constructor, in the order in which PyTorch lists the settings."""
    return {name: given[name] for name in order.split()}


class SGD(RuleOptimizer):
    """param -= lr * gradient, with momentum, Nesterov's variant and weight decay."""

    rule, counts = descent.SGD, False

    def __init__(
        self, params: Params, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: Any = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: Choice = None, differentiable: bool = False,
        fused: Choice = None,
    ) -> None:  # fmt: skip
        order = "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
        super().__init__(params, _defaults(locals(), order))


_ADAM = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay"


class Adam(RuleOptimizer):
    """Steps along the average gradient, divided by the root of the average squared gradient
    (arXiv:1412.6980).
    """

    rule = moments.ADAM

    def __init__(
        self, params: Params, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: Choice = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: Choice = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, _defaults(locals(), _ADAM))


class AdamW(Adam):
    """Adam whose weight decay does not pass through the averages (arXiv:1711.05101)."""

    def __init__(
        self, params: Params, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: Choice = None,
        capturable: bool = False, differentiable: bool = False, fused: Choice = None,
    ) -> None:  # fmt: skip
        RuleOptimizer.__init__(self, params, _defaults({**locals(), "decoupled_weight_decay": True}, _ADAM))


class Adamax(RuleOptimizer):
    """Adam with the largest gradient, slowly forgotten, instead of the average square (arXiv:1412.6980,
    section 7.1).
    """

    rule = moments.ADAMAX

    def __init__(
        self, params: Params, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: Choice = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, _defaults(locals(), order))


class NAdam(RuleOptimizer):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    rule = moments.NADAM

    def __init__(
        self, params: Params, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: Choice = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable"
        super().__init__(params, _defaults(locals(), order))


class RAdam(RuleOptimizer):
    """Adam that waits until the variance of its step is known (arXiv:1908.03265)."""

    rule = moments.RADAM

    def __init__(
        self, params: Params, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: Choice = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
        super().__init__(params, _defaults(locals(), order))


class RMSprop(RuleOptimizer):
    """Divides by the root of the average squared gradient; `centered`, by its standard deviation
    (arXiv:1308.0850).
    """

    rule = adaptive.RMSPROP

    def __init__(
        self, params: Params, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: Choice = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        super().__init__(params, _defaults(locals(), order))


class Adagrad(RuleOptimizer):
    """Divides by the root of the sum of all squared gradients (JMLR 12, 2011); the sums are there from the
    beginning.
    """

    rule = adaptive.ADAGRAD

    def __init__(
        self, params: Params, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: Choice = None, *, maximize: bool = False,
        differentiable: bool = False, fused: Choice = None,
    ) -> None:  # fmt: skip
        order = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
        super().__init__(params, _defaults(locals(), order))
        for group in self.param_groups:
            for p in group["params"]:
                start(self, p, settings(group), ("sum",))

    def share_memory(self) -> None:
        """Nothing to do: threads share all memory."""


class Adadelta(RuleOptimizer):
    """Divides by the root of the average squared gradient, and multiplies by that of the squared steps
    (arXiv:1212.5701).
    """

    rule = adaptive.ADADELTA

    def __init__(
        self, params: Params, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: Choice = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr rho eps weight_decay maximize capturable foreach differentiable"
        super().__init__(params, _defaults(locals(), order))


class Rprop(RuleOptimizer):
    """Steps by the sign of the gradient, with sizes that grow while it stays the same (Riedmiller and Braun,
    1993).
    """

    rule = descent.RPROP

    def __init__(
        self, params: Params, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: Choice = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr etas step_sizes foreach maximize differentiable capturable"
        super().__init__(params, _defaults(locals(), order))


class ASGD(RuleOptimizer):
    """SGD that also keeps the average of its iterates, as "ax" in its state (Polyak and Juditsky, 1992)."""

    rule = descent.ASGD

    def __init__(
        self, params: Params, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: Choice = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        order = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
        super().__init__(params, _defaults(locals(), order))
