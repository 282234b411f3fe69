"""Python objects among the operands: NumPy computes with them, but no derivative goes through. They are refused, never a zero."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.errors import NonDifferentiableError

x = np.array([1.0, 2.0])
objects = np.array([1, 2.5], dtype=object)
half: Any = Fraction(1, 2)

FUNCTIONS: dict[str, Any] = {
    "array * objects": lambda v: v * objects,
    "objects - array": lambda v: objects - v,
    "array @ objects": lambda v: v @ objects,
    "array * Fraction": lambda v: v * half,
    "Fraction + array": lambda v: half + v,
    "object * number": lambda v: np.array(2, dtype=object) * v[0],
    "number + object": lambda v: v[0] + np.array(2, dtype=object),
    "maximum(number, object)": lambda v: np.maximum(v[0], np.array(2, dtype=object)),
    "number * Fraction": lambda v: v[0] * half,
    "array ** objects": lambda v: v**objects,
    "where": lambda v: np.where(v > 1, v, half),
    "concatenate": lambda v: np.concatenate([v, objects]),
    "einsum": lambda v: np.einsum("i,i", v, objects),
    "clip": lambda v: np.clip(v, half, None),
    "append": lambda v: np.append(v, half),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_objects_are_refused_where_a_derivative_would_go_through(name):
    def f(v):
        return np.sum(1.0 * FUNCTIONS[name](v))

    with pytest.raises(NonDifferentiableError, match=r" at .*test_objects.* on Python objects .* Write a\.astype\(float\)"):
        grad(f)(x)
    with pytest.raises(NonDifferentiableError, match="Python objects"):
        jvp(f, (x,), (x,))


def test_what_has_no_derivative_may_compute_with_objects():
    assert grad(lambda v: np.sum(v * (v > half)))(x).tolist() == [1.0, 1.0]
    assert grad(lambda v: np.sum(v * (v // half).astype(float)))(x).tolist() == [2.0, 4.0]
    assert np.sum(vmap(lambda v: v * half)(x)) == 1.5
