"""A program's values translated: libraries, the program's own functions and classes, containers."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from threading import RLock
from types import FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.adaptation import classes, counterparts
from funcgrad.adaptation.copies import ProgramCopies
from funcgrad.adaptation.questions import builtins_for, plain_kind, stand_in
from funcgrad.adaptation.scope import Scope
from funcgrad.adaptation.spaces import CopiedGlobals
from funcgrad.adaptation.tools import cached_by
from funcgrad.core.engine.trace import RUNNING, Tracer, concrete
from funcgrad.core.memory.looks import look
from funcgrad.transforms.wrapping import Transformed

# What holds nothing that could be translated, and most values are.
_PLAIN = frozenset([int, float, complex, bool, str, bytes, type(None), np.float64, slice, range, type(...)])
_TRANSLATING = RLock()  # what one thread is translating, another one must not take for translated
_MANY = 1000  # items of a container that are looked at


class Translator:
    """Translates the values of one program (its `scope`)."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.builtins = builtins_for(self)
        self.copies = ProgramCopies(self)
        self.classes = classes.Classes(self)
        self.spaces: dict[int, CopiedGlobals] = {}
        self.modules: dict[int, AdaptedModule] = {}
        self.looks: dict[int, tuple[ref[Any], ref[Any]]] = {}
        self.containers: dict[int, tuple[Any, list[Any], Any]] = {}

    def translated(self, value: Any) -> Any:
        """`value`, or what stands for it in the adapted program."""
        kind = type(value)
        if kind in _PLAIN or isinstance(value, Tracer):
            return value
        with _TRANSLATING:
            return self._translated(value, kind)

    def _translated(self, value: Any, kind: type) -> Any:
        translate = _BY_KIND.get(kind)
        if translate is not None:
            return translate(self, value)
        if kind in counterparts.KINDS and kind is not type:
            return counterparts.counterpart(value)
        if isinstance(value, type):
            return self.classes.copy_of(value) if self.scope.has_class(value) else stand_in(value)
        if isinstance(value, ModuleType):
            return self.module(value)
        return self.transformed(value) if isinstance(value, Transformed) else self.object(value)

    def is_ours(self, value: Any) -> bool:
        """Is this a function of the program?"""
        return self.scope.has(getattr(value, "__module__", None), getattr(value, "__globals__", None))

    # ---- functions ---------------------------------------------------------------------------------------------------
    def function(self, value: FunctionType) -> Any:
        """A function: a copy if it is the program's, funcgrad's if it is a library's."""
        space = value.__globals__
        if self.scope.has(space.get("__name__"), space):
            return self.copies.of(value, self.space(space))
        if hasattr(value, "registry") and hasattr(value, "dispatch"):
            return self.dispatching(value)
        ours = counterparts.counterpart(value)
        name = str(space.get("__name__"))
        if ours is not value or not value.__closure__ or name.startswith(("funcgrad.", "numpy.", "scipy.")):
            return ours
        # Such as what a decorator of another library made: it may have closed over a function of the program.
        return self.copies.of(value, space) if self.copies.closes_over_translated(value) else value

    def method(self, value: MethodType) -> Any:
        """A bound method."""
        if not self.is_ours(value.__func__):
            return counterparts.counterpart(value)
        owner = self.translated(value.__self__)
        bound = getattr(owner, value.__func__.__name__, None)
        return bound if isinstance(bound, MethodType) else MethodType(self.translated(value.__func__), owner)

    def partial(self, value: functools.partial[Any]) -> Any:
        """functools.partial of anything."""
        before = [value.func, *value.args, *value.keywords.values()]
        func, *others = map(self.translated, before)
        if all(map(_is, [func, *others], before)):
            return value
        n = len(value.args)
        return type(value)(func, *others[:n], **dict(zip(value.keywords, others[n:])))

    def cached(self, value: Any) -> Any:
        """A function under functools.lru_cache: its cache is for plain arguments only."""
        wrapped = self.translated(value.__wrapped__)
        return counterparts.counterpart(value) if wrapped is value.__wrapped__ else cached_by(value, wrapped)

    def dispatching(self, value: Any) -> Any:
        """A function under functools.singledispatch: a tracer is dispatched as what it stands for."""

        @functools.wraps(value)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.translated(value.dispatch(plain_kind(args[0])))(*args, **kwargs)

        return call

    def transformed(self, value: Any) -> Any:
        """grad(f), or f under `adapt`, of a function f of the program."""
        fun = self.translated(value.fun)
        if fun is value.fun or value.transform == "adapt":
            return value if fun is value.fun else fun
        ours = object.__new__(type(value))
        ours.__dict__.update(value.__dict__, fun=fun)
        return ours

    # ---- modules and objects -----------------------------------------------------------------------------------------
    def space(self, original: dict[str, Any]) -> CopiedGlobals:
        """The globals of the copies of functions whose globals are `original`."""
        if id(original) not in self.spaces:
            self.spaces[id(original)] = CopiedGlobals(self, original)
        return self.spaces[id(original)]

    def module(self, value: ModuleType) -> Any:
        """A module: funcgrad's for a library's, one that translates for the program's."""
        if not self.scope.has(value.__name__, value.__dict__):
            ours = counterparts.module_for(value.__name__)
            return value if ours is None else ours
        if id(value) not in self.modules:
            self.modules[id(value)] = AdaptedModule(self, value)
        return self.modules[id(value)]

    def object(self, value: Any) -> Any:
        """Any other object: one of a class of the program's becomes one of its copy, while the call runs."""
        kind = type(value)
        translate = _OF_LIBRARIES.get(f"{kind.__module__}.{kind.__name__}")
        if translate is not None:
            return translate(self, value)
        if self.scope.has_class(kind):
            self.classes.adopt(value)
        elif kind.__module__.startswith("scipy."):  # such as scipy.stats.norm
            return counterparts.counterpart(value)
        elif isinstance(getattr(value, "py_func", None), FunctionType):  # compiled by numba
            return self.translated(value.py_func)
        return value

    def array(self, value: np.ndarray) -> Any:
        """An array that was there before: while a transform runs, what is computed from it is blank."""
        if RUNNING.get() is None or not value.ndim or value.dtype.kind not in "fciub":
            return value
        original, known = self.looks.get(id(value), (None, None))
        ours = known() if original is not None and known is not None and original() is value else None
        if ours is None:
            ours = look(value)
            self.looks[id(value)] = ref(value), ref(ours)
        return ours

    def container(self, value: Any) -> Any:
        """A list, tuple or dict: itself, or a copy if it holds something translated."""
        items = _items(value) if len(value) <= _MANY else []
        if any(isinstance(item, Tracer) and not item._trace.is_open for item in items):
            return self.container(_settled(value))
        if not items or isinstance(value, list) and type(items[0]) in _PLAIN:
            return value
        # Arrays stay: the container would have to be another one, and its state would be lost.
        new: list[Any] = [item if type(item) is np.ndarray else self.translated(item) for item in items]
        if all(map(_is, new, items)):
            return value
        known = self.containers.get(id(value))
        if (
            known is not None
            and known[0] is value
            and len(known[1]) == len(new)
            and all(map(_is, known[1], new))
        ):
            return known[2]
        ours = dict(zip(value, new)) if type(value) is dict else type(value)(new)
        self.containers[id(value)] = value, new, ours
        return ours

    @functools.cached_property
    def knows_funcgrad(self) -> bool:
        """May the program differentiate anything itself? (Has one of its modules imported funcgrad?)"""
        spaces = [
            vars(module) for name, module in list(sys.modules.items()) if module and self.scope.has(name)
        ]
        spaces += [] if self.scope.space is None else [self.scope.space]
        return any(_is_funcgrads(value) for space in spaces for value in list(space.values()))

    # ---- calls -------------------------------------------------------------------------------------------------------
    def call(self, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The adapted function on translated arguments."""
        args = tuple(map(self.translated, args))
        return self.translated(fun)(*args, **{k: self.translated(v) for k, v in kwargs.items()})

    def begin(self) -> None:
        """Before a call: what was rebound in the originals is looked up again."""
        for space in list(self.spaces.values()):
            space.refresh()
        self.classes.refresh()

    def end(self) -> None:
        """After it: what the copies have written into globals and classes is written into the originals."""
        for space in list(self.spaces.values()):
            space.flush()
        self.classes.flush()


def _is_funcgrads(value: Any) -> bool:
    home = value.__name__ if isinstance(value, ModuleType) else getattr(type(value), "__module__", "")
    own = getattr(value, "__module__", "") if isinstance(value, (FunctionType, type)) else ""
    return any(isinstance(name, str) and name.partition(".")[0] == "funcgrad" for name in (home, own))


def _settled(value: Any) -> Any:
    """A container with tracers left over from earlier calls: constants now, as in the program itself."""
    settled = [x if not isinstance(x, Tracer) or x._trace.is_open else concrete(x) for x in _items(value)]
    if type(value) is dict:
        value.update(zip(value, settled))
    elif type(value) is list:
        value[:] = settled
    else:
        return type(value)(settled)
    return value


def _items(value: Any) -> list[Any]:
    return list(value.values() if isinstance(value, dict) else value)


def _is(x: Any, y: Any) -> bool:
    return x is y


def _vectorized(translator: Translator, value: Any) -> Any:
    from funcgrad import numpy as ours

    options = {k: getattr(value, k) for k in ("otypes", "excluded", "cache", "signature")}
    return ours.vectorize(translator.translated(value.pyfunc), **options)


def _source(translator: Translator, value: Any) -> Any:
    from funcgrad.numpy.sources import Source

    return Source(value)


_BY_KIND: dict[type, Callable[[Translator, Any], Any]] = {
    FunctionType: Translator.function, MethodType: Translator.method, functools.partial: Translator.partial,
    functools._lru_cache_wrapper: Translator.cached,
    np.ndarray: Translator.array,
    list: Translator.container, tuple: Translator.container, dict: Translator.container, set: Translator.container,
}  # fmt: skip
_OF_LIBRARIES: dict[str, Callable[[Translator, Any], Any]] = {
    "numpy.vectorize": _vectorized,
    "numpy.random._generator.Generator": _source,
    "numpy.random.mtrand.RandomState": _source,
}


class AdaptedModule(ModuleType):
    """A module of the program. Its functions are adapted when taken; what is set is set in the original."""

    def __init__(self, translator: Translator, original: ModuleType) -> None:
        super().__init__(original.__name__, original.__doc__)
        self.__dict__.update(_translator=translator, _original=original)
        for name in ("__file__", "__path__", "__package__", "__spec__", "__all__"):
            if hasattr(original, name):
                self.__dict__[name] = getattr(original, name)

    def __getattr__(self, name: str) -> Any:
        return self._translator.translated(getattr(self._original, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._original, name, value)

    def __dir__(self) -> list[str]:
        return dir(self._original)


_TRANSLATORS: dict[Any, Translator] = {}


def translator_of(scope: Scope) -> Translator:
    """The translator for a scope; the same one for each function of a package."""
    if scope.key not in _TRANSLATORS:
        _TRANSLATORS[scope.key] = Translator(scope)
    return _TRANSLATORS[scope.key]
