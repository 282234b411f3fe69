"""torch.optim.swa_utils: averages of models during training (Izmailov et al., arXiv:1803.05407)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

from funcgrad.torch.functions.creation import tensor
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn import Module
from funcgrad.torch.optim.lr_scheduler.base import LRScheduler
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.optim.stepping import number

AverageOne = Callable[[Any, Any, Any], Any]
AverageMany = Callable[[Any, Any, Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> AverageOne:
    """decay * average + (1 - decay) * current, for one parameter."""
    _check_decay(decay)
    return lambda ema_param, current_param, num_averaged: decay * ema_param + (1 - decay) * current_param


def get_swa_avg_fn() -> AverageOne:
    """The mean of all so far, for one parameter."""
    return lambda averaged, current, num_averaged: averaged + (current - averaged) / (num_averaged + 1)


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageMany:
    """decay * average + (1 - decay) * current, for lists of parameters, in place."""
    _check_decay(decay)
    return lambda averaged, current, num_averaged: _towards(averaged, current, 1 - decay)


def get_swa_multi_avg_fn() -> AverageMany:
    """The mean of all so far, for lists of parameters, in place."""
    return lambda averaged, current, num_averaged: _towards(averaged, current, 1 / (int(num_averaged) + 1))


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _towards(averaged: Iterable[Any], current: Iterable[Any], weight: float) -> None:
    for mean, x in zip(averaged, current):
        if mean.dtype.is_floating_point or mean.dtype.is_complex:
            mean.add_(x - mean, alpha=weight)
        else:
            mean.copy_(x)


class AveragedModel(Module):
    """A copy of a model whose parameters are averages; call `update_parameters(model)` after each optimizer
    step (or epoch).

    The average is the mean, unless `avg_fn(average, current, number)` or `multi_avg_fn(averages, currents,
    number)` says otherwise. With `use_buffers` the buffers are averaged too; otherwise they are copied.
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: AverageOne | None = None,
        multi_avg_fn: AverageMany | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Let the parameters of `model` enter the averages; the first time they become them."""
        with no_grad():
            averaged, current = self._averaged(self.module), self._averaged(model)
            if int(self.n_averaged) == 0:
                for mean, x in zip(averaged, current):
                    mean.copy_(x)
            elif self.avg_fn is not None:
                for mean, x in zip(averaged, current):
                    mean.copy_(self.avg_fn(mean, x, self.n_averaged))
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, current, self.n_averaged)
            if not self.use_buffers:
                for buffer, x in zip(self.module.buffers(), model.buffers()):
                    buffer.copy_(x)
            self.n_averaged.add_(1)

    def _averaged(self, model: Module) -> list[Any]:
        found = [*model.parameters(), *(model.buffers() if self.use_buffers else ())]
        return [x.detach() for x in found]


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of the batch normalisations of `model` anew, by a pass over `loader`."""
    layers = {m: m.momentum for m in model.modules() if hasattr(m, "running_mean") and hasattr(m, "momentum")}
    if not layers:
        return
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    with no_grad():
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for layer, momentum in layers.items():
        layer.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the learning rate to `swa_lr` in `anneal_epochs` epochs, by half a cosine or a line."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        count = len(optimizer.param_groups)
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * count
        if len(rates) != count:
            raise ValueError(
                "swa_lr must have the same length as optimizer.param_groups: swa_lr has "
                f"{len(rates)}, optimizer.param_groups has {count}"
            )
        for group, rate in zip(optimizer.param_groups, rates):
            group["swa_lr"] = number(rate)
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _way(self, epoch: float) -> float:
        """How much of the way is done at an epoch."""
        part = max(0.0, min(1.0, epoch / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        self._warn_outside_step()
        step = self._step_count - 1 + (self.anneal_epochs == 0)
        before, now = self._way(step - 1), self._way(step)
        rates = [group["swa_lr"] for group in self.optimizer.param_groups]
        starts = [
            rate if before == 1 else (lr - rate * before) / (1 - before)
            for lr, rate in zip(self._lrs(), rates)
        ]
        return [rate * now + start * (1 - now) for rate, start in zip(rates, starts)]
