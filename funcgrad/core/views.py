"""Families of views: which tracers look into the same array, and by which steps. What writes do to them is in mutation.py."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from funcgrad.core.catalogue import CATALOGUE
from funcgrad.core.methods import astype
from funcgrad.core.trace import Tracer, bind, concrete


class Step:
    """One view operation: what leads from an array to a view of it."""

    __slots__ = ("call", "primitive")

    def __init__(self, primitive: Any, call: Any) -> None:
        self.primitive, self.call = primitive, call

    def __call__(self, x: Any) -> Any:
        return bind(self.primitive, self.call.with_operands([x, *self.call.operands[1:]]))

    def is_read_at(self, index: Any) -> bool:
        """Is this step x[index], for a basic index?"""
        mine = self.call.params.get("index") if self.primitive.name == "getitem" else None
        return mine is not None and type(mine) is type(index) and mine == index


class Alias:
    """A tracer's place in a family of views. A root has `views` and no steps; a view has its root and the steps to it.

    `written` says that the root was written into; `shared`, that this is the one alias of all written arrays without views.
    """

    __slots__ = ("read_only", "root", "shared", "steps", "views", "written")

    def __init__(self, root: Tracer | None, steps: tuple[Step, ...], *, read_only: bool = False) -> None:
        self.root, self.steps, self.read_only = root, steps, read_only
        self.views: list[Any] = []
        self.written = self.shared = False


def note_view(base: Any, view: Any, step: Step) -> None:
    """Note that `view` is a view of `base`, if NumPy made it one."""
    if not isinstance(base, Tracer) or base is view:
        return
    x, out = base.value, view.value
    if type(x) is np.ndarray and type(out) is np.ndarray:
        if out is not x and (out.base is None or out.base is not x and out.base is not x.base):
            return
    elif is_view(view, base):
        x, out = concrete(x), concrete(out)
    else:
        return
    read_only = not out.flags.writeable and x.flags.writeable
    alias = base.alias
    if alias is None or alias.shared:
        written = alias is not None
        alias = base.alias = Alias(None, ())
        alias.written = written
    root = base if alias.root is None else alias.root
    view.alias = Alias(root, (*alias.steps, step), read_only=read_only or alias.read_only)
    root.alias.views.append(ref(view))


def is_view(out: Any, x: Any) -> bool:
    """Did NumPy make `out` as a view of `x`? An outer trace may have noted it, and then copied it."""
    while isinstance(out, Tracer) and isinstance(x, Tracer):
        if _noted(out, x):
            return True
        out, x = out.value, x.value
    out, x = concrete(out), concrete(x)
    if type(out) is not np.ndarray or out.base is None:
        return out is x and type(x) is np.ndarray
    return out.base is x or out.base is getattr(x, "base", None)


def _noted(out: Tracer, x: Tracer) -> bool:
    alias = out.alias
    return (
        alias is not None
        and alias.root is not None
        and (alias.root is x or x.alias is not None and alias.root is x.alias.root)
    )


# ---- x.real and x.imag, which are views of half of each element ------------------------------------------------------


def turned(x: Any) -> Any:
    """-1j * x for real x, with a real part that is 0 also where x is infinite."""
    out = np.zeros(x.shape, np.result_type(x, np.complex64))
    out.imag = -x
    return out[()]


ELEMENTWISE = (np.real, np.imag, astype)


def part_among(steps: tuple[Step, ...]) -> tuple[Any, tuple[Step, ...]]:
    """np.real or np.imag, if one of `steps` is that part of complex numbers (otherwise None), and the steps that lead to the
    whole elements: those that are not taken element by element."""
    functions = [step.primitive.function for step in steps]
    part = next((function for function in functions if function in (np.real, np.imag)), None)
    return part, tuple(step for step, function in zip(steps, functions) if function not in ELEMENTWISE)


def with_part(held: Any, part: Any, v: Any) -> Any:
    """The complex numbers `held` with `v` in the place of one part."""
    if np.iscomplexobj(v):
        raise TypeError(f"x.{part.__name__} = v takes real numbers; v is complex: write v.real or v.imag")
    if part is np.real:
        return v - CATALOGUE[turned](np.imag(held))
    return np.real(held) - CATALOGUE[turned](v if hasattr(v, "shape") else np.asarray(v, float))
