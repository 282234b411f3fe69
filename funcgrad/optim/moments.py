"""Adam (Kingma and Ba, arXiv:1412.6980) and relatives: moving averages of gradients and squares."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from funcgrad.optim.rules import Carried, Hyper, UpdateRule, common, effective, used


def _moments(h: Hyper, step: Any) -> SimpleNamespace:
    """What all of them need: weights of the averages, and the corrections of their bias towards 0."""
    k = common(h)
    beta1, beta2 = h["betas"]
    k.weight, k.beta2, k.eps = 1 - beta1, beta2, h["eps"]
    k.correction1, k.correction2 = 1 - beta1**step, 1 - beta2**step
    if h.get("decoupled_weight_decay") and used(h["weight_decay"]):
        k.weight_decay, k.shrink = 0, 1 - h["lr"] * h["weight_decay"]
    return k


def _averages(a: Any, x: Any, y: Any, m: Any, v: Any, k: Any) -> tuple[Any, Any, Any, Any]:
    """x after decoupled weight decay, the gradient, and the two averages with it."""
    if k.shrink is not None:
        x = a.scale(x, k.shrink)
    y = effective(a, x, y, k)
    return x, y, a.lerp(m, y, k.weight), a.add_product(a.scale(v, k.beta2), y, y, 1 - k.beta2)


# ---- Adam, AdamW -----------------------------------------------------------------------------------------------------
def _adam_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = _moments(h, step)
    k.rate, k.root2 = -h["lr"] / k.correction1, k.correction2**0.5
    return k, carried


def _adam(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    x, y, m, v = _averages(a, x, y, slots[0], slots[1], k)
    largest = tuple(a.maximum(most, v) for most in slots[2:])
    root = a.divide(a.root((*largest, v)[0], 1), k.root2)
    return a.add_quotient(x, m, a.shift(root, k.eps), k.rate), m, v, *largest


def _adam_slots(h: Hyper) -> tuple[str, ...]:
    return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if h["amsgrad"] else ("exp_avg", "exp_avg_sq")


ADAM = UpdateRule(_adam, _adam_numbers, slots=_adam_slots)


# ---- Adamax (section 7.1 of the same paper) --------------------------------------------------------------------------
def _adamax_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = _moments(h, step)
    k.rate = -h["lr"] / k.correction1
    return k, carried


def _adamax(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    m, largest = slots
    y = effective(a, x, y, k)
    m = a.lerp(m, y, k.weight)
    largest = a.maximum(a.scale(largest, k.beta2), a.shift(a.absolute(y, 1), k.eps))
    return a.add_quotient(x, m, largest, k.rate), m, largest


ADAMAX = UpdateRule(_adamax, _adamax_numbers, slots=lambda h: ("exp_avg", "exp_inf"))


# ---- NAdam (Dozat, "Incorporating Nesterov momentum into Adam", 2016) ------------------------------------------------
def _nadam_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = _moments(h, step)
    mu, following = (h["betas"][0] * (1 - 0.5 * 0.96 ** (n * h["momentum_decay"])) for n in (step, step + 1))
    product = carried["mu_product"] * mu
    k.gradient_rate = -h["lr"] * (1 - mu) / (1 - product)
    k.average_rate = -h["lr"] * following / (1 - product * following)
    return k, {"mu_product": product}


def _nadam(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    x, y, m, v = _averages(a, x, y, slots[0], slots[1], k)
    root = a.shift(a.root(a.divide(a.copied(v, 1), k.correction2), 1), k.eps)
    return a.add_quotient(a.add_quotient(x, y, root, k.gradient_rate), m, root, k.average_rate), m, v


NADAM = UpdateRule(
    _nadam, _nadam_numbers, slots=lambda h: ("exp_avg", "exp_avg_sq"), carried=lambda h: {"mu_product": 1.0}
)


# ---- RAdam (Liu et al., arXiv:1908.03265) ----------------------------------------------------------------------------
def _radam_numbers(h: Hyper, step: Any, carried: Carried) -> tuple[SimpleNamespace, Carried]:
    k = _moments(h, step)
    beta2 = h["betas"][1]
    longest = 2 / (1 - beta2) - 1
    # of the simple average that comes closest to the moving one
    length = longest - 2 * step * beta2**step / k.correction2
    k.rate, k.adaptive = -h["lr"] / k.correction1, None
    if length > 5:  # the variance of the step is known only from here on
        spread = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        k.adaptive = k.rate * (spread * k.correction2) ** 0.5
    return k, carried


def _radam(a: Any, x: Any, y: Any, slots: Any, k: Any) -> tuple[Any, ...]:
    x, y, m, v = _averages(a, x, y, slots[0], slots[1], k)
    if k.adaptive is None:
        return a.add(x, m, k.rate), m, v
    return a.add_quotient(x, m, a.shift(a.root(v, 1), k.eps), k.adaptive), m, v


RADAM = UpdateRule(_radam, _radam_numbers, slots=lambda h: ("exp_avg", "exp_avg_sq"))
