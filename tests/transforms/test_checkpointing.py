"""checkpoint: the same derivatives from less memory."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import (
    checkpoint,
    checkpoint_name,
    custom_vjp,
    grad,
    hessian,
    jacrev,
    jvp,
    linear_transpose,
    stop_gradient,
    vjp,
    vmap,
)
from funcgrad.core.engine.declare import elementwise
from funcgrad.errors import ArgumentError, RuleError
from tests.transforms.programs import MODES, agree

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def one_step(wrap: Wrap) -> Any:
    return wrap(lambda x, y: np.sin(x) * y)


def nested(wrap: Wrap) -> Any:
    inner = wrap(lambda x, y: np.tanh(x * y))
    return wrap(lambda x, y: inner(inner(x, y), y) + x)


def closure(wrap: Wrap) -> Any:
    def f(x: Any, y: Any) -> Any:
        doubled = 2 * y
        layer = wrap(lambda h: np.tanh(h * y) + doubled + np.sum(y * y))
        return layer(layer(x))

    return f


def plain_data(wrap: Wrap) -> Any:
    return lambda x, y: wrap(lambda data: np.tanh(data * y) * x)(np.array([0.5, 1.5]))


def nothing_but_a_closure(wrap: Wrap) -> Any:
    return lambda x, y: wrap(lambda: x * np.exp(y))() + y


def pytrees_and_keywords(wrap: Wrap) -> Any:
    f = wrap(
        lambda p, *, scale, mode: {"out": np.tanh(p["x"] * p["y"]) * scale, "rest": (p["y"], mode, None, 3)}
    )

    def run(x: Any, y: Any) -> Any:
        out = f({"x": x, "y": y}, scale=2.0, mode="text")
        assert out["rest"][1:] == ("text", None, 3)
        return out["out"] + out["rest"][0]

    return run


def several_outputs(wrap: Wrap) -> Any:
    def f(x: Any, y: Any) -> Any:
        a = np.outer(x, y) + np.eye(2)
        inverse, (sign, logdet) = np.linalg.inv(a), np.linalg.slogdet(a)
        return inverse @ x + sign * logdet

    return wrap(f)


def masks_and_rounding(wrap: Wrap) -> Any:
    return wrap(lambda x, y: np.where(x > 0.5, np.sqrt(x) * np.floor(3 * y), x * y) + np.sort(x)[::-1])


def item_assignment(wrap: Wrap) -> Any:
    def f(x: Any, y: Any) -> Any:
        z = np.zeros_like(x)
        for i in range(2):
            z[i] = x[1 - i] * np.sin(y[i])
        view = z[::-1]
        z[1:] += y[0]
        z[0] *= x[1]
        return z * view

    return wrap(f)


def buffers(wrap: Wrap) -> Any:
    def f(x: Any, y: Any) -> Any:
        buffer = np.array([1.0, 2.0])
        out = np.sin(x * buffer)
        buffer[:] = 100
        return out * y

    return wrap(f)


def custom_rules(wrap: Wrap) -> Any:
    product = custom_vjp(lambda x, y: x * y)
    product.defvjp(lambda x, y: (x * y, (x, y)), lambda s, ct: (ct * s[1], ct * s[0]))
    return wrap(lambda x, y: np.sin(product(x, y)) * product(x, x))


def vmapped(wrap: Wrap) -> Any:
    return wrap(lambda x, y: vmap(lambda a: np.tanh(a * y))(x[:, None] * y) @ x)


def differentiated(wrap: Wrap) -> Any:
    return wrap(lambda x, y: grad(lambda x: np.sum(np.sin(x) * y * x))(x))


def keeping_named(wrap: Wrap) -> Any:
    if wrap is checkpoint:
        wrap = lambda f: checkpoint(f, policy=("multiply", "named"))
    f = wrap(lambda x, y: np.tanh(checkpoint_name(np.exp(x), "named") * y) + y)
    return lambda x, y: f(f(x, y), y)


PROGRAMS = [
    one_step, nested, closure, plain_data, nothing_but_a_closure, pytrees_and_keywords, several_outputs,
    masks_and_rounding, item_assignment, buffers, custom_rules, vmapped, differentiated, keeping_named,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_are_those_of_the_function(mode: str, program: Callable[[Wrap], Any]) -> None:
    agree(mode, program(checkpoint), program(lambda f: f))


def test_branches_and_random_numbers_are_those_of_the_first_run() -> None:
    rng = np.random.default_rng(0)
    seen = []

    @checkpoint
    def dropout(x: Any) -> Any:
        mask = rng.random(x.shape) < 0.5
        seen.append(mask)
        return np.where(mask, x * x, 0) if np.sum(x) > 0 else x

    np.testing.assert_array_equal(grad(lambda x: np.sum(dropout(x)))(np.ones(20)), 2 * seen[0])
    assert len(seen) == 1


# ---- memory and work -------------------------------------------------------------------------------------------------

LAYERS, SIZE = 64, 20_000


def chain(segment: int | None, wrap: Wrap = checkpoint) -> Any:
    def layers(h: Any) -> Any:
        for _ in range(segment or LAYERS):
            h = np.sin(h)  # which keeps its operand
        return h

    part = layers if segment is None else wrap(layers)

    def run(h: Any) -> Any:
        for _ in range(LAYERS // (segment or LAYERS)):
            h = part(h)
        return np.sum(h)

    return run


def peak(function: Callable[[Any], Any]) -> float:
    """The peak memory of a gradient, in layers."""
    x = np.linspace(0.1, 1, SIZE)
    grad(function)(x)
    tracemalloc.start()
    grad(function)(x)
    found = tracemalloc.get_traced_memory()[1] / x.nbytes
    tracemalloc.stop()
    return found


def test_memory_of_a_chain_falls_to_about_its_square_root() -> None:
    assert peak(chain(None)) > LAYERS
    assert peak(chain(8)) < 2 * 8 + 8
    assert peak(chain(1)) > LAYERS


def test_nesting_saves_again() -> None:
    inner = chain(None)

    def run(h: Any) -> Any:
        for _ in range(4):
            h = checkpoint(quarter)(h)
        return np.sum(h)

    def quarter(h: Any) -> Any:
        for _ in range(4):
            h = checkpoint(sixteenth)(h)
        return h

    def sixteenth(h: Any) -> Any:
        for _ in range(4):
            h = np.sin(h)
        return h

    assert peak(run) < 4 + 4 + 4 + 8
    x = np.linspace(0.1, 1, 5)
    np.testing.assert_allclose(grad(run)(x), grad(inner)(x))


def test_memory_is_saved_around_vmap_too() -> None:
    def over_a_batch(segment: int | None) -> Any:
        return lambda x: np.sum(vmap(chain(segment))(x.reshape(4, -1)))

    assert peak(over_a_batch(8)) < 2 * 8 + 10
    assert peak(over_a_batch(None)) > LAYERS


def test_the_first_segment_is_saved_where_only_the_closure_is_differentiated() -> None:
    data = np.linspace(0.1, 1, SIZE)

    def loss(wrap: Wrap) -> Any:
        def layers(w: Any) -> Any:
            def part(h: Any) -> Any:
                for _ in range(30):
                    h = np.sin(h * w)
                return h

            return np.sum(wrap(part)(wrap(part)(data)))

        return layers

    def kept(wrap: Wrap) -> int:
        tracemalloc.start()
        vjp(loss(wrap), 1.5)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert kept(checkpoint) < 10 * data.nbytes < kept(lambda f: f)


def counted() -> tuple[Any, list[int]]:
    runs: list[int] = []

    def function(x: Any) -> Any:
        runs.append(1)
        return np.sin(x)

    return elementwise(function, lambda x: np.cos(x), name="counted"), runs


@pytest.mark.parametrize(
    ("policy", "more"),
    [(None, 1), (("counted",), 0), ("counted", 0), (lambda name: name == "counted", 0), (("tag",), 0)],
)
def test_how_often_a_step_runs(policy: Any, more: int) -> None:
    step, runs = counted()
    f = checkpoint(lambda x: np.exp(checkpoint_name(step(x), "tag")), policy=policy)
    expected = np.exp(np.sin(0.5)) * np.cos(0.5)
    assert grad(f)(0.5) == pytest.approx(expected)
    assert len(runs) == 1 + more


def test_forward_mode_and_plain_calls_run_once() -> None:
    step, runs = counted()
    f = checkpoint(lambda x: step(x) * x)
    f(np.ones(3))
    assert len(runs) == 1
    jvp(f, (np.ones(3),), (np.ones(3),))
    assert len(runs) == 2


# ---- beside other transforms -----------------------------------------------------------------------------------------


def test_linear_functions_can_be_transposed() -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    f = checkpoint(lambda x: matrix @ x)
    np.testing.assert_array_equal(linear_transpose(f, np.ones(2))(np.array([1.0, 10.0]))[0], [31, 42])
    with pytest.raises(ArgumentError, match=r"np\.multiply"):
        linear_transpose(checkpoint(lambda x: x * x), np.ones(2))


def test_stopped_gradients_and_integers() -> None:
    f = checkpoint(lambda x, n: stop_gradient(x) * x**n)
    assert grad(f)(3.0, 2) == 3 * 2 * 3
    assert hessian(checkpoint(lambda x: x**3))(2.0) == 12
    np.testing.assert_array_equal(
        jacrev(checkpoint(lambda x: x[np.array([1, 1, 0])]))(np.ones(2)), [[0, 1], [0, 1], [1, 0]]
    )


def test_pullbacks_can_be_used_again() -> None:
    out, back = vjp(checkpoint(np.sin), 0.5)
    assert out == np.sin(0.5)
    assert back(1.0)[0] == back(1.0)[0] == np.cos(0.5)


# ---- misuse, and as an object ----------------------------------------------------------------------------------------


def test_assigning_into_an_argument_is_an_error() -> None:
    def writes(x: Any) -> Any:
        x[0] = 5.0
        return np.sum(x * x)

    with pytest.raises(RuleError, match="assigned into one of its arguments"):
        grad(checkpoint(writes))(np.ones(3))


def test_a_custom_rule_that_closes_over_what_is_forgotten() -> None:
    def f(x: Any) -> Any:
        y = x * x
        g = custom_vjp(lambda z: z * y)
        g.defvjp(lambda z: (z * y, None), lambda _, ct: (ct,))
        return g(x)

    with pytest.raises(RuleError, match=r"custom_vjp <lambda> at .* closes over a value"):
        grad(checkpoint(f))(2.0)


def test_wrong_policies() -> None:
    with pytest.raises(ArgumentError, match="policy must be a function of a name, or names"):
        checkpoint(np.sin, policy=(3,))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="policy must be a function of a name, or names"):
        checkpoint(np.sin, policy=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="takes a function, not int"):
        checkpoint(3)  # type: ignore[call-overload]


def test_names_and_pickling() -> None:
    @checkpoint(policy=["matmul"])
    def f(x: Any) -> Any:
        """Some layer."""
        return x @ x

    assert (f.__name__, f.__doc__) == ("f", "Some layer.")
    assert grad(f)(np.ones(2)).tolist() == [2, 2]
    assert grad(pickle.loads(pickle.dumps(checkpoint(np.sin))))(0.0) == 1


def test_a_name_that_is_no_name() -> None:
    with pytest.raises(ArgumentError, match=r"checkpoint_name: the name must be a str, .* not 3"):
        checkpoint_name(1.0, 3)  # type: ignore[arg-type]
