"""What the generated lanes share: how an operation is written, what is a plain operand, the compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.memory.plain import add_reduce, ndarray

# Constants that a lane takes as they are. Not complex: complex * np.float64 would have no dtype.
PLAIN = frozenset(
    [float, int, bool, np.ndarray, np.float64, np.float32, np.float16, np.int64, np.int32, np.bool_]
    + [np.complex128, np.complex64]
)
SCALARS = frozenset([np.float64, np.float32])

# As people write them: of numbers, an operator takes a fifth of the ufunc's time, and may round otherwise.
OPERATORS = {
    np.add: "x + y", np.subtract: "x - y", np.multiply: "x * y", np.divide: "x / y", np.floor_divide: "x // y",
    np.remainder: "x % y", np.power: "x ** y", np.matmul: "x @ y", np.negative: "-x", np.positive: "+x",
    np.absolute: "abs(x)", np.less: "x < y", np.less_equal: "x <= y", np.greater: "x > y", np.greater_equal: "x >= y",
    np.equal: "x == y", np.not_equal: "x != y", np.square: "x * x",
}  # fmt: skip
COMPARISONS = frozenset([np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal])


def _mean(x: Any) -> Any:
    """np.mean(x), to the last bit: it too divides in double precision."""
    if type(x) is not ndarray or x.dtype.char not in "fd" or not x.size:
        return np.mean(x)
    total = add_reduce(x, None)
    return type(total)(float(total) / x.size)


# What np.sum(x) and the like do in the end with an array that is NumPy's own.
FASTER: dict[Any, Callable[..., Any]] = {
    function: partial(ufunc.reduce, axis=None)
    for function, ufunc in (
        (np.sum, np.add),
        (np.prod, np.multiply),
        (np.max, np.maximum),
        (np.min, np.minimum),
    )
}
FASTER[np.mean] = _mean


def running(primitive: Primitive, operands: tuple[str, ...]) -> str:
    """The expression that runs a ufunc on these operands."""
    return OPERATORS.get(primitive.function, f"function({', '.join(operands)})")


def indented(lines: str, width: int) -> str:
    """`lines`, so far to the right."""
    return "\n".join(" " * width + line for line in lines.rstrip().split("\n"))


def compiled(source: str, called: str, space: dict[str, Any], what: str = "lane") -> Callable[..., Any]:
    """The function of a template's text, in which NAME stands for the name of what is called."""
    name = called.replace(".", "_")
    exec(compile(source.replace("NAME", name), f"<funcgrad {what} of {name}>", "exec"), space)
    return space[name]


def at_first_use(space: dict[str, Any], name: str, make: Callable[[], Callable[..., Any]]) -> None:
    """Enter a function into the names of a lane, which is made when it is first called."""

    def first(*operands: Any) -> Any:
        space[name] = function = make()
        return function(*operands)

    space[name] = first
