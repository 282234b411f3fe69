"""What a recording consists of: steps, which compute, and guards, which ask.

A step calls a function of NumPy, or of our own, on operands. Their places in its arguments are `Hole`s, so
that a step is printed, compared, optimised and run again without a look at what it calls. An operand is a
`Ref`, which stands for an input or for an output of an earlier step, or a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import Shaped
from funcgrad.transforms.programs import Ref


class Hole(int):
    """The place of an operand in the arguments of a step."""


class _Here:
    """Stands for the array that a view looks into, among the arguments of the view."""

    def __repr__(self) -> str:
        return "HERE"


HERE = _Here()


class Spec(Shaped):
    """What is known of a value while a program is compiled: shape, dtype, and whether it is an array."""

    __slots__ = ("dtype", "is_array", "is_python", "is_view", "order", "shape")

    def __init__(self, value: Any) -> None:
        self.is_python = type(value) in (bool, int, float, complex)
        self.is_array = isinstance(value, np.ndarray)
        self.shape: tuple[int, ...] = value.shape if hasattr(value, "shape") else ()
        self.dtype: np.dtype[Any] = value.dtype if hasattr(value, "dtype") else np.dtype(type(value))
        self.is_view = False  # does it look into the memory of an operand?
        self.order = order_of(value) if self.is_array else "C"

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: Any, *, is_array: bool | None = None) -> Spec:
        """That of a fresh value of this shape and dtype; without axes, it is a number."""
        made = object.__new__(cls)
        made.shape, made.dtype = tuple(shape), np.dtype(dtype)
        made.is_array = bool(shape) if is_array is None else is_array
        made.is_python = made.is_view = False
        made.order = "C"
        return made

    def computed(self) -> Spec:
        """That of the fresh output of an elementwise function: it lies in memory as this one does."""
        made = Spec.of(self.shape, self.dtype, is_array=self.is_array)
        made.order = self.order  # gaps are not copied: what is no order of its own stays unknown
        return made

    def is_like(self, other: Spec) -> bool:
        """Do both stand for the same kind of value?"""
        return (
            self.shape == other.shape
            and self.dtype == other.dtype
            and self.is_array == other.is_array
            and self.is_python == other.is_python
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def order_of(x: np.ndarray) -> Any:
    """How an array lies in memory: "C", "F", or its strides."""
    flags = x.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else x.strides


class Step:
    """One call: `function(*args, **kwargs)`, operands in the holes' places. `outs`: Refs of its outputs.

    `many` is None for one output, else the type of the container that it returns. `primitive` and `call` are
    the engine's view of the same, by which a step is run on tracers. `line` is where the user's code stood;
    `errstate` is NumPy's way with floating-point errors there, if it is not the usual one. Where it `varies`,
    values decide shape or dtype of the output, and a guard follows.
    """

    __slots__ = (
        "_refs", "args", "call", "errstate", "function", "kwargs", "line", "many", "operands", "outs", "primitive", "specs",
        "varies",
    )  # fmt: skip

    def __init__(
        self,
        function: Callable[..., Any],
        operands: Sequence[Any],
        args: Sequence[Any],
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.function, self.operands, self.args, self.kwargs = function, list(operands), args, kwargs or {}
        self.outs: list[Ref] = []
        self.specs: list[Spec] = []
        self.many: Any = None
        self.varies = False
        self.line: tuple[str, int, str] = ("", 0, "")
        self.primitive: Any = None
        self.call: Any = None
        self.errstate: dict[str, str] | None = None

    def refs(self) -> list[Ref]:
        """What this step needs; found once, and not to be changed."""
        try:
            return self._refs
        except AttributeError:
            self._refs = found = [x for x in self.operands if type(x) is Ref]
            return found

    def run(self, operands: Sequence[Any]) -> Any:
        """The step on these operands."""
        args = [filled(a, operands) for a in self.args]
        return self.function(*args, **{k: filled(v, operands) for k, v in self.kwargs.items()})

    def replaced(self, operands: Sequence[Any]) -> Step:
        """The same step on other operands."""
        made = Step(self.function, operands, self.args, self.kwargs)
        made.outs, made.specs, made.many, made.line = self.outs, self.specs, self.many, self.line
        made.varies = self.varies
        made.primitive, made.call, made.errstate = self.primitive, self.call, self.errstate
        return made

    @property
    def name(self) -> str:
        """What is called, for messages."""
        return getattr(self.function, "__name__", str(self.function))

    def __repr__(self) -> str:
        outs = ", ".join(f"%{o}: {s}" for o, s in zip(self.outs, self.specs))
        return f"{outs} = {self.name}({', '.join(f'%{x}' if type(x) is Ref else repr(x) for x in self.operands)})"


class Guard:
    """A question that the program was asked: `kind` of the value `ref`. What came out decided how it went on."""

    __slots__ = ("kind", "line", "ref")

    def __init__(self, kind: str, ref: Ref, line: tuple[str, int, str]) -> None:
        self.kind, self.ref, self.line = kind, ref, line

    def __repr__(self) -> str:
        return f"{self.kind}(%{self.ref})"

    def is_like(self, other: Any) -> bool:
        """Is this the same question?"""
        return isinstance(other, Guard) and self.kind == other.kind and self.ref == other.ref


def itself(x: Any) -> Any:
    """The function of a step that gives a constant."""
    return x


def filled(template: Any, operands: Sequence[Any]) -> Any:
    """`template` with the operands in the places of its holes."""
    kind = type(template)
    if kind is Hole:
        return operands[template]
    if kind is tuple:
        return tuple([filled(item, operands) for item in template])
    if kind is list:
        return [filled(item, operands) for item in template]
    if kind is dict:
        return {k: filled(v, operands) for k, v in template.items()}
    if kind is slice:
        parts = (template.start, template.stop, template.step)
        return slice(*[filled(part, operands) for part in parts]) if Hole in map(type, parts) else template
    return template


def holes(template: Any) -> Iterable[Hole]:
    """The holes of a template."""
    kind = type(template)
    if kind is Hole:
        yield template
    elif kind in (tuple, list):
        for item in template:
            yield from holes(item)
    elif kind is dict:
        yield from holes(list(template.values()))
    elif kind is slice:
        yield from holes([template.start, template.stop, template.step])
