"""Random programs that assign, as source text.

A program is a function of two arrays. It is written statement by statement; each is run on NumPy arrays as
soon as it is written, and dropped if it fails or if its numbers grow: so shapes and values are known while
the next one is written. Every array that has a name at the end is returned, aliases and views too, so that no
difference between them can hide.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

import numpy as np

Arrays = dict[str, Any]
SHAPES = [
    (),
    (1,),
    (2,),
    (3,),
    (4,),
    (6,),
    (2, 3),
    (3, 2),
    (3, 3),
    (1, 3),
    (4, 1),
    (2, 2, 3),
    (2, 1, 2),
    (2, 3, 2),
    (0,),
    (2, 0),
]
LAYOUTS = ("C", "C", "C", "F", "strided", "turned")
# the largest number that a program may compute: finite differences lose their digits otherwise
LARGEST = 20.0


class Program(NamedTuple):
    """A program: its statements, and the shapes, dtype and layout in memory of its two arguments x and y."""

    seed: int
    statements: tuple[tuple[str, str], ...]  # what kind of statement, and its lines
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    dtype: str = "float64"
    layout: str = "C"

    def arguments(self, step: float = 0.0) -> tuple[Any, Any]:
        """New arguments, moved by `step` along `directions`."""
        points, directions = (
            drawn(self.seed, self.shapes, self.dtype),
            drawn(self.seed + 1, self.shapes, self.dtype),
        )
        return tuple(laid_out(p + step * d, self.layout) for p, d in zip(points, directions, strict=True))

    def directions(self) -> tuple[Any, Any]:
        """A direction for each argument."""
        return tuple(x.copy() for x in drawn(self.seed + 1, self.shapes, self.dtype))

    @property
    def source(self) -> str:
        """The text of the function."""
        lines = [line for _, text in self.statements for line in text.split("\n")]
        names = ", ".join(assigned(lines))
        return (
            "def program(x, y):\n    log = []\n"
            + "".join(f"    {line}\n" for line in lines)
            + f"    return [{names}], log\n"
        )

    @property
    def function(self) -> Callable[[Any, Any], tuple[list[Any], list[str]]]:
        """The program: what it returns are its arrays, and the kinds of the errors that it met."""
        return self.run_with(np)

    def run_with(self, numpy: Any) -> Callable[[Any, Any], tuple[list[Any], list[str]]]:
        """The program with this module for NumPy."""
        space: dict[str, Any] = {"np": numpy, "kind_of": kind_of}
        exec(compile(self.source, f"<program {self.seed}>", "exec"), space)
        return space["program"]

    def without(self, k: int) -> Program:
        """The program without its k-th statement."""
        return self._replace(statements=self.statements[:k] + self.statements[k + 1 :])


@lru_cache(maxsize=8)
def drawn(seed: int, shapes: tuple[tuple[int, ...], ...], dtype: str) -> list[Any]:
    """Random arrays of these shapes."""
    rng = np.random.default_rng(seed)
    parts = [[np.asarray(rng.uniform(-1, 1, shape)) for _ in range(2)] for shape in shapes]
    return [real + 1j * imag if dtype == "complex128" else real for real, imag in parts]


def laid_out(x: Any, layout: str) -> Any:
    """A new array with the elements of `x`, with another layout in memory."""
    if layout == "strided" and x.ndim:
        wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if layout == "turned" and x.ndim:
        return x[::-1].copy()[::-1]
    return x.copy("F" if layout == "F" else "C")


def assigned(lines: Sequence[str]) -> list[str]:
    """The names that are arrays at the end: arguments, and v0, v1, ... (not the names inside of blocks)."""
    names = dict.fromkeys(["x", "y"])
    for line in lines:
        if line.startswith("del "):
            names.pop(line[4:], None)
        else:
            names |= dict.fromkeys(re.findall(r"^(v\d+) = ", line))
    return list(names)


def kind_of(error: Exception) -> str:
    """The kind of an error, as Python has it."""
    return next(
        kind.__name__ for kind in (IndexError, TypeError, ValueError, Exception) if isinstance(error, kind)
    )


def run(text: str, env: Arrays) -> None:
    """Run statements; what NumPy warns of is not the question."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, env)


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        shapes = (self.rng.choice(SHAPES), self.rng.choice(SHAPES))
        dtype = self.rng.choice(["float64"] * 4 + ["complex128"])
        self.program = Program(seed, (), shapes, dtype, self.rng.choice(LAYOUTS))
        self.count = 0
        # the names of arrays that depend on the arguments; into the others only plain data goes
        self.traced = {"x", "y"}
        self.env = self._fresh()

    def _fresh(self) -> Arrays:
        x, y = self.program.arguments()
        return {"np": np, "kind_of": kind_of, "log": [], "x": x, "y": y}

    def write(
        self, statements: Sequence[tuple[str, Callable[[Writer], str | None], int]], length: int
    ) -> Program:
        """A program of this length, of random statements: (kind, what writes one, weight)."""
        for _ in range(20 * length):
            if len(self.program.statements) == length:
                break
            kind, writes, _ = self.rng.choices(statements, [weight for *_, weight in statements])[0]
            text = writes(self)
            if text is not None:
                self._try(kind, text)
        return self.program

    def _try(self, kind: str, text: str) -> None:
        """Keep a statement if it runs, and its numbers stay small."""
        try:
            run(text, self.env)
            named = [a for k, a in self.env.items() if re.fullmatch(r"x|y|v\d+", k)]
            fits = all(isinstance(a, (np.ndarray, np.generic)) and _is_tame(a) for a in named)
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            fits = False
        if fits:
            self.program = self.program._replace(statements=(*self.program.statements, (kind, text)))
            self._mark(text)
            return
        self.env = self._fresh()
        for _, kept in self.program.statements:
            run(kept, self.env)

    def _mark(self, text: str) -> None:
        """Note what the names that a statement binds depend on."""
        for line in text.split("\n"):
            if bound := re.match(r"(v\d+) = (.*)", line):
                (self.traced.add if self.is_traced(bound[2]) else self.traced.discard)(bound[1])
            elif line.startswith("del "):
                self.traced.discard(line[4:])

    # ---- what there is -----------------------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        """The arrays that have a name."""
        return {
            k: a
            for k, a in self.env.items()
            if re.fullmatch(r"x|y|v\d+", k) and isinstance(a, (np.ndarray, np.generic))
        }

    def is_traced(self, text: str) -> bool:
        """Does an expression depend on the arguments?"""
        return not self.traced.isdisjoint(re.findall(r"\b(?:x|y|v\d+)\b", text))

    def pick(self, test: Callable[[Any], bool] = lambda a: True, *, traced: bool | None = True) -> str | None:
        """The name of an array that passes a test; the arrays made last are the likeliest."""
        names = [k for k, a in self.arrays().items() if isinstance(a, np.ndarray) and test(a)]
        if traced is not None:
            names = [k for k in names if (k in self.traced) == traced]
        return self.rng.choices(names, range(1, len(names) + 1))[0] if names else None

    def new(self) -> str:
        """A name: a new one, or at times an old one, which is bound anew."""
        old = [k for k in self.arrays() if k[0] == "v"]
        if old and self.rng.random() < 0.08:
            return self.rng.choice(old)
        self.count += 1
        return f"v{self.count - 1}"

    # ---- parts of statements -----------------------------------------------------------------------------------------

    def number(self) -> str:
        """A number."""
        return f"{self.rng.choice([-1, 1]) * self.rng.uniform(0.2, 1.6):.2f}"

    def literal(self, shape: tuple[int, ...]) -> str:
        """A plain array."""
        if not shape:
            return self.number()
        return "[" + ", ".join(self.literal(shape[1:]) for _ in range(shape[0])) + "]"

    def expression(self, shape: tuple[int, ...], *, traced: bool = True) -> str:
        """An expression whose value can be broadcast to this shape; if not `traced`, of plain data alone."""
        names = [
            k
            for k, a in self.arrays().items()
            if _broadcasts(a.shape, shape) and (traced or k not in self.traced)
        ]
        if not names or self.rng.random() < 0.1:
            larger = self.pick(lambda a: a.size > 0, traced=traced)
            if larger is None or self.rng.random() < 0.4:
                return self.number()
            a = self.env[larger]
            return (
                f"np.tanh(np.sum({larger}.real))"
                if self.rng.random() < 0.4
                else f"{larger}[{self.position(a.shape)}]"
            )
        term = self.rng.choice(names)
        other = self.rng.choice(names)
        templates = [
            "{0}", "{0}", "np.sin({0})", "np.cos({0}) * {c}", "{c} * {0}", "{c} - {0}", "{0} * {1}", "np.sin({0} * {1})", "{0} + {1}",
            "{0} ** 2", "{0} / (3.0 + np.cos({1}.real))", "np.exp(-({0}.real ** 2))", "{0}.copy()", "+{0}", "-{0}",
            "np.where({0}.real > {c}, {0}, {1})", "np.tanh({0}.real) + {1}",
        ]  # fmt: skip
        return self.rng.choice(templates).format(term, other, c=self.number())

    def position(self, shape: tuple[int, ...]) -> str:
        """The index of one element."""
        if 0 in shape:
            return "..."
        found = [str(self.rng.randrange(-n, n)) for n in shape]
        return ", ".join(found) if found else "()"

    def basic(self, shape: tuple[int, ...]) -> str:
        """An index of integers and slices: it gives a view."""
        items = []
        for n in shape[: self.rng.randint(0, len(shape))]:
            step = self.rng.choice(
                [
                    "",
                    "",
                    "::-1",
                    "::2",
                    "1:",
                    ":-1",
                    "::-2",
                    "1::2",
                    f"{self.rng.randrange(n + 1)}:",
                    "int",
                    "int",
                ]
            )
            items.append(
                str(self.rng.randrange(-n, n)) if step == "int" and n else step if ":" in step else ":"
            )
            if self.rng.random() < 0.06:
                items.append("None")
        if not items or self.rng.random() < 0.15:
            items.insert(self.rng.randint(0, len(items)) if len(items) < len(shape) else len(items), "...")
        return ", ".join(items)

    def advanced(self, shape: tuple[int, ...]) -> str:
        """An index with integer arrays, some of which name a position twice, or with masks: it gives a copy."""
        if not shape or 0 in shape:
            return "..."
        kind = self.rng.choice(
            [
                "array",
                "array",
                "list",
                "mask",
                "masked axis",
                "several",
                "traced mask",
                "argsort",
                "variable",
                "2d",
            ]
        )
        axis = self.rng.randrange(len(shape))
        lead = ":, " * axis
        n = shape[axis]
        if kind in ("array", "list", "2d"):
            size = (2, 2) if kind == "2d" else (self.rng.randint(1, 4),)
            ints = (
                np.array([self.rng.randrange(-n, n) for _ in range(math.prod(size))]).reshape(size).tolist()
            )
            tail = self.rng.choice(["", "", ", ..., 0", ", ::-1"]) if len(shape) > axis + 1 else ""
            return lead + (f"{ints}" if kind == "list" else f"np.array({ints})") + tail
        if kind == "several" and len(shape) > 1:
            columns = [[self.rng.randrange(-m, m) for _ in range(3)] for m in shape[:2]]
            return (
                f"{columns[0]}, {columns[1]}"
                if len(shape) == 2 or self.rng.random() < 0.5
                else f"{columns[0]}, :, {columns[1][0]}"
            )
        if kind == "mask":
            return f"np.array({np.array([self.rng.random() < 0.5 for _ in range(math.prod(shape))]).reshape(shape).tolist()})"
        if kind == "masked axis":
            return f"{lead}np.array({[self.rng.random() < 0.6 for _ in range(n)]})"
        if kind == "traced mask":
            name = self.pick(lambda a: a.shape == shape)
            if name:
                return f"{name}.real > {self.number()}"
        if kind == "argsort":
            name = self.pick(lambda a: a.shape == (n,))
            if name:
                return lead + self.rng.choice([f"np.argsort({name}.real)", f"np.argmax({name}.real)"])
        names = [k for k, a in self.env.items() if k[0] == "i" and isinstance(a, np.ndarray) and a.max() < n]
        return lead + self.rng.choice(names) if names else f"{lead}[{self.rng.randrange(n)}]"

    def index(self, shape: tuple[int, ...]) -> str:
        """Any index."""
        r = self.rng.random()
        return self.basic(shape) if r < 0.5 else self.advanced(shape) if r < 0.85 else self.position(shape)

    def view(self, name: str) -> str:
        """An expression that NumPy makes a view of this array, wherever it can."""
        a = self.env[name]
        rank = a.ndim
        options = [
            f"{name}[{self.basic(a.shape)}]", f"{name}[{self.basic(a.shape)}]", f"{name}.T", f"np.transpose({name})", f"{name}.ravel()",
            f"np.ravel({name}, order={self.rng.choice('CFAK')!r})", f"{name}.reshape(-1)", f"{name}[None]", f"{name}[..., None]",
            f"np.squeeze({name})", f"np.expand_dims({name}, {self.rng.randint(-1, 0)})", f"{name}.real", f"{name}.imag", f"np.real({name})",
            f"np.flip({name})", f"np.atleast_1d({name})", f"np.atleast_2d({name})", f"np.asarray({name}, like={name})",
            f"np.reshape({name}, {self.shape_of_size(a.size)}, order={self.rng.choice('CFA')!r})", f"{name}.conj()",
            f"{name}.astype({name}.dtype, copy=False)", f"np.broadcast_to({name}, (2, *{a.shape}))", f"np.ascontiguousarray({name}, like={name})",
            f"np.asarray({name}, order={self.rng.choice('CFAK')!r}, like={name})", f"np.asfortranarray({name}, like={name})",
        ]  # fmt: skip
        if rank >= 1:
            options += [
                f"{name}[{self.rng.randrange(a.shape[0])}]" if a.shape[0] else name,
                f"np.array_split({name}, 2)[{self.rng.randint(0, 1)}]",
            ]
        if rank >= 2:
            i, j = self.rng.sample(range(rank), 2)
            options += [
                f"{name}.swapaxes({i}, {j})", f"np.swapaxes({name}, {i}, {j})", f"{name}.mT", f"np.moveaxis({name}, {i}, {j})",
                f"np.diagonal({name}, {self.rng.randint(-1, 1)})", f"{name}.diagonal()", f"np.fliplr({name})", f"np.rollaxis({name}, {i})",
                f"np.rot90({name}, {self.rng.randint(0, 3)})", f"{name}.transpose({', '.join(map(str, self.rng.sample(range(rank), rank)))})",
            ]  # fmt: skip
        return self.rng.choice(options)

    def copied(self, name: str) -> str:
        """An expression that gives a copy of (elements of) this array."""
        a = self.env[name]
        options = [
            f"{name}.copy()", f"np.copy({name})", f"{name}.copy(order='F')", f"{name}.flatten()", f"np.array({name}, like={name})", f"+{name}",
            f"{name}[{self.advanced(a.shape)}]", f"{name}.astype(complex)", f"np.stack([{name}, {name}])", f"np.tile({name}, {self.rng.randint(1, 2)})",
            f"np.repeat({name}, {self.rng.randint(1, 2)})", f"np.zeros_like({name})", f"np.ones_like({name})", f"np.full_like({name}, {self.number()})",
            f"np.zeros({self.rng.choice(SHAPES)}, like={name})", f"np.resize({name}, {self.rng.choice(SHAPES)})", f"np.sum({name}, keepdims=True)",
            f"np.where({name}.real > 0, {name}, {self.number()})", f"np.full({self.rng.choice(SHAPES)}, {self.number()}, like={name})",
            f"{name}.flatten('F')", f"np.conj({name})", f"np.positive({name})", f"{name}.T.copy()",
            f"np.zeros_like({name}, shape={self.rng.choice(SHAPES)})", f"np.broadcast_to({name}, (2, *{a.shape})).copy()",
        ]  # fmt: skip
        if a.ndim:
            options += [
                f"np.concatenate([{name}, {name}])", f"np.sort({name}.real)", f"np.roll({name}, 1)", f"np.cumsum({name})", f"np.take({name}, [0, -1])",
                f"np.diag({name})" if a.ndim < 3 else f"np.tril({name})", f"np.pad({name}, 1)", f"np.flip({name}).copy()", f"np.sum({name}, axis=0)",
                f"{name} @ {name}.T", f"np.einsum('...i->i...', {name})", f"np.delete({name}, 0, axis=0)", f"np.append({name}, 1.0)",
            ]  # fmt: skip
        return self.rng.choice(options)

    def shape_of_size(self, size: int) -> tuple[int, ...]:
        """A shape with this many elements."""
        shape: list[int] = []
        while size > 1 and len(shape) < 2:
            n = self.rng.choice([k for k in range(2, size + 1) if size % k == 0])
            shape.append(n)
            size //= n
        return (*shape, size) if size > 1 else tuple(shape) or (1,)


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def _is_tame(a: Any) -> bool:
    return a.size <= 60 and a.dtype.kind in "fc" and bool(np.all(np.abs(a) < LARGEST))
