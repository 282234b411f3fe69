"""ReduceLROnPlateau: smaller steps once a measure stops getting better."""

from __future__ import annotations

import math
import warnings
from typing import Any, SupportsFloat

from funcgrad.torch.optim.lr_scheduler.base import EPOCH_DEPRECATION_WARNING, LRScheduler
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.optim.stepping import number


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the learning rate by `factor` when `step(metrics)` has seen no better measure for more than
    `patience` calls.

    Better is smaller (mode "min") or larger ("max") by more than `threshold`, which is a part of the best
    measure ("rel") or a number ("abs"). After a reduction `cooldown` calls are not counted. The rate stays at
    `min_lr` or above; a change below `eps` is not made.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        count = len(optimizer.param_groups)
        self.factor, self.optimizer = factor, optimizer
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch, self._last_lr = 0, self._lrs()
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:
        """Take note of the measure of this epoch."""
        measure = float(number(metrics))
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(measure, self.best):
            self.best, self.num_bad_epochs = measure, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        values = self._lrs()
        if self.num_bad_epochs > self.patience:
            values = self._reduced(values)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._set(values)

    def _reduced(self, rates: list[float]) -> list[float]:
        if len(self.min_lrs) != len(rates):
            if self.default_min_lr is None:
                raise RuntimeError(
                    "The number of param groups in the `optimizer` differs from when `ReduceLROnPlateau` was initialized. "
                    "Usage of a list of `min_lr` values then requires to set min_lrs anew."
                )
            self.min_lrs = [self.default_min_lr] * len(rates)
        lower = [max(rate * self.factor, least) for rate, least in zip(rates, self.min_lrs)]
        return [new if rate - new > self.eps else rate for rate, new in zip(rates, lower)]

    @property
    def in_cooldown(self) -> bool:
        """Is it waiting after a reduction?"""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Is the measure `a` better than `best`?"""
        if self.threshold_mode == "rel":
            return a < best * (1 - self.threshold) if self.mode == "min" else a > best * (1 + self.threshold)
        return a < best - self.threshold if self.mode == "min" else a > best + self.threshold
