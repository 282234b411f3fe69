"""The type variables of public signatures, and the options that several transforms share.

A gradient has the type of its argument, so `grad` of `(float) -> float` is `(float) -> float`. The type
variables are bound to Any, not to object: of a lambda's argument nothing is known, and anything may be done
with it. Any is their default, too, so that the gradient of a lambda is not unknown to strict checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from typing_extensions import ParamSpec, TypedDict, TypeVar

X = TypeVar("X", bound=Any, default=Any)
Y = TypeVar("Y", bound=Any, default=Any)
S = TypeVar("S", bound=np.generic)  # of an array: what it holds
Out = TypeVar("Out", bound=Any, default=Any)
Aux = TypeVar("Aux", bound=Any, default=Any)
P = ParamSpec("P", default=...)
Number = float | complex | np.number[Any]


class Options(TypedDict, total=False):
    """What `grad` and `value_and_grad` take beside the function, its arguments and has_aux."""

    holomorphic: bool
    allow_int: bool


class Chunks(TypedDict, total=False):
    """How Jacobians and Hessians are computed."""

    holomorphic: bool
    chunk_size: int | None
    progress: bool


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
