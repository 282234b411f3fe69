"""Rotations of tracers: SciPy's own class, with its code for arrays of any library (from SciPy 1.17 on) run on tracers."""

from __future__ import annotations

import functools
from typing import Any

import scipy.spatial.transform as st

from funcgrad.core.engine.trace import RUNNING
from funcgrad.scipy.classes import carries_tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import NUMPY, private, substitute

transform = Chapter("spatial.transform")


def _of_tracers(x: Any) -> Any:
    """The same rotation, whose further computation is on tracers."""
    if not isinstance(x, st.Rotation) or carries_tracer(x):
        return x
    made = object.__new__(Rotation)
    made.__dict__.update(x.__dict__)
    made._xp, made._backend = NUMPY, substitute("", private("scipy.spatial.transform._rotation_xp"))
    return made


def _entered(name: str) -> None:
    """A method of a plain rotation that may meet a tracer."""
    method = getattr(Rotation, name)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is not None and carries_tracer((self, args, kwargs)):
            return method(_of_tracers(self), *map(_of_tracers, args), **kwargs)
        return method(self, *args, **kwargs)

    setattr(Rotation, name, call)


if private("scipy.spatial.transform._rotation_xp") is not None:
    transform.classes("Rotation Slerp RotationSpline")
    Rotation: Any = substitute("", st.Rotation)
    for _name in ("apply", "__mul__", "__pow__"):
        _entered(_name)
