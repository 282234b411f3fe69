"""Rules that divide by what the gradient's size has been: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from funcgrad.optim.rules import Carried, Hyper, UpdateRule, common, effective, used


# ---- RMSprop (Tieleman and Hinton, lecture 6.5, 2012; centered: Graves, arXiv:1308.0850, section 4.2) ----------------
def _rmsprop_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = common(h)
    k.alpha, k.eps, k.momentum, k.centered = h["alpha"], h["eps"], h["momentum"], h["centered"]
    return k, carried


def _rmsprop(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    y = effective(a, x, y, k)
    v, *rest = slots
    v = a.add_product(a.scale(v, k.alpha), y, y, 1 - k.alpha)
    kept, variance = [v], v
    if k.centered:
        mean = a.lerp(rest.pop(), y, 1 - k.alpha)
        kept.append(mean)
        variance = a.add_product(a.copied(v, 1), mean, mean, -1)
    root = a.shift(a.root(variance, 1), k.eps)
    if not rest:
        return a.add_quotient(x, y, root, -k.lr), *kept
    momentum = a.add_quotient(a.scale(rest[0], k.momentum), y, root, 1.0)
    return a.add(x, momentum, -k.lr), v, momentum, *kept[1:]


def _rmsprop_slots(h: Hyper) -> tuple[str, ...]:
    momentum = ("momentum_buffer",) if used(h["momentum"]) else ()
    return ("square_avg", *momentum, *(("grad_avg",) if h["centered"] else ()))


RMSPROP = UpdateRule(_rmsprop, _rmsprop_numbers, slots=_rmsprop_slots)


# ---- Adagrad (Duchi, Hazan and Singer, JMLR 12, 2011) ----------------------------------------------------------------
def _adagrad_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = common(h)
    k.rate, k.eps = -h["lr"] / (1 + (step - 1) * h["lr_decay"]), h["eps"]
    return k, carried


def _adagrad(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    y = effective(a, x, y, k)
    total = a.add_product(slots[0], y, y, 1.0)
    return a.add_quotient(x, y, a.shift(a.root(total, 1), k.eps), k.rate), total


ADAGRAD = UpdateRule(
    _adagrad,
    _adagrad_numbers,
    slots=lambda h: ("sum",),
    start=lambda h: {"sum": h["initial_accumulator_value"]},
)


# ---- Adadelta (Zeiler, arXiv:1212.5701) ------------------------------------------------------------------------------
def _adadelta_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = common(h)
    k.rho, k.eps = h["rho"], h["eps"]
    return k, carried


def _adadelta(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    y = effective(a, x, y, k)
    v, moved = slots
    v = a.add_product(a.scale(v, k.rho), y, y, 1 - k.rho)
    size = a.root(a.shift(a.copied(v, 1), k.eps), 1)
    step = a.scale(a.divide(a.root(a.shift(a.copied(moved, 2), k.eps), 2), size), y)
    return a.add(x, step, -k.lr), v, a.add_product(a.scale(moved, k.rho), step, step, 1 - k.rho)


ADADELTA = UpdateRule(_adadelta, _adadelta_numbers, slots=lambda h: ("square_avg", "acc_delta"))
