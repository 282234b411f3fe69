"""Solutions that SciPy has found, differentiated by the implicit function theorem.

`solved` takes a solution and the equation that it satisfies; the linear systems with the equation's
derivative are solved by what belongs to the problem (Sylvester's equation for Riccati's, conjugate gradients
for a large system).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import tree
from funcgrad.transforms.equations import Equation, Flat, Limits, solution
from funcgrad.transforms.programs import write_down


def written(
    function: Callable[..., Any], own: Sequence[Any], args: Any = ()
) -> tuple[list[Any], Callable[..., Any]]:
    """function(*own, *args) with all that it depends on among its operands: `args`, and what it closes over.

    Returns these, and the function `call(own, given)` of them. It is for operands of the same values only.
    """
    leaves, structure = tree.flatten(tuple(args))
    n = len(own)
    recording = write_down(
        lambda flat: [function(*flat[:n], *tree.unflatten(structure, flat[n:]))], [*own, *leaves]
    )
    program = recording.program
    places = [next((k for k in range(n) if own[k] is operand), None) for operand in recording.operands]

    def call(own: Sequence[Any], given: Sequence[Any]) -> Any:
        rest = iter(given)
        return program.filled(program([next(rest) if k is None else own[k] for k in places]))[0]

    return [o for o, k in zip(recording.operands, places, strict=True) if k is None], call


Linear = Callable[[Flat, Flat, Flat], Sequence[Any]]


class Implicit(Equation):
    """residual(x, operands) = 0; `inverse(x, operands, rhs)` applies the inverse of its derivative in x."""

    def __init__(
        self, name: str, residual: Callable[[Flat, Flat], Any], inverse: Linear, transposed: Linear
    ) -> None:
        super().__init__(lambda x, operands: list(residual(x, operands)), Limits(name, None, None, 1))
        self.inverse, self.transposed = inverse, transposed

    def forward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return self.inverse(x, operands, [-r for r in rhs])

    def backward(self, x: Flat, operands: Flat, rhs: Flat) -> Flat:
        return self.transposed(x, operands, [-r for r in rhs])


def solved(
    name: str,
    x: Any,
    operands: Sequence[Any],
    residual: Callable[..., Any],
    inverse: Callable[..., Any],
    transposed: Callable[..., Any],
) -> Any:
    """x, with its derivatives in `operands`, where residual(x, *operands) = 0.

    `inverse(x, operands, rhs)` solves for dx in d(residual)/dx dx = rhs, `transposed` the transposed system.
    """
    equation = Implicit(
        name,
        lambda x, given: [residual(x[0], *given)],
        lambda x, given, rhs: [inverse(x[0], given, rhs[0])],
        lambda x, given, rhs: [transposed(x[0], given, rhs[0])],
    )
    return solution(equation, [x], list(operands))[0]
