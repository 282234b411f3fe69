"""Squares of roots: smooth where the roots are not, in every mode and at every order."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.math as fmath
from funcgrad import grad, hessian, hvp, jacfwd, jacrev, jvp, stop_gradient, value_and_grad, vmap
from funcgrad.testing import check_grads

ROOTS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "abs of complex": lambda x: abs(x * (0.6 + 0.8j)),
    "fabs": np.fabs,
    "sqrt": lambda x: np.sqrt(x * x),
    "hypot": lambda x: np.hypot(0.6 * x, 0.8 * x),
    "hypot with 0": lambda x: np.hypot(x, 0.0),
    "norm": lambda x: np.linalg.norm(np.stack([0.6 * x, 0.8 * x]), axis=0),
    "norm of matrices": lambda x: np.linalg.norm(0.5 * x[:, None, None] * np.ones((2, 2)), axis=(1, 2)),
    "vector_norm": lambda x: np.linalg.vector_norm(x[:, None], axis=1),
    "std": lambda x: np.std(np.stack([x, -x]), axis=0),
    "nanstd": lambda x: np.nanstd(np.stack([x, -x, x * np.nan]), axis=0),
}
SQUARES: dict[str, Callable[[Any], Any]] = {
    "** 2": lambda y: y**2,
    "** 2.0": lambda y: y**2.0,
    "power": lambda y: np.power(y, np.int64(2)),
    "square": np.square,
    "y * y": lambda y: y * y,
    "multiply": lambda y: np.multiply(y, y),
    "in place": lambda y: y.__imul__(y),
    "float_power": lambda y: np.float_power(y, 2),
}
x = np.array([0.0, 0.5, -0.3])
POSITIVE = abs(x)


def composed(root: Any, square: Any) -> Callable[[Any], Any]:
    """sum of the squares, each of which is x squared."""
    return lambda x: np.sum(square(root(x)) * np.array([1.0, 10.0, 100.0]))


@pytest.mark.filterwarnings("error", "ignore:Degrees of freedom")
@pytest.mark.parametrize(("root", "square"), [*itertools.product(ROOTS, SQUARES)])
def test_the_square_is_smooth(root: str, square: str) -> None:
    f, slope, curvature = (
        composed(ROOTS[root], SQUARES[square]),
        2 * x * [1, 10, 100],
        np.diag([2.0, 20.0, 200.0]),
    )
    value, gradient = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(gradient, slope)
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], slope.sum())
    np.testing.assert_allclose(vmap(grad(f))(np.stack([x, x]))[1], slope)
    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(x), curvature)


@pytest.mark.filterwarnings("error", "ignore:Degrees of freedom")
@pytest.mark.parametrize("root", ROOTS)
def test_two_roots_that_are_the_same_are_a_square(root: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(ROOTS[root](x) * ROOTS[root](x) * np.array([1.0, 10.0, 100.0]))

    value, gradient = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(gradient, 2 * x * [1, 10, 100])
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], np.sum(2 * x * [1, 10, 100]))
    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(x), np.diag([2.0, 20.0, 200.0]))


# Products of a root y with itself or a multiple of itself, each the sum of y ** 2 with these weights.
w = np.array([1.0, 2.0, 3.0])
PRODUCTS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "y @ y": (lambda y: y @ y, 1),
    "dot": (lambda y: np.dot(y, y), 1),
    "inner": (lambda y: np.inner(y, y), 1),
    "vdot": (lambda y: np.vdot(y, y), 1),
    "vecdot": (lambda y: np.vecdot(y[None], y[None])[0], 1),
    "tensordot": (lambda y: np.tensordot(y, y, 1), 1),
    "einsum": (lambda y: np.einsum("i,i", y, y), 1),
    "einsum of rows": (lambda y: np.einsum("ij,ij->i", y[:, None], y[:, None]) @ w, w),
    "weights * y @ y": (lambda y: (w * y) @ y, w),
    "y @ (weights * y)": (lambda y: y @ (w * y), w),
    "2 * y * y": (lambda y: np.sum(2 * y * y), 2),
    "y * (-y / 4)": (lambda y: np.sum(y * (-y / 4)), -0.25),
    "(2 * y) * (weights * y)": (lambda y: np.sum((2 * y) * (w * y)), 2 * w),
    "joined": (lambda y: np.sum(np.concatenate([y, 2 * y]) ** 2), 5),
    "stacked": (lambda y: np.sum(np.square(np.stack([y, -y]))), 2),
    "padded": (lambda y: np.sum(np.pad(y, 2) ** 2), 1),
    "y.T @ y": (lambda y: y.T @ y, 1),
    "a copy": (lambda y: np.copy(y) @ (2 * y), 2),
    "norm": (lambda y: np.linalg.norm(w * y) ** 2, w**2),
    "norms of rows": (lambda y: np.sum(np.linalg.norm(np.stack([y, y]), axis=1, keepdims=True) ** 2), 2),
    "absolute values": (lambda y: np.sum(np.abs(-y) ** 2), 1),
    "chosen": (lambda y: np.sum(np.where(w > 1.5, 2 * y, y) ** 2), np.array([1, 4, 4])),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_a_root_with_itself_are_smooth(name: str) -> None:
    product, weights = PRODUCTS[name]
    for root in ("abs", "sqrt", "norm"):
        f: Any = lambda x, root=root: product(ROOTS[root](x))
        for _ in range(2):
            np.testing.assert_allclose(grad(f)(x), 2 * x * weights)
            for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), hessian(f)):
                np.testing.assert_allclose(second(x), np.diag(2 * weights * np.ones(3)))
            np.testing.assert_allclose(jacfwd(jacfwd(jacrev(f)))(x), np.zeros((3, 3, 3)), atol=1e-12)


# Energies of springs: of their stiffness k and their length r.
ENERGIES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "0.5 * k * r * r": (lambda k, r: 0.5 * k * r * r, lambda k, s: 0.5 * k * s),
    "r * (k * r)": (lambda k, r: r * (k * r), lambda k, s: k * s),
    "r / k * r": (lambda k, r: r / k * r, lambda k, s: s / k),
    "(k * r) * (r / k / 2)": (lambda k, r: (k * r) * (r / k / 2), lambda k, s: s / 2),
    "(k * r) * (k * r * k)": (lambda k, r: (k * r) * (k * r * k), lambda k, s: k**3 * s),
    "(2 * r) * (k * r)": (lambda k, r: (2 * r) * (k * r), lambda k, s: 2 * k * s),
    "(2 * r) / k * (k * r)": (lambda k, r: (2 * r) / k * (k * r), lambda k, s: 2 * s),
    "-(r / k) * (r / k)": (lambda k, r: -(r / k) * (r / k), lambda k, s: -s / k**2),
}


@pytest.mark.parametrize("name", ENERGIES)
@pytest.mark.parametrize("place", [0.0, 0.4])
def test_the_energy_of_a_spring_and_its_stiffness(name: str, place: float) -> None:
    energy, of_square = ENERGIES[name]
    f = lambda p: energy(p[0], np.linalg.norm(p[1:]))
    smooth = lambda p: of_square(p[0], p[1] ** 2 + p[2] ** 2)
    p = np.array([3.0, place, 2 * place])
    np.testing.assert_allclose(grad(f)(p), grad(smooth)(p), atol=1e-12)
    for second in (lambda f: jacrev(jacrev(f)), lambda f: jacfwd(jacfwd(f)), hessian):
        np.testing.assert_allclose(second(f)(p), second(smooth)(p), atol=1e-12)
    third = jacfwd(hessian(f))(p)
    np.testing.assert_allclose(third, jacfwd(hessian(smooth))(p), atol=1e-12)


def test_reshaped_roots_are_not_the_same() -> None:
    f = lambda x: np.sum(np.outer(np.abs(x), np.abs(x)) * w) + np.sum(np.kron(np.abs(x), np.abs(x)))
    y = np.array([0.5, -0.2, 0.3])
    expected = np.outer(np.sign(y), np.sign(y)) * (w + w[:, None] + 2)
    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(y), expected)


def test_two_roots_that_differ_are_none() -> None:
    y, t = np.array([0.5, 0.2]), np.array([1.0, -0.5])
    for f in (
        lambda x: np.hypot(x, 2.0) * np.hypot(x, 3.0),
        lambda x: np.linalg.norm(x, 2) * np.linalg.norm(x, 3) * np.ones(2),
        lambda x: np.sqrt(x) * np.sqrt(x[::-1]),
        lambda x: np.std(x) * np.std(x, ddof=1) * np.ones(2),
        lambda x: np.abs(x * (1 + 1j)) * np.abs(x * (1 - 2j)),
        lambda x: np.hypot(x, np.array([1.0, 2.0])) * np.hypot(x, np.array([2.0, 2.0])),
    ):
        expected = (f(y + 1e-6 * t) - f(y - 1e-6 * t)) / 2e-6
        np.testing.assert_allclose(jvp(f, (y,), (t,))[1], expected, rtol=1e-7)
        np.testing.assert_allclose(jacrev(f)(y) @ t, expected, rtol=1e-7)
    half = lambda x: np.sum(np.sqrt(x) * np.sqrt(stop_gradient(x)))
    np.testing.assert_allclose(grad(half)(y), [0.5, 0.5])


# What stands between a root and its square: and the factor of the square.
STEPS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "y / 2": (lambda y: y / 2, 0.25),
    "y * 3.0": (lambda y: y * 3.0, 9),
    "3 * y": (lambda y: 3 * y, 9),
    "-y": (lambda y: -y, 1),
    "+y": (lambda y: +y, 1),
    "-(y * 3) / 2": (lambda y: -(y * 3) / 2, 2.25),
    "y / array": (lambda y: y / np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.25, 0.0625])),
    "array of 0 and 1": (lambda y: np.array([1.0, 0.0, 1.0]) * y, np.array([1.0, 0.0, 1.0])),
    "array of small integers": (lambda y: y * np.array([100, 2, 3], np.int8), np.array([1e4, 4, 9])),
    "array of booleans": (lambda y: y * np.array([True, False, True]), np.array([1.0, 0.0, 1.0])),
    "out of place": (lambda y: np.multiply(y, np.float64(0.5)), 0.25),
}
# Each root with a chain of steps, and two of them with all.
MULTIPLES = [
    (r, s) for r, s in itertools.product(ROOTS, STEPS) if r in ("abs", "norm") or s == "-(y * 3) / 2"
]


@pytest.mark.filterwarnings("error", "ignore:Degrees of freedom")
@pytest.mark.parametrize(("root", "step"), MULTIPLES)
def test_the_square_of_a_multiple_is_smooth(root: str, step: str) -> None:
    step_of, factor = STEPS[step]
    scale = np.array([1.0, 10.0, 100.0]) * factor
    f = composed(lambda x: step_of(ROOTS[root](x)), np.square)
    value, gradient = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(gradient, 2 * x * scale)
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], np.sum(2 * x * scale))
    np.testing.assert_allclose(vmap(grad(f))(np.stack([x, x]))[1], 2 * x * scale)
    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(x), np.diag(2 * scale))


KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "norm(x) / l": lambda x, h: (np.linalg.norm(x) / h) ** 2,
    "norm(x) * l": lambda x, h: (np.linalg.norm(x) * (1 / h)) ** 2,
    "l * norm(x)": lambda x, h: np.square(1 / h * np.linalg.norm(x)),
    "-norm(x) / l": lambda x, h: (-np.linalg.norm(x) / h) ** 2.0,
    "product": lambda x, h: (np.linalg.norm(x) / h) * (np.linalg.norm(x) / h),
    "sqrt": lambda x, h: (np.sqrt(x @ x) / h) ** 2,
    "hypot": lambda x, h: (np.hypot(x[0], x[1]) / h) ** 2,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("place", [0.0, 0.4])
def test_the_kernel_and_its_length_to_the_third_order(name: str, place: float) -> None:
    """exp(-(r / l)² / 2) in x and l against the same of x @ x / l²."""
    f = lambda z: np.exp(-KERNELS[name](z[:2], z[2]) / 2)
    truth = lambda z: np.exp(-(z[:2] @ z[:2]) / z[2] ** 2 / 2)
    z = np.array([place, -place, 0.5])
    seconds = {"rr": jacrev(jacrev(f)), "ff": jacfwd(jacfwd(f)), "rf": jacrev(jacfwd(f)), "fr": hessian(f)}
    np.testing.assert_allclose(grad(f)(z), grad(truth)(z), atol=1e-14)
    for second in seconds.values():
        np.testing.assert_allclose(second(z), hessian(truth)(z), atol=1e-13)
    thirds = [jacfwd(seconds["fr"]), jacrev(seconds["rr"])]
    for third in thirds if name == "product" else (*thirds, jacfwd(seconds["ff"])):
        np.testing.assert_allclose(third(z), jacfwd(hessian(truth))(z), atol=1e-12)
    batch = np.stack([z, z + 0.1])
    np.testing.assert_allclose(vmap(hessian(f))(batch), vmap(hessian(truth))(batch), atol=1e-13)


# Elements of a root, and which of its elements they are.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "y[None]": lambda y: y[None],
    "y[:, None]": lambda y: y[:, None],
    "y[:2]": lambda y: y[:2],
    "y[0]": lambda y: y[0],
    "y[[0, 0, 2]]": lambda y: y[[0, 0, 2]],
    "y[mask]": lambda y: y[np.array([True, False, True])],
    "reshape": lambda y: y.reshape(3, 1),
    "T": lambda y: y[None].T,
    "transpose": lambda y: np.transpose(y[None], (1, 0)),
    "swapaxes": lambda y: np.swapaxes(y[None], 0, 1),
    "moveaxis": lambda y: np.moveaxis(y[None], 0, 1),
    "ravel": lambda y: np.ravel(y[None]),
    "flatten": lambda y: y[None].flatten(),
    "squeeze": lambda y: np.squeeze(y[None]),
    "expand_dims": lambda y: np.expand_dims(y, 0),
    "broadcast_to": lambda y: np.broadcast_to(y, (2, 3)),
    "copy": lambda y: y.copy(),
    "flip": lambda y: np.flip(y),
    "roll": lambda y: np.roll(y, 1),
}


@pytest.mark.filterwarnings("error", "ignore:Degrees of freedom")
@pytest.mark.parametrize("root", ["abs", "sqrt", "norm"])
@pytest.mark.parametrize("name", VIEWS)
def test_the_square_of_elements_is_smooth(root: str, name: str) -> None:
    view, y = VIEWS[name], np.array([0.0, 0.5, -0.3])
    counts = np.bincount(np.asarray(view(np.arange(3))).ravel(), minlength=3)
    for of in (lambda y: view(y), lambda y: view(y / 2) * 2, lambda y: -3 * view(y) / 3):
        f = lambda x: np.sum(of(ROOTS[root](x)) ** 2)
        np.testing.assert_allclose(grad(f)(y), 2 * y * counts)
        for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f)), hessian(f)):
            np.testing.assert_allclose(second(y), np.diag(2.0 * counts))


def _written_below(x: Any) -> Any:
    y = np.sqrt(x)
    view = y[None]
    y[0] = 3 * x[0]
    return np.sum(view**2)


def _written(x: Any) -> Any:
    y = np.sqrt(x)
    view = y[None]
    view[0, 0] = 3 * x[0]
    return np.sum(view**2)


def _written_above(x: Any) -> Any:
    y = np.sqrt(x)
    view = y[None]
    view[0, 0] = 3 * x[0]
    return np.sum(y**2)


@pytest.mark.parametrize("f", [_written, _written_below, _written_above])
def test_views_of_a_root_that_is_written(f: Callable[[Any], Any]) -> None:
    y = np.array([1.0, 4.0])
    for slope in (grad(f)(y), jacfwd(f)(y)):
        np.testing.assert_allclose(slope, [18, 1])
    np.testing.assert_allclose(hessian(f)(y), np.diag([18.0, 0.0]), atol=1e-14)


def test_an_index_that_changes_later() -> None:
    def f(x):
        i = np.array([1, 1])
        y = np.sqrt(x)[i]
        i[:] = 0
        return np.sum(y**2)

    for slope in (grad(f)(np.array([1.0, 4.0])), jacfwd(f)(np.array([1.0, 4.0]))):
        np.testing.assert_allclose(slope, [0, 2])


def test_two_roots_and_a_root_below() -> None:
    y = np.array([0.3, 0.4])
    for f in (
        lambda x: (np.hypot(x[0], x[1]) * np.abs(x[0])) ** 2,
        lambda x: (np.hypot(x[0], x[1]) / np.abs(x[0])) ** 2,
        lambda x: (2.0 / np.hypot(x[0], x[1])) ** 2,
        lambda x: (x[1] / np.abs(x[0])) ** 2,
    ):
        check_grads(f, (y,), order=2)
    f = lambda x: (np.hypot(x[0], x[1]) * np.abs(x[0])) ** 4
    np.testing.assert_array_equal(hessian(f)(np.zeros(2)), np.zeros((2, 2)))


@pytest.mark.parametrize("c", [1e-200, 1e200])
def test_factors_whose_square_has_no_place(c: float) -> None:
    for derivative in (grad, jacfwd):
        slope = derivative(lambda x: np.abs(x * (1 / c)) ** 2)(3 * c)
        np.testing.assert_allclose(derivative(lambda x: (np.abs(x) / c) ** 2)(3 * c), slope)
        np.testing.assert_allclose(derivative(lambda x: (np.abs(x) * (1 / c)) ** 2)(3 * c), slope)


def test_a_factor_that_changes_later() -> None:
    def f(x):
        a = np.array([3.0, 4.0, 5.0])
        y = np.abs(x) * a
        a[:] = 0
        return np.sum(y**2)

    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(x), np.diag([18.0, 32.0, 50.0]))


def test_an_operand_that_changes_later() -> None:
    def f(x):
        zeros = np.zeros(3)
        y = np.hypot(x, zeros) * 2
        zeros[:] = 1
        return np.sum(y**2)

    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(x), 8 * np.eye(3))


def test_a_loop_forgets_its_roots() -> None:
    """Forward mode would hold on to every step of a loop otherwise, as a tape does."""
    tangents = []

    def f(x):
        for _ in range(100):
            x = -abs(x * 1.25) / 1.25
            tangents.append(weakref.ref(x._node))
        assert sum(t() is not None for t in tangents) < 40
        return np.sum(x**2)

    np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], 2 * np.sum(x))


def test_the_functions_of_math() -> None:
    for square in (lambda y: fmath.pow(y, 2), lambda y: y * y):
        for root in (lambda x: fmath.sqrt(x @ x), lambda x: fmath.hypot(x[0], x[1])):
            f = lambda x: square(root(x))
            np.testing.assert_allclose(hessian(f)(np.zeros(2)), 2 * np.eye(2))


EVEN: dict[str, Callable[[Any], Any]] = {
    "** 4": lambda y: y**4,
    "** 4.0": lambda y: y**4.0,
    "power 4": lambda y: np.power(y, np.int64(4)),
    "square of square": lambda y: np.square(y * y),
}


@pytest.mark.filterwarnings("error", "ignore:Degrees of freedom")
@pytest.mark.parametrize(("root", "power"), [*itertools.product(ROOTS, EVEN)])
def test_even_powers_are_smooth(root: str, power: str) -> None:
    f, weights = composed(ROOTS[root], EVEN[power]), np.array([1.0, 10.0, 100.0])
    value, gradient = value_and_grad(f)(x)
    np.testing.assert_allclose([value], [f(x)])
    np.testing.assert_allclose(gradient, 4 * x**3 * weights, atol=1e-15)
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], (4 * x**3 * weights).sum())
    np.testing.assert_allclose(vmap(grad(f))(np.stack([x, x]))[1], 4 * x**3 * weights, atol=1e-15)
    for second in (jacrev(jacrev(f)), jacfwd(jacfwd(f)), jacrev(jacfwd(f)), hessian(f)):
        np.testing.assert_allclose(second(x), np.diag(12 * x**2 * weights), atol=1e-13)


@pytest.mark.parametrize("root", ["abs", "sqrt", "norm"])
def test_the_fourth_derivative_of_the_fourth_power(root: str) -> None:
    fourth = lambda x: ROOTS[root](x) ** 4
    for _ in range(3):
        fourth = (lambda f: lambda x: grad(lambda x: np.sum(f(x)))(x))(fourth)
    np.testing.assert_allclose(jacrev(fourth)(x), 24 * np.eye(3), atol=1e-9)
    np.testing.assert_allclose(grad(lambda x: np.sum(ROOTS[root](x) ** 6))(x), 6 * x**5)


@pytest.mark.parametrize("root", ROOTS)
def test_orders_and_nestings(root: str) -> None:
    f = composed(ROOTS[root], np.square)
    np.testing.assert_allclose(hvp(f, (x,), (np.ones(3),)), [2, 20, 200])
    np.testing.assert_allclose(jacfwd(hessian(f))(x), np.zeros((3, 3, 3)), atol=1e-12)
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(lambda v: ROOTS[root](v) ** 2)(x[None])))(x), 2 * x)
    check_grads(f, (np.array([0.4, 0.5, 0.3]),), order=2)


def test_the_order_of_a_norm_matters() -> None:
    np.testing.assert_allclose(
        grad(lambda v: np.linalg.norm(v, 3) ** 2)(np.ones(2)), 2 ** (2 / 3 - 1) * np.ones(2) * 2
    )
    check_grads(lambda v: np.linalg.norm(v, 3) ** 2, (np.array([0.4, 0.5, 0.3]),), order=2)


def test_only_a_square_is_one() -> None:
    np.testing.assert_allclose(grad(lambda t: np.sqrt(t) ** 3)(4.0), 3.0)
    np.testing.assert_allclose(grad(lambda t: (lambda y: y * stop_gradient(y))(np.sqrt(t)))(4.0), 0.5)
    np.testing.assert_allclose(grad(lambda t, n: np.sqrt(t) ** n, (0, 1))(4.0, 2.0), (1.0, 4 * np.log(2)))
    np.testing.assert_allclose(jvp(lambda t: np.sqrt(t) ** np.array([2, 3]), (4.0,), (1.0,))[1], [1, 3])


def test_a_root_that_was_overwritten_is_none() -> None:
    def f(x):
        y = np.sqrt(x)
        y[0] = 3 * x[0]
        return np.sum(y**2)

    np.testing.assert_allclose(grad(f)(np.array([1.0, 4.0])), [18, 1])
    np.testing.assert_allclose(jvp(f, (np.array([1.0, 4.0]),), (np.ones(2),))[1], 19)


def test_a_constant_that_changes_later() -> None:
    def f(x):
        a = np.array([3.0, 4.0])
        y = np.hypot(x, a)
        a[:] = 0
        return np.sum(y**2)

    for slope in (grad(f)(x[:2] + 1), jacfwd(f)(x[:2] + 1)):
        np.testing.assert_allclose(slope, 2 * (x[:2] + 1))


def test_one_element_has_no_spread() -> None:
    for function in (
        np.std,
        lambda x: np.std(x, axis=0),
        lambda x: np.sum(np.std(x[None], axis=0)),
        np.nanstd,
    ):
        np.testing.assert_array_equal(hessian(function)(np.array([3.5])), [[0.0]])
    alone = hessian(lambda x: np.std(x, where=np.array([True, False])))(np.array([3.5, 2.0]))
    np.testing.assert_array_equal(alone, np.zeros((2, 2)))
    assert np.isnan(grad(lambda x: np.std(x, ddof=1))(np.array([3.5]))).all()
