"""Each distribution of SciPy's with the methods that take tracers, made when it is first asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats as theirs
from scipy.stats import _multivariate

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.classes import instead, of_a_module, rerun_class
from funcgrad.scipy.mirror import MADE
from funcgrad.scipy.rerun import OBJECTS, rerun, substitute
from funcgrad.scipy.stats.continuous import Continuous
from funcgrad.scipy.stats.discrete import Discrete


@cache
def family(c: type) -> type:
    """The class of a distribution, with our methods before SciPy's."""
    kind = Continuous if issubclass(c, theirs.rv_continuous) else Discrete
    made = type(c.__name__, (kind, rerun_class(c)), {"__module__": c.__module__, "__doc__": c.__doc__})
    if c is type(theirs.gamma):
        instead(made, fit=_gamma_fit)
    return made


def _gamma_fit(self: Any, data: Any, *args: Any, **kwds: Any) -> Any:
    """SciPy's code, in which a root is a Python number, so that the scale keeps the dtype of the data."""
    a, loc, scale = rerun(vars(type(theirs.gamma))["fit"])(self, data, *args, **kwds)
    if isinstance(scale, Tracer) and "fscale" not in kwds:
        scale = scale.astype(np.mean(as_array(data)).dtype)
    return a, loc, scale


@cache
def distribution(original: Any) -> Any:
    """SciPy's object as one of ours."""
    return of_a_module(family(type(original))(**original._updated_ctor_param()))


@cache
def multivariate(original: Any) -> Any:
    """The same of several variables."""
    made = copy.copy(original)
    made.__class__ = substitute("", type(original))
    return of_a_module(made)


def _stands(name: str, original: Any, make: Callable[[Any], Any]) -> None:
    MADE[f"stats.{name}"] = OBJECTS[original] = partial(make, original)


for _name in dir(theirs):
    _found = getattr(theirs, _name)
    if isinstance(_found, (theirs.rv_continuous, theirs.rv_discrete)):
        _stands(_name, _found, distribution)
    elif isinstance(_found, type) and issubclass(_found, theirs.rv_histogram):
        MADE[f"stats.{_name}"] = partial(family, _found)
    elif isinstance(_found, _multivariate.multi_rv_generic):
        _stands(_name, _found, multivariate)
