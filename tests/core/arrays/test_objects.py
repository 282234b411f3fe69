"""Python objects among the operands: NumPy computes with them; they are refused, never a zero."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.errors import FuncgradError, NonDifferentiableError

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

    with pytest.raises(
        NonDifferentiableError, match=r" at .*test_objects.* on Python objects .* Write a\.astype\(float\)"
    ):
        grad(f)(x)
    with pytest.raises(NonDifferentiableError, match="Python objects"):
        jvp(f, (x,), (x,))


def test_what_has_no_derivative_may_compute_with_objects():
    assert grad(lambda v: np.sum(v * (v > half)))(x).tolist() == [1.0, 1.0]
    assert grad(lambda v: np.sum(v * (v // half).astype(float)))(x).tolist() == [2.0, 4.0]
    assert np.sum(vmap(lambda v: v * half)(x)) == 1.5


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        (np.ones((1, 2)).view(np.matrix), r"np\.matrix.* Write np\.asarray\(x\), and @"),
        (np.ma.array([1.0, 2.0], mask=[True, False]), r"masked array.* Write x\.filled\(0\)"),
    ],
)
def test_arrays_that_compute_otherwise_are_refused(operand: Any, message: str) -> None:
    for f in (
        lambda v: np.sum(v * operand),
        lambda v: np.sum(np.add(operand, v)),
        lambda v: np.sum(np.where(v > 1, v, operand)),
    ):
        for run in (grad(f), lambda v: jvp(f, (v,), (v,)), lambda v: vmap(f)(v[None])):
            with pytest.raises(
                NonDifferentiableError, match="beside a tracer, at .*test_objects.*" + message
            ):
                run(x)
    for run in (grad(np.sum), lambda v: jvp(np.sum, (v,), (v,)), vmap(np.sum)):
        with pytest.raises(FuncgradError, match=message):
            run(operand)


def test_other_subclasses_are_taken_as_arrays(tmp_path: Any) -> None:
    stored = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(2,))
    stored[:] = x
    np.testing.assert_array_equal(grad(lambda v: np.sum(v * stored))(stored), x)
