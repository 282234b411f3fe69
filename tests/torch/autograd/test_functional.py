"""Jacobians and Hessians by rows, all at once, by forward mode: values and refusals as the original's."""

from __future__ import annotations

from typing import Any

import funcgrad.torch as ft
from tests.grouping import in_groups
from tests.optional import optional

torch = optional("torch")

OPTIONS: dict[str, dict[str, Any]] = {
    "rows": {},
    "at once": {"vectorize": True},
    "at once, in a graph": {"vectorize": True, "create_graph": True},
    "at once, strict": {"vectorize": True, "strict": True},
    "forward": {"vectorize": True, "strategy": "forward-mode"},
    "forward, one by one": {"strategy": "forward-mode"},
    "forward, in a graph": {"vectorize": True, "strategy": "forward-mode", "create_graph": True},
    "forward, strict": {"vectorize": True, "strategy": "forward-mode", "strict": True},
}


def one(lib: Any) -> Any:
    w = lib.ones(3, requires_grad=True)
    return lambda x: (x * x * w).cumsum(0), lib.arange(1.0, 4.0)


def several(lib: Any) -> Any:
    x = lib.arange(1.0, 4.0)
    return lambda a, b: (a * b, b.sum(), lib.ones(2)), (x, x.reshape(3, 1))


def total(lib: Any) -> Any:
    x = lib.arange(1.0, 4.0)
    return lambda a, b: (a**3 * b).sum(), (x, x * 2)


FUNCTIONS = {"one": one, "several": several, "total": total}


def shown(x: Any) -> Any:
    return tuple(map(shown, x)) if isinstance(x, (tuple, list)) else (x.tolist(), tuple(x.shape))


def jacobian(lib: Any, function: Any, options: dict[str, Any]) -> Any:
    return shown(lib.autograd.functional.jacobian(*function(lib), **options))


def hessian(lib: Any, function: Any, options: dict[str, Any]) -> Any:
    renamed = {"outer_jacobian_strategy" if k == "strategy" else k: v for k, v in options.items()}
    return shown(lib.autograd.functional.hessian(*function(lib), **renamed))


def outcome(run: Any, lib: Any, *arguments: Any) -> Any:
    try:
        return run(lib, *arguments)
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__, str(error)


CASES = {
    f"{f}-{o}": (jacobian, FUNCTIONS[f], OPTIONS[o])
    for f in FUNCTIONS
    for o in OPTIONS
    if f == "one" or "strict" not in o
}
CASES |= {f"hessian-{o}": (hessian, total, OPTIONS[o]) for o in OPTIONS}


@in_groups(CASES)
def test_matrices_are_those_of_the_original(case: Any) -> None:
    assert outcome(case[0], ft, *case[1:]) == outcome(case[0], torch, *case[1:])
