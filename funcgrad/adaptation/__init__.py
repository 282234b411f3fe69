"""Programs as they are: `adapt` makes a function run as if its module had imported funcgrad.numpy as np.

How it works. A copy of the function has the same code, and globals of its own (`Globals`): a name is looked
up in the module of the original, and what is found there is translated. NumPy, SciPy, math, cmath and
autograd become funcgrad's modules of the same meaning, functions of theirs become funcgrad's, and functions
and classes of the same package become copies in their turn, when they are first asked for. So the originals
stay as they are.

    scope.py         which modules belong to the program
    counterparts.py  what stands for the modules and functions of libraries
    translation.py   values of all kinds translated, each as its kind is
    copies.py        copies of functions
    spaces.py        their globals
    classes.py       copies of classes
    session.py       objects that were there before, for as long as a call runs
    questions.py     Python's own functions: isinstance, type, float, import
    tools.py         functools and statistics
    ufuncs.py        NumPy's ufuncs
    libraries.py     numpy.polynomial, adapted as a program is
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

from funcgrad.adaptation.scope import Scope
from funcgrad.adaptation.session import SESSION
from funcgrad.adaptation.translation import Translator, translator_of
from funcgrad.core.engine.trace import RUNNING
from funcgrad.numpy.dispatch import tracer_in
from funcgrad.transforms.wrapping import Transformed, check_function

__all__ = ["adapt"]


class Adapted(Transformed):
    """See `adapt`."""

    transform = "adapt"

    def __init__(self, fun: Callable[..., Any], packages: tuple[str, ...] = ()) -> None:
        super().__init__(fun)
        self.packages = packages

    def translator(self) -> Translator:
        """What translates for this function; all functions of a package share it."""
        return translator_of(Scope.of(self.fun, self.packages))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        translator = self.translator()
        if RUNNING.get() is None and not translator.knows_funcgrad and not tracer_in(args):
            # nothing is differentiated, inside or outside: the program itself
            return self.fun(*args, **kwargs)
        with SESSION:
            if SESSION.is_outermost:
                translator.begin()
            try:
                return translator.classes.given_back(translator.call(self.fun, args, kwargs))
            finally:
                if SESSION.is_outermost:
                    translator.end()


class _Package(ModuleType):
    """A module whose functions are adapted as they are taken from it. What is set is set in the original."""

    def __init__(self, original: ModuleType, packages: tuple[str, ...]) -> None:
        super().__init__(original.__name__, original.__doc__)
        self.__dict__.update(_original=original, _packages=packages)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._original, name)
        scope = Scope.of(self._original, self._packages)
        if isinstance(value, ModuleType) and scope.has(value.__name__):
            return _Package(value, self._packages)
        translated = translator_of(scope).translated(value)
        if translated is value or isinstance(value, type) or not callable(value):
            return translated
        return Adapted(value, self._packages)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._original, name, value)

    def __dir__(self) -> list[str]:
        return dir(self._original)


def adapt(fun: Any = None, *, packages: str | Iterable[str] = ()) -> Any:
    """`fun`, written for plain NumPy, as a function that can be differentiated as it is.

    It runs as if its module had imported funcgrad's modules in the place of NumPy, SciPy, math, cmath and
    autograd: arrays that begin as `np.zeros(n)` can be written into, `np.array([x, y])`, `math.sin(x)` and
    `float(x)` keep the derivative, and `isinstance(x, float)` or `type(x) is np.ndarray` answer as they would
    for the plain value. So do all functions and classes of the same package that it calls. Nothing of the
    original changes; outside of transforms the results are the same.

    Args:
        fun: a function, method, class or any callable; a module, or the name of one: then its functions are
            adapted as they are taken from it. (`adapt()` with keywords only is a decorator.)
        packages: further packages, or modules, whose functions are to be adapted where they are called.

    Returns:
        A function with the same name, documentation and signature; a class; or a module.

    Raises:
        ArgumentError: `fun` is nothing that can be called.
        ModuleNotFoundError: there is no module of that name.

    >>> import math
    >>> import numpy as np
    >>> from funcgrad import adapt, grad
    >>> def polygon(radius, corners=6):
    ...     area = np.zeros(corners)
    ...     for k in range(corners):
    ...         area[k] = 0.5 * float(radius) ** 2 * math.sin(2 * math.pi / corners)
    ...     return area.sum()
    >>> grad(adapt(polygon))(1.0).round(6)
    np.float64(5.196152)
    """
    packages = (packages,) if isinstance(packages, str) else tuple(packages)
    if fun is None:
        return lambda fun: adapt(fun, packages=packages)
    if isinstance(fun, str):
        fun = import_module(fun)
    if isinstance(fun, ModuleType):
        return _Package(fun, packages)
    if isinstance(fun, type):
        return translator_of(Scope.of(fun, packages)).translated(fun)
    check_function(fun, "adapt")
    if isinstance(fun, Adapted) and not set(packages) - set(fun.packages):
        return fun
    return Adapted(fun, packages)
