"""The names that things have in the source of a program: functions, constants, numbers."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np

from funcgrad.compiler.constants import Constant
from funcgrad.compiler.steps import HERE
from funcgrad.core.engine.catalogue import name_of
from funcgrad.rules.choices import UFUNC_CLIP

BINARY: dict[Any, str] = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/", np.matmul: "@", np.power: "**", np.remainder: "%",
    np.floor_divide: "//", np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==",
    np.not_equal: "!=", np.bitwise_and: "&", np.bitwise_or: "|",
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
UNARY: dict[Any, str] = {
    np.negative: "-",
    np.positive: "+",
    operator.neg: "-",
    operator.pos: "+",
    np.invert: "~",
}


class Names:
    """The global names of one program: what they are bound to, and how numbers are written."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {"np": np}
        self.numbers: dict[Any, np.ndarray] = {}
        self._known: dict[Any, str] = {}
        self._held: list[Any] = []  # ids are not used again

    def of(self, x: Any, prefix: str = "c") -> str:
        """The name of an object; the same one each time."""
        key = id(x)
        if key not in self._known:
            name = f"{prefix}{len(self._known)}" if prefix in ("c", "k") or prefix in self.space else prefix
            self._known[key] = name
            self._held.append(x)
            self.space[name] = x
        return self._known[key]

    def function(self, function: Any) -> str:
        """How a function is called: np.sin, or by a name of its own."""
        path = public_name(function)
        if path is not None:
            root = path.split(".")[0]
            if root not in ("np", "abs"):
                self.space[root] = sys.modules[root]
            return path
        name = getattr(function, "__name__", "function").replace("<", "").replace(">", "")
        return self.of(function, name if name.isidentifier() else "function")

    def number(self, x: float, dtype: Any) -> str:
        """A number as an array without axes."""
        key = (type(x), repr(x), dtype.str)
        if key not in self.numbers:
            self.numbers[key] = np.array(x, dtype)
        return self.of(self.numbers[key])

    def ones(self, count: int, dtype: Any) -> str:
        """An array of ones."""
        key = ("ones", count, dtype.str)
        if key not in self.numbers:
            self.numbers[key] = np.ones(count, dtype)
        return self.of(self.numbers[key])

    def value(self, x: Any) -> str:
        """Any object at all: written out, if that gives an equal one, else by a name."""
        return self.text(x) if type(x) in (int, bool, str, float, type(None)) else self.of(x)

    def text(self, x: Any) -> str:
        """A constant, as Python writes it."""
        kind = type(x)
        if kind is Constant:
            return self.of(x.value)
        if kind in (float, complex):
            return _number(x)
        if kind in (int, bool, str, bytes, range, type(None), type(Ellipsis)):
            return "..." if x is Ellipsis else repr(x)
        if kind is tuple:
            return f"({', '.join(map(self.text, x))}{',' * (len(x) == 1)})"
        if kind is list:
            return f"[{', '.join(map(self.text, x))}]"
        if kind is dict:
            return f"{{{', '.join(f'{k!r}: {self.text(v)}' for k, v in x.items())}}}"
        if kind is slice:
            return f"slice({self.text(x.start)}, {self.text(x.stop)}, {self.text(x.step)})"
        if isinstance(x, np.dtype):
            return f"np.dtype({x.str!r})" if x.fields is None else self.of(x)
        if isinstance(x, type) and (x.__module__ in ("builtins", "numpy")):
            return x.__name__ if x.__module__ == "builtins" else f"np.{x.__name__}"
        if isinstance(x, np.generic):
            return self.of(x, "k")
        return self.function(x) if callable(x) else self.of(x)


def _number(x: complex) -> str:
    if isinstance(x, complex):
        return f"complex({_number(x.real)}, {_number(x.imag)})"
    if x != x:
        return "np.nan"
    return repr(x) if abs(x) != np.inf else "np.inf" if x > 0 else "(-np.inf)"


_OTHERS = {UFUNC_CLIP: "np.clip", operator.abs: "abs"}


def public_name(function: Any) -> str | None:
    """The name under which NumPy or SciPy offer a function."""
    name = name_of(function) if callable(function) else ""
    try:
        if operator.attrgetter(name)(np) is function:
            return f"np.{name}"
    except (AttributeError, TypeError):
        pass
    plain = getattr(function, "__name__", "")
    if getattr(np.emath, plain, None) is function:
        return f"np.emath.{plain}"
    if function in _OTHERS:
        return _OTHERS[function]
    special = sys.modules.get("scipy.special")
    plain = plain.removeprefix("scipy.special.")
    if special is not None and getattr(special, plain, None) is function:
        return f"scipy.special.{plain}"
    return None


def index_text(index: Any, write: Any) -> str:
    """An index, as it stands between brackets; `write` writes the items."""
    if type(index) is tuple and index:
        return ", ".join(_item(i, write) for i in index) + ("," if len(index) == 1 else "")
    return _item(index, write)


def _item(i: Any, write: Any) -> str:
    if type(i) is not slice:
        return write(i)
    start, stop, step = ("" if part is None else write(part) for part in (i.start, i.stop, i.step))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


__all__ = ["BINARY", "HERE", "UNARY", "Names", "index_text", "public_name"]
