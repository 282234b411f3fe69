"""NumPy, where it is to know tracers: `import funcgrad.numpy as np`.

Plain NumPy hands a call to funcgrad if an argument is a tracer. It can't where it looks at no argument
(`np.zeros(3)`, into which tracers are written later), looks into lists only to convert them (`np.array([x,
y])`, `np.sum([x, y])`), or calls a function of the user's that gives tracers (`np.vectorize`). Here all of
that works. Every other name is NumPy's own, and so is all that runs outside of transforms.

>>> import funcgrad.numpy as np
>>> from funcgrad import grad
>>> def f(x):
...     y = np.zeros(3)
...     y[0], y[1:] = x, np.array([x, 2.0]) ** 2
...     return np.max([np.sum(y), x])
>>> grad(f)(3.0), type(np.zeros(3)).__name__
(np.float64(7.0), 'ndarray')

Its parts::

    dispatch.py        functions of lists and keywords that hold tracers
    constructors.py    new arrays, into which tracers can be written
    concatenators.py   r_, c_, mgrid, ogrid
    functional.py      vectorize, frompyfunc, piecewise, ...: functions of the user's functions
    iteration.py       ndarray, ndenumerate, nditer, broadcast: classes of NumPy's
    records.py         structured arrays
    products.py        matmul and dot, of sparse matrices too
    kinds.py           float64 and the other classes of numbers
    random.py          random, whose samples are such arrays, too (sources.py)
    polynomial.py      polynomial and poly1d, by `adapt`
    testing.py         assertions about values
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as _numpy

from funcgrad.core.memory.looks import hand_out_looks
from funcgrad.numpy.dispatch import dispatched
from funcgrad.numpy.kinds import is_number_class, number_class

_MODULES = ("fft", "linalg", "polynomial", "random", "testing")
_OWN = {
    "concatenators": ("r_", "c_", "mgrid", "ogrid"),
    "functional": (
        "vectorize", "frompyfunc", "piecewise", "apply_along_axis", "apply_over_axes", "fromfunction", "fromiter", "kaiser",
    ),
    "iteration": ("ndarray", "ndenumerate", "nditer", "broadcast", "isscalar"),
    "products": ("matmul", "dot"),
    "polynomial": ("poly1d",),
    "constructors": (
        "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require",
        "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "copy",
        "arange", "linspace", "logspace", "geomspace", "eye", "identity", "tri", "diag", "diagflat", "tril", "triu", "vander",
        "indices", "meshgrid", "fromstring", "fromfile", "loadtxt", "genfromtxt", "hamming", "hanning", "bartlett", "blackman",
    ),
}  # fmt: skip
hand_out_looks(
    numpy=sys.modules[__name__]
)  # `r = 1.0 * (x > 0)` gives an array into which tracers can be written, too
_HOME = {name: module for module, names in _OWN.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"funcgrad.numpy.{name}")
    if name in _HOME:
        value = getattr(import_module(f"funcgrad.numpy.{_HOME[name]}"), name)
    elif is_number_class(getattr(_numpy, name)):
        value = number_class(getattr(_numpy, name))
    else:
        value = dispatched(_numpy, name, __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*dir(_numpy), *globals()} - {"__path__", "_numpy"})
