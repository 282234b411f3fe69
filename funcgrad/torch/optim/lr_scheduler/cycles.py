"""Schedules that move learning rate and momentum together, in opposite directions, at each batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad.torch.optim.lr_scheduler.base import LRScheduler
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.optim.stepping import number
from funcgrad.torch.tensors.tensor import Tensor


def _for_groups(name: str, given: Any, optimizer: Optimizer) -> list[float]:
    """One value for each group."""
    count = len(optimizer.param_groups)
    found = list(given) if isinstance(given, (list, tuple)) else [given] * count
    if len(found) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(found)} values, "
            f"param_groups has {count}."
        )
    return [number(x) for x in found]


def _set_lr(group: dict[str, Any], value: float) -> None:
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(value)
    else:
        group["lr"] = value


class _WithMomentum(LRScheduler):
    """Schedules that move the momentum too, which Adam calls its first beta."""

    use_beta1: bool

    def _check_momentum(self, optimizer: Optimizer) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """Triangles between `base_lr` and `max_lr` (Smith, arXiv:1506.01186).

    `step_size_up` and `step_size_down` are in batches. Mode "triangular2" halves the height after each cycle,
    "exp_range" multiplies it by `gamma` at each batch; or give `scale_fn`, of the cycle or of the iteration
    (`scale_mode`).
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        base_lrs = _for_groups("base_lr", base_lr, optimizer)
        self.max_lrs = _for_groups("max_lr", max_lr, optimizer)
        up, down = float(step_size_up), float(step_size_up if step_size_down is None else step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = (
            scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        )
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            self.base_momentums = _for_groups("base_momentum", base_momentum, optimizer)
            self.max_momentums = _for_groups("max_momentum", max_momentum, optimizer)
        if last_epoch == -1:
            self._begin(optimizer, base_lrs)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _begin(self, optimizer: Optimizer, base_lrs: list[float]) -> None:
        for i, group in enumerate(optimizer.param_groups):
            _set_lr(group, base_lrs[i])
            if self.cycle_momentum:
                self._set_momentum(group, self.max_momentums[i])
                group["max_momentum"], group["base_momentum"] = self.max_momentums[i], self.base_momentums[i]

    def scale_fn(self, x: float) -> float:
        """The height of cycle or iteration `x`, as a part of the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self) -> list[float]:
        """The learning rates of this batch; the momenta are set too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """All that it keeps; of `scale_fn` only what a callable object holds, since functions can't be saved."""
        fun = self._scale_fn_custom
        held = None if fun is None or hasattr(fun, "__code__") else dict(fun.__dict__)
        return super().state_dict() | {"_scale_fn_custom": held}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        fun, held = self._scale_fn_custom, state_dict.get("_scale_fn_custom")
        super().load_state_dict(state_dict | {"_scale_fn_custom": fun})
        if fun is not None and held is not None:
            fun.__dict__.update(held)


class OneCycleLR(_WithMomentum):
    """A rise to `max_lr`, a long fall to almost 0, in `total_steps` (Smith, Topin, arXiv:1708.07120)."""

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True,
        base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type, self.cycle_momentum = anneal_strategy, cycle_momentum
        highest = _for_groups("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, highest):
                group["initial_lr"] = high / div_factor
                group["max_lr"], group["min_lr"] = high, group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._check_momentum(optimizer)
            if last_epoch == -1:
                highs = _for_groups("max_momentum", max_momentum, optimizer)
                lows = _for_groups("base_momentum", base_momentum, optimizer)
                for group, high, low in zip(optimizer.param_groups, highs, lows):
                    self._set_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of this batch; the momenta are set too."""
        self._warn_outside_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        phase, part = self._place()
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                self._set_momentum(group, self._between(group, phase, "momentum", part))
        return [self._between(group, phase, "lr", part) for group in self.optimizer.param_groups]

    def _place(self) -> tuple[dict[str, Any], float]:
        """The phase of this batch, and how much of it has passed."""
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if self.last_epoch <= end or phase is self._schedule_phases[-1]:
                return phase, (self.last_epoch - start) / (end - start)
            start = end
        raise AssertionError("a schedule has phases")

    def _between(self, group: dict[str, Any], phase: dict[str, Any], what: str, part: float) -> float:
        start, end = (number(group[phase[f"{side}_{what}"]]) for side in ("start", "end"))
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    given = (
        {"total_steps": total_steps}
        if total_steps is not None
        else {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    )
    if None in given.values():
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in given.items():
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return math.prod(count for count in given.values() if count is not None)


def _phases(total: int, rising: float, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and from where to where it leads: names of entries of the parameter groups."""
    ends = (
        [rising * total - 1, 2 * rising * total - 2, total - 1] if three else [rising * total - 1, total - 1]
    )
    rates = ["initial_lr", "max_lr", "initial_lr", "min_lr"] if three else ["initial_lr", "max_lr", "min_lr"]
    momenta = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"][: len(rates)]
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, row)) for row in zip(ends, rates, rates[1:], momenta, momenta[1:])]
