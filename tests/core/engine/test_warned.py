"""Warnings that come up in lanes, rules and replays name the user's line, and are shown once for each."""

import inspect
import re
import warnings

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import debug


def log_of(x):
    return np.sum(np.log(x))  # this line


def quotient_of(x):
    y = x[::-1] / x  # this line
    return np.sum(y)


def fft_of(x):
    return np.sum(np.real(np.fft.ifft(np.fft.fft(x) / x)))  # this line


FUNCTIONS = (log_of, quotient_of, fft_of)
RUNS = {
    "grad": lambda f, x: fg.grad(f)(x),
    "jvp": lambda f, x: fg.jvp(f, (x,), (x,)),
    "vmap": lambda f, x: fg.vmap(f)(np.stack([x, x])),
    "vmap of grad": lambda f, x: fg.vmap(fg.grad(f))(np.stack([x, x])),
    "hessian": lambda f, x: fg.hessian(f)(x),
    "jit": lambda f, x: fg.jit(f)(x),
    "checkpoint": lambda f, x: fg.grad(fg.checkpoint(f))(x),
    "linearize": lambda f, x: fg.linearize(f, x)[1](x),
}


def line_of(fun):
    lines, first = inspect.getsourcelines(fun)
    return first + next(k for k, line in enumerate(lines) if "this line" in line)


def caught(run, *args, action="always"):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        run(*args)
    return found


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("fun", FUNCTIONS)
def test_every_warning_is_of_the_users_file_and_one_of_the_line(name, fun):
    found = caught(RUNS[name], fun, np.array([0.0, 1.0]))
    assert {w.filename for w in found} == {__file__}
    assert line_of(fun) in {w.lineno for w in found}
    assert {w.category for w in found} == {RuntimeWarning}


def test_the_way_back_names_the_call_of_the_transform_and_the_operation():
    def run(x):
        return fg.grad(log_of)(x)  # this line

    (_, back) = caught(run, np.array([0.0]))
    assert (
        str(back.message)
        == "divide by zero encountered in divide, as a cotangent was pulled back through np.log"
    )
    assert back.lineno == line_of(run)
    with debug.lines():
        (_, back) = caught(run, np.array([0.0]))
    assert (
        f"through np.log, called at {__file__.rpartition('/')[2]}, line {line_of(log_of)}, in log_of"
        in str(back.message)
    )


@pytest.mark.parametrize("fun", FUNCTIONS)
def test_forward_mode_speaks_of_no_cotangent(fun):
    found = caught(RUNS["jvp"], fun, np.array([0.0, 1.0]))
    assert found
    assert not any("cotangent" in str(w.message) for w in found)


def test_one_line_of_ours_warns_for_each_line_of_the_user():
    def run(x):
        first = np.log(x)
        second = np.log(x)
        return first + second

    both = lambda: [fg.jvp(run, (0.0,), (0.0,)) for _ in range(3)]
    logs = lambda action: [w.lineno for w in caught(both, action=action) if "in log" in str(w.message)]
    begin = inspect.getsourcelines(run)[1]
    assert logs("default") == [begin + 1, begin + 2]
    assert logs("always") == [begin + 1, begin + 2] * 3
    assert logs("ignore") == []


def test_filters_by_module_and_errors_are_as_ever():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module=re.escape(__name__))
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            fg.grad(log_of)(np.array([0.0]))  # where it is made, the module is ours
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=re.escape(__name__))
        fg.grad(log_of)(np.array([0.0]))
    assert found == []


def test_warnings_of_others_are_left_alone():
    def run():
        np.log(np.zeros(1))
        warnings.warn("mine", UserWarning, stacklevel=1)

    first, second = caught(run)
    begin = inspect.getsourcelines(run)[1]
    assert (first.lineno, str(first.message)) == (begin + 1, "divide by zero encountered in log")
    assert (second.lineno, str(second.message)) == (begin + 2, "mine")
