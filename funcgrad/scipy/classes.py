"""Classes of SciPy's, whose objects may be made of tracers, and whose methods may be called on them.

Such a class is a subclass of SciPy's. A method of it is SciPy's own on plain arrays, and is rerun
(`rerun.py`) as soon as there is a tracer among its arguments or in the object.
"""

from __future__ import annotations

import enum
from types import FunctionType, MethodType
from typing import Any

from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.scipy.examples import attributes, by_examples, holds_arrays, with_attributes
from funcgrad.scipy.mirror import ADOPTED, adopted
from funcgrad.scipy.rerun import CLASSES, NUMPY, rerun, stands_for, substitute


def is_rerun(c: type) -> bool:
    """Is this a class of SciPy's that is written in Python, and of which objects hold arrays?"""
    # made by a class statement
    is_theirs = c.__module__.partition(".")[0] == "scipy" and bool(c.__flags__ & (1 << 9))
    if is_theirs and issubclass(c, tuple):  # a result, which may have methods beside its items
        return any(
            isinstance(value, FunctionType) and not name.startswith("_") for name, value in vars(c).items()
        )
    return is_theirs and not issubclass(c, (BaseException, dict, list, str, int, enum.Enum))


def rerun_class(c: type) -> type:
    """The subclass of `c`, and of those of its bases; `c` itself, if it holds no arrays."""
    if not is_rerun(c):
        return c
    bases = [substitute("", b) for b in c.__bases__ if b is not object]
    bases = [b for b in bases if isinstance(b, type) and not issubclass(c, b)]
    given = {"__doc__": c.__doc__, "__module__": c.__module__, "__qualname__": c.__qualname__}
    # so that super() in the code of `c` goes on to these bases
    made = type(c)(c.__name__, (c, *bases), given)
    stands_for(c, made)
    ADOPTED[c] = lambda x: with_attributes(made, x, attributes(x))
    for name, value in vars(c).items():
        member = _made_by(value.__func__) if name == "__new__" else _member(value)
        if member is not None:
            setattr(made, name, member)
    made.__carries_tracer__ = carries_tracer
    # objects remember a function of the array library that they began with
    if c.__module__.startswith("scipy.interpolate"):
        made._asarray = property(lambda self: NUMPY.asarray, lambda self, function: None)
    return made


def _made_by(new: FunctionType) -> Any:
    """`__new__`, rerun on plain arguments too: it asks for the class, and names others of which ours stand."""
    call = lambda *args, **kwargs: rerun(new)(*args, **kwargs)
    call.__name__, call.__doc__ = new.__name__, new.__doc__
    return staticmethod(call)


def _member(value: Any) -> Any:
    """A member of a class which is rerun where it has to be; None, if it is as it is."""
    if isinstance(value, FunctionType):
        return either(value)
    if isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, FunctionType):
        return type(value)(either(value.__func__))
    if is_made_of_parts(value):
        return rerun_object(value)
    if isinstance(value, property):
        return property(_either(value.fget), _either(value.fset), _either(value.fdel), value.__doc__)
    return None


_PARTS: dict[int, tuple[Any, Any]] = {}  # an object of SciPy's modules -> itself, and the one in its place


_OF_MODULES: dict[int, Any] = {}


def of_a_module(x: Any) -> Any:
    """`x`, which stands for an object of SciPy's modules, and so was made without tracers: nobody need look."""
    _OF_MODULES[id(x)] = x
    return x


def is_made_of_parts(x: Any) -> bool:
    """Is `x` an object of SciPy's own classes, or a list or dict of such?"""
    if isinstance(x, (list, tuple)):
        return any(map(is_made_of_parts, x))
    if isinstance(x, dict):
        return any(map(is_made_of_parts, x.values()))
    return (
        not isinstance(x, type)
        and is_rerun(type(x))
        and hasattr(x, "__dict__")
        and not hasattr(x, "__carries_tracer__")
    )


def rerun_object(x: Any) -> Any:
    """An object, or a list or dict, with those in the place of SciPy's whose methods are rerun."""
    if isinstance(x, (list, tuple)):
        return type(x)(rerun_object(v) for v in x)
    if isinstance(x, dict):
        return type(x)((k, rerun_object(v)) for k, v in x.items())
    if not is_made_of_parts(x):
        return x
    if id(x) not in _PARTS:
        made = object.__new__(rerun_class(type(x)))
        _PARTS[id(x)] = x, made  # first, as parts may know the whole
        of_a_module(made)
        for name, value in vars(x).items():
            object.__setattr__(made, name, rerun_object(value))
    return _PARTS[id(x)][1]


def _either(f: Any) -> Any:
    return None if f is None else either(f)


def either(f: Any) -> Any:
    """`f` itself on plain arguments; rerun if a tracer is among them or in the object it is a method of."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None or not any(carries_tracer(x) for x in (*args, *kwargs.values())):
            out = f(*args, **kwargs)
            if is_rerun(type(out)) and not hasattr(out, "__carries_tracer__"):
                substitute("", type(out))  # there is one of ours from now on
            return adopted(out)
        return by_examples(rerun(f), args, kwargs, f.__qualname__, f)

    call.__name__, call.__qualname__, call.__module__, call.__doc__ = (
        f.__name__,
        f.__qualname__,
        f.__module__,
        f.__doc__,
    )
    call.__wrapped__ = f
    return call


def instead(c: type, **methods: Any) -> None:
    """Methods of a class that is rerun, called instead of SciPy's code where there are tracers."""
    for name, body in methods.items():
        setattr(c, name, _ours(c, name, body))


def _ours(c: type, name: str, body: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is None or not any(carries_tracer(x) for x in (self, *args, *kwargs.values())):
            return getattr(super(c, self), name)(*args, **kwargs)
        return by_examples(body, (self, *args), kwargs, f"{c.__qualname__}.{name}")

    call.__name__, call.__doc__ = name, body.__doc__
    return call


def carries_tracer(x: Any, depth: int = 5) -> bool:
    """Is a tracer in `x`: an array, a container of arrays, or an object that was made of arrays?"""
    if isinstance(x, Tracer):
        return not isinstance(x, BlankTracer)
    if depth == 0:
        return False
    if isinstance(x, (list, tuple)):
        return any(carries_tracer(v, depth - 1) for v in x)
    if isinstance(x, dict):
        return any(carries_tracer(v, depth - 1) for v in x.values())
    if isinstance(x, MethodType):
        return carries_tracer(x.__self__, depth - 1)
    if holds_arrays(x) and id(x) not in _OF_MODULES:
        return any(carries_tracer(v, depth - 1) for v in attributes(x).values())
    return False


CLASSES.append(rerun_class)
