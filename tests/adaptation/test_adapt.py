"""adapt: a program written for plain NumPy has its own values, and the derivatives of finite differences."""

from __future__ import annotations

import functools
import inspect
import math
import pickle
import sys
import types
from typing import Any

import numpy as np
import pytest
import workshop.program

import funcgrad
from funcgrad import adapt, grad, hessian, jvp, value_and_grad, vmap
from funcgrad.errors import ArgumentError, FuncgradError, TracerWriteError

program: Any = workshop.program
FUNCTIONS = [
    f for f in vars(program).values()
    if inspect.isfunction(f) and f.__module__ == program.__name__ and list(inspect.signature(f).parameters)[:1] == ["x"]
    and not inspect.iscoroutinefunction(f) and f.__name__ not in ("opened", "_")
]  # fmt: skip
of_each = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
X, H = 0.7, 1e-6


def slope(f: Any, x: float = X) -> float:
    """By finite differences of the function as it is."""
    return (f(x - 2 * H) - 8 * f(x - H) + 8 * f(x + H) - f(x + 2 * H)) / (12 * H)


@of_each
def test_the_program_differentiates_as_it_is(f: Any) -> None:
    value, found = value_and_grad(adapt(f))(X)
    assert value == pytest.approx(f(X), rel=1e-15)
    assert found == pytest.approx(slope(f), rel=1e-7, abs=1e-7)
    assert jvp(adapt(f), (X,), (1.0,))[1] == pytest.approx(found, rel=1e-12)


@of_each
def test_outside_of_transforms_it_is_the_program(f: Any) -> None:
    out = adapt(f)(X)
    assert type(out) is type(f(X))
    assert out == f(X)


def test_second_derivatives_and_batches() -> None:
    f = adapt(program.filled)
    assert hessian(f)(X) == pytest.approx(slope(grad(f)), rel=1e-7)
    xs = np.array([0.3, 0.7])
    np.testing.assert_allclose(vmap(grad(f))(xs), [grad(f)(x) for x in xs])


def test_the_original_stays_as_it_is() -> None:
    names = {
        name: value
        for name, value in vars(program).items()
        if callable(value) or isinstance(value, types.ModuleType)
    }
    space = dict(vars(program.Ring))
    grad(adapt(program.inherits))(X)
    grad(adapt(program.objects_from_before))(X)
    assert all(vars(program)[name] is value for name, value in names.items())
    assert dict(vars(program.Ring)) == space
    assert type(program.NETWORK) is program.Network
    assert [type(layer) for layer in program.NETWORK.layers] == [program.Layer] * 2
    assert program.NETWORK.layers[0].activation is program.helper
    with pytest.raises(FuncgradError):
        grad(program.filled)(X)


def test_state_of_modules_and_classes_is_the_programs_own() -> None:
    program.calls, made = 10, program.Shape.made
    grad(adapt(program.writes_its_module))(X)
    assert (program.calls, program.seen, program.STATE["last"]) == (11, 11, 11)
    program.calls = 20
    assert grad(adapt(program.writes_its_module))(X) == 1.0
    assert program.calls == 21
    grad(adapt(program.inherits))(X)
    assert program.Shape.made == made + 2
    assert program.Shape.registry[:2] == ["Circle", "Ring"]
    assert "Ring" not in program.Shape.registry[2:]


def test_what_is_rebound_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    f = adapt(program.calls_helpers)
    before = grad(f)(X)
    monkeypatch.setattr(program, "helper", lambda x: 0 * x)
    assert grad(f)(X) != before
    monkeypatch.undo()
    assert grad(f)(X) == before


def test_name_documentation_signature_and_pickles_are_kept() -> None:
    f = adapt(program.recursive)
    assert (f.__name__, f.__doc__, f.__module__) == ("recursive", None, program.__name__)
    assert str(inspect.signature(f)) == str(inspect.signature(program.recursive))
    assert grad(pickle.loads(pickle.dumps(f)))(X) == grad(f)(X)


def test_methods_classes_partials_and_objects() -> None:
    ring = adapt(program.Ring)
    assert ring.__name__ == "Ring"
    assert grad(lambda x: ring(x).report())(X) == pytest.approx(
        slope(lambda x: program.Ring(x).report()), rel=1e-8
    )
    expected = slope(program.NETWORK.forward)
    assert grad(adapt(program.NETWORK.forward))(X) == pytest.approx(expected, rel=1e-7)
    assert grad(adapt(program.forward))(X) == pytest.approx(expected, rel=1e-7)
    layer = program.NETWORK.layers[0]
    assert grad(adapt(layer))(X) == pytest.approx(slope(layer), rel=1e-7)
    assert grad(adapt(functools.partial(program.helper, power=3.0)))(X) == pytest.approx(
        slope(program.cubed), rel=1e-7
    )
    assert type(adapt(program.Vector.around)(X)) is program.Vector


def test_objects_that_are_given_and_returned_are_of_the_originals() -> None:
    def run(network: Any, x: Any) -> Any:
        assert type(network).__name__ == "Network"
        return network.forward(x), {"ring": [program.Ring(2.0)]}

    network = program.Network(0.5)
    f = adapt(run, packages="workshop")
    found, aux = grad(lambda x: f(network, x), has_aux=True)(X)
    assert found == pytest.approx(slope(network.forward), rel=1e-7)
    assert type(aux["ring"][0]) is program.Ring
    assert type(network) is program.Network


def test_a_module_and_the_name_of_one() -> None:
    for adapted in (adapt(program), adapt("workshop.program")):
        assert grad(adapted.filled)(X) == pytest.approx(slope(program.filled), rel=1e-8)
        assert grad(lambda x, m=adapted: m.Ring(x).area())(X) == pytest.approx(2 * math.pi * X)
    program.calls = 30
    grad(adapted.writes_its_module)(X)
    assert program.calls == 31
    package = adapt("workshop")
    assert grad(package.helpers.squares)(X) == pytest.approx(slope(program.helpers.squares), rel=1e-8)
    assert grad(package.program.objects_from_before)(X) == grad(adapt(program.objects_from_before))(X)
    adapted.extra = 3
    assert program.extra == 3
    assert "filled" in dir(adapted)
    with pytest.raises(ModuleNotFoundError):
        adapt("no_module_of_this_name")


def test_as_a_decorator() -> None:
    @grad
    @adapt
    def with_nothing(x: Any) -> Any:
        return math.sin(float(x))

    @adapt(packages="workshop")
    def with_packages(x: Any) -> Any:
        return with_others(x) * program.filled(x)

    def with_others(x: Any) -> Any:
        return math.exp(x)

    assert with_nothing(X) == math.cos(X)
    expected = slope(lambda x: with_others(x) * program.filled(x))
    assert grad(with_packages)(X) == pytest.approx(expected, rel=1e-7)


def test_transforms_inside() -> None:
    inner = grad(program.filled)

    def f(x: Any) -> Any:
        return inner(x) * math.exp(x) + funcgrad.stop_gradient(x)

    def expected(x: Any) -> Any:
        return once(x) * np.exp(x)

    adapted = adapt(f, packages="workshop")
    once = grad(adapt(program.filled))
    assert adapted(X) == once(X) * math.exp(X) + X
    assert grad(adapted)(X) == pytest.approx(grad(expected)(X))


def test_errors_show_the_users_line() -> None:
    def wrong(x: Any) -> Any:
        a = [x]
        return a[3]

    with pytest.raises(IndexError) as caught:
        grad(adapt(wrong))(X)
    assert caught.traceback[-1].name == "wrong"
    assert not [entry for entry in caught.traceback if "funcgrad/adaptation" in str(entry.path)]


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ArgumentError, match="adapt takes a function"):
        adapt(3)


def test_threads_share_the_objects() -> None:
    from concurrent.futures import ThreadPoolExecutor

    f = grad(adapt(program.objects_from_before))
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(f, [X] * 40))
    assert found == {f(X)}
    assert type(program.NETWORK) is program.Network


def test_arrays_in_closures_and_arguments() -> None:
    f = program.weighted
    before = f.total().copy()
    assert grad(adapt(f))(X) == 1.0
    assert grad(adapt(f))(X) == 1.0
    np.testing.assert_array_equal(f.total(), before + 2)

    def filled(start: Any, x: Any) -> Any:
        y = start.copy()
        y[0] = math.sin(x)
        return y.sum()

    assert grad(adapt(filled), argnums=1)(np.ones(3), X) == math.cos(X)


def test_an_array_from_before_that_is_written_into_is_refused_by_name() -> None:
    buffer, counts = np.zeros(3), np.zeros(3, dtype=int)

    def fills(x: Any) -> Any:
        buffer[1] = x
        return buffer.sum()

    def adds(x: Any) -> Any:
        table = np.asarray(buffer)
        table += x
        return table.sum()

    def cuts(x: Any) -> Any:
        counts[0] = x * 10
        return x * counts[0]

    for f in (fills, adds):
        with pytest.raises(TracerWriteError, match=r"was there before the function ran.*a\.copy\(\)"):
            grad(adapt(f))(X)
    np.testing.assert_array_equal(buffer, 0)
    assert grad(adapt(cuts))(0.72) == 7.0


def test_a_program_that_knows_no_funcgrad_runs_as_it_is_where_nothing_is_differentiated() -> None:
    def depth(x: Any) -> int:
        return len(inspect.stack())

    f = adapt(program.filled)
    assert not f.translator().knows_funcgrad
    assert adapt(depth).translator().knows_funcgrad
    traced: list[str] = []
    sys.setprofile(
        lambda frame, event, arg: traced.append(frame.f_code.co_filename) if event == "call" else None
    )
    try:
        f(X)
    finally:
        sys.setprofile(None)
    assert not [path for path in traced if path.endswith(("spaces.py", "constructors.py"))]
