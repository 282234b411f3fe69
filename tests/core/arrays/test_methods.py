"""A tracer looks like an ndarray: methods, attributes, operators, text; and what it refuses."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import re
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, stop_gradient, vjp, vmap
from funcgrad.core.arrays.methods import ArrayMethods
from funcgrad.core.engine.reverse import ReverseTrace, ReverseTracer
from funcgrad.errors import TracerConversionError
from funcgrad.testing import check_grads

X = np.array([[0.3, -1.2, 2.5], [1.7, 0.4, -0.6]])
W = np.arange(1.0, 7.0).reshape(2, 3)


def traced(x: Any = X) -> Any:
    """A tracer of an open trace."""
    return ReverseTrace().leaf(np.asarray(x))


def looks_the_same(f: Callable[[Any], Any], x: Any = X) -> None:
    """`f` gives the same of a tracer as of an array, and its derivatives are right."""
    expected = f(x)
    came = vjp(f, x)[0]
    assert (np.shape(came), np.asarray(came).dtype) == (np.shape(expected), np.asarray(expected).dtype)
    np.testing.assert_array_equal(came, expected)
    check_grads(f, (x,), order=2)


# ---- methods ---------------------------------------------------------------------------------------------------------

METHODS = {
    "sum": lambda x: x.sum(axis=0),
    "sum, keepdims": lambda x: x.sum(-1, keepdims=True),
    "prod": lambda x: x.prod(axis=1),
    "mean": lambda x: x.mean(axis=(0, 1)),
    "var": lambda x: x.var(axis=0, ddof=1),
    "std": lambda x: x.std(),
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(),
    "cumsum": lambda x: x.cumsum(axis=1),
    "cumprod": lambda x: x.cumprod(0),
    "dot": lambda x: x.dot(W.T),
    "diagonal": lambda x: x.diagonal(),
    "ravel": lambda x: x.ravel(order="F"),
    "flatten": lambda x: x.flatten(),
    "squeeze": lambda x: x[:, None].squeeze(axis=1),
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "repeat": lambda x: x.repeat(2, axis=0),
    "take": lambda x: x.take([2, 0, 0], axis=1),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "clip": lambda x: x.clip(-1.0, 2.0),
    "clip, keywords": lambda x: x.clip(min=0.0),
    "round": lambda x: x.round(1) * x,
    "conj": lambda x: x.conj() + x.conjugate(),
    "reshape": lambda x: x.reshape(3, -1),
    "reshape to a tuple": lambda x: x.reshape((3, 2), order="F"),
    "reshape to an int": lambda x: x.reshape(-1),
    "transpose": lambda x: x.transpose(),
    "transpose, axes": lambda x: x[None].transpose(2, 0, 1) + x[None].transpose((2, 0, 1)),
    "astype": lambda x: x.astype(np.float64) * x.astype("f8", copy=False),
    "copy": lambda x: x.copy(),
    "item": lambda x: x[:1, :1].item() * x.item(3) * x.item(1, 2) * x.item((0, 1)),
    "T": lambda x: x.T @ x,
    "mT": lambda x: x.mT @ x,
    "real": lambda x: x.real * 2 + x.imag,
    "flat": lambda x: sum(v * k for k, v in enumerate(x.flat)),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    looks_the_same(METHODS[name])


QUESTIONS = {
    "argmax": lambda x: x.argmax(axis=1),
    "argmin": lambda x: x.argmin(),
    "argsort": lambda x: x.argsort(axis=0),
    "argpartition": lambda x: np.sort(x.argpartition(1, axis=1)[:, :1]),
    "any": lambda x: (x > 2).any(axis=0),
    "all": lambda x: (x > -5).all(),
    "nonzero": lambda x: (x * (x > 0)).nonzero(),
    "searchsorted": lambda x: x[0].searchsorted(0.0, sorter=np.argsort(X[0])),
    "comparisons": lambda x: [x < 0, x <= 0, x > W, x <= W, x == x, x != 1.0],
    "shape": lambda x: x.shape,
    "ndim, size": lambda x: (x.ndim, x.size, x.itemsize, x.nbytes, x.dtype),
    "len": len,
    "shape of parts": lambda x: [row.shape for row in x],
    "in": lambda x: (0.3 in x, 7.0 in x),
    "bool": lambda x: [bool(x[0, 0] > 0), not x[0, 0], x[1, 1] > 0 and x[0, 1] < 0],
    "int": lambda x: [
        int(x[0, 2]),
        math.trunc(x[0, 2]),
        math.floor(x[0, 1]),
        math.ceil(x[0, 1]),
        round(x[0, 2]),
    ],
    "index": lambda x: [10, 20, 30][x.argmax(axis=1)[0]],
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_have_plain_answers(name: str) -> None:
    f = QUESTIONS[name]
    answers: list[Any] = []
    grad(lambda x: (answers.append(f(x)), np.sum(x))[1])(X)
    grad(lambda x: grad(lambda y: (answers.append(f(y)), np.sum(y * x))[1])(x).sum())(X)
    jvp(lambda x: (answers.append(f(x)), x)[1], (X,), (X,))
    expected = f(X)
    assert len(answers) == 3
    parts = lambda answer: answer if isinstance(answer, (list, tuple)) else [answer]
    for answer in answers:
        assert type(answer) is type(expected)
        for a, e in zip(parts(answer), parts(expected), strict=True):
            assert type(a) is type(e)
            np.testing.assert_array_equal(a, e)


def test_every_method_of_ndarray_is_there_or_refused_by_name() -> None:
    missing = {name for name in dir(np.ndarray) if not name.startswith("_")} - set(dir(ReverseTracer))
    # Ways to look into memory, to write to files, or to change the array's layout.
    memory = "base byteswap ctypes data dump dumps flags getfield resize setfield setflags strides to_device tofile"
    assert missing <= set(memory.split())


# ---- operators -------------------------------------------------------------------------------------------------------

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "%": operator.mod,
    "//": operator.floordiv,
}
OTHERS = {
    "float": 1.5,
    "int": 2,
    "float64": np.float64(1.5),
    "float32": np.float32(1.5),
    "int64": np.int64(2),
    "array": W,
    "0-d array": np.array(1.5),
    "row": np.array([1.5, 2.5, 0.5]),
    "float32 array": W.astype(np.float32),
    "int array": W.astype(int),
    "list": [1.5, 2.5, 0.5],
    "bool": True,
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_on_either_side(symbol: str, other: str) -> None:
    op, y, x = OPERATORS[symbol], OTHERS[other], abs(X)
    for f in (lambda x: op(x, y), lambda x: op(y, x)):
        value, expected = vjp(f, x)[0], f(x)
        assert (value.shape, value.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(value, expected)
        if symbol in "+-*/**":
            check_grads(f, (x,))


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_keep_single_precision(symbol: str) -> None:
    x = abs(X).astype(np.float32)
    for y in (1.5, 2, np.float32(1.5), x, True, np.float64(1.5), W):
        for f in (lambda x: OPERATORS[symbol](x, y), lambda x: OPERATORS[symbol](y, x)):
            value, pull = vjp(f, x)
            assert value.dtype == f(x).dtype
            assert pull(np.ones_like(value))[0].dtype == np.float32
            assert jvp(f, (x,), (x,))[1].dtype == value.dtype


def test_matmul_on_either_side() -> None:
    for f in (
        lambda x: x @ W.T,
        lambda x: W.T @ x,
        lambda x: x @ np.ones(3),
        lambda x: np.ones(2) @ x,
        lambda x: x @ x.T,
    ):
        looks_the_same(f)
    np.testing.assert_array_equal(grad(lambda x: [1.0, 2.0] @ x @ [1.0, 1.0, 1.0])(X), [[1, 1, 1], [2, 2, 2]])


def test_unary_operators() -> None:
    for f in (operator.neg, operator.pos, abs):
        looks_the_same(f)
    seen: list[Any] = []
    grad(lambda x: (seen.append(~(x > 0)), seen.append((x > 0) & (x < 2) | (x == 1) ^ True), np.sum(x))[2])(X)
    np.testing.assert_array_equal(seen[0], X <= 0)


def test_divmod_and_pow() -> None:
    looks_the_same(lambda x: divmod(x, 0.7)[1])
    looks_the_same(lambda x: divmod(5.0, x + 3)[1])
    looks_the_same(lambda x: pow(x, 3))
    with pytest.raises(TypeError, match="unsupported operand"):
        grad(lambda x: pow(x, 2, 5))(3.0)
    np.testing.assert_array_equal(vjp(lambda x: divmod(x, 0.7)[0], X)[0], X // 0.7)


def test_scalars_of_numpy_on_the_left() -> None:
    """np.float64's own operators ask the array first."""
    for c in (np.float64(2), np.float32(2), np.int64(2), np.array(2.0)):
        for f in (lambda x: c * x, lambda x: c + x, lambda x: c - x, lambda x: c / x, lambda x: c**x):
            looks_the_same(f)
            assert isinstance(f(traced()), ReverseTracer)
        seen: list[Any] = []
        grad(lambda x: (seen.append(c < x), seen.append(c == x), np.sum(x))[2])(X)
        np.testing.assert_array_equal(seen[0], X > 2)


def test_the_value_of_a_scalar_stays_a_numpy_scalar() -> None:
    value, gradient = vjp(lambda x: x[0, 0] * 2.0 + 1, X)
    assert type(value) is np.float64
    assert type(grad(lambda x: x * x)(3.0)) is np.float64
    assert gradient(1.0)[0].shape == X.shape


def test_operators_with_what_has_none() -> None:
    for bad in ("text", None, object(), {}):
        with pytest.raises((TypeError, ValueError)):
            traced() + bad


# ---- iteration and unpacking -----------------------------------------------------------------------------------------


def test_iteration_and_unpacking() -> None:
    looks_the_same(lambda x: sum(row * k for k, row in enumerate(x)))

    def unpacked(x: Any) -> Any:
        (a, b, c), (d, *rest) = x
        return a * b + c * d + rest[0] * rest[1]

    looks_the_same(unpacked)
    looks_the_same(lambda x: max(x[0], key=lambda v: v) * min(x[1]))
    looks_the_same(lambda x: np.stack(list(reversed(x))))
    looks_the_same(lambda x: sum(a * b for a, b in zip(x[0], x[1], strict=True)))
    assert [type(v) for v in traced()] == [ReverseTracer] * 2
    assert [[type(v) for v in row] for row in traced().tolist()] == [[ReverseTracer] * 3] * 2


def test_a_scalar_has_no_length_and_no_items() -> None:
    for wrong in (len, iter, list):
        with pytest.raises(TypeError, match=r"unsized|0-d"):
            wrong(traced(1.0))
    with pytest.raises(IndexError):
        traced(1.0)[0]
    with pytest.raises(IndexError, match="out of bounds"):
        traced()[7]
    with pytest.raises(IndexError):
        traced()[0, 0, 0]


def test_copies_are_traced() -> None:
    looks_the_same(lambda x: copy.copy(x) * copy.deepcopy(x))
    looks_the_same(lambda x: copy.deepcopy({"w": [x]})["w"][0] * 2)


def test_the_array_api_is_numpy() -> None:
    looks_the_same(lambda x: x.__array_namespace__().exp(x.to_device("cpu")))
    with pytest.raises(ValueError, match="the only device"):
        traced().to_device("gpu")


# ---- text ------------------------------------------------------------------------------------------------------------


def test_text_shows_the_value() -> None:
    x = traced([1.5, 2.0])
    assert repr(x) == "ReverseTracer([1.5, 2. ])"
    assert str(x) == "[1.5 2. ]"
    assert f"{x[0]:.3f} {x[1]:>6.1f} {x[0]}" == "1.500    2.0 1.5"
    assert f"{x}" == str(np.array([1.5, 2.0]))
    assert "%.2f" % stop_gradient(x[0]) == "1.50"  # noqa: UP031
    with pytest.raises(TypeError):
        format(x, ".2f")


def test_text_of_nested_tracers_shows_the_innermost_value() -> None:
    seen: list[str] = []
    grad(lambda x: grad(lambda y: (seen.append(f"{y:.1f} {y!r}"), x * y)[1])(2.0))(3.0)
    vmap(lambda x: (seen.append(f"{x} {x:.1e}"), x)[1])(np.arange(2.0))
    vmap(grad(lambda x: (seen.append(f"{x:4.1f}"), x)[1]))(np.arange(2.0))
    assert seen == ["2.0 ReverseTracer(2.)", "[0. 1.] [0.0e+00, 1.0e+00]", "[ 0.0,  1.0]"]


def test_text_of_large_and_of_multi_line_arrays() -> None:
    assert len(repr(traced(np.zeros(10_000)))) < 200
    assert repr(traced(np.eye(2))) == "ReverseTracer([[1., 0.],\n               [0., 1.]])"


# ---- what would lose the derivative ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "instead"),
    [
        (lambda x: float(x[0, 0]), r"np\.sin for math\.sin"),
        (lambda x: math.sin(x[0, 0]), r"np\.sin for math\.sin"),
        (lambda x: math.sqrt(x[0, 0] + 5), r"np\.sin for math\.sin"),
        (lambda x: complex(x[0, 0]), r"stop_gradient"),
        (lambda x: np.array(x), r"np\.stack"),
        (lambda x: np.asarray(x), r"np\.stack"),
        (lambda x: np.vectorize(abs)(x), r"np\.stack"),  # from within NumPy, but the line is the user's
        (lambda x: np.take(X, x), r"np\.asarray\(a, like=x\)"),
        (lambda x: np.ones(3).dot(x[0]), r"np\.dot\(a, x\)"),
        (lambda x: np.array([x[0, 0], 1.0]), r"np\.(stack|zeros_like)"),
        (lambda x: np.array([x[0], x[1]]), r"np\.stack"),
        (lambda x: memoryview(x.tobytes()), "result"),
        (lambda x: x.view(int), "astype"),
        (lambda x: np.zeros(3).__setitem__(0, x[0, 0]), r"np\.zeros_like\(x\)"),
        (lambda x: np.zeros(3).__setitem__(slice(None), x[0]), r"np\.zeros_like\(x\)"),
        (lambda x: np.fromiter(x[0], float), r"stop_gradient"),
        (lambda x: np.zeros(3).fill(x[0, 0]), r"stop_gradient|zeros_like"),
        (lambda x: np.float64(x[0, 0]), r"np\.(stack|sin)"),
        (lambda x: statistics.mean(x[0]), r"np\.mean"),
    ],
)
def test_conversions_say_what_to_write(use: Any, instead: str) -> None:
    for run in (
        lambda f: grad(lambda x: (f(x), np.sum(x))[1])(X),
        lambda f: jvp(f, (X,), (X,)),
        lambda f: grad(lambda x: np.sum(grad(lambda y: (f(y), np.sum(x * y))[1])(x)))(X),
    ):
        # not NumPy's "setting an array element with a sequence"
        with pytest.raises(TracerConversionError) as caught:
            run(use)
        message = str(caught.value)
        assert "test_methods.py, line" in message
        assert re.search(instead, message), message


def test_attributes_of_memory_say_why_they_are_missing() -> None:
    for name in ("strides", "flags", "tofile", "base"):
        with pytest.raises(AttributeError, match=rf"'{name}' .*test_methods\.py.*only stands for an array"):
            grad(lambda x, name=name: getattr(x, name))(X)
    with pytest.raises(AttributeError, match=r"no attribute 'sinus'$"):
        grad(lambda x: x.sinus)(X)
    assert not grad(lambda x: np.sum(x) * hasattr(x, "strides"))(X).any()


def test_a_constant_loses_nothing_as_a_float() -> None:
    assert grad(lambda x: x * float(stop_gradient(x)))(3.0) == 3.0
    assert grad(lambda x: x * math.floor(x) + math.sin(stop_gradient(x)))(3.5) == 3.0


def test_tracers_are_no_keys() -> None:
    with pytest.raises(TypeError, match=r"unhashable.*tracer"):
        hash(traced())
    with pytest.raises(TypeError, match="unhashable"):
        {traced(): 1}


def test_the_methods_are_numpys_functions() -> None:
    assert ArrayMethods.sum.__doc__ == "np.sum of this array."
    assert ArrayMethods.argsort.__name__ == "argsort"


def test_a_view_of_the_same_dtype_shares_what_is_written() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        for view in (y.view(), y.view(np.ndarray), y.view(float)):
            view[0] *= x[1]
        return np.sum(y)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [16.0, 26.0])


def test_a_tracer_cannot_be_pickled() -> None:
    with pytest.raises(TracerConversionError, match=r"pickling at .*test_methods"):
        grad(lambda x: pickle.loads(pickle.dumps(x)))(1.0)
    assert grad(lambda x: copy.copy(x) * copy.deepcopy(x))(3.0) == 6.0


# ---- names -----------------------------------------------------------------------------------------------------------

EXTRAS = {"as_integer_ratio", "is_integer"}  # of a scalar: np.float64 has it


def tracer_types(kind: type = ArrayMethods) -> set[type]:
    """Every class of tracers that is there."""
    return {kind}.union(*map(tracer_types, kind.__subclasses__()))


def test_no_public_name_but_those_of_an_array() -> None:
    """Libraries ask any array for its `value`, `node`, ...: they must not find data without derivative."""
    for kind in tracer_types():
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert public - set(dir(np.ndarray)) == EXTRAS, kind


@pytest.mark.parametrize("name", ["value", "node", "owner", "alias", "data_", "magnitude"])
def test_an_attribute_that_arrays_lack_is_refused_as_by_them(name: str) -> None:
    x = traced()
    assert not hasattr(x, name)
    assert getattr(x, name, x) is x
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(x, name)


def test_a_program_that_unwraps_what_has_a_value_keeps_its_derivative() -> None:
    def unwrapping(w: Any) -> Any:
        return np.sum(getattr(w, "value", w) ** 2)

    np.testing.assert_array_equal(grad(unwrapping)(X), 2 * X)
