"""custom_vjp, custom_jvp, custom_gradient."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import custom_gradient, custom_jvp, custom_vjp, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from funcgrad.errors import ArgumentError, EscapedTracerError, OutputError, RuleError
from funcgrad.transforms.leaves import float0
from tests.transforms.programs import MODES, agree


def plain(x: Any, y: Any) -> Any:
    return np.sin(x) * y


def with_vjp(
    fun: Callable[..., Any], fwd: Callable[..., Any], bwd: Callable[..., Any], **options: Any
) -> Any:
    f = custom_vjp(fun, **options)
    f.defvjp(fwd, bwd)
    return f


def with_jvp(fun: Callable[..., Any], rule: Callable[..., Any], **options: Any) -> Any:
    f = custom_jvp(fun, **options)
    f.defjvp(rule)
    return f


def doubled(bwd: Callable[..., Any]) -> Any:
    return with_vjp(lambda x: 2 * x, lambda x: (2 * x, None), bwd)


def product_vjp() -> Any:
    return with_vjp(
        plain, lambda x, y: (plain(x, y), (x, y)), lambda s, ct: (ct * np.cos(s[0]) * s[1], ct * np.sin(s[0]))
    )


def product_jvp() -> Any:
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (t_x, t_y) = primals, tangents
        return plain(x, y), np.cos(x) * y * t_x + np.sin(x) * t_y

    return with_jvp(plain, rule)


def product_jvps() -> Any:
    f = custom_jvp(plain)
    f.defjvps(lambda t, out, x, y: np.cos(x) * y * t, lambda t, out, x, y: np.sin(x) * t)
    return f


def product_gradient() -> Any:
    return custom_gradient(lambda x, y: (plain(x, y), lambda ct: (ct * np.cos(x) * y, ct * np.sin(x))))


def product_pytrees() -> Any:
    f = with_vjp(
        lambda p, y: {"out": (plain(p["x"], y), 1)},
        lambda p, y: ({"out": (plain(p["x"], y), 1)}, {"x": p["x"], "rest": [y, "text"]}),
        lambda s, ct: ({"x": ct["out"][0] * np.cos(s["x"]) * s["rest"][0]}, ct["out"][0] * np.sin(s["x"])),
    )
    return lambda x, y: f({"x": x}, y)["out"][0]


WAYS = [product_vjp, product_jvp, product_jvps, product_gradient, product_pytrees]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_a_true_rule_gives_the_true_derivatives(mode: str, way: Callable[[], Any]) -> None:
    agree(mode, way(), plain)


# ---- the rule is obeyed ----------------------------------------------------------------------------------------------


def test_without_derivatives_the_function_itself_runs() -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("the rule was run")

    f = with_vjp(lambda x: {"a": x, "note": "text"}, refuse, refuse)
    assert f(2.0) == {"a": 2.0, "note": "text"}
    g = with_vjp(lambda x: 2 * x, refuse, refuse)
    np.testing.assert_array_equal(vmap(g)(np.arange(3.0)), [0, 2, 4])


@pytest.mark.parametrize("mode", ["vjp", "gradient"])
def test_a_backward_rule_decides_in_every_mode(mode: str) -> None:
    if mode == "vjp":
        f = with_vjp(lambda x: x**2, lambda x: (x**2, x), lambda x, ct: (100 * x * ct,))
    else:
        f = custom_gradient(lambda x: (x**2, lambda ct: 100 * x * ct))
    assert grad(f)(3.0) == 300
    assert jvp(f, (3.0,), (2.0,)) == (9, 600)
    assert jacfwd(f)(3.0) == 300
    assert grad(grad(f))(3.0) == hessian(f)(3.0) == 100
    np.testing.assert_array_equal(vmap(grad(f))(np.array([1.0, 2.0])), [100, 200])
    np.testing.assert_array_equal(grad(lambda x: np.sum(vmap(f)(x)))(np.array([1.0, 2.0])), [100, 200])


def test_a_forward_rule_decides_in_every_mode() -> None:
    @custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x**2 * y

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (_, t_y) = primals, tangents
        return x**2 * y, 3 * x * y * t_y

    assert grad(f, argnums=1)(2.0, 3.0) == 18
    assert grad(f)(2.0, 3.0) == 0
    assert jvp(f, (2.0, 3.0), (1.0, 1.0)) == (12, 18)
    assert jacfwd(f, argnums=(0, 1))(2.0, 3.0) == (0, 18)


def test_a_forward_rule_may_broadcast() -> None:
    f = with_jvp(lambda s, v: s * v, lambda p, t: (p[0] * p[1], t[0] * p[1] + p[0] * t[1]))
    g_s, g_v = grad(lambda s, v: np.sum(f(s, v)), argnums=(0, 1))(2.0, np.arange(3.0))
    assert g_s == 3
    np.testing.assert_array_equal(g_v, [2, 2, 2])


def test_the_output_of_the_rule_is_what_outer_transforms_see() -> None:
    f = with_jvp(lambda x: x**3, lambda p, t: (p[0] ** 3, 5 * p[0] ** 2 * t[0]))
    assert grad(grad(f))(2.0) == 20
    assert jvp(lambda x: f(x) * x, (2.0,), (1.0,))[1] == 5 * 4 * 2 + 8


def test_defjvps_with_none() -> None:
    f = custom_jvp(lambda x, y: x * y)
    f.defjvps(None, lambda t, out, x, y: 7 * t)
    assert grad(f, argnums=(0, 1))(2.0, 3.0) == (0, 7)
    g = custom_jvp(lambda x: x * 2)
    g.defjvps(None)
    assert grad(g)(2.0) == 0


def test_a_rule_that_has_a_rule() -> None:
    cube, slope = custom_vjp(lambda x: x**3), custom_vjp(lambda x, ct: 3 * x**2 * ct)
    slope.defvjp(
        lambda x, ct: (slope(x, ct), (x, ct)), lambda s, ct: (6 * s[0] * s[1] * ct, 3 * s[0] ** 2 * ct)
    )
    cube.defvjp(lambda x: (cube(x), x), lambda x, ct: (slope(x, ct),))
    assert (grad(cube)(2.0), grad(grad(cube))(2.0), jvp(cube, (2.0,), (1.0,))[1]) == (12, 12, 12)


def test_control_flow_in_function_and_rules() -> None:
    f = with_vjp(
        lambda x: x * 2 if x > 0 else x,
        lambda x: (x * 2 if x > 0 else x, x),
        lambda x, ct: (ct * 5 if x > 0 else ct,),
    )
    assert (grad(f)(1.0), grad(f)(-1.0)) == (5, 1)


def test_complex_numbers() -> None:
    f = with_vjp(lambda z: z * z, lambda z: (z * z, z), lambda z, ct: (2 * z * ct,))
    for function in (f, lambda z: z * z):
        assert grad(lambda z: np.real(function(z) * 1j))(1 + 2j) == pytest.approx(2j * (1 + 2j))
        assert jvp(function, (1 + 2j,), (1j,))[1] == pytest.approx(2 * (1 + 2j) * 1j)


def test_single_precision_stays() -> None:
    f = doubled(lambda _, ct: (np.float64(2) * ct,))
    assert grad(f)(np.float32(1)).dtype == np.float32
    assert jvp(f, (np.float32(1),), (np.float32(1),))[1].dtype == np.float32


# ---- zeros, integers and things --------------------------------------------------------------------------------------


def test_none_is_a_zero() -> None:
    f = with_vjp(
        lambda x, n: x**n, lambda x, n: (x**n, (x, n)), lambda s, ct: (ct * s[1] * s[0] ** (s[1] - 1), None)
    )
    assert grad(f)(2.0, 3) == 12
    assert grad(lambda x, n: f(x, n), argnums=1)(2.0, 3.0) == 0
    tree_in = with_vjp(
        lambda d: d["a"] * d["b"], lambda d: (d["a"] * d["b"], d), lambda d, ct: ({"a": ct, "b": None},)
    )
    assert grad(tree_in)({"a": 1.0, "b": 2.0}) == {"a": 1, "b": 0}
    no_tangent = with_jvp(lambda x: 2 * x, lambda p, t: (2 * p[0], None))
    assert (jvp(no_tangent, (1.0,), (1.0,))[1], grad(no_tangent)(1.0)) == (0, 0)


def test_none_under_vmap() -> None:
    f = with_vjp(lambda x, y: x * y, lambda x, y: (x * y, y), lambda y, ct: (ct * y, None))
    g_x, g_y = grad(lambda x, y: np.sum(vmap(f, (0, None))(x, y)), argnums=(0, 1))(np.ones(3), 2.0)
    np.testing.assert_array_equal(g_x, [2, 2, 2])
    assert g_y == 0


def test_what_all_examples_share_gets_the_sum_of_their_cotangents() -> None:
    constant = with_vjp(lambda x, y: x + y, lambda x, y: (x + y, None), lambda _, ct: (ct, 5.0))
    assert grad(lambda y: np.sum(vmap(constant, (0, None))(np.ones(3), y)))(2.0) == 15


def test_an_unused_output_has_a_zero_cotangent() -> None:
    f = with_vjp(lambda x: (x, 2 * x), lambda x: ((x, 2 * x), None), lambda _, ct: (10 * ct[0] + ct[1],))
    assert grad(lambda x: f(x)[1])(1.0) == 1


def test_integers_among_the_outputs_have_float0() -> None:
    seen = []

    def bwd(_: Any, ct: Any) -> Any:
        seen.append(ct[1].dtype)
        return (2 * ct[0],)

    f = with_vjp(lambda x: (x, int(x)), lambda x: ((x, int(x)), None), bwd)
    assert grad(lambda x: f(x)[0])(3.5) == 2
    assert seen == [float0]
    assert vjp(f, 3.5)[1]((1.0, np.zeros((), float0))) == (2,)


def test_an_object_as_an_argument_and_a_method() -> None:
    class Model:
        factor = 3.0

        @custom_vjp
        def scaled(self, x: Any) -> Any:
            return self.factor * x

        scaled.defvjp(lambda self, x: (self.factor * x, self), lambda self, ct: (None, 10 * self.factor * ct))

    assert grad(Model().scaled)(1.0) == 30


# ---- arguments -------------------------------------------------------------------------------------------------------


def test_keywords_and_defaults_find_their_positions() -> None:
    f = with_vjp(
        lambda x, y=3.0, z=1.0: x * y,
        lambda x, y, z: (x * y, (x, y)),
        lambda s, ct: (s[1] * ct, s[0] * ct, None),
    )
    assert grad(lambda x: f(x))(2.0) == 3
    assert grad(lambda x: f(y=x, x=5.0))(2.0) == 5
    assert grad(lambda x: f(z=2.0, x=x))(2.0) == 3


def test_keywords_that_have_no_position() -> None:
    f = with_vjp(lambda x, *, k=1.0: x * k, lambda x: (x, None), lambda _, ct: (ct,))
    assert grad(f)(2.0) == 1
    with pytest.raises(ArgumentError, match=r"keyword-only arguments \['k'\]"):
        f(2.0, k=3.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        f(2.0, q=3.0)


def test_a_ufunc_can_be_given_a_rule() -> None:
    f = with_vjp(np.sin, lambda x: (np.sin(x), x), lambda x, ct: (7 * ct,))
    assert grad(f)(1.0) == 7
    assert f(0.0) == 0


def test_nondiff_argnums_of_any_kind() -> None:
    apply = with_vjp(
        lambda f, x: f(x),
        lambda f, x: (f(x), x),
        lambda f, x, ct: (100 * ct * grad(f)(x),),
        nondiff_argnums=0,
    )
    assert grad(apply, argnums=1)(np.square, 3.0) == 600
    f = with_vjp(
        lambda x, mode, table: x * len(mode),
        lambda x, mode, table: (x * len(mode), None),
        lambda mode, table, _, ct: (ct * len(mode) * table["k"],),
        nondiff_argnames=("mode", "table"),
    )
    assert grad(f)(1.0, "abc", {"k": 5}) == 15
    assert grad(lambda x: f(table={"k": 2}, x=x, mode="ab"))(1.0) == 4


def test_a_tracer_at_nondiff_argnums_has_no_derivative() -> None:
    def f_of(x: Any, k: Any) -> Any:
        f = with_vjp(
            lambda x, k: x * k, lambda x, k: (x * k, None), lambda k, _, ct: (ct * k,), nondiff_argnums=(-1,)
        )
        return f(x, k)

    assert grad(lambda x: f_of(x, x))(3.0) == 3
    assert jvp(lambda x: f_of(x, x), (3.0,), (1.0,))[1] == 3
    assert grad(lambda x: f_of(2.0, x))(3.0) == 0
    np.testing.assert_array_equal(vmap(grad(lambda x: f_of(x, x)))(np.array([1.0, 2.0])), [1, 2])
    assert grad(lambda k: np.sum(vmap(f_of, (0, None))(np.ones(2), k)))(3.0) == 0


@pytest.mark.parametrize("options", [{"nondiff_argnums": 3}, {"nondiff_argnums": -2}])
def test_nondiff_argnums_that_are_not_there(options: Any) -> None:
    with pytest.raises(ArgumentError, match="nondiff_argnums"):
        grad(with_vjp(lambda x: x, lambda x: (x, None), lambda _, ct: (ct,), **options))(1.0)
    with pytest.raises(ArgumentError, match="nondiff_argnames has 'q'"):
        custom_vjp(lambda x: x, nondiff_argnames="q")
    for wrong in ({"nondiff_argnums": "x"}, {"nondiff_argnums": 1.5}, {"nondiff_argnames": 3}):
        with pytest.raises(ArgumentError, match=f"{next(iter(wrong))} must be"):
            custom_vjp(lambda x: x, **wrong)


# ---- closures --------------------------------------------------------------------------------------------------------


def test_a_closure_over_a_tracer_is_differentiated() -> None:
    def outer(x: Any) -> Any:
        f = with_vjp(lambda y: x * y, lambda y: (x * y, x), lambda x, ct: (x * ct,))
        return f(x * x) + f(3.0)

    def true(x: Any) -> Any:
        return x**3 + 3 * x

    for derivative in (grad, hessian, lambda f: grad(grad(f)), lambda f: lambda x: jvp(f, (x,), (1.0,))[1]):
        assert derivative(outer)(2.0) == pytest.approx(derivative(true)(2.0))
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(outer)(x)))(x), vmap(grad(true))(x))


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_a_rule_that_closes_over_a_tracer_is_an_error_that_names_it(kind: str) -> None:
    def outer(x: Any) -> Any:
        if kind == "vjp":
            f = with_vjp(lambda y: x * y, lambda y: (x * y, None), lambda _, ct: (x * ct,))
        else:
            f = with_jvp(lambda y: x * y, lambda p, t: (x * p[0], x * t[0]))
        return f(x * x)

    with pytest.raises(
        EscapedTracerError, match=rf"custom_{kind} <lambda>: its derivative rule closes over a tracer"
    ):
        grad(outer)(2.0)


def test_a_forward_rule_that_closes_over_a_forward_tracer() -> None:
    def outer(x: Any) -> Any:
        return with_jvp(lambda y: x * y, lambda p, t: (x * p[0], x * t[0]))(x * x)

    assert jvp(outer, (2.0,), (1.0,)) == (8, 12)


def test_rules_that_close_over_a_batch() -> None:
    def inside(x: Any) -> Any:
        f = with_vjp(lambda y: x * y, lambda y: (x * y, None), lambda _, ct: (x * ct,))
        return grad(f)(3.0)

    np.testing.assert_array_equal(vmap(inside)(np.array([1.0, 2.0])), [1, 2])

    def scaled(x: Any, w: Any) -> Any:
        f = with_vjp(lambda y: x * y, lambda y: (x * y, None), lambda _, ct: (x * ct,))
        g = custom_gradient(lambda y: (x * y, lambda ct: ct * (x * 100)))
        return f(w * x) + g(w * x)

    assert grad(lambda w: np.sum(vmap(scaled, (0, None))(np.array([1.0, 2.0]), w)))(3.0) == 5 + 500


# ---- misuse ----------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no rule (vjp)": (
        lambda: grad(custom_vjp(np.sin))(1.0),
        r"custom_vjp sin was called, but has no rule yet: .*defvjp",
    ),
    "no rule (jvp)": (
        lambda: custom_jvp(np.sin)(1.0),
        r"custom_jvp sin was called, but has no rule yet: .*defjvp",
    ),
    "fwd is no function": (lambda: custom_vjp(np.sin).defvjp(1, 2), "fwd must be a function, not int"),
    "rule is no function": (
        lambda: custom_jvp(np.sin).defjvp(None),
        "the rule must be a function, not NoneType",
    ),
    "fwd returns no pair": (
        lambda: grad(with_vjp(np.sin, np.sin, lambda _, ct: (ct,)))(1.0),
        r"fwd must return a pair \(output, residuals\), but it returned an array of shape \(\)",
    ),
    "fwd returns nothing": (
        lambda: grad(with_vjp(np.sin, lambda x: None, lambda _, ct: (ct,)))(1.0),
        "is a `return` missing",
    ),
    "bwd returns a bare cotangent": (
        lambda: grad(doubled(lambda _, ct: ct))(1.0),
        r"must return a tuple.*Write \(ct,\)",
    ),
    "bwd returns nothing": (
        lambda: grad(doubled(lambda _, ct: None))(1.0),
        "must return a tuple.*is a `return` missing",
    ),
    "bwd returns too many": (
        lambda: grad(doubled(lambda _, ct: (ct, ct)))(1.0),
        r"argument \(1\).*a tuple of length 2",
    ),
    "bwd returns a list where a number is": (
        lambda: grad(doubled(lambda _, ct: ([ct],)))(1.0),
        r"the cotangent that bwd returned for argument 0: expected a leaf, found \[\*\]",
    ),
    "bwd returns the wrong shape": (
        lambda: grad(lambda v: np.sum(doubled(lambda _, ct: (np.ones(5),))(v)))(np.ones(3)),
        r"has shape \(5,\), but its argument has shape \(3,\)",
    ),
    "bwd returns a cotangent that broadcasts": (
        lambda: grad(lambda v: np.sum(doubled(lambda _, ct: (ct * np.ones(3),))(v)))(1.0),
        r"has shape \(3,\), but its argument has shape \(\).*sum the cotangent",
    ),
    "bwd returns text": (
        lambda: grad(doubled(lambda _, ct: ("a",)))(1.0),
        "a cotangent that bwd returned is a str",
    ),
    "bwd returns complex for real": (
        lambda: grad(doubled(lambda _, ct: (1j * ct,)))(1.0),
        "is real.*return its real part",
    ),
    "bwd is not linear, in forward mode": (
        lambda: jvp(doubled(lambda _, ct: (ct * ct,)), (1.0,), (1.0,)),
        r"in forward mode: its backward rule must be linear, but np.multiply at test_custom.py, line \d+",
    ),
    "the rule returns no pair": (
        lambda: grad(with_jvp(np.sin, lambda p, t: t[0]))(1.0),
        "the rule must return a pair",
    ),
    "the tangent has the wrong shape": (
        lambda: jvp(with_jvp(np.sin, lambda p, t: (p[0], np.sum(t[0]))), (np.ones(3),), (np.ones(3),)),
        r"a tangent that the rule returned has shape \(\), but its output has shape \(3,\)",
    ),
    "the tangent has the wrong structure": (
        lambda: jvp(with_jvp(np.sin, lambda p, t: (p[0], (t[0], t[0]))), (1.0,), (1.0,)),
        "the tangent that the rule returned: expected a leaf",
    ),
    "the rule is not linear": (
        lambda: grad(with_jvp(np.sin, lambda p, t: (p[0], t[0] * t[0])))(1.0),
        "in reverse mode: its rule, in the tangents, must be linear, but np.multiply",
    ),
    "the rule asks for the sign of a tangent": (
        lambda: grad(with_jvp(np.sin, lambda p, t: (p[0], t[0] if t[0] > 0 else 2 * t[0])))(1.0),
        "must be linear, but np.greater",
    ),
    "the tangent is a constant": (
        lambda: grad(with_jvp(np.sin, lambda p, t: (p[0], 1.0)))(1.0),
        "is a constant, not linear in the tangents",
    ),
    "the output depends on the tangent": (
        lambda: grad(with_jvp(np.sin, lambda p, t: (p[0] * t[0], t[0])))(1.0),
        "the output that its rule returns depends on the tangents",
    ),
    "defjvps for another number of arguments": (
        lambda: grad(_with_jvps(np.sin, None, None))(1.0),
        "defjvps was given 2 rules for 1 arguments",
    ),
    "custom_gradient without a pair": (
        lambda: custom_gradient(np.sin)(1.0),
        r"custom_gradient sin must return a pair \(output, vjp_fn\)",
    ),
    "vjp_fn returns too few": (
        lambda: grad(custom_gradient(lambda x, y: (x * y, lambda ct: ct)))(1.0, 2.0),
        r"vjp_fn must return a tuple with one cotangent for each differentiated argument \(2\)",
    ),
}


def _with_jvps(fun: Any, *rules: Any) -> Any:
    f = custom_jvp(fun)
    f.defjvps(*rules)
    return f


@pytest.mark.parametrize("name", WRONG)
def test_misuse(name: str) -> None:
    run, message = WRONG[name]
    with pytest.raises(RuleError, match=message):
        run()


def test_other_misuse() -> None:
    with pytest.raises(ArgumentError, match="takes a function, not int"):
        custom_vjp(3)
    with pytest.raises(OutputError, match="returned a str among its outputs"):
        grad(with_vjp(np.sin, lambda x: ("text", None), lambda _, ct: (ct,)))(1.0)


def test_an_error_in_a_rule_says_where_it_happened() -> None:
    with pytest.raises(TypeError) as error:
        grad(doubled(lambda residuals, ct: (residuals["a"],)))(1.0)
    assert "pulled back through custom_vjp <lambda>" in error.value.__notes__[0]


# ---- as objects ------------------------------------------------------------------------------------------------------


@custom_vjp
def module_level(x: Any) -> Any:
    """Doubles."""
    return 2 * x


def _fwd(x: Any) -> Any:
    return 2 * x, None


def _bwd(_: Any, ct: Any) -> Any:
    return (7 * ct,)


module_level.defvjp(_fwd, _bwd)


def test_copies_and_names() -> None:
    assert (module_level.__name__, module_level.__doc__) == ("module_level", "Doubles.")
    for f in (copy.deepcopy(module_level), pickle.loads(pickle.dumps(module_level))):
        assert grad(f)(1.0) == 7
    assert repr(module_level) == "<custom_vjp of module_level>"


def test_with_options_as_a_decorator() -> None:
    @custom_vjp(nondiff_argnums=1)
    def f(x: Any, k: int) -> Any:
        return x * k

    f.defvjp(lambda x, k: (x * k, None), lambda k, _, ct: (ct * k,))
    assert grad(f)(1.0, 3) == 3


def test_plain_arrays_may_change_after_the_call() -> None:
    f = with_vjp(lambda x, a: x * a, lambda x, a: (x * a, a), lambda a, ct: (ct * a, None))

    def loss(x: Any) -> Any:
        a = np.array([1.0, 2.0])
        out = f(x, a)
        a[:] = 100
        return np.sum(out)

    np.testing.assert_array_equal(grad(loss)(np.ones(2)), [1, 2])
    np.testing.assert_array_equal(jacrev(loss)(np.ones(2)), [1, 2])


def test_a_vjp_fn_that_is_no_function() -> None:
    with pytest.raises(
        RuleError,
        match=r"custom_gradient <lambda> must return a pair \(output, vjp_fn\), but its vjp_fn is a int",
    ):
        grad(custom_gradient(lambda x: (x, 3)))(1.0)
