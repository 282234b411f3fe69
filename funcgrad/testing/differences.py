"""Finite differences of a function of pytrees, one leaf at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.errors import ArgumentError
from funcgrad.transforms.derivatives import jvp, vjp
from funcgrad.transforms.leaves import one_for_each
from funcgrad.transforms.wrapping import name_of

# By the bytes of the coarsest number involved: the tolerance (absolute and relative), and the largest step. A
# difference is wrong by about step**4 + rounding / step; the tolerance leaves room for badly scaled
# functions.
TOLERANCES = {2: 1e-1, 4: 2e-3, 8: 1e-6}
LARGEST_STEPS = {2: 2e-1, 4: 2e-2, 8: 1e-3}


@dataclass(frozen=True)
class Tolerances:
    """The tolerances and the step, where the user gave them."""

    atol: float | None
    rtol: float | None
    eps: float | None

    def allowed(self, values: Sequence[Any], size: Any) -> Any:
        """The difference allowed for numbers of this size that were computed from these values."""
        default = TOLERANCES[precision(values)]
        return (default if self.atol is None else self.atol) + (
            default if self.rtol is None else self.rtol
        ) * size

    def steps(self, values: Sequence[Any]) -> list[float]:
        """The steps to try, from the largest on; none so small that rounding is all that is left."""
        if self.eps is not None:
            return [self.eps]
        largest, rounding = LARGEST_STEPS[precision(values)], max(np.finfo(x.dtype).eps for x in values)
        return [largest / 4**k for k in range(7) if k < 2 or largest / 4**k > 300 * rounding]


def precision(values: Sequence[Any]) -> int:
    """Bytes of the coarsest float among these values (of one part, if complex), 8 at most."""
    return min([8, *(np.finfo(x.dtype).dtype.itemsize for x in values if x.dtype.kind in "fc")])


@dataclass(frozen=True)
class LeafProgram:
    """A function of its arguments' floating leaves that gives a list of floating arrays; with names."""

    run: Callable[..., list[Any]]
    title: str
    leaves: list[Any]
    names: list[str]
    outputs: list[str]

    @classmethod
    def of(cls, f: Callable[..., Any], args: Sequence[Any]) -> LeafProgram:
        one_for_each("check_grads: args", args)
        pairs, structure = tree.flatten_with_path(tuple(args))
        chosen = [i for i, (_, x) in enumerate(pairs) if as_value(x).dtype.kind in "fc"]
        if not chosen:
            raise ArgumentError(
                "check_grads: args holds no floating number, so there is nothing to differentiate in"
            )

        def run(*leaves: Any) -> list[Any]:
            full = [x for _, x in pairs]
            for i, leaf in zip(chosen, leaves, strict=True):
                full[i] = leaf
            return [o for _, o in floating(f(*tree.unflatten(structure, full)))]

        names = [
            f"argument {tree.keystr(pairs[i][0][:1])[1:-1]}{tree.keystr(pairs[i][0][1:])}" for i in chosen
        ]
        outputs = [f"output{tree.keystr(path)}" for path, _ in floating(f(*args))]
        if not outputs:
            raise ArgumentError(
                f"check_grads: {name_of(f)} returned no floating number, so there is nothing to check"
            )
        return cls(run, name_of(f), [as_value(pairs[i][1]) for i in chosen], names, outputs)

    def pushed(self, tangents: list[Any]) -> LeafProgram:
        """The derivative along `tangents`, by forward mode."""

        def run(*leaves: Any) -> list[Any]:
            return jvp(self.run, leaves, tangents)[1]

        return LeafProgram(
            run, self.title, self.leaves, self.names, [f"the tangent of {o}" for o in self.outputs]
        )

    def pulled(self, cts: list[Any]) -> LeafProgram:
        """The derivative with cotangents `cts`, by reverse mode."""

        def run(*leaves: Any) -> list[Any]:
            return list(vjp(self.run, *leaves)[1](cts))

        return LeafProgram(
            run, self.title, self.leaves, self.names, [f"the cotangent of {n}" for n in self.names]
        )


def as_value(x: Any) -> Any:
    """`x` as an array or NumPy scalar."""
    return x if hasattr(x, "dtype") else np.asarray(x)[()]


def floating(out: Any) -> list[tuple[Any, Any]]:
    """The outputs that have a derivative, with their paths."""
    pairs = [(path, as_value(o)) for path, o in tree.flatten_with_path(out)[0]]
    return [(path, o) for path, o in pairs if o.dtype.kind in "fc"]


def direction(rng: np.random.Generator, x: Any, scale: Any) -> Any:
    """Random numbers like `x`, between half of `scale` and all of it."""
    parts = [rng.uniform(0.5, 1.0, np.shape(x)) * rng.choice([-1.0, 1.0], np.shape(x)) for _ in range(2)]
    t = parts[0] + 1j * parts[1] if x.dtype.kind == "c" else parts[0]
    return np.asarray(t * scale).astype(x.dtype)[()]


def basis(x: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The unit directions of an array, each with the index of its element; two for a complex element."""
    for index in np.ndindex(x.shape):
        for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
            direction = np.zeros(x.shape, x.dtype)
            direction[index] = unit
            yield index, direction


@dataclass(frozen=True)
class Reference:
    """The derivative of all outputs along the direction `t` of leaf `i`, and how uncertain it is."""

    i: int
    t: Any
    derivative: list[Any]
    uncertainty: float


def reference(program: LeafProgram, i: int, t: Any, outs: list[Any], limits: Tolerances) -> Reference:
    """By central differences, with the step that agrees best with the one before it."""
    values = [program.leaves[i], *outs]
    best: Reference | None = None
    last: list[Any] = []
    for step in limits.steps(values):
        now = difference(program, i, t, step)
        gap = max((_gap(a, b) for a, b in zip(last, now, strict=False)), default=np.inf)
        if best is None or gap < best.uncertainty:
            best = Reference(i, t, now, gap)
        if gap <= 1e-3 * limits.allowed(values, 1):
            break
        last = now
    assert best is not None
    return best


def _gap(a: Any, b: Any) -> float:
    """The largest relative difference."""
    return float(np.max(abs(a - b) / np.maximum(1, abs(b)), initial=0))


def difference(program: LeafProgram, i: int, t: Any, step: float) -> list[Any]:
    """(8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12 h: the central difference of fourth order."""

    def at(multiple: float) -> list[Any]:
        leaves = list(program.leaves)
        leaves[i] = np.asarray(leaves[i] + multiple * step * t).astype(leaves[i].dtype)[()]
        with np.errstate(all="ignore"):  # the points around x may lie outside the domain
            return [np.asarray(o, dtype=np.result_type(o, np.float64)) for o in program.run(*leaves)]

    differences = zip(at(1), at(-1), at(2), at(-2), strict=True)
    return [(8 * (near - near_) - (far - far_)) / (12 * step) for near, near_, far, far_ in differences]
