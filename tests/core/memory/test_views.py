"""Views of traced arrays see what is written into the array, at every order of differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.errors import BatchedControlFlowError, TracerWriteError, UnsupportedFunctionError
from funcgrad.testing import check_grads, check_vmap


def written_after_the_view(y: Any) -> Any:
    z = y * y
    view = z[::-1]
    z[0] = 3 * y[1]
    return np.sum(view**2)


def filled_before_the_view(y: Any) -> Any:
    z = np.zeros_like(y)
    z[0], z[1] = y[1] * y[0], np.sin(y[0])
    view = z[::-1]
    z[0] = 3 * y[1]
    return np.sum(z * view)


def two_views(y: Any) -> Any:
    z = np.sin(y)
    first = z[1:]
    z[0] = 3 * y[1]
    second = z[::-1]
    z[1] += y[1] * y[0]
    return np.sum(second**2) + np.sum(first**3)


def a_row(y: Any) -> Any:
    z = np.stack([y, y * y])
    row = z[1]
    z[1, 0] = 3 * y[1]
    return np.sum(row**2)


def written_through_a_transpose(y: Any) -> Any:
    z = np.stack([y, y * y])
    z.T[0] = np.sin(y)
    return np.sum(z[0] * z[1])


@pytest.mark.parametrize(
    "program",
    [written_after_the_view, filled_before_the_view, two_views, a_row, written_through_a_transpose],
    ids=lambda program: program.__name__,
)
def test_second_order(program: Callable[[Any], Any]) -> None:
    y = np.array([0.3, 0.7])
    check_grads(program, (y,), order=2)
    expected = jacfwd(jacfwd(program))(y)
    for derivative in (
        hessian(program),
        jacrev(jacrev(program)),
        jacrev(jacfwd(program)),
        jacrev(grad(program)),
    ):
        np.testing.assert_allclose(derivative(y), expected, atol=1e-12)


# ---- what is a view in NumPy is a view here, and what is a copy is a copy --------------------------------------------

ARRAYS = {
    "vector": np.array([1.0, 2.0, 3.0]),
    "square": np.arange(1.0, 5.0).reshape(2, 2),
    "matrix": np.arange(1.0, 7.0).reshape(2, 3),
    "transposed": np.arange(1.0, 7.0).reshape(3, 2).T,
    "complex": np.array([1 + 2j, 3 - 1j]),
    "one": np.array([[7.0]]),
}
READS: dict[str, Callable[[Any], Any]] = {
    "real": lambda a: a.real, "np.real": np.real, "imag": lambda a: a.imag if a.dtype.kind == "c" else a,
    "squeeze": lambda a: a.squeeze(), "np.squeeze": np.squeeze, "ravel": np.ravel, "reshape": lambda a: a.reshape(a.shape),
    "flatten": lambda a: a.flatten(), "transpose": np.transpose, "atleast_2d": np.atleast_2d, "flip": np.flip,
    "swapaxes": lambda a: a.swapaxes(0, -1), "moveaxis": lambda a: np.moveaxis(a, 0, -1), "split": lambda a: np.split(a, 1)[0],
    "conj": lambda a: a.conj(), "conjugate": lambda a: a.conjugate(), "np.conj": np.conj, "positive": np.positive,
    "astype": lambda a: a.astype(a.dtype), "astype without a copy": lambda a: a.astype(a.dtype, copy=False),
    "einsum": lambda a: np.einsum("...->...", a), "einsum, turned": lambda a: np.einsum("...i->i...", a),
    "broadcast_arrays": lambda a: np.broadcast_arrays(a, a)[0], "copy": np.copy, "tile": lambda a: np.tile(a, 1),
    "repeat": lambda a: np.repeat(a, 1, axis=0), "resize": lambda a: np.resize(a, a.shape), "pad": lambda a: np.pad(a, 0),
    "roll": lambda a: np.roll(a, 0), "nan_to_num": lambda a: np.nan_to_num(a, copy=False), "clip": lambda a: np.abs(a),
    "real_if_close": np.real_if_close, "a mask": lambda a: a[a == a], "indices": lambda a: a[[0]], "rows": lambda a: a[:1],
}  # fmt: skip


def _read_then_written(read: Callable[[Any], Any], a: Any) -> Any:
    view = read(a)
    a[...] = 9.0
    return np.concatenate([np.ravel(a).real, np.ravel(view).real])


def _written_through(read: Callable[[Any], Any], a: Any) -> Any:
    view = read(a)
    view[...] = 9.0
    return np.concatenate([np.ravel(a).real, np.ravel(a).imag, np.ravel(view).real])


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("start", ARRAYS.values(), ids=ARRAYS)
def test_views_are_those_of_numpy(read: Callable[[Any], Any], start: Any) -> None:
    for program in (_read_then_written, _written_through):
        expected = program(read, start * 1)
        for trace in (lambda f: vjp(f, start)[0], lambda f: jvp(f, (start,), (start,))[0]):
            np.testing.assert_array_equal(
                trace(lambda x: program(read, x * 1)), expected, err_msg=program.__name__
            )


# ---- writing into parts of complex numbers, diagonals and x.flat -----------------------------------------------------


def imag_of_some(x: Any, y: Any) -> Any:
    z = x + 1j * y
    z.imag[0] = np.sin(x[1]) * y[2]
    return np.abs(z) ** 2


def parts_set(x: Any, y: Any) -> Any:
    z = x + 1j * y
    z.real = y * x[0]
    z.imag[1:] *= x[:2]
    return np.abs(z * z) + np.imag(z)


def views_of_parts(x: Any, y: Any) -> Any:
    z = np.outer(x + 1j * y, y - 1j * x)
    z[1].real[::-1] = x
    z.T.imag[0] += y
    z.real -= 3.0
    return np.abs(z) ** 2 + np.real(z)


def parts_read(x: Any, y: Any) -> Any:
    z = x * 1j + y
    real, imag = z.real, z.imag[1:]
    z[1] = x[0] * y[2] * (2 + 1j)
    imag[0] *= 2.0
    return real[:2] ** 2 * imag * np.abs(z[1:])


def elements_of_flat(x: Any, y: Any) -> Any:
    z = np.outer(x, y)
    z.flat[2:5] = y
    z.T.flat[[0, 3]] = [x[1], 2.0]
    z.flat[-1] *= x[2]
    return z.flat[::2] * z.flat[0]


def all_of_flat(x: Any, y: Any) -> Any:
    z = np.outer(x, y)
    z.flat = x * y  # shorter: it is repeated
    return np.stack([z[0] * x, z[2] * y, np.full(3, len(z.flat))])


def a_diagonal(x: Any, y: Any) -> Any:
    z = np.outer(x, y)
    np.einsum("ii->i", z)[...] = x * y[0]
    np.einsum("ij->ji", z)[0] = x
    return z * z


@pytest.mark.parametrize(
    "program",
    [imag_of_some, parts_set, views_of_parts, parts_read, elements_of_flat, all_of_flat, a_diagonal],
    ids=lambda program: program.__name__,
)
def test_written_parts(program: Callable[[Any, Any], Any]) -> None:
    x, y = np.array([0.3, -1.2, 2.1]), np.array([0.7, 1.3, 2.2])
    check_grads(program, (x, y), order=2)
    np.testing.assert_allclose(
        vmap(program)(np.stack([x, y]), np.stack([y, x])), [program(x, y), program(y, x)]
    )


def test_parts_refuse_what_numpy_refuses() -> None:
    def imag_of_real(x: Any) -> Any:
        z = x * 1
        z.imag = x
        return np.sum(z)

    def complex_as_real(x: Any) -> Any:
        z = x + 1j
        z.real[0] = 1j
        return np.sum(z.real)

    for program, word in ((imag_of_real, "imaginary part"), (complex_as_real, "real number")):
        with pytest.raises(TypeError, match=word):
            grad(program)(np.ones(2))


# ---- rows that differ between the examples of a vmap -----------------------------------------------------------------


def _row(y: Any) -> Any:
    return np.argmin(y[:, 0] ** 2)


def _added_to(y: Any) -> Any:
    y[_row(y)] += 2.0
    return y


def _added_to_a_part(y: Any) -> Any:
    y[_row(y), 1:] *= 7.0
    return y


def _named_and_updated(y: Any) -> Any:
    row = y[_row(y)]
    row *= 3.0
    row += 1.0
    return np.concatenate([row, y.ravel()])


def _seen_after_a_write(y: Any) -> Any:
    row = y[_row(y)]
    y[_row(y)] = np.sin(y[0])
    y *= 2.0
    return row * 1.0


def _copied(y: Any) -> Any:
    row = y[_row(y)].copy()
    row[0] = 5.0
    return np.concatenate([row, y.ravel()])


EXAMPLES = np.random.default_rng(5).normal(size=(3, 4, 2))


@pytest.mark.parametrize("f", [_added_to, _added_to_a_part, _named_and_updated, _seen_after_a_write, _copied])
def test_a_row_of_each_example_is_a_view(f: Any) -> None:
    loss = lambda y: np.sum(f(y * 1.0) ** 3)
    np.testing.assert_array_equal(vmap(f)(EXAMPLES), [f(y.copy()) for y in EXAMPLES])
    np.testing.assert_allclose(vmap(grad(loss))(EXAMPLES), [grad(loss)(y) for y in EXAMPLES], rtol=1e-13)
    np.testing.assert_allclose(
        grad(lambda y: np.sum(vmap(loss)(y)))(EXAMPLES), [grad(loss)(y) for y in EXAMPLES], rtol=1e-13
    )


def _into_an_element(y: Any) -> None:
    row = y[_row(y)]
    row[0] = 3.0


def _into_a_part(y: Any) -> None:
    part = y[_row(y)][1:]
    part += 1.0


def _into_a_row_of_a_view(y: Any) -> None:
    y[:3][_row(y[:3])] += 1.0


@pytest.mark.parametrize("f", [_into_an_element, _into_a_part, _into_a_row_of_a_view])
def test_what_would_go_to_another_row_in_each_example_is_refused(f: Any) -> None:
    with pytest.raises(BatchedControlFlowError, match=r"another row of y in each.*y\[i\] \+= v"):
        vmap(lambda y: [f(y), y][1])(EXAMPLES)


# ---- x.flat ----------------------------------------------------------------------------------------------------------

MASK = np.array([True, False, True])
OF_FLAT = {
    "list of booleans": MASK.tolist(),  # not a mask: NumPy 2.0 reads 0 and 1 there, later versions refuse it
    "short list of booleans": [True, False],
    "long list of booleans": [True] * 5,
    "mask": MASK,
    "mask in a tuple": (MASK,),
    "booleans in a tuple": (MASK.tolist(),),
    "boolean": True,
    "False": False,
    "boolean of NumPy": np.True_,
    "floats": [0.0, 1.0],
    "positions": [-1, 0],
    "table": np.array([[0, 1], [1, 2]]),
    "none": [],
    "slice": slice(2, None, -1),
    "ellipsis": ...,
    "newaxis": None,
}


@pytest.mark.filterwarnings("ignore:.*(0-dimensional boolean|non-array indices).*:DeprecationWarning")
@pytest.mark.parametrize("name", OF_FLAT)
def test_flat_reads_each_index_as_numpy_does(name: str) -> None:
    index, x = OF_FLAT[name], np.array([0.7, 1.3, 0.4])

    def read(x: Any) -> Any:
        return (x * x).flat[index]

    def written(x: Any) -> Any:
        y = x * x
        y.flat[index] = x[0]
        return y

    for program in (read, written):
        try:
            expected = program(x)
        except (IndexError, ValueError) as error:
            if index is not ...:  # which NumPy reads, but does not write
                with pytest.raises(type(error)):
                    vjp(program, x)
            continue
        np.testing.assert_array_equal(vjp(program, x)[0], expected)
        check_grads(program, (x,), order=1)


@pytest.mark.parametrize("name", ["T", "backwards", "part"])
def test_flat_does_not_read_what_it_has_just_written(name: str) -> None:
    def f(x: Any) -> Any:
        x = x * 1.0
        if name == "part":
            x.flat[1:4] = x[0]
        else:
            x.flat = x.T if name == "T" else np.flip(x)
        return np.sum(x)

    with pytest.raises(TracerWriteError, match=r"x\.flat = y.*just overwritten.*y\.copy\(\)"):
        grad(f)(np.arange(9.0).reshape(3, 3))


def test_flat_takes_memory_that_is_apart_or_the_same() -> None:
    def f(x: Any) -> Any:
        x = x * 1.0
        x.flat[:3] = x[2]
        x[1].flat = x[0]
        x.flat = x
        x.flat = x.T.copy()
        return x

    x = np.arange(9.0).reshape(3, 3)
    out, pull_back = vjp(f, x)
    np.testing.assert_array_equal(out, f(x))
    np.testing.assert_array_equal(pull_back(np.ones((3, 3)))[0], [[0, 0, 0], [0, 0, 0], [3, 3, 3]])


def test_tile_once_keeps_the_order_of_memory() -> None:
    def f(x: Any) -> Any:
        y = np.tile(x, (1, 1))
        y.reshape(-1)[0] = 5.0  # of a table by columns this is a copy
        return y

    for x in (np.arange(4.0).reshape(2, 2), np.asfortranarray(np.arange(4.0).reshape(2, 2))):
        np.testing.assert_array_equal(vjp(f, x)[0], f(x))


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("obj", [0, [0, 2], slice(1), np.array([True, False, False])])
@pytest.mark.parametrize("axis", [0, 1])
def test_what_delete_leaves_lies_in_memory_as_numpy_has_it(layout: Any, obj: Any, axis: int) -> None:
    def f(x: Any) -> Any:
        y = np.delete(x, obj, axis)
        y.reshape(-1)[0] = 5.0
        y.ravel("F")[-1] = 7.0
        return y

    x = layout(np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(vjp(f, x)[0], f(x))


def test_a_cast_of_an_array_without_axes_can_be_written_to() -> None:
    def f(y: Any) -> Any:
        z = np.asarray(y[0], like=y).astype(complex)
        z[...] *= 3
        return z.real + y[1]

    x = np.ones((2, 3))
    np.testing.assert_array_equal(vmap(grad(f))(x), [grad(f)(y) for y in x])
    with pytest.raises(TypeError, match="does not support item assignment"):
        vmap(grad(lambda y: y[0].astype(complex).__setitem__(..., 3)))(x)


def test_a_diagonal_matrix_of_each_example_is_an_array_of_its_own() -> None:
    def f(y: Any) -> Any:
        z = np.diag(y)
        z[...][::2, -1, None] = -1.5
        z.ravel()[1] = 2.0
        return z

    for x in (np.ones((2, 4)), np.ones((4, 2)).T):
        np.testing.assert_array_equal(vmap(f)(x), [f(y) for y in x])


@pytest.mark.parametrize(
    "layout", [np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, 0)[::2].T]
)
@pytest.mark.parametrize(
    "g",
    [
        lambda x: np.take(x, [1, 0], 1),
        lambda x: np.take(x, 1, 0),
        lambda x: np.compress([True, False, True], x, 1),
        lambda x: np.sort(x, 1),
        lambda x: np.partition(x, 1, 0),
        lambda x: np.repeat(x, [1, 2, 1], 1),
    ],
)
def test_new_arrays_lie_in_memory_as_numpy_has_them(layout: Any, g: Any) -> None:
    def f(x: Any) -> Any:
        y = g(x)
        y.reshape(-1)[0] = 50.0
        y.ravel("F")[-1] = 70.0
        return [x, y]

    x = layout(np.array([[3.0, 1.0, 2.0], [9.0, 8.0, 7.0], [4.0, 6.0, 5.0]]))
    for found, expected in zip(vjp(f, x)[0], f(x.copy("K")), strict=True):
        np.testing.assert_array_equal(found, expected)


# ---- x.shape = ... ---------------------------------------------------------------------------------------------------


def reshaped_in_place(x: Any) -> Any:
    y = x * x
    y.shape = (2, 3)
    y[0, 1] = x[0]
    y.shape = -1
    return y[1:] * y[:-1]


def test_an_array_without_views_is_reshaped_in_place() -> None:
    x = np.arange(6.0) + 0.5
    np.testing.assert_array_equal(vjp(reshaped_in_place, x)[0], reshaped_in_place(x))
    check_grads(reshaped_in_place, (x,), order=2)
    check_vmap(reshaped_in_place, (np.stack([x, x + 1]),))


def test_a_view_is_not_reshaped_in_place() -> None:
    def f(x: Any) -> Any:
        y = x * x
        z = y[1:]
        y.shape = (2, 3)
        return z

    with pytest.raises(UnsupportedFunctionError, match=r"x\.shape = \(2, 3\).*x\.reshape\(\(2, 3\)\)"):
        vjp(f, np.arange(6.0))
