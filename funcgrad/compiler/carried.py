"""Functions of our own, taken along: printed with all that they need, or run in another namespace.

Our functions are written in NumPy. What they look up in their module is followed: other functions are taken
along in turn, NumPy and numbers are named. What asks for tracers finds none.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from funcgrad.compiler.portable import PORTABLE
from funcgrad.core.engine.trace import Tracer, is_foreign
from funcgrad.errors import UnsupportedFunctionError


class NoTracer:
    """Nothing is one."""


def none_is_foreign(x: Any) -> bool:
    """Is `x` an array of another library?"""
    return False


_INSTEAD: dict[Any, Any] = {Tracer: NoTracer, is_foreign: none_is_foreign, **PORTABLE}
_SIMPLE = (int, float, complex, str, bool, type(None), tuple, frozenset, dict)


def body_of(function: Any) -> Any:
    """The plain function in NumPy behind one that is declared."""
    for name in ("body", "function"):
        inner = getattr(function, name, None)
        if isinstance(inner, types.FunctionType):
            function = inner
            break
    return _INSTEAD.get(function, function) if isinstance(function, (type, types.FunctionType)) else function


def needs(function: types.FunctionType) -> dict[str, Any]:
    """What a function looks up in its module, by name."""
    names: set[str] = set()
    todo = [function.__code__]
    while todo:
        code = todo.pop()
        names |= set(code.co_names)
        todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {
        name: body_of(function.__globals__[name]) for name in sorted(names) if name in function.__globals__
    }


def rebound(function: Any, modules: dict[Any, Any], known: dict[Any, Any] | None = None) -> Any:
    """`function`, and all it calls in its module, with these modules (and functions) in the place of others."""
    known = {} if known is None else known
    function = body_of(function)
    if not isinstance(function, types.FunctionType):
        return _in_modules(function, modules)
    if function in known:
        return known[function]
    space: dict[str, Any] = {"__builtins__": __builtins__, "__name__": function.__module__}
    made = types.FunctionType(
        function.__code__, space, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    known[function] = made
    vars(made)["function"] = made  # as that of a declared function is found
    for name, x in needs(function).items():
        is_ours = isinstance(x, types.FunctionType) and x.__module__.startswith("funcgrad")
        space[name] = rebound(x, modules, known) if is_ours else _in_modules(x, modules)
    return made


def _in_modules(x: Any, modules: dict[Any, Any]) -> Any:
    """What stands for `x`, a module or something of one."""
    try:
        if x in modules:
            return modules[x]
    except TypeError:
        return x
    name = getattr(x, "__name__", "")
    return getattr(modules[np], name, x) if getattr(np, name, None) is x and not isinstance(x, type) else x


class Carrier:
    """The texts of functions, and of all that they need."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.texts: dict[str, str] = {}
        self.aliases: list[str] = []
        self.imports = {"import numpy as np"}
        self.taken = set(taken)
        self.named: dict[Any, str] = {}  # function -> its name here

    def carry(self, function: Any, name: str) -> None:
        """Take a function along, under this name."""
        function = body_of(function)
        if function in self.named:
            self.aliases.append(f"{name} = {self.named[function]}")
        else:
            self._carry(function, name)
            if self.named[function] != name:
                self.aliases.append(f"{name} = {self.named[function]}")

    def _carry(self, function: Any, name: str) -> str:
        """Take it along; the name that it gets, which is another if this one is taken."""
        function = body_of(function)
        if function in self.named:
            return self.named[function]
        while name in self.texts:
            name += "_"
        if not isinstance(function, types.FunctionType) or function.__closure__:
            raise self._refused(name)
        self.named[function] = name
        self.texts[name] = ""
        renamed = {function.__name__: name}
        for other, x in needs(function).items():
            renamed[other] = self._carry_any(other, x)
        self.texts[name] = self._text_of(function, name, renamed)
        return name

    def _carry_any(self, name: str, x: Any) -> str:
        if x is np or x is math:
            self.imports.add("import numpy as np" if x is np else "import math")
        elif isinstance(x, types.FunctionType) and x.__module__.startswith("funcgrad"):
            return self._carry(x, x.__name__)
        elif x is NoTracer:
            self.texts[name] = f"class {name}:\n    pass\n"
        elif callable(x) and getattr(np, getattr(x, "__name__", ""), None) is x:
            return f"np.{x.__name__}"
        elif isinstance(x, _SIMPLE):
            text = f"{name} = {self._literal(x, name)}\n"
            while self.texts.get(name, text) != text:
                name += "_"
                text = f"{name} = {self._literal(x, name)}\n"
            self.texts[name] = text
        elif name not in _UNUSED:
            raise self._refused(name)
        return name

    def _literal(self, x: Any, name: str) -> str:
        if isinstance(x, dict):
            items = ", ".join(f"{self._literal(k, name)}: {self._literal(v, name)}" for k, v in x.items())
            return f"{{{items}}}"
        if isinstance(x, (tuple, frozenset, set)):
            inner = "".join(f"{self._literal(item, name)}, " for item in x)
            return f"({inner})" if isinstance(x, tuple) else f"frozenset(({inner}))"
        if isinstance(x, np.dtype):
            return f"np.dtype({x.str!r})"
        if isinstance(x, np.ndarray):
            return f"np.array({x.tolist()!r}, {x.dtype.str!r})"
        if isinstance(x, type) and x.__module__ in ("numpy", "builtins"):
            return f"np.{x.__name__}" if x.__module__ == "numpy" else x.__name__
        if isinstance(x, (int, float, complex, str, type(None))):
            return (
                repr(x).replace("inf", "np.inf").replace("nan", "np.nan") if isinstance(x, float) else repr(x)
            )
        raise self._refused(name)

    def _text_of(self, function: Callable[..., Any], name: str, renamed: dict[str, str]) -> str:
        try:
            text = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            raise self._refused(name) from None
        if not text.startswith("def "):
            raise self._refused(name)
        changes = {old: new for old, new in renamed.items() if old != new}
        if not changes:
            return text
        return re.sub(rf"(?<![.\w'\"])({'|'.join(changes)})\b(?!=[^=])", lambda m: changes[m[1]], text)

    def _refused(self, name: str) -> UnsupportedFunctionError:
        return UnsupportedFunctionError(
            f"source: {name} is a function of funcgrad that can't be written down in NumPy alone. "
            "Use jit(f) itself, which runs it."
        )


_UNUSED = frozenset(["Any", "Callable", "Sequence"])
