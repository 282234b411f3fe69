"""Contractions of every rank and form, in both modes and under vmap; what they refuse; what they remember."""

from __future__ import annotations

import gc
import weakref
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jvp, value_and_grad, vjp
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.errors import TracerWriteError, UnsupportedFunctionError
from funcgrad.rules.contractions import outer
from tests.rules.linear import assert_multilinear, numbers

dtypes = st.sampled_from([np.float64, np.complex128])
sizes = st.integers(0, 3)
COMPLEX = np.complex128

# ---- matmul and its relatives ----------------------------------------------------------------------------------------


@st.composite
def stacks(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast with each other."""
    shape = draw(st.lists(sizes, max_size=2))
    cut = lambda: tuple(draw(st.sampled_from([n, 1])) for n in shape[draw(st.integers(0, len(shape))) :])
    return cut(), cut()


@settings(max_examples=25, deadline=None)
@given(stacks(), sizes, sizes, sizes, dtypes, dtypes)
def test_matmul_of_broadcast_stacks(shapes: Any, n: int, k: int, m: int, first: Any, second: Any) -> None:
    assert_multilinear(np.matmul, numbers((*shapes[0], n, k), first), numbers((*shapes[1], k, m), second))


@pytest.mark.parametrize(
    "shapes",
    [((64, 9), (64, 5)), ((600,), (64, 4)), ((8, 70), (3, 1, 2)), ((64, 9), (64, 1)), ((700,), (200,))],
    ids=str,
)
@pytest.mark.parametrize("first", [np.float32, float, COMPLEX, int], ids=lambda t: t.__name__)
@pytest.mark.parametrize("second", [np.float32, float], ids=lambda t: t.__name__)
def test_outer_products_of_many_rows(shapes: Any, first: Any, second: Any) -> None:
    x, y = numbers(shapes[0], float).astype(first), numbers(shapes[1], float).astype(second)
    out, expected = outer(x, y), np.matmul(x[..., :, None], y[..., None, :])
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(out, expected)


@settings(max_examples=25, deadline=None)
@given(stacks(), sizes, sizes, dtypes, dtypes)
def test_matmul_with_vectors(shapes: Any, n: int, k: int, first: Any, second: Any) -> None:
    assert_multilinear(np.matmul, numbers((*shapes[0], n, k), first), numbers((k,), second))
    assert_multilinear(np.matmul, numbers((k,), second), numbers((*shapes[0], k, n), first))
    assert_multilinear(np.matmul, numbers((k,), first), numbers((k,), second))


@settings(max_examples=25, deadline=None)
@given(stacks(), sizes, sizes, dtypes, dtypes)
def test_vecdot_matvec_vecmat(shapes: Any, n: int, k: int, first: Any, second: Any) -> None:
    vectors, others = numbers((*shapes[0], k), first), numbers((*shapes[1], k), second)
    assert_multilinear(np.vecdot, vectors, others)
    if hasattr(np, "matvec"):  # NumPy 2.2
        assert_multilinear(np.matvec, numbers((*shapes[0], n, k), first), others)
        assert_multilinear(np.vecmat, vectors, numbers((*shapes[1], k, n), second))


def test_a_vecdot_conjugates_its_first_operand_only() -> None:
    x, y = np.array([1 + 2j, 3.0]), np.array([1j, 2.0])
    for function in (np.vecdot, np.vdot, np.linalg.vecdot):
        first, second = grad(lambda x, y, f=function: f(x, y).real, argnums=(0, 1))(x, y)
        np.testing.assert_allclose(first, y.conj())  # d Re(conj(x) y) = Re(conj(y) dx)
        np.testing.assert_allclose(second, x.conj())


@pytest.mark.parametrize(
    ("axes", "shapes"),
    [
        ([(1, 0), (0, 1), (1, 0)], [(3, 2), (3, 2)]),
        ([(0, 1), (2, 0), (0, 2)], [(2, 3, 4), (2, 4, 3)]),
        ([(-1, -2), (-2, -1), (-1, -2)], [(3, 2), (3, 2)]),
    ],
)
def test_matmul_along_other_axes(axes: Any, shapes: Any) -> None:
    assert_multilinear(lambda x, y: np.matmul(x, y, axes=axes), *map(numbers, shapes))


def test_axes_that_a_ufunc_does_not_take_are_refused() -> None:
    x = np.eye(2)
    for call in (lambda x: np.matmul(x, x, axis=0), lambda x: np.matmul(x, x, keepdims=True)):
        with pytest.raises(TypeError, match="matmul"):
            grad(lambda x, call=call: call(x).sum())(x)
    with pytest.raises(TypeError, match="axis"):
        grad(lambda x: np.add(x, x, axis=0).sum())(x)
    with pytest.raises(UnsupportedFunctionError, match="dtype="):
        grad(lambda x: np.matmul(x, x, signature="dd->d").sum())(x)


# ---- sums over pairs of axes -----------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(sizes, max_size=3), st.lists(sizes, max_size=2), dtypes, dtypes)
def test_dot_and_inner(left: Any, right: Any, first: Any, second: Any) -> None:
    a = numbers(tuple(left), first)
    k = left[-1] if left else 2
    assert_multilinear(np.inner, a, numbers((*right, k), second))
    assert_multilinear(np.dot, a, numbers((*right[:-1], k, *right[-1:]), second))
    assert_multilinear(np.dot, numbers((), first), numbers(tuple(right), second))


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(4)), st.permutations(range(3)), st.integers(0, 3), st.booleans())
def test_tensordot_over_any_axes(of_a: Any, of_b: Any, count: int, negative: bool) -> None:
    of_a, of_b = of_a[:count], of_b[:count]
    shape_a, shape_b = [2, 3, 1, 2], [3, 2, 2]
    for i, j in zip(of_a, of_b, strict=True):
        shape_b[j] = shape_a[i]
    axes = ([i - 4 for i in of_a] if negative else of_a, of_b)
    assert_multilinear(
        lambda a, b: np.tensordot(a, b, axes), numbers(tuple(shape_a)), numbers(tuple(shape_b))
    )


@pytest.mark.parametrize(
    "axes", [0, 1, 2, np.int64(1), (-1, 0), [[1], [0]], np.array([[1, 0], [0, 1]])], ids=str
)
def test_forms_of_the_axes_of_tensordot(axes: Any) -> None:
    a, b = numbers((3, 3)), numbers((3, 3))
    assert_multilinear(lambda a, b: np.tensordot(a, b, axes=axes), a, b)
    assert_multilinear(lambda a, b: np.linalg.tensordot(a, b, axes=axes), a, b)


def test_a_scalar_of_dot_collects_the_whole_sum() -> None:
    np.testing.assert_array_equal(
        grad(lambda a: np.sum(np.dot(a, 3.0)))(np.ones((2, 2))), np.full((2, 2), 3.0)
    )
    assert grad(lambda s: np.sum(np.dot(np.arange(3.0), s)))(2.0) == 3.0
    assert grad(lambda s: np.sum(np.inner(s, np.arange(4.0))))(2.0) == 6.0


# ---- chains ----------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=6), st.booleans(), st.booleans())
def test_multi_dot(sizes: Any, row: bool, column: bool) -> None:
    factors = [numbers(pair) for pair in pairwise(sizes)]
    factors[0] = factors[0][0] if row else factors[0]
    factors[-1] = factors[-1][..., 0] if column else factors[-1]
    function = lambda *factors: np.linalg.multi_dot(factors)
    ts = [numbers(x.shape) for x in factors]
    out, pull = vjp(function, *factors)
    np.testing.assert_allclose(out, function(*factors), rtol=1e-12)
    ct = numbers(np.shape(out))
    moved = sum(function(*factors[:i], t, *factors[i + 1 :]) for i, t in enumerate(ts))
    np.testing.assert_allclose(jvp(function, factors, ts)[1], moved, rtol=1e-9, atol=1e-9)
    pulled = sum(np.sum(part * t) for part, t in zip(pull(ct), ts, strict=True))
    np.testing.assert_allclose(pulled, np.sum(ct * moved), rtol=1e-9, atol=1e-9)


# ---- refusals --------------------------------------------------------------------------------------------------------

REFUSED = {
    "multi_dot of one": (lambda x: np.linalg.multi_dot([x]), ValueError, "at least two"),
    "multi_dot of a stack": (
        lambda x: np.linalg.multi_dot([x, x[None], x]),
        np.linalg.LinAlgError,
        "takes matrices",
    ),
    "multi_dot into out": (
        lambda x: np.linalg.multi_dot([x, x], out=np.ones((3, 3))),
        TracerWriteError,
        "multi_dot",
    ),
    "dot into out": (lambda x: np.dot(x, x, out=np.ones((3, 3))), TracerWriteError, "dot"),
    "linalg.outer of matrices": (lambda x: np.linalg.outer(x, x), ValueError, "takes vectors"),
    "linalg.cross of long vectors": (lambda x: np.linalg.cross(x[:, :2], x), ValueError, "3-dimensional"),
    "cross of long vectors": (lambda x: np.cross(np.ones(4), x), ValueError, "incompatible dimensions"),
    "matmul of a scalar": (lambda x: np.matmul(x, x[0, 0]), ValueError, "matmul"),
    "unequal sizes": (lambda x: np.tensordot(x, x[:2], axes=1), ValueError, "mismatch"),
}


@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vjp(call, np.eye(3))


# ---- values and memory -----------------------------------------------------------------------------------------------


def test_what_meets_a_stack_is_summed_back() -> None:
    a, stack = np.arange(4.0).reshape(2, 2), np.arange(8.0).reshape(2, 2, 2)
    first = grad(lambda a: np.sum((a @ stack) ** 2))(a)
    np.testing.assert_array_equal(first, sum(2 * (a @ s) @ s.T for s in stack))
    second = grad(lambda v: np.sum(stack @ v))(np.ones(2))
    np.testing.assert_array_equal(second, stack.sum(axis=(0, 1)))


def test_second_derivatives_of_a_bilinear_form() -> None:
    w = np.array([[1.0, 2.0], [3.0, 4.0]])
    for form in (
        lambda v: v @ w @ v,
        lambda v: np.vdot(v, np.dot(w, v)),
        lambda v: np.einsum("i,ij,j", v, w, v),
    ):
        np.testing.assert_allclose(hessian(form)(np.array([1.0, -1.0])), w + w.T)


def test_the_same_operand_on_both_sides() -> None:
    x = numbers((2, 2))
    value, gradient = value_and_grad(lambda x: np.trace(x @ x))(x)
    np.testing.assert_allclose(value, np.trace(x @ x))
    np.testing.assert_allclose(gradient, 2 * x.T)


@pytest.mark.parametrize(
    "function", [np.matmul, np.dot, np.tensordot, np.inner, np.vdot, np.outer], ids=lambda f: f.__name__
)
def test_an_operand_is_not_kept_for_its_own_cotangent(function: Any) -> None:
    x = np.ones((2, 2))
    seen = weakref.ref(x)
    with ReverseTrace() as trace:
        out = function(trace.leaf(x), np.ones((2, 2)))
    del x
    gc.collect()
    assert out._node is not None
    assert seen() is None
