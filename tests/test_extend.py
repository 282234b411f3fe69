"""funcgrad.extend: derivatives for one's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

from funcgrad import (
    elementwise_grad,
    extend,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    tree,
    vmap,
)
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.errors import NonDifferentiableError, RuleError, UnsupportedFunctionError
from funcgrad.testing import check_grads, check_vmap

X, Y = np.array([0.3, -0.7, 1.5]), np.array([2.0, 0.5, -1.0])
M = np.array([[2.0, 0.3], [-0.5, 1.5]])


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def ratio(x: Any, y: Any) -> Any:
    """x over y."""
    return x / y


def reflect(x: Any, k: int = 1) -> Any:
    return np.concatenate([x, x[-1 : -k - 1 : -1]])


def fold(ct: Any, x: Any, k: int = 1) -> Any:
    assert type(x) is extend.Spec
    edge = ct[x.size :][::-1]
    return ct[: x.size] + np.concatenate([np.zeros(x.size - k), edge])


def bilinear(x: Any, a: Any, y: Any) -> Any:
    return np.einsum("i,ij,j->", x, a, y)


def inverse(a: Any) -> Any:
    return np.linalg.inv(a)


def polar(x: Any, y: Any) -> Any:
    return np.hypot(x, y), np.arctan2(y, x)


def pull_polar(ct: Any, x: Any, y: Any, out: Any) -> Any:
    ct_r, ct_phi = (np.zeros_like(x) if c is None else c for c in ct)
    r = out[0]
    return ct_r * x / r - ct_phi * y / r**2, ct_r * y / r + ct_phi * x / r**2


def weighted(arrays: Any, weights: Any) -> Any:
    return sum((w * x for w, x in zip(weights, arrays, strict=True)), start=np.zeros(3))


# name -> (the declared function, its arguments)
DECLARED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "elementwise": (extend.elementwise(softplus, lambda x: 1 / (1 + np.exp(-x))), (X,)),
    "elementwise, two operands": (
        extend.elementwise(ratio, lambda y: 1 / y, lambda y, out: -out / y),
        (X, Y),
    ),
    "elementwise, broadcast": (
        extend.elementwise(ratio, lambda y: 1 / y, lambda y, out: -out / y),
        (X[:, None], Y),
    ),
    "elementwise, constants": (
        extend.elementwise(lambda x, y: 3 * x + np.floor(y + 0.25), 3.0, None),
        (X, Y),
    ),
    "selection": (
        extend.selection(lambda x, y: np.where(x > y, x, y), lambda x, y: x > y, lambda x, y: x <= y),
        (X, Y),
    ),
    "linear": (extend.linear(reflect, fold), (X,)),
    "linear, by names": (
        extend.linear(lambda x, y: x - 2 * y, {"x": lambda ct: ct, "y": lambda ct: -2 * ct}),
        (X, Y),
    ),
    "multilinear": (
        extend.multilinear(
            bilinear,
            lambda ct, a, y: ct * (a @ y),
            lambda ct, x, y: ct * np.outer(x, y),
            lambda ct, x, a: ct * (x @ a),
        ),
        (X[:2], M, Y[:2]),
    ),
    "custom": (extend.custom(inverse, lambda ct, out: -out.T @ ct @ out.T), (M,)),
    "custom, with a push": (
        extend.custom(inverse, lambda ct, out: -out.T @ ct @ out.T, push=lambda t, out: -out @ t @ out),
        (M,),
    ),
    "custom, by names": (
        extend.custom(
            lambda a, b: np.linalg.solve(a, b),
            {
                "a": lambda ct, a, out: -np.outer(np.linalg.solve(a.T, ct), out),
                "b": lambda ct, a: np.linalg.solve(a.T, ct),
            },
        ),
        (M, X[:2]),
    ),
    "custom, jointly, several outputs": (extend.custom(polar, joint=pull_polar, operands="x y"), (X, Y)),
    "custom, a list of operands": (
        extend.custom(
            weighted,
            {
                "arrays": lambda ct, weights: [ct * w for w in weights],
                "weights": lambda ct, arrays: [np.sum(ct * x) for x in arrays],
            },
            operands="arrays* weights*",
        ),
        ([X, Y], [2.0, 0.5]),
    ),
    "composite": (extend.composite(lambda x: np.array([float(v) ** 2 for v in x]), lambda x: x * x), (X,)),
}


@pytest.mark.parametrize("name", DECLARED)
def test_one_declaration_gives_all_derivatives(name: str) -> None:
    function, args = DECLARED[name]
    check_grads(function, args, order=2)
    check_vmap(function, tree.map(lambda x: np.stack([np.asarray(x), np.asarray(x) * 1.25]), args))


@pytest.mark.parametrize("batch", [None, "leading"])
def test_batching(batch: str | None) -> None:
    f = extend.custom(
        inverse, lambda ct, out: -np.swapaxes(out, -1, -2) @ ct @ np.swapaxes(out, -1, -2), batch=batch
    )
    stack = np.stack([M, 2 * M, M.T])
    np.testing.assert_allclose(vmap(f)(stack), np.linalg.inv(stack))
    np.testing.assert_allclose(
        vmap(grad(lambda a: np.sum(f(a))))(stack), vmap(grad(lambda a: np.sum(np.linalg.inv(a))))(stack)
    )


def test_as_decorators() -> None:
    @extend.elementwise(partials=[lambda x: 2 * x])
    def square(x: Any) -> Any:
        """Squares."""
        return x**2

    @extend.selection(weights=[lambda x: x > 0])
    def positive(x: Any) -> Any:
        return np.maximum(x, 0)

    @extend.linear(transpose=lambda ct: ct[::-1])
    def reverse(x: Any) -> Any:
        return x[::-1]

    @extend.multilinear(transposes=[lambda ct, y: ct * y, lambda ct, x: ct * x])
    def product(x: Any, y: Any) -> Any:
        return x * y

    @extend.custom(pull=lambda ct, out: ct * out)
    def exp(x: Any) -> Any:
        return np.exp(x)

    @extend.piecewise_constant
    def halves(x: Any) -> Any:
        return np.round(2 * x) / 2

    @extend.composite(body=lambda x: x * x)
    def fast(x: Any) -> Any:
        return float(x) ** 2

    assert (square.__name__, square.__doc__) == ("square", "Squares.")
    assert (grad(square)(3.0), grad(positive)(-1.0), grad(exp)(0.0), grad(fast)(3.0)) == (6, 0, 1, 6)
    np.testing.assert_array_equal(grad(lambda x: reverse(x)[0])(X), [0, 0, 1])
    assert grad(product, argnums=1)(3.0, 2.0) == 3
    assert grad(lambda x: halves(x) * x)(1.1) == 1
    assert (square(3.0), fast(3.0)) == (9, 9)


def test_options_are_bound_by_the_signature() -> None:
    function = DECLARED["linear"][0]
    np.testing.assert_array_equal(jacrev(lambda x: function(x, k=2))(X), jacfwd(lambda x: function(x, 2))(X))
    np.testing.assert_array_equal(linear_transpose(function, X)(np.arange(4.0))[0], [0, 1, 5])
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        function(X, q=2)


def test_a_partial_that_is_masked_is_zero_by_structure() -> None:
    root = extend.elementwise(lambda x: np.sqrt(x), lambda out: 0.5 / out)
    with np.errstate(divide="ignore"):
        found = elementwise_grad(lambda x: np.where(x > 0, root(x), 2 * x))(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(found, [2, 0.25])


def test_a_ufunc_of_another_library_is_known_from_then_on() -> None:
    ufunc = scipy.special._ufuncs._sinpi  # no public name leads to it, so it has no rule of ours
    declared = extend.elementwise(ufunc, lambda x: np.pi * np.cos(np.pi * x))
    assert declared is ufunc
    check_grads(ufunc, (X,), order=3)
    np.testing.assert_allclose(hessian(lambda x: np.sum(ufunc(x)))(X).shape, (3, 3))
    # A notebook's cell is run again, with another formula.
    extend.elementwise(ufunc, lambda x: 7 + 0 * x)
    np.testing.assert_array_equal(elementwise_grad(ufunc)(X), [7, 7, 7])
    extend.unsupported(ufunc, "it was taken back")
    with pytest.raises(
        UnsupportedFunctionError, match=r"_sinpi was called on a tracer at .*: it was taken back"
    ):
        grad(ufunc)(1.0)
    extend.composite(ufunc, lambda x: x * x)
    assert grad(ufunc)(3.0) == 6
    del CATALOGUE[ufunc]


def test_own_functions_leave_the_catalogue_alone() -> None:
    before = set(CATALOGUE)
    extend.elementwise(lambda x: x, 1.0)
    extend.composite(lambda x: x, lambda x: x)
    assert set(CATALOGUE) == before


def test_unsupported() -> None:
    lookup = extend.unsupported(lambda x: x + 1, "it reads from a table", "Write np.interp instead.")
    assert lookup(1.0) == 2
    with pytest.raises(UnsupportedFunctionError, match=r"it reads from a table\. Write np\.interp instead\."):
        jvp(lookup, (1.0,), (1.0,))


def test_operands_without_a_formula() -> None:
    f = extend.custom(lambda x, y: x * y, lambda ct, y: ct * y, operands="x y")
    assert grad(f)(2.0, 3.0) == 3
    with pytest.raises(NonDifferentiableError, match=r"no (known )?derivative with respect to 'y'"):
        grad(f, argnums=1)(2.0, 3.0)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "too few partials": (
        lambda: extend.elementwise(ratio, lambda x: x),
        r"elementwise of ratio: 1 formulas for 2 operands \(x, y\)",
    ),
    "an unknown name": (
        lambda: extend.elementwise(softplus, lambda q: q),
        "elementwise of softplus: .*may name",
    ),
    "an unknown name in a pull": (
        lambda: extend.custom(inverse, lambda ct, q: q),
        "custom of inverse: .*unknown names",
    ),
    "a pull for no operand": (
        lambda: extend.custom(inverse, {"b": lambda ct: ct}),
        r"custom of inverse: the operands \['b'\]",
    ),
    "neither pull nor joint": (lambda: extend.custom(inverse), "give pull, or joint"),
    "joint without operands": (lambda: extend.custom(polar, joint=pull_polar), "give pull, or joint"),
    "no function": (
        lambda: extend.piecewise_constant(3),
        "extend.piecewise_constant takes a function, not int",
    ),
    "NumPy's own": (
        lambda: extend.elementwise(np.sin, np.cos),
        r"funcgrad has a rule for it \(elementwise\)",
    ),
    "an unknown option": (lambda: extend.linear(reflect, fold, colour=1), "linear of reflect: .*colour"),
}


@pytest.mark.parametrize("name", WRONG)
def test_misuse(name: str) -> None:
    run, message = WRONG[name]
    with pytest.raises(RuleError, match=message):
        run()
