"""Writes of values of every shape: what is written, its gradient, and the refusal are the original's."""

from __future__ import annotations

import math
from typing import Any

import funcgrad.torch as ft
from tests.grouping import in_groups
from tests.optional import optional

torch = optional("torch")

ROWS, COLUMNS = [1, 0], [2, 0]
MASK = [[True, False, True], [False, True, False]]
# the target's shape, and the index as a function of the library
PLACES = {
    "y3[0]": ((3,), lambda lib: 0),
    "y3[:]": ((3,), lambda lib: slice(None)),
    "y3[None]": ((3,), lambda lib: None),
    "y3[True]": ((3,), lambda lib: True),
    "y23[0]": ((2, 3), lambda lib: 0),
    "y23[:]": ((2, 3), lambda lib: slice(None)),
    "y23[...]": ((2, 3), lambda lib: ...),
    "y23[0,0]": ((2, 3), lambda lib: (0, 0)),
    "y23[:,1]": ((2, 3), lambda lib: (slice(None), 1)),
    "y23[list]": ((2, 3), lambda lib: ROWS),
    "y23[mask]": ((2, 3), lambda lib: lib.tensor(MASK)),
    "y23[rows]": ((2, 3), lambda lib: lib.tensor(ROWS)),
    "y23[rows,columns]": ((2, 3), lambda lib: (lib.tensor(ROWS), lib.tensor(COLUMNS))),
    "y0[...]": ((), lambda lib: ...),
}
SHAPES = [
    (),
    (1,),
    (1, 1),
    (3,),
    (1, 3),
    (1, 1, 3),
    (2, 3),
    (1, 2, 3),
    (2, 1),
    (2,),
    (1, 2),
    (2, 2),
    (3, 3),
    (0,),
    (3, 1),
]


def value(lib: Any, shape: tuple[int, ...]) -> Any:
    return lib.arange(1, 1 + math.prod(shape), dtype=lib.float32).reshape(shape)


def assigned(lib: Any, target: tuple[int, ...], index: Any, shape: tuple[int, ...]) -> Any:
    y, v = lib.zeros(target), value(lib, shape).requires_grad_(True)
    y[index(lib)] = v
    (y * value(lib, target)).sum().backward()
    return y.tolist(), v.grad.tolist()


def changed(lib: Any, target: tuple[int, ...], method: str, shape: tuple[int, ...]) -> Any:
    return getattr(lib.ones(target), method)(value(lib, shape)).tolist()


def outcome(run: Any, *arguments: Any) -> Any:
    try:
        return run(*arguments)
    except RuntimeError as error:
        return str(error).split("\n")[0]


CASES = {f"{name} = {shape}": (assigned, *place, shape) for name, place in PLACES.items() for shape in SHAPES}
CASES |= {
    f"{method} of {target} = {shape}": (changed, target, method, shape)
    for method in ("copy_", "add_")
    for target in ((3,), (2, 3), ())
    for shape in SHAPES
}


@in_groups(CASES, by=lambda name: name.partition(" = ")[0])
def test_a_value_is_written_as_in_the_original(case: Any) -> None:
    run, *arguments = case
    assert outcome(run, ft, *arguments) == outcome(run, torch, *arguments)
