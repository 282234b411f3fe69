"""How tensors are printed: `repr(x)`, `str(x)`, and the options that `set_printoptions` sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from textwrap import indent
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import BatchTracer
from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.autograd.forward_ad import unpack_dual
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import EAGER, Tensor, from_operand


@dataclass
class PrintOptions:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
# What the sizes of floats must keep to be printed without exponents.
LARGEST_RATIO, LARGEST, SMALLEST = 1000.0, 1e8, 1e-4


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed from now on.

    precision: digits after the point; threshold: tensors with more elements are shown in part, with
    `edgeitems` at both ends of an axis; linewidth: characters of a line; profile: "default", "short" or
    "full", a set of the above; sci_mode: True or False for numbers with or without exponents, None to decide
    by their sizes.

    >>> import funcgrad.torch as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1.12345])
    tensor([1.12])
    >>> torch.set_printoptions(profile="default")
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(
                f"set_printoptions: profile is {profile!r}; write one of {', '.join(map(repr, PROFILES))}"
            )
        chosen = PROFILES[profile]
        OPTIONS.precision, OPTIONS.threshold = chosen.precision, chosen.threshold
        OPTIONS.edgeitems, OPTIONS.linewidth = chosen.edgeitems, chosen.linewidth
    for name, given in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if given is not None:
            setattr(OPTIONS, name, given)
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force."""
    return asdict(OPTIONS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Other options inside a with block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


# ---- numbers ---------------------------------------------------------------------------------------------------------


@dataclass
class Column:
    """How the numbers of one tensor (or their real or imaginary parts) are written, all to one width."""

    write: Callable[[Any], str]
    width: int = 1

    def __call__(self, x: Any) -> str:
        return self.write(x).rjust(self.width)


def column_for(shown: np.ndarray) -> Column:
    """The column for these elements. Zeros, inf and nan do not widen it: they are padded, or stand out."""
    if shown.dtype.kind != "f":
        return _widened(Column(str), shown.ravel().tolist())
    sized = shown[np.isfinite(shown) & (shown != 0)].astype(np.float64)
    if not sized.size:
        return Column(_whole)
    column = Column(_float_writer(sized, np.abs(sized)))
    return _widened(column, sized.tolist())


def _float_writer(sized: np.ndarray, sizes: np.ndarray) -> Callable[[float], str]:
    precision, scientific = OPTIONS.precision, OPTIONS.sci_mode
    if scientific is None:
        smallest, largest = sizes.min(), sizes.max()
        scientific = bool(largest / smallest > LARGEST_RATIO or largest > LARGEST or smallest < SMALLEST)
    if scientific:
        return lambda x: f"{x:.{precision}e}"
    if np.all(sized == np.ceil(sized)):
        return _whole
    return lambda x: f"{x:.{precision}f}"


def _whole(x: float) -> str:
    return f"{x:.0f}." if math.isfinite(x) else f"{x:.0f}"


def _widened(column: Column, shown: list[Any]) -> Column:
    column.width = max((len(column.write(x)) for x in shown), default=1)
    return column


def writer_for(shown: np.ndarray) -> tuple[Callable[[Any], str], int]:
    """How these elements are written, and to what width."""
    if shown.dtype.kind != "c":
        column = column_for(shown)
        return column, column.width
    real, imag = column_for(np.real(shown)), column_for(np.imag(shown))

    def write(x: complex) -> str:  # the imaginary part follows the real one without blanks: it is not padded
        second = imag(x.imag).lstrip() + "j"
        return real(x.real) + ("" if second[0] in "+-" else "+") + second

    return write, real.width + imag.width + 1


# ---- brackets --------------------------------------------------------------------------------------------------------


def _edges(x: np.ndarray) -> np.ndarray:
    """What is shown of a tensor that is shown in part."""
    n = OPTIONS.edgeitems
    for axis, size in enumerate(x.shape):
        if size > 2 * n:
            x = x.take([*range(n), *range(size - n, size)], axis)
    return x


def array_text(x: np.ndarray, margin: int) -> str:
    """The elements of an array, in brackets; lines after the first begin with `margin` blanks."""
    if x.size == 0:
        return "[]"
    partly = x.size > OPTIONS.threshold
    shown = _edges(x) if partly else x
    write, width = writer_for(shown)
    return _bracketed(x, margin, partly, write, width + len(", "))


def _bracketed(x: np.ndarray, margin: int, partly: bool, write: Callable[[Any], str], length: int) -> str:
    if x.ndim == 0:
        return write(x.item())
    n = OPTIONS.edgeitems
    if x.ndim == 1:
        return _line(x, margin, partly, write, length)

    def inner(part: np.ndarray) -> list[str]:
        return [_bracketed(row, margin + 1, partly, write, length) for row in part]

    rows = [*inner(x[:n]), "...", *inner(x[len(x) - n :])] if partly and len(x) > 2 * n else inner(x)
    return "[" + ("," + "\n" * (x.ndim - 1) + " " * (margin + 1)).join(rows) + "]"


def _line(x: np.ndarray, margin: int, partly: bool, write: Callable[[Any], str], length: int) -> str:
    n = OPTIONS.edgeitems
    if partly and not n:
        texts = ["..."]
    elif partly and len(x) > 2 * n:
        texts = [*map(write, x[:n].tolist()), " ...", *map(write, x[len(x) - n :].tolist())]
    else:
        texts = list(map(write, x.tolist()))
    per_line = max(1, (OPTIONS.linewidth - margin) // length)
    lines = [", ".join(texts[k : k + per_line]) for k in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (margin + 1)).join(lines) + "]"


# ---- tensors ---------------------------------------------------------------------------------------------------------


def tensor_text(t: Any) -> str:
    """The repr of a tensor; inside a functional transform, what that made of it, around what it is."""
    if not isinstance(t.value, Tracer):
        return _text(t)
    primal, tangent = unpack_dual(t)
    return _around(t) if tangent is None else _text(primal, [f"tangent={tangent!r}"])


def _around(t: Any) -> str:
    inner, depth, value = from_operand(t.value._value), 1, t.value._value
    while isinstance(value, Tracer):
        depth, value = depth + (type(value) is not EAGER.tracer_type), value._value
    kind = (
        f"BatchedTensor(lvl={depth}, bdim=0"
        if isinstance(t.value, BatchTracer)
        else f"GradTrackingTensor(lvl={depth}"
    )
    return f"{kind}, value=\n{indent(tensor_text(inner), ' ' * 4)}\n)"


def _text(t: Any, more: Iterable[str] = ()) -> str:
    from funcgrad.torch.nn.parameter import Parameter

    prefix = "tensor(" if type(t) in (Tensor, Parameter) else f"{type(t).__name__}("
    text = prefix + array_text(np.asarray(t.value), len(prefix))
    return _with_suffixes(text, [*_kind(t), *_history(t), *more], len(prefix))


def _kind(t: Any) -> Iterator[str]:
    value = t.value
    empty = 0 in value.shape
    if value.ndim != 1 if empty else not OPTIONS.edgeitems:
        yield f"size={tuple(value.shape)}"
    expected = (
        {dtypes.default()}
        if empty
        else {dtypes.default(), dtypes.default_complex(), np.dtype(np.int64), np.dtype(bool)}
    )
    if value.dtype not in expected:
        yield f"dtype={t.dtype}"


def _history(t: Any) -> Iterator[str]:
    fn = t.grad_fn
    if fn is not None:
        yield f"grad_fn=<{type(fn).__name__}>"
    elif t.requires_grad:
        yield "requires_grad=True"


def _with_suffixes(text: str, suffixes: list[str], margin: int) -> str:
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * margin + suffix
            length = margin + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"
