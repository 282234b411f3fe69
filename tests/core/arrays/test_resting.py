"""Functions that look for tracers only while a transform runs, in whatever thread."""

from __future__ import annotations

import copy
import functools
import math
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest

import funcgrad.math as fmath
import funcgrad.numpy as fnp
from funcgrad import grad, jvp, vmap
from funcgrad.core.arrays import resting
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.numpy import zeros  # bound before anything rests

CASES = {
    "zeros": (fnp.zeros, np.zeros, (3,)),
    "asarray": (fnp.asarray, np.asarray, ([1.0, 2.0],)),
    "sum": (fnp.sum, np.sum, ([1.0, 2.0],)),
    "linalg.det": (fnp.linalg.det, np.linalg.det, (np.eye(2),)),
    "piecewise": (fnp.piecewise, np.piecewise, (np.ones(2), [np.array([True, False])], [1.0, 2.0])),
    "isscalar": (fnp.isscalar, np.isscalar, (2.0,)),
    "math.sin": (fmath.sin, math.sin, (0.5,)),
}


def laid_to_rest(function: Any, args: Any) -> None:
    """Call it in vain until it rests."""
    for _ in range(resting.PATIENCE):
        function(*args)


def filled(x: Any) -> Any:
    """Needs each of these functions to look for tracers."""
    y = zeros(3)
    y[0], y[1] = x, fmath.sin(x)
    return fnp.sum([y[0] * x, y[1]]) + fnp.asarray([x, 2 * x])[1] + fnp.linalg.det([[x, 0.0], [0.0, x]])


@pytest.mark.parametrize("name", CASES)
def test_what_is_called_in_vain_rests_until_a_transform_begins(name: str) -> None:
    function, plain, args = CASES[name]
    grad(filled)(2.0)
    assert function.func is not plain
    laid_to_rest(function, args)
    assert function.func is plain
    assert np.array_equal(function(*args), plain(*args))
    grad(lambda x: x * x)(1.0)
    assert function.func is not plain


def test_while_a_transform_runs_nothing_rests() -> None:
    def f(x: Any) -> Any:
        for _ in range(resting.PATIENCE + 1):
            fmath.sin(0.5)
        return fmath.sin(x)

    assert grad(f)(0.5) == np.cos(0.5)


@pytest.mark.parametrize("n", [0, 100])
def test_derivatives_after_a_rest(n: int) -> None:
    for _ in range(n):
        (
            zeros(3),
            fnp.sum([1.0]),
            fnp.asarray([1.0]),
            fmath.sin(1.0),
            fnp.linalg.det(np.eye(2)),
            fnp.float64(1),
        )
    expected = 2 * 2.0 + np.cos(2.0) + 2 + 2 * 2.0
    assert np.isclose(grad(filled)(2.0), expected)
    assert np.isclose(jvp(filled, (2.0,), (1.0,))[1], expected)
    assert np.allclose(vmap(grad(filled))(np.array([2.0, 2.0])), expected)


def test_classes_of_numbers_rest() -> None:
    laid_to_rest(fnp.float64, (1.0,))
    assert type(fnp.float64(1)) is np.float64
    assert grad(lambda x: fnp.float64(x) * x)(3.0) == 6.0
    laid_to_rest(fnp.int64, (1.0,))
    assert type(fnp.int64(1)) is np.int64


def test_a_subclass_is_one_of_numpys() -> None:
    class Metres(fnp.float64):
        """A number with a name."""

        unit = "m"

        def __repr__(self) -> str:
            return f"{float(self)} m"

    assert repr(Metres(2.0)) == "2.0 m"
    assert isinstance(Metres(2.0), fnp.float64)
    assert issubclass(Metres, np.float64)
    assert Metres.unit == "m"


def test_they_are_pickled_and_copied_by_name() -> None:
    for function in (fnp.zeros, fnp.sum, fnp.linalg.inv, fmath.sin):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.copy(function) is copy.deepcopy(function) is function
    for kind in (fnp.float64, fnp.floating):
        assert pickle.loads(pickle.dumps(kind)) == kind
    assert fnp.sum.__name__ == "sum"
    assert fnp.sum.__module__ == "funcgrad.numpy"


def test_a_partial_of_one_that_rests_is_awake_inside() -> None:
    laid_to_rest(fnp.full, (3, 1.0))
    make = functools.partial(fnp.full, 3)

    def f(x: Any) -> Any:
        y = make(1.0)
        assert isinstance(y, BlankTracer)
        y[1] = x
        return y.sum()

    assert grad(f)(2.0) == 1.0


def test_threads() -> None:
    """One thread differentiates while another one calls in vain; none sees a plain array where it writes."""
    done = threading.Event()
    errors: list[BaseException] = []

    def in_vain() -> None:
        while not done.is_set():
            if type(zeros(2)) is not np.ndarray:
                errors.append(AssertionError("blank outside of transforms"))

    def differentiating() -> None:
        try:
            for _ in range(100):
                assert np.isclose(grad(filled)(2.0), 10 + np.cos(2.0))
        except BaseException as error:  # noqa: BLE001 (a thread's error is asked for below)
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # as often as possible
    others = [threading.Thread(target=in_vain) for _ in range(2)]
    mine = [threading.Thread(target=differentiating) for _ in range(2)]
    for thread in (*others, *mine):
        thread.start()
    for thread in mine:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    sys.setswitchinterval(interval)
    assert errors == []
    assert resting.LIVE == []
