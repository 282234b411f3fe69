"""at(x)[index].set and its siblings, against NumPy's ufunc.at and against assignment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import at, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.testing import check_grads

UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
NAMES = ["set", *UFUNCS]
REPEATED = np.array([0, 0, 2, 0, 2])


def expected(name: str, x: Any, index: Any, v: Any) -> Any:
    """What NumPy's own writing functions give."""
    out = np.array(x)
    if name == "set":
        out[index] = v
    else:
        UFUNCS[name].at(out, index, v)
    return out


def updated(name: str, index: Any) -> Any:
    return lambda x, v: getattr(at(x)[index], name)(v)


INDICES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "integer": (1, (4,)),
    "negative": ((-1, -2), ()),
    "slice": (slice(None, None, 2), (2, 4)),
    "column": ((slice(None), 1), (3,)),
    "ellipsis": ((..., 0), (3,)),
    "mask": (np.arange(12).reshape(3, 4) % 5 < 2, (6,)),
    "list": ([2, 0], (2, 4)),
    "repeated": ([0, 0, 2], (3, 4)),
    "pairs": (([0, 0, 1, 0], [1, 2, 1, 1]), (4,)),
    "grid": (np.ix_([0, 2, 0], [1, 3]), (3, 2)),
    "nothing": ([], (0, 4)),
    "everything": (..., (3, 4)),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("index", "shape"), INDICES.values(), ids=INDICES)
def test_values_and_derivatives(name: str, index: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(3, 4)), rng.normal(size=shape)
    function = updated(name, index)
    np.testing.assert_allclose(function(x, v), expected(name, x, index, v), rtol=1e-15)
    np.testing.assert_allclose(vjp(function, x, v)[0], expected(name, x, index, v), rtol=1e-15)
    check_grads(function, (x, v), 2, ("fwd", "rev"))
    check_grads(lambda v: function(x, v), (v,), 1, ("fwd", "rev"))
    check_grads(lambda x: function(x, v), (x,), 1, ("fwd", "rev"))


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=6))
def test_any_positions_any_number_of_times(name: str, positions: list[tuple[int, int]]) -> None:
    index = tuple(np.array(positions, int).reshape(-1, 2).T)
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=(3, 4)), rng.normal(size=len(positions))
    value, pull = vjp(updated(name, index), x, v)
    np.testing.assert_allclose(value, expected(name, x, index, v), rtol=1e-14)
    t_x, t_v, ct = rng.normal(size=x.shape), rng.normal(size=v.shape), rng.normal(size=x.shape)
    tangent = jvp(updated(name, index), (x, v), (t_x, t_v))[1]
    ct_x, ct_v = pull(ct)
    assert np.sum(ct_x * t_x) + np.sum(ct_v * t_v) == pytest.approx(
        np.sum(ct * tangent), rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_number_is_written_everywhere(name: str) -> None:
    x = np.arange(1.0, 4.0)
    come = grad(lambda v: np.sum(updated(name, slice(0, 2))(x, v)))(1.5)
    assert come == {"set": 2.0, "add": 2.0, "multiply": 3.0, "min": 1.0, "max": 1.0}[name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "axes", [(0, 0, 0), (0, 0, None), (0, None, 0), (None, 0, 0), (None, 0, None), (None, None, 0)]
)
def test_vmap_is_a_loop(name: str, axes: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(2)
    full = rng.normal(size=(3, 4)), rng.integers(0, 4, size=(3, 5)), rng.normal(size=(3, 5))
    args = [b if axis == 0 else b[0] for b, axis in zip(full, axes, strict=True)]
    function = lambda x, i, v: updated(name, i)(x, v)
    pulled = lambda x, i, v: grad(lambda x, v: np.sum(function(x, i, v) ** 2), argnums=(0, 1))(x, v)
    examples = [[b[k] if axis == 0 else b for b, axis in zip(args, axes, strict=True)] for k in range(3)]
    np.testing.assert_allclose(vmap(function, axes)(*args), [function(*e) for e in examples], rtol=1e-13)
    for come, expect in zip(
        vmap(pulled, axes)(*args), zip(*[pulled(*e) for e in examples], strict=True), strict=True
    ):
        np.testing.assert_allclose(come, np.stack(expect), rtol=1e-12, atol=1e-13)


# ---- repeated positions ----------------------------------------------------------------------------------------------


def test_the_last_of_several_values_wins_also_for_the_gradient() -> None:
    dx, dv = grad(lambda x, v: np.sum(at(x)[[0, 0]].set(v)), argnums=(0, 1))(
        np.array([5.0, 6.0]), np.array([1.0, 2.0])
    )
    np.testing.assert_array_equal(dx, [0.0, 1.0])
    np.testing.assert_array_equal(dv, [0.0, 1.0])


def test_products_with_zeros_to_second_order() -> None:
    f = lambda v: np.sum(at(np.ones(2))[[0, 0, 0]].multiply(v))
    v = np.array([0.0, 3.0, 0.0])
    np.testing.assert_array_equal(grad(f)(v), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(hessian(f)(v), [[0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_ties_are_split_evenly_among_all_that_tie(jacobian: Any) -> None:
    x, v = np.array([4.0, 1.0]), np.array([4.0, 4.0, 2.0, 4.0])
    for name, sign in (("max", 1), ("min", -1)):
        dx, dv = jacobian(lambda x, v, name=name: updated(name, [0, 0, 0, 0])(x, v), argnums=(0, 1))(
            sign * x, sign * v
        )
        np.testing.assert_array_equal(dx, [[0.25, 0.0], [0.0, 1.0]])
        np.testing.assert_array_equal(dv, [[0.25, 0.25, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]])


# ---- zeros by structure ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["set", "min"])
def test_what_was_overwritten_contributes_nothing(name: str) -> None:
    with np.errstate(divide="ignore"):
        come = grad(lambda x: np.sum(getattr(at(1 / np.sqrt(x))[0], name)(2.0)))(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(come, [0.0, -1 / 16])


# ---- what x may be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_operand_is_left_as_it_is(name: str) -> None:
    x, v = np.arange(3.0), np.full(2, 5.0)

    def f(v: Any) -> Any:
        y = v * 1.0
        at(y)[0].set(0.0)
        return np.sum(updated(name, [0, 0])(x, y)) + np.sum(y)

    grad(f)(v)
    updated(name, 0)(x, 9.0)
    np.testing.assert_array_equal(x, np.arange(3.0))
    assert f(v) == np.sum(expected(name, x, [0, 0], v)) + 10.0


@pytest.mark.parametrize("name", NAMES)
def test_the_dtype_of_x_is_kept(name: str) -> None:
    x, v = np.ones(3, np.float32), np.full(2, 0.5)
    value, pull = vjp(updated(name, [0, 1]), x, v)
    assert value.dtype == np.float32
    assert [ct.dtype for ct in pull(value)] == [np.float32, np.float64]
    assert updated(name, 0)(np.arange(3), 2).dtype == int
    if name != "set":
        with pytest.raises(TypeError, match=r"float64 can't be cast to int64.*astype"):
            updated(name, 0)(np.arange(3), 0.5)


def test_lists_stand_for_arrays() -> None:
    np.testing.assert_array_equal(at([1.0, 2.0])[0].set(3.0), [3.0, 2.0])
    np.testing.assert_array_equal(grad(lambda t: at([t, 2.0])[[1]].add([t])[1])(3.0), 1.0)


def test_get_reads_a_plain_array_at_positions_that_differ_between_examples() -> None:
    table = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(vmap(lambda i: at(table)[i].get())(np.array([2, 0])), table[[2, 0]])
    come = vmap(lambda i, j: at(table)[i, [0, j]].get())(np.array([2, 0]), np.array([3, 1]))
    np.testing.assert_array_equal(come, [[8.0, 11.0], [0.0, 1.0]])


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_numpys(name: str) -> None:
    for x in (np.ones(3), [1.0, 2.0, 3.0]):
        with pytest.raises(IndexError):
            updated(name, 3)(x, 1.0)
        with pytest.raises(ValueError, match="broadcast"):
            updated(name, slice(None))(x, np.ones(2))
        with pytest.raises(ValueError, match="broadcast"):
            vjp(updated(name, slice(None)), np.ones(3), np.ones(2))


MORE = {"subtract": np.subtract, "divide": np.divide, "power": np.power}


@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("index", ["column", "mask", "repeated", "pairs"])
def test_the_other_operations(name: str, index: str) -> None:
    rng = np.random.default_rng(0)
    where, shape = INDICES[index]
    x, v = rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, shape)
    expected = np.array(x)
    MORE[name].at(expected, where, v)
    np.testing.assert_allclose(updated(name, where)(x, v), expected, rtol=1e-15)
    np.testing.assert_allclose(vjp(updated(name, where), x, v)[0], expected, rtol=1e-15)
    check_grads(updated(name, where), (x, v), 2)


def test_a_function_is_applied_as_often_as_a_position_is_named() -> None:
    x = np.array([0.3, 0.7, 1.1])
    expected = np.array(x)
    np.sin.at(expected, [0, 0, 2])
    f = lambda x: at(x)[[0, 0, 2]].apply(np.sin)
    np.testing.assert_array_equal(f(x), expected)
    check_grads(f, (x,), 2)
    np.testing.assert_allclose(np.diag(jacfwd(f)(x)), [np.cos(0.3) * np.cos(np.sin(0.3)), 1.0, np.cos(1.1)])
    np.testing.assert_allclose(vmap(f)(np.stack([x, 2 * x])), [f(x), f(2 * x)])
    np.testing.assert_array_equal(at(x)[1:].apply(lambda v: 0.0), [0.3, 0.0, 0.0])


def test_results_that_do_not_fit_the_dtype_are_refused() -> None:
    with pytest.raises(TypeError, match=r"float64 can't be cast to int64.*at\(x\.astype\(float64\)\)"):
        at(np.array([4, 6]))[0].divide(2)
