"""Rules that step along the gradient: SGD and averaged SGD; and Rprop, which looks at its sign only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from funcgrad.optim.rules import Carried, Hyper, UpdateRule, common, effective, used


# ---- SGD -------------------------------------------------------------------------------------------------------------
def _sgd_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = common(h)
    k.momentum, k.nesterov = h["momentum"], h["nesterov"]
    k.taken = 1.0 if step == 1 else 1 - h["dampening"]  # the first gradient becomes the momentum as it is
    return k, carried


def _sgd(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    y = effective(a, x, y, k)
    if not slots:
        return (a.add(x, y, -k.lr),)
    m = a.add(a.scale(slots[0], k.momentum), y, k.taken)
    step = a.add(a.copied(y, 1), m, k.momentum) if k.nesterov else m
    return a.add(x, step, -k.lr), m


SGD = UpdateRule(_sgd, _sgd_numbers, slots=lambda h: ("momentum_buffer",) if used(h["momentum"]) else ())


# ---- averaged SGD ----------------------------------------------------------------------------------------------------
def _asgd_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = common(h)
    k.eta, k.mu = carried["eta"], carried["mu"]
    k.shrink = 1 - h["lambd"] * k.eta
    eta = h["lr"] / (1 + h["lambd"] * h["lr"] * step) ** h["alpha"]
    return k, {"eta": eta, "mu": 1 / max(1, step - h["t0"])}


def _asgd(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    y = effective(a, x, y, k)
    x = a.add(a.scale(x, k.shrink), y, -k.eta)
    average = slots[0]
    return x, a.assign(average, x) if k.mu == 1 else a.lerp(average, x, k.mu)


ASGD = UpdateRule(
    _asgd, _asgd_numbers, slots=lambda h: ("ax",), carried=lambda h: {"eta": h["lr"], "mu": 1.0}
)


# ---- Rprop -----------------------------------------------------------------------------------------------------------
def _rprop_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = common(h)
    k.shrinking, k.growing = (eta - 1 for eta in h["etas"])
    k.smallest, k.largest = h["step_sizes"]
    return k, carried


def _rprop(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    y = a.copied(effective(a, x, y, k), 0)
    previous, size = slots
    agreement = a.times(y, previous, 1)
    factor = a.shift(a.scale(a.positive(agreement, 2), k.growing), 1)
    turned = a.positive(a.scale(agreement, -1), 1)
    size = a.clip(a.scale(size, a.add(factor, turned, k.shrinking)), k.smallest, k.largest)
    kept = a.shift(a.scale(turned, -1), 1)
    y = a.scale(y, kept)  # where the sign has turned, this step is left out
    return a.add_product(x, a.sign(y, 1), size, -1), a.assign(previous, y), size


RPROP = UpdateRule(
    _rprop, _rprop_numbers, slots=lambda h: ("prev", "step_size"), start=lambda h: {"step_size": h["lr"]}
)
