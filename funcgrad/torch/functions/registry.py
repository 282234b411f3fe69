"""Where functions_*.py enter their declarations: functions of `torch`, methods, in-place variants."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from funcgrad.torch.functions.ops import NUMPY_NAMES, Op, renamed
from funcgrad.torch.tensors.inplace import inplace, write_out
from funcgrad.torch.tensors.tensor import Tensor

FUNCTIONS: dict[str, Any] = {}


def declare(
    name: str,
    body: Callable[..., Any],
    node: Any = None,
    *,
    view: bool = False,
    where: str = "fm",
    aliases: str = "",
) -> Op:
    """A torch function. `where`: f function, m method, i in-place variant. `view`: may share memory."""
    made = Op(name, body, node, view="view" if view else None)
    enter(name, made, where, aliases)
    return made


def enter(name: str, made: Any, where: str = "fm", aliases: str = "") -> Any:
    """Enter a finished function under its names."""
    if not isinstance(made, Op):
        made = with_numpy_names(made)
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


def function(where: str = "f", aliases: str = "", *, out: bool = False) -> Callable[[Any], Any]:
    """Enter a Python function on tensors under its own name; with `out` it takes out=, as an Op does."""
    return lambda made: enter(made.__name__, with_out(made) if out else made, where, aliases)


def with_numpy_names(made: Callable[..., Any]) -> Callable[..., Any]:
    """A function with `dim` (and `keepdim`) that takes them as `axis` and `keepdims`, too; any other as it is."""
    names = inspect.signature(made).parameters
    if "dim" not in names:
        return made

    @wraps(made)
    def taking(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not NUMPY_NAMES.keys().isdisjoint(kwargs):
            args, kwargs = renamed(args, kwargs, NUMPY_NAMES)
        return made(*args, **kwargs)

    return taking


def with_out(made: Callable[..., Any]) -> Callable[..., Any]:
    """A function that writes its result into what is given as out=."""

    @wraps(made)
    def writing(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        found = made(*args, **kwargs)
        return found if out is None else write_out(out, found, made.__name__)

    return writing
