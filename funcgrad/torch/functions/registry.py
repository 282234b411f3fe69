"""Where functions_*.py enter what they declare: the functions of `torch`, the methods of Tensor, the in-place variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.functions.ops import Op
from funcgrad.torch.tensors.inplace import inplace
from funcgrad.torch.tensors.tensor import Tensor

FUNCTIONS: dict[str, Any] = {}


def declare(
    name: str, body: Callable[..., Any], node: Any = None, *, view: bool = False, where: str = "fm", aliases: str = ""
) -> Op:
    """A torch function. `where`: f it is a function, m a method, i it has an in-place variant. `view`: it may share memory."""
    made = Op(name, body, node, view="view" if view else None)
    enter(name, made, where, aliases)
    return made


def enter(name: str, made: Any, where: str = "fm", aliases: str = "") -> Any:
    """Enter a finished function under its names."""
    for each in (name, *aliases.split()):
        if "f" in where:
            FUNCTIONS[each] = made
        if "m" in where:
            setattr(Tensor, each, made)
        if "i" in where:
            changed = inplace(made, each + "_")
            setattr(Tensor, each + "_", changed)
            if "f" in where:
                FUNCTIONS[each + "_"] = changed
    return made


def function(where: str = "f", aliases: str = "") -> Callable[[Any], Any]:
    """Enter a Python function on tensors under its own name."""
    return lambda made: enter(made.__name__, made, where, aliases)
