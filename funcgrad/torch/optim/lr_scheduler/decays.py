"""Schedules that multiply the learning rate by a factor at each epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from funcgrad.torch.optim.lr_scheduler.base import LRScheduler
from funcgrad.torch.optim.optimizer import Optimizer


class _Functions(LRScheduler):
    """Schedules by functions of the epoch, one for all groups or one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        several = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas: list[Callable[[int], float]] = list(lr_lambda) if several else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All that it keeps; of functions only what callable objects hold, since these can be saved."""
        held = [None if hasattr(fun, "__code__") else dict(fun.__dict__) for fun in self.lr_lambdas]
        return {name: x for name, x in super().state_dict().items() if name != "lr_lambdas"} | {
            "lr_lambdas": held
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict({name: x for name, x in state_dict.items() if name != "lr_lambdas"})
        for fun, held in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if held is not None:
                fun.__dict__.update(held)


class LambdaLR(_Functions):
    """initial_lr * lr_lambda(epoch)."""

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        self._warn_outside_step()
        return [base * fun(self.last_epoch) for base, fun in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_Functions):
    """lr * lr_lambda(epoch)."""

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        self._warn_outside_step()
        if self._is_initial:
            return self._lrs()
        return [lr * fun(self.last_epoch) for lr, fun in zip(self._lrs(), self.lr_lambdas)]


class _Factors(LRScheduler):
    """Schedules by a factor: `_factor` on the rate of the epoch before, `_whole_factor` on the first."""

    def _factor(self) -> float:
        raise NotImplementedError

    def _whole_factor(self) -> float:
        raise NotImplementedError

    def _first_factor(self) -> float:
        return 1.0

    def get_lr(self) -> list[float]:
        """The learning rates of this epoch."""
        self._warn_outside_step()
        factor = self._first_factor() if self.last_epoch == 0 else 1.0 if self._is_initial else self._factor()
        return self._lrs() if factor == 1 else self._times(factor)

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self._whole_factor() for base in self.base_lrs]


class StepLR(_Factors):
    """Times `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch % self.step_size == 0 else 1.0

    def _whole_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_Factors):
    """Times `gamma` at each epoch of `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else 1.0

    def _whole_factor(self) -> float:
        return self.gamma ** sum(1 for epoch in self.milestones.elements() if epoch <= self.last_epoch)


class ExponentialLR(_Factors):
    """Times `gamma` at each epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma

    def _whole_factor(self) -> float:
        return self.gamma**self.last_epoch


class ConstantLR(_Factors):
    """Times `factor` until epoch `total_iters`."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _first_factor(self) -> float:
        return self.factor

    def _factor(self) -> float:
        return 1 / self.factor if self.last_epoch == self.total_iters else 1.0

    def _whole_factor(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_Factors):
    """Times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _first_factor(self) -> float:
        return self.start_factor

    def _factor(self) -> float:
        if self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        return 1 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _whole_factor(self) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters


class PolynomialLR(_Factors):
    """To 0 in `total_iters` epochs, as (1 - epoch/total_iters)**power."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch > self.total_iters:
            return 1.0
        return (
            (1 - self.last_epoch / self.total_iters) / (1 - (self.last_epoch - 1) / self.total_iters)
        ) ** self.power

    def _whole_factor(self) -> float:
        return (1 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
