"""What a transform says about a function, compared with its finite differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from funcgrad.errors import GradientCheckError
from funcgrad.testing.differences import (
    LARGEST_STEPS,
    LeafProgram,
    Reference,
    Tolerances,
    basis,
    difference,
    precision,
)
from funcgrad.transforms.derivatives import jvp, vjp


@dataclass(frozen=True)
class Comparison:
    """What a transform says about a program, compared with finite differences."""

    program: LeafProgram
    outs: list[Any]
    references: list[Reference]
    limits: Tolerances
    history: tuple[str, ...]

    def check_push(self) -> None:
        """Compare jvp with the differences, for one leaf after the other and for all together."""
        leaves, names = self.program.leaves, self.program.names
        zeros = [np.zeros(np.shape(x), x.dtype)[()] for x in leaves]
        for r in self.references:
            self._compare_push([*zeros[: r.i], r.t, *zeros[r.i + 1 :]], [r], names[r.i])
        if len(leaves) > 1:
            self._compare_push([r.t for r in self.references], self.references, " and ".join(names))

    def _compare_push(self, tangents: list[Any], references: list[Reference], names: str) -> None:
        values, pushed = jvp(self.program.run, self.program.leaves, tangents)
        self._check_values(values, "jvp")
        for k, (o, c) in enumerate(zip(self.outs, pushed, strict=True)):
            what = f"the derivative of {self.program.outputs[k]} with respect to {names}"
            require_like(self._where(what), o, c, "the output")
            terms = [r.derivative[k] for r in references]
            if not agree(sum(terms), c, self.limits.allowed([*self.program.leaves, o], sum(map(abs, terms)))):
                self._fail(what, sum(terms), "jvp", c, _doubt(references))

    def check_pull(self, cts: list[Any]) -> None:
        """Compare the sum of Re(pull(ct) * t) with that of Re(ct * derivative along t), leaf by leaf."""
        values, pull = vjp(self.program.run, *self.program.leaves)
        self._check_values(values, "vjp")
        for r, x, ct in zip(self.references, self.program.leaves, pull(cts), strict=True):
            what = f"the cotangent of {self.program.names[r.i]}"
            require_like(self._where(what), x, ct, "the argument")
            terms = [c * d for c, d in zip(cts, r.derivative, strict=True)]
            expected, came = _paired(terms), _paired([ct * r.t])
            size = sum(np.sum(abs(term)) for term in terms)
            if not agree(expected, came, self.limits.allowed([x, *self.outs], size)):
                self._fail(what, expected, "vjp", came, self._worst_element(cts, r, ct) + _doubt([r]))

    def _check_values(self, values: list[Any], way: str) -> None:
        """Tracing must not change what the function returns."""
        for name, e, c in zip(self.program.outputs, self.outs, values, strict=True):
            where = self._where(f"the value of {name} under {way}")
            require_like(where, e, c, "the plain result")
            if not agree(e, c, self.limits.allowed([*self.program.leaves, e], abs(e))):
                raise GradientCheckError(differs(where, "a plain call", e, way, c))

    def _worst_element(self, cts: list[Any], r: Reference, ct: Any) -> str:
        """The element of a wrong cotangent that is furthest off, with what it should be; for small arrays."""
        x = self.program.leaves[r.i]
        if not 1 < np.size(x) <= 100:
            return ""
        expected = np.zeros(np.shape(x), x.dtype)
        for index, unit in basis(x):
            parts = difference(self.program, r.i, unit, LARGEST_STEPS[precision([x])])
            value = _paired([c * d for c, d in zip(cts, parts, strict=True)])
            expected[index] += value if unit[index].real else -1j * value
        off = np.nan_to_num(abs(expected - ct), nan=np.inf)
        index = tuple(int(k) for k in np.unravel_index(np.argmax(off), off.shape))
        return f"\n  furthest off at {list(index)}: expected {expected[index]}, came {ct[index]}"

    def _where(self, what: str) -> str:
        modes = " over ".join(reversed(self.history))
        return f"{self.program.title}: {what} is wrong (mode {modes!r}, order {len(self.history)})"

    def _fail(self, what: str, expected: Any, way: str, came: Any, remark: str) -> NoReturn:
        truth = "finite differences along a random direction"
        raise GradientCheckError(differs(self._where(what), truth, expected, way, came) + remark)


def _paired(terms: list[Any]) -> Any:
    """The real part of the sum of all elements: how a cotangent acts on a tangent."""
    return sum((np.sum(term.real) for term in terms), np.float64(0))


def agree(expected: Any, came: Any, limit: Any) -> bool:
    """Is every number within its limit? NaN agrees with nothing, inf with itself; integers must be equal."""
    if np.asarray(expected).dtype.kind not in "fc":
        return np.array_equal(expected, came)
    with np.errstate(invalid="ignore"):
        return bool(np.all((abs(came - expected) <= limit) | (came == expected)))


def require_like(where: str, like: Any, came: Any, what: str) -> None:
    """Demand the shape and dtype of `like`."""
    expected, actual = [(np.shape(x), np.asarray(x).dtype) for x in (like, came)]
    if expected != actual:
        lines = f"expected: shape {expected[0]}, {expected[1]}, as {what} has\n  came: shape {actual[0]}, {actual[1]}"
        raise GradientCheckError(f"{where}\n  {lines}")


def differs(where: str, truth: str, expected: Any, way: str, came: Any) -> str:
    """The message for a wrong number."""
    texts = [
        np.array2string(np.asarray(x), threshold=20, separator=", ", prefix=" " * 12)
        for x in (expected, came)
    ]
    return f"{where}\n  expected: {texts[0]} ({truth})\n  came: {texts[1]} ({way})"


def _doubt(references: list[Reference]) -> str:
    """A remark, if the differences themselves may be what is wrong."""
    worst = max(r.uncertainty for r in references)
    if not 1e-4 < worst < np.inf:
        return ""
    return f"\n  These differences are uncertain by {worst:.1g} (a kink nearby, or rounding): move the point, or give eps."
