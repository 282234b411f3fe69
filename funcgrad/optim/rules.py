"""The update rules, each as one formula beneath both `funcgrad.optim` and the optimizers of `funcgrad.torch`.

A `UpdateRule` says which arrays it keeps for each parameter (`slots`), with which numbers it starts, which
numbers one step needs (`numbers`, computed once per step), and its formula (`kernel`, in the verbs of
arithmetic.py). `h` holds the hyperparameters by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

Hyper = Mapping[str, Any]
Carried = dict[str, Any]


class UpdateRule(NamedTuple):
    """One optimizer: what it keeps, and how it steps.

    `slots(h)` names the arrays kept for a parameter; `start(h)` their first elements (0 where it says
    nothing). `carried(h)` are the numbers kept beside them. `numbers(h, step, carried)` gives what `kernel`
    needs of the step (counted from 1), and the next carried numbers.
    """

    kernel: Callable[..., tuple[Any, ...]]
    numbers: Callable[[Hyper, Any, Carried], tuple[SimpleNamespace, Carried]]
    slots: Callable[[Hyper], tuple[str, ...]] = lambda h: ()
    start: Callable[[Hyper], dict[str, Any]] = lambda h: {}
    carried: Callable[[Hyper], Carried] = lambda h: {}


def used(x: Any) -> bool:
    """Does a hyperparameter matter? Not if it is the number 0; a tracer of value 0 does, for its derivative."""
    return not isinstance(x, (int, float)) or x != 0


def common(h: Hyper) -> SimpleNamespace:
    """The numbers that most rules need."""
    return SimpleNamespace(
        lr=h["lr"], weight_decay=h.get("weight_decay", 0), maximize=h.get("maximize", False), shrink=None
    )


def effective(a: Any, x: Any, y: Any, k: Any) -> Any:
    """The gradient to step along: negated to maximize, with that of the penalty weight_decay/2 * |x|^2."""
    decays = used(k.weight_decay)
    if k.maximize or decays:
        y = a.copied(y, 0)
    if k.maximize:
        y = a.scale(y, -1)
    return a.add(y, x, k.weight_decay) if decays else y


# What a hyperparameter has to be: its name, its title in the message, the condition (on one number).
_RANGES: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("lr", "learning rate", lambda x: x >= 0),
    ("eps", "epsilon value", lambda x: x >= 0),
    ("rho", "rho value", lambda x: 0 <= x <= 1),
    ("momentum", "momentum value", lambda x: x >= 0),
    ("lr_decay", "lr_decay value", lambda x: x >= 0),
    ("weight_decay", "weight_decay value", lambda x: x >= 0),
    ("initial_accumulator_value", "initial_accumulator_value value", lambda x: x >= 0),
    ("alpha", "alpha value", lambda x: x >= 0),
    ("momentum_decay", "momentum_decay value", lambda x: x >= 0),
)


def check(h: Hyper) -> None:
    """Raise ValueError for the first hyperparameter out of range; schedules and tracers are accepted."""
    for name, title, holds in _RANGES:
        if (
            name in h
            and _is_number(h[name])
            and not holds(h[name])
            and not (name == "alpha" and "lambd" in h)
        ):
            raise ValueError(f"Invalid {title}: {h[name]}")
    for i, beta in enumerate(h.get("betas", ())):
        if _is_number(beta) and not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
    if "etas" in h and not 0 < h["etas"][0] < 1 < h["etas"][1]:
        raise ValueError(f"Invalid eta values: {h['etas'][0]}, {h['etas'][1]}")
    if h.get("nesterov") and (h["momentum"] <= 0 or h["dampening"] != 0):
        raise ValueError("Nesterov momentum requires a momentum and zero dampening")


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.number))
