"""SGD, Adam and the others, as PyTorch has them: a row names the optimizer of funcgrad.optim, whose formula and
settings they have, and the order of the arguments.

`foreach`, `fused` and `capturable` choose among PyTorch's implementations; here there is one, and they are
kept as settings only. With `differentiable=True` autograd sees the step: parameters that were computed,
gradients with a graph and a learning rate that requires grad get their derivatives.
"""

from __future__ import annotations

import dataclasses
from inspect import Parameter
from typing import Any

from funcgrad import optim
from funcgrad.torch.functions.generated import generated
from funcgrad.torch.optim.stepping import RuleOptimizer

# The settings that only PyTorch has, with their defaults and types.
_CHOICES = {
    "foreach": (None, "bool | None"),
    "fused": (None, "bool | None"),
    "capturable": (False, "bool"),
    "differentiable": (False, "bool"),
}


def optimizer_of(
    of: Any, arguments: str, group: str = "", base: type[RuleOptimizer] = RuleOptimizer, **members: Any
) -> Any:
    """A class of optimizers that step as `of`, an optimizer of funcgrad.optim, does.

    `arguments` names the settings that its constructor takes after `params`, with a star before those that are
    given by name only; `group`, those of a group of parameters in their order, where it is another one. Defaults
    are those of `of`. `members` are attributes of the class.
    """
    fields = {f.name: (f.default, str(f.type).replace("Hyper", "Any")) for f in dataclasses.fields(of)}
    known = {**fields, **_CHOICES}
    by_position, _, by_name = arguments.partition(" * ")
    parameters = [Parameter("params", Parameter.POSITIONAL_OR_KEYWORD, annotation="Params")]
    for kind, names in ((Parameter.POSITIONAL_OR_KEYWORD, by_position), (Parameter.KEYWORD_ONLY, by_name)):
        parameters += [Parameter(n, kind, default=known[n][0], annotation=known[n][1]) for n in names.split()]
    taken = {p.name for p in parameters}
    settings = group.split() or [n for n in arguments.split() if n != "*"]
    entries = [f"'{n}': {n if n in taken else f'known[{n!r}][0]'}" for n in settings]
    line = f"RuleOptimizer.__init__(self, params, {{{', '.join(entries)}}})"
    space = {"RuleOptimizer": RuleOptimizer, "known": known}
    init = generated("__init__", parameters, [line], space, like=RuleOptimizer.__init__, owner=of.__name__)
    made = {"__doc__": of.__doc__, "__module__": __name__, "rule": of.rule, "__init__": init, **members}
    return type(of.__name__, (base,), made)


def _share_memory(self: Any) -> None:
    """Nothing to do: threads share all memory."""


_ADAM = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay"

SGD = optimizer_of(
    optim.SGD,
    "lr momentum dampening weight_decay nesterov * maximize foreach differentiable fused",
    counts=False,
    takes_sparse=True,
)
Adam = optimizer_of(
    optim.Adam,
    "lr betas eps weight_decay amsgrad * foreach maximize capturable differentiable fused decoupled_weight_decay",
    _ADAM,
)
AdamW = optimizer_of(
    optim.AdamW,
    "lr betas eps weight_decay amsgrad * maximize foreach capturable differentiable fused",
    _ADAM,
    base=Adam,
)
Adamax = optimizer_of(optim.Adamax, "lr betas eps weight_decay foreach * maximize differentiable capturable")
NAdam = optimizer_of(
    optim.NAdam,
    "lr betas eps weight_decay momentum_decay decoupled_weight_decay * foreach maximize capturable differentiable",
    "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable",
)
RAdam = optimizer_of(
    optim.RAdam,
    "lr betas eps weight_decay decoupled_weight_decay * foreach maximize capturable differentiable",
    "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable",
)
RMSprop = optimizer_of(
    optim.RMSprop,
    "lr alpha eps weight_decay momentum centered capturable foreach maximize differentiable",
    "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable",
)
Adagrad = optimizer_of(
    optim.Adagrad,
    "lr lr_decay weight_decay initial_accumulator_value eps foreach * maximize differentiable fused",
    "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused",
    starts=True,
    takes_sparse=True,
    share_memory=_share_memory,
)
Adadelta = optimizer_of(
    optim.Adadelta,
    "lr rho eps weight_decay foreach * capturable maximize differentiable",
    "lr rho eps weight_decay maximize capturable foreach differentiable",
)
Rprop = optimizer_of(
    optim.Rprop,
    "lr etas step_sizes * capturable foreach maximize differentiable",
    "lr etas step_sizes foreach maximize differentiable capturable",
)
ASGD = optimizer_of(optim.ASGD, "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable")
