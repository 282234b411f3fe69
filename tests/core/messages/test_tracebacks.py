"""A traceback leads from the call of a transform to the user's line, without the engine's frames in between."""

import subprocess
import sys
import traceback

import numpy as np
import pytest

import funcgrad
from funcgrad import custom_vjp, grad, hessian, jvp, vjp, vmap
from funcgrad.core.engine import reverse
from funcgrad.errors import TracerConversionError, UnsupportedFunctionError

PACKAGE = funcgrad.__path__[0]
x = np.ones(3)


def frames(fun, *args):
    """(is it funcgrad's?, function) for each frame of what `fun` raises, from the call on."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 (any)
        fun(*args)
    summary = traceback.extract_tb(caught.value.__traceback__)[1:]
    return [(s.filename.startswith((PACKAGE, "<funcgrad")), s.name) for s in summary]


def inner(x):
    return np.sum(np.sin(x)) + unknown  # noqa: F821


def outer(x):
    return inner(x) * 2


TRANSFORMS = {
    "grad": lambda f: grad(f)(x),
    "vjp": lambda f: vjp(f, x),
    "jvp": lambda f: jvp(f, (x,), (x,)),
    "vmap": lambda f: vmap(f)(np.ones((2, 3))),
    "hessian": lambda f: hessian(f)(x),
    "nested": lambda f: grad(lambda x: grad(lambda y: jvp(f, (y,), (y,))[1])(x)[0])(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize(
    "fail",
    [
        outer,
        lambda x: np.sum(x + np.ones(4)),  # NumPy's error, in a lane
        lambda x: np.sum(np.reshape(x, (5, 5))),  # and beneath the general lane
        lambda x: np.busday_count(x, x),  # funcgrad's
    ],
    ids=["user", "lane", "bind", "funcgrad"],
)
def test_few_frames_of_the_engine_are_shown(name, fail):
    found = frames(TRANSFORMS[name], fail)
    calls = {"nested": 6, "hessian": 4}.get(name, 2)  # what the user called, and the method beneath it
    assert sum(ours for ours, _ in found) <= calls
    assert not found[-1][0]  # it ends with the user's line


def test_all_frames_of_the_user_are_there():
    names = [name for ours, name in frames(grad(outer), x) if not ours]
    assert names == ["outer", "inner"]


def test_frames_of_numpy_stay():
    found = frames(grad(lambda a: np.sum(np.linalg.inv(a))), np.zeros((2, 2)))
    assert found[-1] == (False, "_raise_linalgerror_singular")


def test_a_failure_of_the_engine_shows_where_it_is(monkeypatch):
    monkeypatch.setattr(reverse, "plan_of", None)
    found = frames(grad(lambda x: np.sum(x, keepdims=False)), x)
    assert [name for ours, name in found if ours][-2:] == ["apply", "record"]


def test_an_error_that_the_user_catches_is_whole():
    caught = []

    def f(x):
        try:
            return float(x)
        except TracerConversionError as error:
            caught.append(traceback.extract_tb(error.__traceback__))
            return x * 2

    assert grad(f)(1.0) == 2
    assert any(step.filename.startswith(PACKAGE) for step in caught[0])


def test_what_a_rule_of_the_user_raises_on_the_way_back_is_shown():
    @custom_vjp
    def double(x):
        return 2 * x

    def bwd(residuals, ct):
        raise UnsupportedFunctionError("not today")

    double.defvjp(lambda x: (2 * x, None), bwd)
    assert frames(grad(double), 1.0)[-1] == (False, "bwd")


def test_a_variable_of_the_environment_keeps_everything():
    code = (
        "import traceback, numpy as np, funcgrad\n"
        "try: funcgrad.grad(lambda x: x + unknown)(1.0)\n"
        "except NameError as error: print(len(traceback.extract_tb(error.__traceback__)))"
    )
    counts = [
        int(
            subprocess.run(
                [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
            ).stdout
        )
        for env in ({}, {"FUNCGRAD_FULL_TRACEBACKS": "1"})
    ]
    assert counts[0] < counts[1]
