"""debug.nans, debug.lines, debug.leaks."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from funcgrad import (
    checkpoint,
    custom_vjp,
    debug,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.trace import Trace
from funcgrad.errors import EscapedTracerError, NumericalError

X = np.array([4.0, 0.0, -1.0])


@pytest.fixture(autouse=True)
def _numpy_does_not_warn() -> Any:
    with np.errstate(all="ignore"):
        yield


def bad_pull() -> Any:
    f = custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: ({}["missing"],))
    return f


# ---- nans ------------------------------------------------------------------------------------------------------------

FOUND: dict[str, tuple[Callable[[], Any], str]] = {
    "forward, NaN": (
        lambda: grad(lambda x: np.sum(np.sqrt(x)))(X),
        (
            r"NaN appeared in np\.sqrt at test_debug\.py, line \d+, in <lambda>: 1 of 3 elements of shape \(3,\), the "
            r"first at \[2\]\. Operands: x of shape \(3,\), float64, from -1\.0 to 4\.0"
        ),
    ),
    "forward, inf": (
        lambda: grad(lambda x: np.sum(np.log(x)))(X[:2]),
        r"inf appeared in np\.log at .*: 1 of 2 elements of shape \(2,\), the first at \[1\]",
    ),
    "forward, a number": (
        lambda: grad(lambda x: 1 / x)(0.0),
        r"inf appeared in np\.divide at .*: the number inf.*y = 0\.0",
    ),
    "forward mode's values": (
        lambda: jvp(lambda x: np.sum(np.log(x)), (X[:2],), (np.ones(2),)),
        r"inf appeared in np\.log at",
    ),
    "values under vmap": (lambda: vmap(np.log)(X), r"NaN appeared in np\.log at .*2 of 3 elements"),
    "no NaN in the operands, but one in the result": (
        lambda: grad(lambda x: np.sum(x * np.inf - np.inf))(np.ones(2)),
        r"NaN appeared in np\.subtract at",
    ),
    "an argument that is NaN": (
        lambda: grad(lambda x: np.sum(2 * x))(np.array([np.nan, 1.0])),
        r"NaN appeared in np\.multiply at .*from 1\.0 to 1\.0, with NaN.* A NaN came in with the operands",
    ),
    "backward": (
        lambda: grad(lambda x: np.sum(np.sqrt(x)))(X[:2]),
        (
            r"inf appeared where a cotangent was pulled back through np\.sqrt, called at test_debug\.py, line \d+, in "
            r"<lambda> \(operands: x of shape \(2,\), float64, from 0\.0 to 4\.0\): 1 of 2 elements of shape \(2,\), "
            r"the first at \[1\]"
        ),
    ),
    "backward through several outputs": (
        lambda: grad(lambda a: np.sum(np.linalg.eigh(a)[1][0]))(np.eye(2)),
        r"NaN appeared where a cotangent was pulled back through np\.linalg\.eigh",
    ),
    "backward in a checkpoint": (
        lambda: grad(lambda x: np.sum(checkpoint(lambda x: np.sqrt(x))(x)))(X[:2]),
        r"inf appeared where a cotangent was pulled back through np\.sqrt",
    ),
    "in a rule of one's own": (
        lambda: grad(divides_by_zero())(1.0),
        r"inf appeared where a cotangent was pulled back through custom_vjp <lambda>, called at",
    ),
    "a tangent": (
        lambda: jvp(lambda x: np.sum(np.sqrt(x)), (X[:2],), (np.ones(2),)),
        r"inf appeared where a tangent was pushed through np\.sqrt at test_debug\.py, line \d+, in <lambda> \(op",
    ),
    "the second derivative": (
        lambda: grad(grad(lambda x: x**1.5))(0.0),
        r"inf appeared where a cotangent was pulled back through np\.power",
    ),
    "the tangent of a cotangent": (
        lambda: hessian(lambda x: np.sum(x**1.5))(np.array([0.0, 1.0])),
        r"appeared where a cotangent was pulled back through np\.power",
    ),
}


def divides_by_zero() -> Any:
    f = custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (ct / 0.0,))
    return f


@pytest.mark.parametrize("name", FOUND)
def test_nans_are_found(name: str) -> None:
    run, message = FOUND[name]
    run()
    with pytest.raises(NumericalError, match="debug.nans: .*" + message), debug.nans():
        run()


CLEAN: dict[str, Callable[[], Any]] = {
    "gradients": lambda: grad(lambda x: np.sum(np.sin(x) * x))(X),
    "matrices": lambda: [f(lambda x: np.sin(x) * np.sum(x))(X) for f in (jacrev, jacfwd)],
    "second order": lambda: hessian(lambda x: np.sum(x**3))(X),
    "what is masked": lambda: grad(lambda x: np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0)))(X),
    "an inf that was meant": lambda: grad(lambda x: np.sum(np.maximum(x, -np.inf)))(X),
    "item assignment": lambda: grad(filled)(X),
    "tangents by transposition": lambda: jvp(
        lambda a: np.linalg.svd(a)[1], (np.diag([1.0, 2.0]),), (np.ones((2, 2)),)
    ),
    "custom rules": lambda: jvp(doubled(), (1.0,), (2.0,)),
    "linearization": lambda: linearize(np.sin, X)[1](X),
    "vmap": lambda: vmap(grad(lambda x: x * x))(X),
    "checkpoints": lambda: grad(lambda x: np.sum(checkpoint(np.sin)(x)))(X),
    "integers": lambda: grad(lambda x: x[np.argmax(x)] * int(x[0]))(X),
}


def filled(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(3):
        y[i] = x[i] * x[2 - i]
    view = y[::-1]
    y[0] = 3 * x[1]
    return np.sum(view * y)


def doubled() -> Any:
    f = custom_vjp(lambda x: 2 * x)
    f.defvjp(lambda x: (2 * x, None), lambda _, ct: (2 * ct,))
    return f


@pytest.mark.parametrize(
    "context", [debug.nans, debug.lines, debug.leaks], ids=lambda context: context.__name__
)
@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_run_gives_what_it_gives_without(name: str, context: Any) -> None:
    expected = CLEAN[name]()
    with context():
        found = CLEAN[name]()
    for x, y in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_array_equal(x, y)


def test_infs_may_be_allowed() -> None:
    with debug.nans(infs=False):
        np.testing.assert_array_equal(
            grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 4.0])), [np.inf, 0.25]
        )
        with pytest.raises(NumericalError):
            grad(lambda x: np.sum(np.sqrt(x)))(X)


def test_as_a_decorator() -> None:
    @debug.nans()
    def run(x: float) -> Any:
        return grad(np.log)(x)

    assert run(2.0) == 0.5
    with pytest.raises(NumericalError):
        run(0.0)
    assert run(2.0) == 0.5


def test_other_threads_are_not_watched() -> None:
    found = []
    with debug.nans():
        thread = threading.Thread(target=lambda: found.append(grad(lambda x: np.sum(np.log(x)))(X)))
        thread.start()
        thread.join()
    assert found[0][1] == np.inf


def test_afterwards_nothing_is_watched() -> None:
    with debug.nans(), debug.leaks():
        assert type(ReverseTrace()) is not ReverseTrace
    assert [type(cls()) for cls in (ReverseTrace, ForwardTrace, Trace)] == [ReverseTrace, ForwardTrace, Trace]
    assert grad(np.log)(0.0) == np.inf


def test_a_pullback_that_was_made_within_is_not_watched_afterwards() -> None:
    with debug.nans():
        _, back = vjp(np.sqrt, 0.0)
    assert back(1.0)[0] == np.inf
    with debug.nans(), pytest.raises(NumericalError, match=r"np\.sqrt, called at test_debug"):
        back(1.0)


def test_nested_contexts_add_up() -> None:
    with debug.nans(), debug.lines(), pytest.raises(NumericalError):
        grad(np.log)(0.0)
    with debug.lines(), debug.nans(infs=False), debug.nans(), pytest.raises(NumericalError):
        grad(np.log)(0.0)


# ---- lines -----------------------------------------------------------------------------------------------------------


def test_an_error_in_a_pull_names_the_operation_always_and_the_line_on_request() -> None:
    with pytest.raises(KeyError) as error:
        grad(lambda x: bad_pull()(x) * 2)(1.0)
    assert error.value.__notes__ == [
        "This happened while a cotangent was pulled back through custom_vjp <lambda>."
    ]
    with debug.lines(), pytest.raises(KeyError) as error:
        grad(lambda x: bad_pull()(x) * 2)(1.0)
    assert "custom_vjp <lambda>, called at test_debug.py, line" in error.value.__notes__[0]


# ---- leaks -----------------------------------------------------------------------------------------------------------


class Model:
    pass


@contextmanager
def leak(message: str) -> Any:
    with pytest.raises(EscapedTracerError, match=message) as error:
        yield
    # The traceback has the tracers among its variables.
    del error
    gc.collect()


def test_leaks_are_listed_with_their_line_and_holder() -> None:
    kept: list[Any] = []
    message = r"1 tracer is alive.*\n  a WatchedTracer of shape \(\) of the reverse-mode .*line \d+.*held by a list of 1"
    with leak(message), debug.leaks():
        grad(lambda x: kept.append(x * 2) or x)(1.0)
    kept.clear()
    model = Model()
    with leak(r"held by the attribute hidden of a Model"), debug.leaks():
        grad(lambda x: setattr(model, "hidden", x) or x)(1.0)
    cache: dict[str, Any] = {}
    with leak(r"BatchTracer.* of the vmap.*held by a dict at 'h'"), debug.leaks():
        vmap(lambda x: cache.setdefault("h", x) * 2)(X)
    with leak(r"2 tracers are alive"), debug.leaks():
        jvp(lambda x: kept.extend([x, x * x]) or x, (1.0,), (1.0,))


def test_no_leaks() -> None:
    kept: list[Any] = []
    with debug.leaks():
        kept.append(vjp(np.sin, X))
        kept.append(linearize(lambda x: np.sin(x) * x, X))
        kept.append(value_and_grad(lambda x: (np.sum(x * x), {"x": x}), has_aux=True)(X))
        kept.append(hessian(lambda x: np.sum(np.sin(x)))(X))
        kept.append(grad(lambda x: np.sum(checkpoint(lambda x: x * x)(x)))(X))


def test_a_leak_in_a_run_that_fails_is_not_what_is_reported() -> None:
    kept: list[Any] = []
    with pytest.raises(IndexError), debug.leaks():
        grad(lambda x: kept.append(x) or kept[5])(1.0)
