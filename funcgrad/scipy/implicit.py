"""Solutions that SciPy has found, differentiated by the implicit function theorem.

`solved` takes a solution and the equation that it satisfies; the linear systems with the equation's derivative are solved by what
belongs to the problem (Sylvester's equation for Riccati's, conjugate gradients for a large system).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.transforms.equations import Equation, Flat, Limits, solution

Linear = Callable[[Flat, Flat, Flat], Sequence[Any]]


class Implicit(Equation):
    """residual(x, operands) = 0, where `inverse(x, operands, rhs)` applies the inverse of its derivative in x."""

    def __init__(self, name: str, residual: Callable[[Flat, Flat], Any], inverse: Linear, transposed: Linear) -> None:
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
