"""Every public name of SciPy's is there, plain results are SciPy's, and what has no rule says so by name."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

scipy = pytest.importorskip("scipy")

import funcgrad  # noqa: E402
import funcgrad.scipy  # noqa: E402
from funcgrad import grad  # noqa: E402
from funcgrad.errors import TracerConversionError, UnsupportedFunctionError  # noqa: E402
from funcgrad.scipy import integrate, linalg  # noqa: E402
from funcgrad.scipy.mirror import INNER, public_names  # noqa: E402

PARTS = sorted({*funcgrad.scipy.MODULES, *INNER} - {"odr"})


@pytest.mark.parametrize("part", PARTS)
def test_every_public_name_is_there_and_is_of_the_same_kind(part: str) -> None:
    theirs, ours = importlib.import_module(f"scipy.{part}"), importlib.import_module(f"funcgrad.scipy.{part}")
    for name in public_names(theirs):
        value = getattr(theirs, name)
        assert callable(getattr(ours, name)) == callable(value), name
        assert isinstance(getattr(ours, name), type) == isinstance(value, type), name


@pytest.mark.parametrize("part", PARTS)
def test_no_file_hides_a_public_name(part: str) -> None:
    folder = Path(funcgrad.scipy.__file__).parent / part.replace(".", "/")
    files = {path.stem for path in folder.glob("*.py")}
    assert not files & set(public_names(importlib.import_module(f"scipy.{part}")))


def test_plain_arrays_are_left_to_scipy() -> None:
    y = np.array([1.0, 4.0, 2.0])
    assert integrate.simpson(y) == scipy.integrate.simpson(y)
    assert type(linalg.det(np.eye(2))) is type(scipy.linalg.det(np.eye(2)))


def test_what_has_no_rule_is_refused_by_name() -> None:
    with pytest.raises(
        UnsupportedFunctionError, match=r"scipy\.interpolate\.bisplrep was called on a tracer"
    ):
        grad(lambda x: funcgrad.scipy.interpolate.bisplrep(x, x**2, x)[0].sum())(np.arange(20.0))


def test_scipy_itself_names_what_to_write() -> None:
    with pytest.raises(TracerConversionError, match=r"Write funcgrad\.scipy\.linalg\.expm instead"):
        grad(lambda x: scipy.linalg.expm(x).sum())(np.eye(2))


def test_an_argument_that_is_unknown_to_scipy_is_its_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        grad(lambda y: integrate.simpson(y, nonsense=1))(np.ones(3))


@pytest.mark.parametrize("module", ["funcgrad.scipy"])
def test_a_module_that_does_not_exist(module: str) -> None:
    with pytest.raises(AttributeError):
        _ = importlib.import_module(module).no_such_module
