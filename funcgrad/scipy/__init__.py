"""SciPy for programs that are differentiated: `from funcgrad.scipy import linalg, optimize`.

Every public name of SciPy's module is there. On plain arrays a function is SciPy's own, so results are the
same to the bit; where a tracer is among the arguments, the rule that funcgrad has for it is used, and a
function without one says so by name. SciPy is optional and imported when a module of it is first asked for.

    mirror.py      how a module of SciPy's is mirrored
    declare.py     the verbs that rules are declared with
    rerun.py       SciPy's own Python code, run on tracers
    linalg, ...    one folder for a module of SciPy's, one file for a chapter of its manual

>>> import numpy as np
>>> from funcgrad import grad
>>> from funcgrad.scipy import linalg
>>> grad(lambda a: linalg.solve(a, np.array([1.0, 2.0])).sum())(np.diag([2.0, 4.0]))
array([[-0.25 , -0.25 ],
       [-0.125, -0.125]])
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = (
    "cluster constants datasets differentiate fft fftpack integrate interpolate io linalg ndimage odr optimize signal sparse "
    "spatial special stats"
)
MODULES = tuple(_NAMES.split())


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"funcgrad.scipy.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module 'funcgrad.scipy' has no attribute {name!r}")
    from funcgrad.scipy.mirror import scipy_module

    return getattr(scipy_module("scipy"), name)


def __dir__() -> list[str]:
    return [*MODULES, "mirror", "declare"]
