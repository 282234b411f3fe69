"""Functions that write into their first argument: into tracers, never a tracer into a plain array."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad.numpy
from funcgrad import grad, jacrev, jvp, stop_gradient, vjp, vmap
from funcgrad.errors import (
    BatchedControlFlowError,
    OutputError,
    TracerConversionError,
    TracerError,
    TracerWriteError,
    UnsupportedFunctionError,
)
from tests.rules.moving import raises_as_numpy

_MASK = np.array([True, False, True])

WRITES = {
    "copyto": lambda a, v: np.copyto(a, v),
    "copyto where": lambda a, v: np.copyto(a, v, where=_MASK),
    "putmask": lambda a, v: np.putmask(a, _MASK, v),
    "place": lambda a, v: np.place(a, _MASK, v),
    "put": lambda a, v: np.put(a, [0, 2, 0], v),
    "put_along_axis": lambda a, v: np.put_along_axis(a, np.array([2, 0, 1]), v, axis=0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_tracer_is_written_into_as_an_array_is(write: Any) -> None:
    x, v = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])

    def written(x: Any, v: Any) -> Any:
        out = np.copy(x)
        assert write(out, v) is None
        return out

    value, pull = vjp(written, x, v)
    np.testing.assert_array_equal(value, written(x, v))
    # Every element is one of x or one of v: NumPy tells which, by writing positions.
    source = written(np.arange(3.0), np.arange(3.0, 6.0)).astype(int)
    ct = np.array([1.0, 10.0, 100.0])
    np.testing.assert_array_equal(np.concatenate(pull(ct)), np.bincount(source, ct, minlength=6))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_plain_array_is_not_written_into(write: Any) -> None:
    plain = np.zeros(3)
    with pytest.raises(
        TracerWriteError, match=r"plain array of shape \(3,\).*(funcgrad\.at|np\.where|zeros_like)"
    ):
        grad(lambda v: write(plain, v))(np.ones(3))
    np.testing.assert_array_equal(plain, 0.0)


def test_a_diagonal_is_filled_with_a_tracer_only_in_a_tracer() -> None:
    def f(x: Any, v: Any) -> Any:
        out = np.zeros_like(x)
        np.fill_diagonal(out, v)
        return np.sum(out * np.arange(9.0).reshape(3, 3))

    dx, dv = grad(f, argnums=(0, 1))(np.ones((3, 3)), np.ones(3))
    np.testing.assert_array_equal(dx, np.zeros((3, 3)))
    np.testing.assert_array_equal(dv, [0.0, 4.0, 8.0])
    with pytest.raises(TracerError):
        grad(lambda v: np.fill_diagonal(np.zeros((3, 3)), v))(np.ones(3))


@given(st.lists(st.integers(-6, 5), min_size=1, max_size=8), st.sampled_from(["raise", "wrap", "clip"]))
def test_put_at_any_positions(positions: list[int], mode: Any) -> None:
    shifted = positions if mode == "raise" else [3 * p for p in positions]

    def f(x: Any, v: Any) -> Any:
        out = np.copy(x)
        np.put(out, shifted, v, mode=mode)
        return out

    value, pull = vjp(f, np.zeros((2, 3)), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(value, f(np.zeros((2, 3)), np.array([1.0, 2.0])))
    dx, dv = pull(np.ones((2, 3)))
    np.testing.assert_array_equal(dx, value == 0)
    np.testing.assert_array_equal(dv, [np.sum(value == 1), np.sum(value == 2)])


REFUSED = {
    "copyto of another dtype": lambda x: np.copyto(np.copy(x), 1j * x),
    "copyto of another shape": lambda x: np.copyto(np.copy(x), np.ones(4)),
    "put out of range": lambda x: np.put(np.copy(x), 6, 1.0),
    "put_along_axis of another rank": lambda x: np.put_along_axis(np.copy(x), np.array([0]), 1.0, axis=1),
    "put_along_axis out of range": lambda x: np.put_along_axis(np.copy(x), np.array([6]), 1.0, axis=None),
    "fill_diagonal of a vector": lambda x: np.fill_diagonal(np.copy(x)[0], 1.0),
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses_is_refused(function: Any) -> None:
    raises_as_numpy(function, np.ones((2, 3)))


# ---- a tracer never gets into a plain array --------------------------------------------------------------------------

INTO_PLAIN = [
    "a += x", "a -= x", "a *= x", "a /= x", "a **= x", "a //= x", "a %= x", "m @= np.outer(x, x)", "a[:2] += x[:2]",
    "a[0] = x[0]", "a[0] += x[0]", "a[:] = x", "a[...] = x", "a[[0, 1]] = x[:2]", "a[a == 0] = x", "m[0, 1] = x[0]", "m[0] = x",
    "a[0], a[1] = x[0], x[1]", "a[:2] = [x[0], x[1]]", "a[...] = [x[0], 1.0, x[1]]", "a.flat = x", "a.flat[0] = x[0]",
    "a.real = x", "np.add(a, x, out=a)", "np.add(x, x, a)", "np.sin(x, out=a)", "np.sum(m * x, axis=0, out=a)",
    "x.sum(out=a[:1], keepdims=True)", "np.cumsum(x, out=a)", "x.cumsum(out=a)", "np.matmul(m + x, x, out=a)",
    "np.dot(m + x, x, a)", "np.einsum('i,i->i', x, x, out=a)", "np.concatenate([x], out=a)", "np.clip(x, 0, 1, out=a)",
    "np.take(x, [0, 1, 2], out=a)", "np.mean(m * x, axis=0, out=a)", "np.add.reduce(m * x, out=a)", "np.copyto(a, x)",
    "a.fill(x[0])", "a.put([0], x[0])", "np.put(a, [0], x[0])", "np.place(a, a == 0, x)", "np.putmask(a, a == 0, x)",
    "np.fill_diagonal(m, x)", "np.add.at(a, [0], x[0])", "np.multiply.at(a, [0], x[0])",
    "np.put_along_axis(a, np.array([0]), x[:1], 0)", "a = np.array(x)", "a = np.array([x[0], 1.0])",
    "a = np.asarray([x[0]], dtype=object)", "a = np.array([x], dtype=object)", "a = np.fromiter((v for v in x), float)",
    "a = x.astype(object)", "a = np.stack([x]).astype(object)",
]  # fmt: skip


@pytest.mark.parametrize("line", INTO_PLAIN)
def test_a_tracer_written_into_a_plain_array_says_how_to_begin(line: str) -> None:
    arrays = {"a": np.zeros(3), "m": np.zeros((3, 3))}

    def f(x: Any) -> Any:
        space = {"np": np, "x": x, **{name: a.copy() for name, a in arrays.items()}}
        try:
            exec(line, space)
        finally:
            for name, a in arrays.items():
                assert space[name].dtype == a.dtype
                np.testing.assert_array_equal(space[name], a)
        return np.sum(space["a"])

    x = np.array([0.5, 1.5, 2.5])
    words = r"(?s)(funcgrad\.adapt.*funcgrad\.numpy.*np\.zeros_like\(x\)|x\.tolist)"
    pushed, batched = lambda x: jvp(f, (x,), (x,)), lambda x: vmap(f)(np.stack([x, x]))
    for transform in (grad(f), pushed, batched, lambda x: vjp(f, x), jacrev(grad(f))):
        with pytest.raises(TracerError, match=words):
            transform(x)


def test_an_iteration_over_memory_says_what_to_write() -> None:
    iterate: Any = np.nditer
    for options in ({}, {"op_flags": ["readwrite"]}):
        with pytest.raises(TracerConversionError, match=r"np\.nditer.*np\.ndindex\(x\.shape\)"):
            grad(lambda x: list(iterate(x, **options)))(np.ones(3))


def test_object_arrays_that_hold_tracers_are_followed_or_refused() -> None:
    def held(x: Any) -> Any:
        a = np.empty(3, object)
        a[0], a[1], a[2] = x[0], x[1], 1.0
        return a

    x = np.array([0.5, 1.5, 2.5])
    np.testing.assert_array_equal(grad(lambda x: np.sum(held(x) * 2.0))(x), [2.0, 2.0, 0.0])
    for transform in (
        lambda: vjp(held, x),
        lambda: jvp(held, (x,), (x,)),
        lambda: vmap(held)(np.stack([x, x])),
    ):
        with pytest.raises(OutputError, match="object array that holds tracers"):
            transform()


def test_what_shares_memory_with_a_plain_array_is_not_written_into() -> None:
    a = np.array([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        y = np.asarray(a, like=x)
        y[1:][0] = x[0]
        return np.sum(y)

    for transform in (grad(f), lambda x: jvp(f, (x,), (x,)), lambda x: vmap(f)(np.stack([x, x]))):
        with pytest.raises(TracerWriteError, match=r"plain array a.*np\.array\(a, like=x\)"):
            transform(a.copy())
    assert a[1] == 2.0

    def g(x: Any) -> Any:
        y = np.array(a, like=x)
        y[1:][0] = x[0]
        return np.sum(y * y)

    np.testing.assert_array_equal(grad(g)(a.copy()), [2.0, 0.0, 0.0])


def test_resize_is_refused() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y.resize(2)
        return np.sum(y)

    with pytest.raises(UnsupportedFunctionError, match=r"np\.resize\(x, new_shape\)"):
        grad(f)(np.ones(3))


def test_casts_are_those_of_numpy() -> None:
    mask = np.array([True, False, True])
    writes: list[Any] = [
        lambda a, v: np.place(a, mask, v), lambda a, v: np.putmask(a, mask, v), lambda a, v: np.put(a, [0, 2], v),
        np.copyto, lambda a, v: a.__iadd__(v), lambda a, v: np.add(a, v, out=a), lambda a, v: a.__setitem__(slice(None), v),
        lambda a, v: np.sum(v[None], axis=0, out=a), lambda a, v: np.cumsum(v, out=a), lambda a, v: np.add.reduce(v[None], out=a),
    ]  # fmt: skip

    def outcome(write: Any, a: Any, v: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            try:
                write(a, v)
            except TypeError:
                return "TypeError"
        return a * 1

    for write in writes:
        for to in (np.float32, np.float64, np.complex64, np.complex128):
            for dtype in (np.float32, np.float64, np.complex128):
                a, v = np.array([1, 2, 3], to), np.array([4, 5, 6], dtype)
                expected = outcome(write, a.copy(), v)
                found: list[Any] = []
                vjp(lambda a, v: found.append(stop_gradient(outcome(write, a * 1, v))) or a, a, v)
                if isinstance(expected, str):
                    assert found == [expected]
                else:
                    np.testing.assert_array_equal(
                        vjp(lambda a, v: outcome(write, a * 1, v), a, v)[0], expected
                    )


def test_places_that_differ_between_examples() -> None:
    def at_the_positive(values: Any) -> Any:
        def f(x: Any) -> Any:
            y = x * 1
            np.place(y, y > 0, values(x))
            return y

        return f

    x = np.array([[1.0, -1.0], [-2.0, 3.0]])
    np.testing.assert_array_equal(vmap(at_the_positive(lambda x: 5.0))(x), [[5.0, -1.0], [-2.0, 5.0]])
    np.testing.assert_array_equal(vmap(at_the_positive(lambda x: x[:1] * 2))(x), [[2.0, -1.0], [-2.0, -4.0]])
    with pytest.raises(BatchedControlFlowError, match=r"np\.place.*np\.where\(mask, values, a\)"):
        vmap(at_the_positive(lambda x: x * 2))(x)


def test_booleans_and_the_places_where_something_holds_are_indices() -> None:
    def written(x: Any) -> Any:
        x[True] = x * 2
        x[np.False_] = 9.0
        x[np.where(x[..., 0] > 1)] *= x[0, 1]
        return np.concatenate([x, x[True][0], x[False].reshape(0, 2)])

    x = np.array([[0.3, 0.5], [0.7, 0.2]])
    expected = written(x.copy())
    np.testing.assert_array_equal(vjp(written, x)[0], expected)
    np.testing.assert_array_equal(vmap(written)(np.stack([x, x]))[1], expected)
    direction = np.cos(x)
    np.testing.assert_allclose(
        np.tensordot(jacrev(written)(x), direction), jvp(written, (x,), (direction,))[1], rtol=1e-14
    )
    for transform in (lambda f: vjp(f, x), lambda f: vmap(f)(np.stack([x, x]))):
        with pytest.raises(IndexError, match="boolean index did not match"):
            transform(lambda x: x.__setitem__(np.array([True, False, True]), 1.0))


def test_what_numpy_does_not_sort_by_is_refused() -> None:
    for write in (
        lambda x: x.sort(kind="bubble"),
        lambda x: x.sort(order="name"),
        lambda x: x.partition(0, kind="bubble"),
    ):
        raises_as_numpy(write, np.ones((2, 3)))


@pytest.mark.parametrize("module", [np, funcgrad.numpy], ids=["numpy", "funcgrad.numpy"])
def test_a_result_is_repeated_in_a_larger_out_where_numpy_does_so(module: Any) -> None:
    def written(x: Any) -> Any:
        out = x * 0
        module.matmul(x, x, out=out)
        module.add(out, x[:1], out=out)
        for refused in (lambda: module.sum(x, out=out), lambda: module.add(x[None], x, out=out)):
            with pytest.raises(ValueError, match="out"):
                refused()
        return out

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(vjp(written, x)[0], [15.0, 15.0, 15.0])
    np.testing.assert_array_equal(written(x), [15.0, 15.0, 15.0])


def test_an_example_is_no_batch_though_the_shapes_agree() -> None:
    m, x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.arange(6.0).reshape(2, 3)

    def filled(m: Any, x: Any) -> Any:
        y, z = np.zeros_like(m), m * 1
        y[...] = x  # two examples of three numbers, into an array of 2 x 3
        np.multiply(z, x, out=z)
        return np.sum(y * z)

    together = grad(lambda m: np.sum(vmap(lambda x: filled(m, x))(x)))(m)
    np.testing.assert_array_equal(together, sum(grad(filled)(m, row) for row in x))


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (1, 1, 3)])
def test_values_may_have_axes_of_length_one_in_front(shape: tuple[int, ...]) -> None:
    def written(v: Any) -> Any:
        y = funcgrad.numpy.zeros(3)
        y[:] = v
        return np.sum(y * np.arange(1.0, 4.0))

    slopes = grad(written)(np.ones(shape))
    expected = np.full(shape, 6.0) if shape[-1] == 1 else np.arange(1.0, 4.0).reshape(shape)
    np.testing.assert_array_equal(slopes, expected)
    np.testing.assert_array_equal(jvp(written, (np.ones(shape),), (np.ones(shape),))[1], 6.0)
