"""The catalogue is complete: each public function has one status, and each derivative is tested by a sample."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy._core.overrides import array_function_dispatch
from numpy.testing.overrides import get_overridable_numpy_array_functions, get_overridable_numpy_ufuncs

from funcgrad import grad, jvp, vmap
from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.catalogue import CATALOGUE, Function, Unsupported, name_of
from funcgrad.core.engine.declare import elementwise
from funcgrad.core.engine.primitive import Primitive
from funcgrad.errors import UnsupportedFunctionError
from tests.grouping import check_all
from tests.rules.samples import collect

PUBLIC = [np, np.linalg, np.fft]


def public_functions() -> dict[Callable[..., Any], str]:
    """The functions of NumPy's public namespaces that tracers can reach, with their names."""
    reachable = get_overridable_numpy_array_functions() | get_overridable_numpy_ufuncs()
    found: dict[Callable[..., Any], str] = {}
    for module in PUBLIC:
        for name in dir(module):
            function = getattr(module, name)
            if (
                callable(function)
                and not isinstance(function, type)
                and not name.startswith("_")
                and function in reachable
            ):
                found.setdefault(function, f"{module.__name__}.{name}")
    return found


# The ufuncs of floating numbers without a derivative.
STEPS = [
    pytest.param(made, id=made.name)
    for made in CATALOGUE.values()
    if made.kind == "piecewise constant"
    and isinstance(made, Ufunc)
    and any(t[0] == "d" for t in made.function.types)
]


def test_every_public_function_has_a_status() -> None:
    missing = sorted(name for function, name in public_functions().items() if function not in CATALOGUE)
    assert missing == [], (
        f"{len(missing)} functions are in no chapter of funcgrad/rules: {', '.join(missing)}"
    )


def test_every_derivative_has_a_sample() -> None:
    sampled = {sample.subject for _, sample in collect()}
    has_derivative = {"elementwise", "selection", "linear", "multilinear", "custom", "composite"}
    missing = sorted(
        made.name
        for f, made in CATALOGUE.items()
        # A function of our own is part of some rule, and reached by the samples of that; tests/scipy sweeps
        # SciPy's.
        if made.kind in has_derivative
        and f not in sampled
        and not made.name.startswith("scipy.")
        and not (getattr(f, "__module__", None) or "").startswith("funcgrad")
    )
    assert missing == [], (
        f"{len(missing)} functions have no sample in tests/rules/samples: {', '.join(missing)}"
    )


def test_samples_are_of_functions_in_the_catalogue() -> None:
    unknown = [text for text, sample in collect() if sample.entry is None]
    assert unknown == []


def test_a_second_declaration_is_refused() -> None:
    with pytest.raises(ValueError, match="sin is declared twice"):
        elementwise(np.sin, lambda x: np.cos(x))


def test_every_entry_says_what_it_is() -> None:
    statuses = {"differentiable", "composite", "query", "unsupported"}
    assert {made.status for made in CATALOGUE.values()} <= statuses
    for function, made in CATALOGUE.items():
        assert made.function is function
        assert made.status in repr(made)
        assert made.name in repr(made)
        assert made.name != "<lambda>"


@pytest.mark.parametrize("made", STEPS)
def test_piecewise_constant_ufuncs_are_constants(made: Function) -> None:
    args = [np.array([0.3, -1.7, 2.0]), np.array([0.4, 1.0, -2.0])][: made.function.nin]
    plain = made.function(*args)
    for traced, tangent in [
        jvp(made.function, args, [np.ones(3)] * len(args)),
        jvp(made, args, [np.ones(3)] * len(args)),
    ]:
        for value, t, expected in zip(
            np.atleast_2d(traced), np.atleast_2d(tangent), np.atleast_2d(plain), strict=True
        ):
            np.testing.assert_array_equal(value, expected)
            assert value.dtype == expected.dtype
            assert t.dtype.names is not None or not t.any()
    np.testing.assert_array_equal(vmap(made.function)(*args), plain)


@pytest.mark.parametrize("function", [np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj])
def test_queries_answer_from_shapes_and_dtypes(function: Callable[..., Any]) -> None:
    x = np.ones((2, 3))
    seen = []
    grad(lambda x: (seen.append(function(x)), np.sum(x))[1])(x)
    vmap(lambda x: (seen.append(function(x)), x)[1])(x[None])
    assert seen == [function(x)] * 2


def says_why(refused: Unsupported) -> None:
    assert refused.reason
    assert not refused.reason.endswith(".")
    with pytest.raises(UnsupportedFunctionError) as caught:
        refused(np.ones(3))
    assert refused.name in str(caught.value)
    assert refused.reason in str(caught.value)
    assert "test_catalogue.py, line" in str(caught.value)


@pytest.mark.parametrize("library", ["numpy", "scipy"])
def test_what_is_refused_says_why(library: str) -> None:
    if library == "scipy":
        pytest.importorskip("scipy")
        for module in import_module("funcgrad.scipy").MODULES:
            dir(import_module(f"funcgrad.scipy.{module}"))  # which imports its rules
    refused = [x for x in CATALOGUE.values() if isinstance(x, Unsupported)]
    check_all(says_why, [(x.name, x) for x in refused if x.name.startswith("scipy.") == (library == "scipy")])


def test_a_function_without_a_rule_is_refused_by_name() -> None:
    function = array_function_dispatch(lambda x: (x,))(lambda x: x)  # stands for one of a later NumPy
    function.__name__, function.__module__ = "novelty", "numpy.linalg"
    with pytest.raises(
        UnsupportedFunctionError, match=r"np\.linalg\.novelty has no derivative rule.*test_catalogue\.py"
    ):
        grad(lambda x: function(x))(1.0)
    with pytest.raises(UnsupportedFunctionError, match="has no derivative rule"):
        grad(np.frompyfunc(lambda x: x, 1, 1))(1.0)


def test_names_are_those_users_know() -> None:
    assert name_of(np.linalg.norm) == "linalg.norm"
    assert name_of(np.sum) == "sum"
    assert CATALOGUE[operator.getitem].name == "getitem"


def test_every_rule_fits_its_function() -> None:
    for made in CATALOGUE.values():
        if isinstance(made, Primitive):
            made.check()


def test_primitives_have_numpys_parameters() -> None:
    """A written-out signature (for functions that Python can't inspect) must not drift from NumPy's."""
    for function, made in CATALOGUE.items():
        if (
            not isinstance(made, Primitive)
            or isinstance(made, Ufunc)
            or not (getattr(function, "__module__", None) or "").startswith("numpy")
        ):
            continue
        try:
            numpys = inspect.signature(function)
        except ValueError:
            continue  # NumPy before 2.4 does not tell
        ours, theirs = list(made.signature.parameters), list(numpys.parameters)
        assert set(ours) >= set(theirs) - {"like", "subok", "args", "kwargs", "newshape"}, made.name
