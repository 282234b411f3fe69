"""The interface of autograd: the original's results, where it is installed; the hook under its name."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.compat.autograd as ours
import funcgrad.compat.autograd.misc.fixed_points
import funcgrad.compat.autograd.misc.optimizers
import funcgrad.compat.autograd.misc.tracers
import funcgrad.compat.autograd.numpy.random
import funcgrad.compat.autograd.scipy.signal
import funcgrad.compat.autograd.test_util
import funcgrad.compat.autograd.util
from tests.grouping import in_groups

V, M, Z = (
    np.array([0.3, -1.2, 2.0]),
    np.array([[2.0, 0.5, 0.1], [0.5, 3.0, -0.2], [0.1, -0.2, 1.5]]),
    0.7 - 0.4j,
)

# Each is run with `ag` and `np` of ours, and of the original.
PROGRAMS = {
    # derivatives of every kind of function
    "grad": "ag.grad(lambda x: np.sum(np.tanh(x) * x))(V)",
    "grad of a (1, 1) output": "ag.grad(lambda x: np.dot(x[None], x[:, None]))(V)",
    "grad by argnum": "ag.grad(lambda x, y: np.sum(x * y ** 2), 1)(V, 2.0)",
    "grad by argnums": "ag.grad(lambda x, y: np.sum(x * y ** 2), (0, 1))(V, 2.0)",
    "grad of grad": "ag.grad(ag.grad(np.sin))(0.3)",
    "grad of a constant": "ag.grad(lambda x: 1.0)(V)",
    "value_and_grad": "ag.value_and_grad(lambda x: np.sum(x ** 3))(V)",
    "grad_and_aux": "ag.grad_and_aux(lambda x: (np.sum(x ** 3), x * 2))(V)",
    "grad_named": "ag.grad_named(lambda x, y: x * y ** 2, 'y')(3.0, 2.0)",
    "elementwise_grad": "ag.elementwise_grad(np.tanh)(M)",
    "deriv": "ag.deriv(lambda x: np.sin(x) * x)(V)",
    "jacobian": "ag.jacobian(lambda x: np.outer(x, x ** 2))(V)",
    "jacobian of a matrix": "ag.jacobian(lambda a: np.linalg.inv(a)[0])(M)",
    "hessian": "ag.hessian(lambda x: np.sum(x ** 3) * x[0])(V)",
    "hessian_vector_product": "ag.hessian_vector_product(lambda x: np.sum(x ** 3) * x[0])(V, V + 1)",
    "tensor_jacobian_product": "ag.tensor_jacobian_product(lambda x: np.outer(x, x))(V, M)",
    "make_vjp": "ag.make_vjp(lambda x: np.sin(x))(V)[0](V)",
    "make_jvp": "ag.make_jvp(lambda x: np.sin(x))(V)(V)",
    "make_jvp_reversemode": "ag.differential_operators.make_jvp_reversemode(lambda x: np.sin(x))(V)(V)",
    "make_hvp": "ag.make_hvp(lambda x: np.sum(x ** 3))(V)[0](V)",
    "make_ggnvp": "ag.make_ggnvp(lambda x: np.tanh(np.dot(M, x)))(V)(V)",
    "checkpoint": "ag.grad(lambda x: np.sum(ag.checkpoint(lambda y: np.sin(y) ** 2)(x)))(V)",
    # trees
    "list": "ag.grad(lambda xs: np.sum(xs[0]) * xs[1] ** 2)([V, 2.0])",
    "tuple": "ag.grad(lambda xs: np.sum(xs[0]) * xs[1] ** 2)((V, 2.0))",
    "dict": "sorted(ag.grad(lambda d: np.sum(d['w'] * d['b']))({'w': V, 'b': 2.0}).items())",
    "nested": "ag.grad(lambda t: np.sum(t[0]['a'] ** 2) * t[1][0])(({'a': V}, [3.0]))",
    # complex numbers
    "complex": "ag.grad(lambda z: np.real(z * z) + np.abs(z) ** 2)(Z)",
    "holomorphic": "ag.holomorphic_grad(lambda z: z ** 3)(Z)",
    "complex arrays": "ag.grad(lambda x: np.abs(np.sum(np.exp(1j * x))))(V)",
    "fft": "ag.grad(lambda x: np.sum(np.abs(np.fft.fft(x))))(V)",
    # the namespace
    "array of parts": "ag.jacobian(lambda x: np.array([x[0] * x[1], np.sin(x[2])]))(V)",
    "concatenate": "ag.grad(lambda x: np.sum(np.concatenate([x, x ** 2])[1:4]))(V)",
    "where of numbers": "(np.where(True, 1, 2), type(np.where(True, 1, 2)).__name__)",
    "eigh": "ag.grad(lambda a: np.sum(np.linalg.eigh(a)[0] * V))(M)",
    "eigh, upper": "ag.grad(lambda a: np.linalg.eigh(a, 'U')[0][0])(M)",
    "cholesky": "ag.grad(lambda a: np.sum(np.linalg.cholesky(a)))(M)",
    "solve": "ag.grad(lambda a: np.sum(np.linalg.solve(a, V)))(M)",
    "slogdet": "ag.grad(lambda a: np.linalg.slogdet(a)[1])(M)",
    "make_diagonal": "ag.grad(lambda x: np.sum(np.make_diagonal(x, axis1=-1, axis2=-2) * M))(V)",
    "dtype": "ag.grad(lambda x: np.sum(x ** 2))(V.astype(np.float32)).dtype.type is np.float32",
    # SciPy
    "convolve": "ag.grad(lambda x: np.sum(sp.signal.convolve(x, V)[1:3]))(V + 1)",
    "convolve by axes": "sp.signal.convolve(np.arange(24.).reshape(2, 3, 4), np.arange(18.).reshape(3, 3, 2), "
    "axes=([2], [2]), dot_axes=([1], [0]))",
    "convolve, outer": "sp.signal.convolve(M, M[:2], axes=([1], [1]))",
    "convolve, valid": "sp.signal.convolve(M, M[:2, :2], axes=([0], [0]), mode='valid')",
    "convolve, the other larger": "sp.signal.convolve(M[:2, :2], M, axes=([0], [0]), mode='valid')",
    "convolve, same": "sp.signal.convolve(np.arange(8.), V, mode='same')",
    "gammaln": "ag.grad(lambda x: np.sum(sp.special.gammaln(x)))(V ** 2 + 1)",
    # misc
    "flatten": "misc.flatten({'b': 1.0, 'a': [V, 2.0]})[0]",
    "unflatten": "sorted(misc.flatten({'b': 1.0, 'a': V})[1](np.arange(4.)).items())",
    "sgd": "misc.optimizers.sgd(lambda x, i: 2 * x, V, num_iters=5)",
    "adam": "misc.optimizers.adam(lambda x, i: [2 * x[0], x[1]], [V, M], num_iters=5)",
    "rmsprop": "misc.optimizers.rmsprop(lambda x, i: 2 * x, V, num_iters=5)",
    "const_graph": "ag.grad(misc.const_graph(lambda x: np.sin(x) * x))(0.5)",
    "full_graph": "misc.tracers.full_graph(lambda x: np.sin(x) * x, 0.5).value",
    "fixed_point": "ag.grad(lambda a: misc.fixed_points.fixed_point(lambda a: lambda x: .5 * (x + a / x), a, 1., "
    "lambda x, y: abs(x - y), 1e-12))(4.0)",
    "builtins": "(ag.isinstance([V], ag.list), ag.isinstance((V,), ag.tuple), ag.isinstance({}, ag.dict))",
    "vspace": "[extend.vspace(x).size for x in (1.0, Z, V, [V, (Z, 2.0)], {'a': M})]",
    "inner_prod": "extend.vspace([V, Z]).inner_prod([V, Z], [V + 1, Z * 1j])",
    "unbroadcast": "unbroadcast_f(V, lambda g: g * 2)(M)",
}


def namespace(root: Any) -> dict[str, Any]:
    """What programs use, of the module `autograd`, whichever it is."""
    import importlib

    part = lambda name: importlib.import_module(f"{root.__name__}.{name}")
    for name in (
        "misc.optimizers",
        "misc.fixed_points",
        "misc.tracers",
        "scipy.signal",
        "scipy.special",
        "numpy.linalg",
    ):
        part(name)
    unbroadcast_f = part("numpy.numpy_vjps").unbroadcast_f
    return {
        "ag": root, "np": part("numpy"), "sp": part("scipy"), "misc": part("misc"), "extend": part("extend"),
        "unbroadcast_f": unbroadcast_f, "V": V, "M": M, "Z": Z,
    }  # fmt: skip


def same(x: Any, y: Any) -> None:
    if isinstance(y, (list, tuple)):
        assert type(x) is type(y)
        assert len(x) == len(y)
        for a, b in zip(x, y, strict=True):
            same(a, b)
    elif isinstance(y, dict):
        assert x.keys() == y.keys()
        same(list(x.values()), list(y.values()))
    elif isinstance(y, (str, bool)):
        assert x == y
    else:
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-9)


@in_groups(PROGRAMS, by=lambda name: "programs")
def test_programs_give_what_the_original_gives(code: str) -> None:
    original = pytest.importorskip("autograd", reason="the original is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(eval(code, namespace(ours)), eval(code, namespace(original)))


@in_groups(
    {name: code for name, code in PROGRAMS.items() if code.startswith("ag.")}, by=lambda name: "programs"
)
def test_programs_run(code: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eval(code, namespace(ours))


def test_what_is_better_than_in_the_original() -> None:
    assert ours.grad(lambda x: x**3)(2) == 12  # an int is a number
    # a list needs no ag.list
    np.testing.assert_allclose(ours.make_vjp(lambda x: [x, x**2])(V)[0]([V, V]), V + 2 * V**2)

    def fill(x: Any) -> Any:
        y = np.zeros_like(x)
        y[0] = x[1] ** 2
        return np.sum(y)

    np.testing.assert_allclose(ours.grad(fill)(V), [0, 2 * V[1], 0])
    np.testing.assert_allclose(ours.grad(lambda x: np.linalg.norm(x))(V * 0), 0)


# ---- rules of one's own ----------------------------------------------------------------------------------------------


def cube_by(kind: str) -> Any:
    """x ** 3 * k, with a rule of one kind, and k beside it."""
    from funcgrad.compat.autograd import extend

    cube = extend.primitive(lambda x, k, *, note=None: x**3 * k)
    if kind == "defvjp":
        extend.defvjp(cube, lambda ans, x, k, note=None: lambda g: 3 * g * x**2 * k, None)
    if kind == "defvjp_argnum":
        extend.defvjp_argnum(cube, lambda n, ans, args, kwargs: lambda g: 3 * g * args[0] ** 2 * args[1])
    if kind == "defvjp_argnums":
        extend.defvjp_argnums(cube, lambda ns, ans, args, kwargs: lambda g: (3 * g * args[0] ** 2 * args[1],))
    if kind == "defjvp":
        extend.defjvp(cube, lambda g, ans, x, k, note=None: 3 * g * x**2 * k, None)
    if kind == "both":
        extend.defvjp(cube, lambda ans, x, k, note=None: lambda g: 3 * g * x**2 * k)
        extend.defjvp(cube, lambda g, ans, x, k, note=None: 3 * g * x**2 * k)
    return cube


@pytest.mark.parametrize("kind", ["defvjp", "defvjp_argnum", "defvjp_argnums", "defjvp", "both"])
def test_rules_serve_both_modes_every_order_and_batches(kind: str) -> None:
    import funcgrad as fg

    cube = cube_by(kind)
    run = lambda x: cube(x, 2.0, note={"any": object()})
    assert ours.grad(run)(3.0) == 54
    assert ours.grad(ours.grad(run))(3.0) == 36
    assert ours.deriv(run)(3.0) == 54
    np.testing.assert_allclose(ours.jacobian(run)(V), np.diag(6 * V**2))
    np.testing.assert_allclose(ours.hessian(lambda x: np.sum(run(x)))(V), np.diag(12 * V))
    np.testing.assert_allclose(fg.vmap(fg.grad(run))(V), 6 * V**2)
    ours.test_util.check_grads(run)(V)


def test_arguments_may_be_trees_and_outputs_several() -> None:
    from funcgrad.compat.autograd import extend

    both = extend.primitive(lambda pair: (pair["a"] * pair["b"], pair["a"] + pair["b"]))
    extend.defvjp(
        both, lambda ans, pair: lambda g: {"a": g[0] * pair["b"] + g[1], "b": g[0] * pair["a"] + g[1]}
    )
    out = ours.grad(lambda d: both(d)[0] * 10 + both(d)[1])({"a": 2.0, "b": 3.0})
    assert out == {"a": 31.0, "b": 21.0}


def test_what_has_no_rule_is_refused_by_name() -> None:
    from funcgrad.compat.autograd import extend

    def nameless_thing(x: Any) -> Any:
        return 2 * x

    for direction in (ours.grad, ours.deriv):
        with pytest.raises(NotImplementedError, match="nameless_thing"):
            direction(extend.primitive(nameless_thing))(1.0)
    half = extend.primitive(lambda x, y: x * y)
    extend.defvjp(half, lambda ans, x, y: lambda g: g * y)
    with pytest.raises(NotImplementedError, match="argument 1 is not known"):
        ours.grad(half, 1)(1.0, 2.0)


def test_nothing_goes_through_notrace_primitives() -> None:
    from funcgrad.compat.autograd.extend import notrace_primitive

    seen = []
    look = notrace_primitive(lambda x: seen.append(type(x)) or float(x))
    assert ours.grad(lambda x: x * look(x))(3.0) == 3
    assert seen[0] is not None
    assert issubclass(seen[0], float)


def test_a_gradient_of_what_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="real scalar-output functions"):
        ours.grad(lambda x: x * 2)(V)
    with pytest.raises(TypeError, match="real-output"):
        ours.elementwise_grad(lambda x: x * 1j)(V)


def test_an_output_that_does_not_depend_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert ours.grad(lambda x: 1.0)(2.0) == 0


def test_multigrad_dict() -> None:
    found = ours.multigrad_dict(lambda x, y=2.0, *more, **others: x * y * more[0] * others["z"])(
        3.0, 4.0, 5.0, z=6.0
    )
    assert found == {"x": 120.0, "y": 90.0, "more": (72.0,), "others": {"z": 60.0}}


# ---- under its name --------------------------------------------------------------------------------------------------

SCRIPT = """
import autograd.numpy as np, autograd.numpy.random as npr, autograd.scipy.stats.norm as norm
from autograd import grad
from autograd.extend import primitive, defvjp
from autograd.misc.optimizers import adam
import autograd, sys
assert autograd.__name__ == "funcgrad.compat.autograd", autograd.__name__
assert sys.modules["autograd.numpy"] is sys.modules["funcgrad.compat.autograd.numpy"]
print(float(grad(lambda x: np.tanh(x) * 2)(0.0)), *sys.argv[1:])
"""


def run_python(*args: str) -> Any:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)


def test_scripts_and_packages_find_it_under_its_name(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run_python("-m", "funcgrad.compat.autograd", str(script), "argument")
    assert (done.stdout, done.stderr) == ("2.0 argument\n", "")
    missing = run_python("-m", "funcgrad.compat.autograd")
    assert missing.returncode == 1
    assert "usage" in missing.stderr


def test_it_is_refused_where_the_original_is_in_use() -> None:
    code = (
        "import sys, types; sys.modules['autograd'] = types.ModuleType('autograd')\n"
        "from funcgrad.compat import install_autograd\n"
        "try: install_autograd()\n"
        "except ImportError as error: print(error)"
    )
    assert "autograd was imported before" in run_python("-c", code).stdout


# ---- classes of one's own --------------------------------------------------------------------------------------------


class Marked(np.ndarray):
    """Arrays that answer ufuncs themselves, and don't know of tracers."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, Marked) else x for x in inputs]
        found = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
        return np.asarray(found).view(Marked)


class Frozen(Marked):
    """Arrays that may not be differentiated in."""


def refuse(x: Any, trace: Any, node: Any) -> Any:
    raise ValueError("frozen")


def test_subclasses_of_ndarray_are_registered_as_boxes() -> None:
    from funcgrad.compat.autograd.numpy.numpy_boxes import ArrayBox
    from funcgrad.compat.autograd.numpy.numpy_vspaces import ArrayVSpace
    from funcgrad.compat.autograd.tracer import Box

    with pytest.raises(fg.errors.NonDifferentiableError, match="computes otherwise"):
        fg.grad(lambda x: np.sum(x * V.view(Frozen)))(V)
    ArrayBox.register(Marked)
    Box.type_mappings[Frozen] = refuse
    Frozen_space = ours.core.VSpace
    Frozen_space.mappings[Marked] = Frozen_space.mappings[Frozen] = ArrayVSpace
    marked = V.view(Marked)
    for f in (lambda x: np.sum(x * marked), lambda x: np.sum(marked * x), lambda x: np.dot(marked, x)):
        np.testing.assert_allclose(ours.grad(f)(V), V)
    seen = []
    np.testing.assert_allclose(ours.grad(lambda x: seen.append(x) or np.sum(x**2))(marked), 2 * V)
    assert isinstance(seen[0], ArrayBox)
    assert isinstance(seen[0], Box)
    assert not isinstance(V, Box)
    assert ours.core.vspace(marked).size == V.size
    with pytest.raises(ValueError, match="frozen"):
        ours.grad(np.sum)(V.view(Frozen))


def test_boxes_are_made_by_hand() -> None:
    from funcgrad.compat.autograd.core import VJPNode
    from funcgrad.compat.autograd.tracer import isbox, new_box, trace_stack

    with trace_stack.new_trace() as trace:
        box = new_box((V, 2.0), trace, VJPNode.new_root())
        out = np.sum(box[0]) * box[1]
    assert isbox(out)
    assert out._trace is box._trace is trace
    with pytest.raises(TypeError, match="Can't differentiate"):
        new_box("text", trace, None)


def test_nodes_of_both_modes_record_derivatives() -> None:
    from funcgrad.compat.autograd.core import JVPNode, VJPNode, backward_pass
    from funcgrad.compat.autograd.tracer import trace

    f = lambda x: np.sum(np.sin(x) * x)
    slope = np.cos(V) * V + np.sin(V)
    value, end = trace(VJPNode.new_root(), f, V)
    np.testing.assert_allclose(value, f(V))
    np.testing.assert_allclose(backward_pass(1.0, end), slope)
    _, pushed = trace(JVPNode.new_root(V), f, V)
    np.testing.assert_allclose(pushed.g, np.sum(slope * V))


def test_a_rule_is_all_there_is_of_a_primitive() -> None:
    from funcgrad.compat.autograd import extend

    run = extend.primitive(lambda x, holder: holder[0] * 2)  # what the holder keeps is watched, too
    extend.defvjp(run, lambda ans, x, holder: lambda g: 5 * g)

    class Holder:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __getitem__(self, i: int) -> Any:
            return self.x

    assert ours.grad(lambda x: run(x, Holder(x)))(3.0) == 5


def test_watched_numbers_stay_usable() -> None:
    kept = []
    ours.grad(lambda x: kept.append(x) or x**2)(3.0)
    assert ours.numpy.sin(kept[0]).shape == ()


def test_quick_grad_check_is_deprecated_and_checks() -> None:
    from funcgrad.compat.autograd.util import quick_grad_check

    with pytest.warns(DeprecationWarning, match="check_grads"):
        quick_grad_check(lambda x, y: x**2 + y, 1.0, (2.0,))
    with pytest.warns(DeprecationWarning, match="check_grads"), pytest.raises(AssertionError, match="VJP"):
        quick_grad_check(fg.custom_gradient(lambda x: (x, lambda ct: 2 * ct)), 1.0)


def test_star_imports_bring_all_names_and_fill_the_namespace() -> None:
    names: dict[str, Any] = {}
    exec("from funcgrad.compat.autograd.numpy import *", names)
    assert {"sin", "concatenate", "linalg", "float64", "pi", "int64"} <= names.keys()
    assert vars(ours.numpy)["tanh"] is names["tanh"]
    assert "solve" in vars(ours.numpy.linalg)
    assert ours.numpy.where(True, 1, 2) == 1


def test_vmap_of_a_gradient_sees_one_example() -> None:
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(4, 3))
    density = lambda c: ours.scipy.stats.multivariate_normal.logpdf(np.ones(2), np.zeros(2), c)
    covariances = np.stack([np.eye(2), np.array([[2.0, 0.3], [0.3, 1.0]])])
    for transform, f, given in (
        (ours.grad, lambda x: np.sum(np.tanh(x) ** 2), xs),
        (ours.elementwise_grad, np.tanh, xs),
        (ours.jacobian, np.tanh, xs),
        (ours.grad, lambda z: np.abs(z.sum()) ** 2, xs + 1j),
        (ours.grad, density, covariances),
        (ours.hessian, density, covariances),
    ):
        found = fg.vmap(transform(f))(given)
        np.testing.assert_allclose(found, [transform(f)(x) for x in given], rtol=1e-12)
