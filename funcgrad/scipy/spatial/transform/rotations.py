"""Rotations of tracers: SciPy's class, whose array-API code (SciPy >= 1.17) runs on tracers."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import scipy.spatial.transform as st

from funcgrad.core.engine.trace import RUNNING
from funcgrad.scipy.classes import carries_tracer, instead
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.examples import with_attributes
from funcgrad.scipy.rerun import NUMPY, private, rerun, substitute

transform = Chapter("spatial.transform")


def _of_tracers(x: Any) -> Any:
    """The same rotation, whose further computation is on tracers."""
    if not isinstance(x, st.Rotation) or carries_tracer(x):
        return x
    made = object.__new__(Rotation)
    made.__dict__.update(x.__dict__)
    made._xp, made._backend = NUMPY, substitute("", private("scipy.spatial.transform._rotation_xp"))
    return made


def _as_ours(out: Any) -> Any:
    """A rotation of SciPy's, which has just been made, as one that may meet tracers."""
    if type(out) is st.Rotation:
        out.__class__ = Rotation
    elif isinstance(out, tuple):
        for x in out:
            _as_ours(x)
    return out


def _making(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _as_ours(function(*args, **kwargs))

    return call


def _entered(method: Any) -> Any:
    """A method of a plain rotation that may meet a tracer."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if RUNNING.get() is not None and carries_tracer((self, args, kwargs)):
            self, args = _of_tracers(self), tuple(map(_of_tracers, args))
        return _as_ours(method(self, *args, **kwargs))

    return call


def _prepare(cls: Any) -> None:
    """Rotations that come out are ours; those that meet a tracer compute on tracers."""
    for name, value in list(vars(cls).items()):
        if isinstance(value, (staticmethod, classmethod)):
            setattr(cls, name, type(value)(_making(value.__func__)))
        elif isinstance(value, FunctionType) and (
            not name.startswith("__") or name in ("__mul__", "__pow__", "__getitem__")
        ):
            setattr(cls, name, _entered(value))
        elif name == "__call__":
            setattr(cls, name, _making(value))


if private("scipy.spatial.transform._rotation_xp") is not None:
    transform.classes("Rotation Slerp RotationSpline")
    Rotation: Any = substitute("", st.Rotation)
    for _made in (Rotation, substitute("", st.Slerp), substitute("", st.RotationSpline)):
        _prepare(_made)

    def _turned(self: Any, times: Any, order: int = 0) -> Any:
        """SciPy's code; the polynomials within take tracers, too."""
        from funcgrad.scipy import interpolate

        made = interpolate.PPoly.construct_fast(self.interpolator.c, self.interpolator.x)
        inside = with_attributes(type(self), self, {**vars(self), "interpolator": made})
        return rerun(st.RotationSpline.__call__)(inside, times, order)

    instead(substitute("", st.RotationSpline), __call__=_turned)
