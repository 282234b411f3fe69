"""Python's own functions in adapted programs: they answer for a tracer as for its plain value."""

from __future__ import annotations

import builtins
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad import numpy as ours
from funcgrad.adaptation import counterparts
from funcgrad.core.arrays.methods import ArrayMethods
from funcgrad.core.engine.trace import Tracer, concrete
from funcgrad.core.memory.views import is_scalar
from funcgrad.numpy.kinds import NumberKind, is_number_class, number_class, stand_in_for
from funcgrad.rules.numbers import COMPLEX, is_traced, number

if TYPE_CHECKING:
    from funcgrad.adaptation.translation import Translator


# ---- numbers ---------------------------------------------------------------------------------------------------------
def _float(*args: Any, **kwargs: Any) -> Any:
    if len(args) != 1:
        return builtins.float(*args, **kwargs)
    (x,) = args
    asked = getattr(type(x), "__float__", None)
    # of a class of the program's
    x = asked(x) if isinstance(asked, FunctionType) and not isinstance(x, Tracer) else x
    return number(x) if is_traced(x) else builtins.float(x)


def _complex(*args: Any, **kwargs: Any) -> Any:
    args = (
        (*args, *[kwargs[k] for k in ("real", "imag") if k in kwargs])
        if any(map(is_traced, kwargs.values()))
        else args
    )
    if not any(map(is_traced, args)):
        return builtins.complex(*args, **kwargs)
    real, *imag = (number(x, COMPLEX) for x in args)
    return real + 1j * imag[0] if imag else real


FLOAT: Any = stand_in_for(builtins.float, _float, builtins.float)
COMPLEX_NUMBER: Any = stand_in_for(builtins.complex, _complex, builtins.complex)


# ---- classes ---------------------------------------------------------------------------------------------------------
def plain_kind(x: Any) -> type:
    """The class of `x`; of a tracer, that of what it stands for."""
    if not isinstance(x, Tracer):
        return type(x)
    return x.dtype.type if not x.shape and is_scalar(x) else np.ndarray


def stand_in(cls: type) -> Any:
    """What stands for a class of Python's or of a library's."""
    if cls is builtins.float or cls is builtins.complex:
        return FLOAT if cls is builtins.float else COMPLEX_NUMBER
    if is_number_class(cls):
        return number_class(cls)
    return counterparts.counterpart(cls)


class _Type(type):
    """The class of the stand-ins for `type`."""

    translator: Translator

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "translator" not in cls.__dict__ or len(args) != 1:
            return (
                builtins.type(*args, **kwargs)
                if "translator" in cls.__dict__
                else super().__call__(*args, **kwargs)
            )
        (x,) = args
        if isinstance(x, Tracer) and not x.shape and is_scalar(x) and x.dtype == np.float64:
            return FLOAT  # most begin as Python's
        return cls.translator.translated(plain_kind(x))

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, type) if "translator" in cls.__dict__ else super().__instancecheck__(x)

    def __eq__(cls, other: object) -> bool:
        return cls is other or other is type and "translator" in cls.__dict__

    def __hash__(cls) -> int:
        return hash(type) if "translator" in cls.__dict__ else super().__hash__()


def _stand_in_of(x: Any) -> Any:
    """A plain value like `x`: for questions about attributes."""
    value = concrete(x)
    return value if np.shape(value) == x.shape else np.zeros(x.shape, x.dtype)[() if is_scalar(x) else ...]


def builtins_for(translator: Translator) -> dict[str, Any]:
    """Python's builtins, with those that a tracer would answer otherwise than its plain value."""

    def isinstance_(x: Any, kinds: Any, /) -> bool:
        if isinstance(x, Tracer):
            return issubclass(plain_kind(x), kinds) or _names_tracers(kinds) and isinstance(x, kinds)
        if isinstance(x, kinds):
            return True
        cls = type(x)
        return translator.scope.has_class(cls) and issubclass(translator.classes.copy_of(cls), kinds)

    def issubclass_(cls: Any, kinds: Any, /) -> bool:
        return issubclass(cls, kinds) or issubclass(translator.translated(cls), kinds)

    def hasattr_(x: Any, name: str, /) -> bool:
        return hasattr(_stand_in_of(x) if isinstance(x, Tracer) and not x.shape else x, name)

    def import_(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        space = getattr(globals, "original", globals)
        module = builtins.__import__(name, space, locals, fromlist or (), level)
        return translator.translated(module) if isinstance(module, ModuleType) else module

    def eval_(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
        if globals is None:
            frame = sys._getframe(1)
            globals = frame.f_globals
            locals = _EvalNames(frame.f_locals if frame.f_locals is not globals else {}, globals)
        return builtins.eval(source, globals, locals)

    changed = {
        "isinstance": isinstance_, "issubclass": issubclass_, "hasattr": hasattr_, "__import__": import_, "eval": eval_,
        "float": FLOAT, "complex": COMPLEX_NUMBER, "type": _Type("type", (type,), {"translator": translator}),
    }  # fmt: skip
    return {**builtins.__dict__, **changed}


def _names_tracers(kinds: Any) -> bool:
    if isinstance(kinds, tuple):
        return any(map(_names_tracers, kinds))
    return (
        isinstance(kinds, type)
        and not isinstance(kinds, NumberKind)
        and kinds is not ours.ndarray
        and issubclass(kinds, ArrayMethods)
    )


class _EvalNames(dict[str, Any]):
    """The names that a text given to eval sees: local ones, then the translated globals."""

    def __init__(self, local: Any, space: Any) -> None:
        super().__init__(local)
        self.space = space

    def __missing__(self, name: str) -> Any:
        return self.space[name]
