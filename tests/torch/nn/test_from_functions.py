"""Modules that are made from functions: they have the function's settings, and call it with them."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

import funcgrad.torch as torch
from funcgrad.torch.nn.from_functions import LEGACY, FromFunction, module

MADE = {n: x for n, x in vars(torch.nn).items() if isinstance(x, type) and issubclass(x, FromFunction)}
REQUIRED = {"kernel_size": 2, "output_size": 2, "threshold": 0.5, "value": -1.0, "groups": 2, "size": 3}
REQUIRED |= {"upscale_factor": 2, "downscale_factor": 2}


def settings_of(made: type) -> dict[str, Any]:
    """A value for each setting."""
    parameters = inspect.signature(made).parameters.values()
    found = {p.name: REQUIRED[p.name] if p.default is p.empty else p.default for p in parameters}
    return {name: value for name, value in found.items() if name not in LEGACY}


@pytest.mark.parametrize("name", MADE)
def test_settings_are_kept_and_travel(name: str) -> None:
    made = MADE[name]
    given = settings_of(made)
    layer = made(**given)
    for setting, value in given.items():
        assert value is None or getattr(layer, setting) in (value, (value,))
    copied = pickle.loads(pickle.dumps(layer))
    assert type(copied) is made
    assert repr(copied) == repr(layer)


@pytest.mark.parametrize("name", MADE)
def test_what_is_no_setting_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}.__init__\(\) got an unexpected keyword argument 'colour'"):
        MADE[name](**settings_of(MADE[name]), colour=1)


def recorded(
    input: Any, other: Any, first: int = 1, training: bool = True, *, last: int = 2, _level: int = 3
) -> Any:
    """What it was called with. All of it."""
    return input, other, first, training, last, _level


def test_forward_gives_the_function_what_it_asks_for() -> None:
    made = module("Recorded", recorded, _level=5)
    assert str(inspect.signature(made)) == "(first: 'int' = 1, *, last: 'int' = 2) -> 'None'"
    layer = made(7, last=8).eval()
    assert layer("x", other="y") == ("x", "y", 7, False, 8, 5)
    assert layer.train()("x", "y")[3] is True
    assert repr(layer) == "Recorded(first=7, last=8)"


def test_arguments_choose_and_order_the_settings() -> None:
    made = module(
        "Recorded", recorded, "input", "other * last", shows="<{last}>", then=lambda self: self.eval()
    )
    assert str(inspect.signature(made)) == "(other: 'Any', *, last: 'int' = 2) -> 'None'"
    layer = made(4, last=9)
    assert layer("x") == ("x", 4, 1, False, 9, 3)
    assert repr(layer) == "Recorded(<9>)"
