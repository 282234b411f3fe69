"""vmap: axes, trees, sizes, and what it says when they don't fit."""

from __future__ import annotations

import pickle
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, tree, value_and_grad, vjp, vmap
from funcgrad.errors import ArgumentError, LoopWarning, OutputError
from funcgrad.testing import check_vmap

A = np.sin(np.arange(24.0)).reshape(2, 3, 4)
Pair = namedtuple("Pair", "x y")


# ---- axes ------------------------------------------------------------------------------------------------------------


@given(st.integers(-3, 2), st.integers(-3, 2))
def test_axes_in_and_out(in_axis: int, out_axis: int) -> None:
    came = vmap(lambda m: 2 * m, in_axis, out_axis)(A)
    np.testing.assert_array_equal(came, 2 * np.moveaxis(A, in_axis, out_axis))
    reduced = vmap(lambda m: np.sum(m, axis=0), in_axis, out_axis % 3 % 2)(A)
    rest = np.moveaxis(A, in_axis, 0)
    np.testing.assert_allclose(reduced, np.moveaxis(rest.sum(axis=1), 0, out_axis % 3 % 2))


def test_an_axis_for_each_argument() -> None:
    f = lambda x, y: x * y
    np.testing.assert_array_equal(vmap(f, (0, None))(A, 10.0), 10 * A)
    np.testing.assert_array_equal(vmap(f, (None, 0))(10.0, A), 10 * A)
    np.testing.assert_array_equal(vmap(f, (0, -1))(A[0], A[0].T), A[0] ** 2)
    np.testing.assert_array_equal(vmap(f, [0, None])(A, 10.0), 10 * A)
    np.testing.assert_array_equal(
        vmap(vmap(f, (None, 0)), (0, None))(np.arange(2.0), np.arange(3.0)), [[0, 0, 0], [0, 1, 2]]
    )


def test_an_axis_for_each_output() -> None:
    total, reverse = vmap(lambda r: (np.sum(r), r[::-1]), out_axes=(0, 1))(A[0])
    np.testing.assert_allclose(total, A[0].sum(axis=1))
    np.testing.assert_array_equal(reverse, A[0][:, ::-1].T)
    a, b = vmap(lambda r, c: (r, c), (0, None), (0, None))(A[0], 5.0)
    np.testing.assert_array_equal(a, A[0])
    assert b == 5.0


def test_outputs_that_ignore_the_batch_are_repeated() -> None:
    np.testing.assert_array_equal(vmap(lambda r: 7.0)(np.arange(3.0)), [7, 7, 7])
    came = vmap(lambda r: np.array([1, 2]), out_axes=1)(np.arange(3.0))
    np.testing.assert_array_equal(came, [[1, 1, 1], [2, 2, 2]])
    came[0, 0] = 5  # its own memory
    assert came[0, 1] == 1
    assert vmap(lambda r: "text", out_axes=None)(np.arange(3.0)) == "text"


def test_axis_size() -> None:
    np.testing.assert_array_equal(vmap(lambda: 2.0, axis_size=3)(), [2, 2, 2])
    np.testing.assert_array_equal(vmap(lambda x: x, in_axes=None, axis_size=2)(3.0), [3, 3])
    np.testing.assert_array_equal(vmap(lambda x: x, axis_size=3)(np.arange(3.0)), np.arange(3))


# ---- trees -----------------------------------------------------------------------------------------------------------


def test_trees_in_and_out() -> None:
    came = vmap(lambda p: {"y": p.x * 2, "n": None, "z": [p.y[0]]})(Pair(np.arange(2.0), [np.ones(2)]))
    np.testing.assert_array_equal(came["y"], [0, 2])
    assert came["n"] is None
    np.testing.assert_array_equal(came["z"][0], [1, 1])
    assert type(vmap(lambda p: p)(Pair(np.ones(2), np.ones(2)))) is Pair


def test_axes_are_prefixes_of_the_arguments() -> None:
    p, x = {"w": A[0], "b": [np.arange(4.0), 2.0]}, A[1].T
    f = lambda p, x: np.sum(p["w"] * p["b"][1]) + p["b"][0] @ x[:1].repeat(4)
    check_vmap(f, (p, x), ({"w": 0, "b": None}, 1))
    check_vmap(f, (p, x), ({"w": 0, "b": [None, None]}, 1))
    check_vmap(lambda p, x: np.sum(p["w"]) + p["c"], ({"w": A[0], "c": np.arange(3.0)}, None), (0, None))
    came = vmap(lambda x: {"a": x, "b": (x, 2 * x)}, out_axes={"a": 1, "b": 0})(A[0])
    np.testing.assert_array_equal(came["a"], A[0].T)
    np.testing.assert_array_equal(came["b"][1], 2 * A[0])


def test_keywords_are_batched_along_axis_0() -> None:
    np.testing.assert_array_equal(vmap(lambda x, *, y: x * y)(np.arange(3.0), y=np.arange(3.0)), [0, 1, 4])
    came = vmap(lambda x, *, p: x * p["y"], in_axes=(None,))(2.0, p={"y": np.arange(3.0)})
    np.testing.assert_array_equal(came, [0, 2, 4])


def test_lists_and_python_numbers_are_leaves_or_trees_as_elsewhere() -> None:
    x, y = vmap(lambda xs: (xs[0] + xs[1], xs[0]))([np.arange(2.0), np.ones(2)])
    np.testing.assert_array_equal(x, [1, 2])
    np.testing.assert_array_equal(y, [0, 1])


# ---- the function ----------------------------------------------------------------------------------------------------


def test_identity_of_the_function_is_kept() -> None:
    @vmap
    def double(x: Any) -> Any:
        """Twice."""
        return 2 * x

    @vmap(in_axes=1)
    def total(x: Any) -> Any:
        return x.sum()

    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert repr(double) == "<vmap of double>"
    np.testing.assert_allclose(total(A[0]), A[0].sum(axis=0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(vmap(np.sin)))(A), np.sin(A))


def test_the_function_runs_once() -> None:
    runs: list[Any] = []
    vmap(lambda x: (runs.append(x.shape), x)[1])(A)
    assert runs == [(3, 4)]


def test_dtypes_stay() -> None:
    for dtype in (np.float32, np.complex64, np.int32, bool):
        assert vmap(lambda x: x)(np.ones(3, dtype)).dtype == dtype
    assert vmap(lambda x: x * 2)(np.ones(3, np.float32)).dtype == np.float32
    assert vmap(lambda x: x + 1)(np.arange(3)).dtype == int


# ---- with the other transforms ---------------------------------------------------------------------------------------


def loss(w: Any, x: Any, y: Any) -> Any:
    return np.sum((np.tanh(x @ w["a"]) @ w["b"] - y) ** 2)


W = {"a": A[0].T, "b": A[1][0, :3]}
XS, YS = np.cos(np.arange(20.0)).reshape(5, 4), np.arange(5.0)


def test_per_example_gradients() -> None:
    came = vmap(grad(loss), (None, 0, 0))(W, XS, YS)
    for k in range(5):
        for c, e in zip(tree.leaves(came), tree.leaves(grad(loss)(W, XS[k], YS[k])), strict=True):
            np.testing.assert_allclose(c[k], e)
    values, gradients = vmap(value_and_grad(loss), (None, 0, 0))(W, XS, YS)
    np.testing.assert_allclose(values, [loss(W, x, y) for x, y in zip(XS, YS, strict=True)])
    np.testing.assert_allclose(gradients["b"], came["b"])
    np.testing.assert_allclose(
        came["a"].sum(axis=0), grad(lambda w: np.sum(vmap(loss, (None, 0, 0))(w, XS, YS)))(W)["a"]
    )


@pytest.mark.parametrize("transform", [jacrev, jacfwd, hessian], ids=["jacrev", "jacfwd", "hessian"])
def test_matrices_of_each_example(transform: Any) -> None:
    f = lambda x: np.sin(x) * x[::-1] if transform is not hessian else np.sum(np.sin(x) * x[::-1] ** 2)
    check_vmap(transform(f), (XS,))


def test_vmap_of_vjp_and_of_jvp() -> None:
    f = lambda x: np.sin(x) * np.sum(x)
    check_vmap(lambda x, ct: vjp(f, x)[1](ct)[0], (XS, XS[::-1]))
    check_vmap(lambda x, t: jvp(f, (x,), (t,))[1], (XS, XS[::-1]))
    _, pull = vjp(f, XS[0])
    check_vmap(lambda ct: pull(ct)[0], (XS,))
    check_vmap(lambda t: jvp(f, (XS[0],), (t,))[1], (XS,))


def test_grad_of_vmap() -> None:
    f = lambda x: np.sum(vmap(lambda r: np.sin(r) @ r)(x))
    np.testing.assert_allclose(grad(f)(XS), np.cos(XS) * XS + np.sin(XS))
    np.testing.assert_allclose(jvp(f, (XS,), (XS,))[1], np.sum(grad(f)(XS) * XS))
    inner = grad(lambda x: vmap(grad(lambda y: np.sin(x * y)))(np.array([1.0, 2.0])).sum())(0.5)
    y = np.array([1.0, 2.0])
    assert inner == pytest.approx(np.sum(np.cos(0.5 * y) - 0.5 * y * np.sin(0.5 * y)))


def test_a_deep_stack() -> None:
    f = lambda x, y: np.sin(x * y)
    came = grad(lambda x: vmap(lambda y: jvp(grad(f, 1), (x, y), (1.0, 0.0))[1])(np.arange(3.0)).sum())(0.7)
    expected = grad(lambda x: sum(grad(grad(f, 1), 0)(x, y) for y in np.arange(3.0)))(0.7)
    assert came == pytest.approx(expected)


# ---- wrong calls -----------------------------------------------------------------------------------------------------


def test_sizes_that_differ_are_listed_by_argument() -> None:
    with pytest.raises(ArgumentError) as caught:
        vmap(lambda x, p, *, c: x, in_axes=(0, {"w": 1, "b": 0}))(
            np.ones(2), {"w": np.ones((4, 3)), "b": np.ones(2)}, c=np.ones(2)
        )
    lines = str(caught.value).splitlines()
    assert "must all have one size" in lines[0]
    assert "  argument 0: size 2 along axis 0 (shape (2,))" in lines
    assert "  argument 1['w']: size 3 along axis 1 (shape (4, 3))" in lines
    assert "  keyword argument c: size 2 along axis 0 (shape (2,))" in lines
    with pytest.raises(ArgumentError, match="axis_size=3"):
        vmap(lambda x: x, axis_size=3)(np.ones(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vmap(3), r"vmap takes a function, not int"),
        (
            lambda: vmap(lambda x, y: x, in_axes=(0,))(A, A),
            r"in_axes has 1 entries.*called with 2 positional arguments",
        ),
        (
            lambda: vmap(lambda x: x, in_axes=3)(A),
            r"axis 3 of argument 0, which has 3 axes \(shape \(2, 3, 4\)\).*in_axes=None",
        ),
        (lambda: vmap(lambda x: x)(2.0), r"axis 0 of argument 0, which has 0 axes"),
        (lambda: vmap(lambda x, y: x)(A, 2.0), r"axis 0 of argument 1, which has 0 axes"),
        (lambda: vmap(lambda x: x, in_axes=None)(A), r"no argument has a batched axis.*axis_size=n"),
        (lambda: vmap(lambda: 1.0)(), r"no argument has a batched axis"),
        (lambda: vmap(lambda x: x, in_axes=True), r"in_axes must hold ints and None, not True \(bool\)"),
        (lambda: vmap(lambda x: x, in_axes=(0, 1.0)), r"not 1\.0 \(float\)"),
        (lambda: vmap(lambda x: x, out_axes="0"), r"out_axes must hold ints and None"),
        (lambda: vmap(lambda x: x, in_axes=({"w": 0},))({"v": A}), r"in_axes.*does not fit"),
        (lambda: vmap(lambda x: (x, x), out_axes=(0,))(A), r"out_axes.*does not fit"),
        (lambda: vmap(lambda x: x, out_axes=5)(A), r"out_axes=5 for an output with 3 axes"),
        (
            lambda: vmap(lambda x: x, out_axes=None)(A),
            r"out_axes is None for an output of <lambda> that differs",
        ),
        (
            lambda: vmap(lambda x: "text")(A),
            r"returned a str among its outputs, which can't be stacked.*out_axes=None",
        ),
    ],
)
def test_wrong_calls_say_what_to_write(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


def test_the_users_own_error_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1 / 0)(A)


@pytest.mark.parametrize("axis_size", [-1, "3", 2.0])
def test_a_size_of_no_batch(axis_size: Any) -> None:
    with pytest.raises(ArgumentError, match="axis_size must be an int"):
        vmap(lambda x: x, axis_size=axis_size)


def test_a_tracer_shows_all_examples_and_says_how_many():
    seen = []
    vmap(lambda x: seen.append((str(x), repr(x))) or x)(np.arange(4.0).reshape(2, 2))
    assert seen == [("[[0. 1.]\n [2. 3.]]", "BatchTracer([[0., 1.],\n             [2., 3.]], 2 examples)")]


# ---- examples run one by one -----------------------------------------------------------------------------------------
def collatz_like(x, scale):
    """Branches, a loop whose length depends on the numbers, an integer, a mask, conversions."""
    y = np.zeros_like(x)
    n = 0
    while np.sum(np.abs(x)) > 1.0 and n < 20:
        x, n = x * 0.7, n + 1
    if x[0] > x[1]:
        y[: int(n) % 3] = x[0] * scale
    y[x > 0] += np.sum(x[x > 0.1])
    return {"y": y * scale, "n": n}, float(np.asarray(x)[0]) * 2


LOOPED = (np.array([[1.0, 2.0, 3.0], [3.0, -1.0, 0.2], [0.1, 0.2, -0.3], [2.0, 2.0, 2.0]]), 1.5)


@pytest.mark.parametrize("axes", [(0, None, 0), (1, None, -1)])
def test_branches_are_looped_over_if_asked(axes):
    rows, scale = LOOPED
    given = rows if axes[0] == 0 else rows.T.copy()
    before = given.copy()
    with pytest.warns(
        LoopWarning, match=r"collatz_like is called 4 times, once for each example.* Write np\.where"
    ):
        out, first = vmap(collatz_like, axes[:2], ({"y": axes[2], "n": 0}, 0), on_branch="loop")(given, scale)
    expected = [collatz_like(row.copy(), scale) for row in rows]
    np.testing.assert_array_equal(out["y"], np.stack([e[0]["y"] for e in expected], axis=axes[2]))
    np.testing.assert_array_equal(out["n"], [e[0]["n"] for e in expected])
    np.testing.assert_array_equal(first, [e[1] for e in expected])
    np.testing.assert_array_equal(given, before)


def relu_chain(x):
    return np.sum(x**2) if x[0] > 0 else -np.sum(x**3)


@pytest.mark.filterwarnings("ignore::funcgrad.errors.LoopWarning")
def test_loops_nest_with_every_transform():
    rows, _ = LOOPED
    looped = vmap(relu_chain, on_branch="loop")
    gradients = [grad(relu_chain)(row) for row in rows]
    np.testing.assert_array_equal(vmap(grad(relu_chain), on_branch="loop")(rows), gradients)
    np.testing.assert_array_equal(grad(lambda x: np.sum(looped(x)))(rows), gradients)
    np.testing.assert_array_equal(
        vmap(hessian(relu_chain), on_branch="loop")(rows), [hessian(relu_chain)(r) for r in rows]
    )
    np.testing.assert_allclose(jvp(looped, (rows,), (rows,))[1], np.sum(gradients * rows, axis=1), rtol=1e-14)
    both = vmap(lambda a: vmap(relu_chain, on_branch="loop")(a * rows), on_branch="loop")(
        np.array([1.0, -2.0])
    )
    np.testing.assert_array_equal(both, [looped(rows), looped(-2 * rows)])


def test_without_a_branch_nothing_is_looped_over(recwarn):
    np.testing.assert_array_equal(vmap(lambda x: x * 2, on_branch="loop")(np.ones(3)), 2 * np.ones(3))
    assert not recwarn.list
    with pytest.raises(ValueError, match="other"):
        vmap(lambda x: 1 if x > 0 else _raise(ValueError("other")), on_branch="loop")(np.array([1.0, -1.0]))


def test_a_branch_whose_error_a_library_has_replaced_is_looped_over():
    def swallowing(x):
        try:
            return 3 * x if x > 0 else x
        except Exception:  # noqa: BLE001 (as the operators of np.polynomial do)
            raise TypeError("unsupported operand") from None

    with pytest.warns(LoopWarning, match="swallowing is called 2 times"):
        out = vmap(swallowing, on_branch="loop")(np.array([1.0, -1.0]))
    np.testing.assert_array_equal(out, [3.0, -1.0])
    with pytest.raises(TypeError, match="unsupported operand"):
        vmap(swallowing)(np.array([1.0, -1.0]))


def _raise(error):
    raise error


@pytest.mark.filterwarnings("ignore::funcgrad.errors.LoopWarning")
def test_what_cannot_be_stacked_is_an_error():
    with pytest.raises(OutputError, match="different structures"):
        vmap(lambda x: (x,) if x > 0 else x, on_branch="loop")(np.array([1.0, -1.0]))
    with pytest.raises(ArgumentError, match="out_axes is None"):
        vmap(lambda x: x if x > 0 else 2 * x, out_axes=None, on_branch="loop")(np.array([1.0, -1.0]))
    assert vmap(lambda x: min(x, 5.0) * 0 + 1, out_axes=None, on_branch="loop")(np.array([1.0, -1.0])) == 1
    with pytest.raises(ArgumentError, match="on_branch"):
        vmap(np.sin, on_branch="skip")
