"""What is said at the borders: what was called, where, and what to write instead. Looking is allowed."""

# ruff: noqa: NPY002, T201, UP031 (it is about old ways to write things)

from __future__ import annotations

import cmath
import decimal
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vmap
from funcgrad.errors import BatchedControlFlowError, FuncgradError, TracerConversionError, TracerWriteError

rng = np.random.default_rng(0)
ADAPT = "Put @funcgrad.adapt above the function, or import funcgrad.numpy as np"


def write(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = x
    return np.sum(a)


def write_some(x: Any) -> Any:
    a = np.zeros(3)
    a[:2] = np.stack([x, x])
    return np.sum(a)


def sample_in_two_lines(x: Any) -> Any:
    return rng.normal(
        x,
    )


MESSAGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a[0] = x": (write, r"^a\[index\] = x at test_messages.py, line \d+, in write would write .*" + ADAPT),
    "a[:2] = x": (write_some, r"^a\[index\] = x at test_messages.py, line \d+, in write_some .*" + ADAPT),
    "a += x": (lambda x: np.zeros(2).__iadd__(x), r"an operator such as `a \+= x`.*put @funcgrad\.adapt"),
    "math.sin": (
        lambda x: math.sin(x),
        r"^math\.sin\(x\) at test_messages.py, line \d+, in <lambda> would turn .*" + ADAPT,
    ),
    "float": (lambda x: float(x), r"^float\(x\) at .*" + ADAPT + ".*funcgrad.math as math"),
    "complex": (lambda x: abs(complex(x)), r"^complex\(x\) at .*" + ADAPT),
    "cmath.exp": (lambda x: abs(cmath.exp(x)), r"^cmath\.exp\(x\) at .*" + ADAPT),
    "np.array": (
        lambda x: np.sum(np.array([x, x])),
        r"^np\.array\(x\) at .*" + ADAPT + r".*np\.stack\(\[x, y\]\)",
    ),
    "map": (lambda x: sum(map(math.sin, [x])), r"^float\(x\) or a function of the math module at .*" + ADAPT),
    "rng.normal": (
        sample_in_two_lines,
        r"^rng\.normal\(x\) at .*Write loc \+ scale \* rng\.standard_normal\(size\)",
    ),
    "np.random.uniform": (
        lambda x: np.random.uniform(0, x),
        r"Write low \+ \(high - low\) \* np\.random\.random\(size\)",
    ),
    "rng.poisson": (lambda x: rng.poisson(x) * x, r"^rng\.poisson\(x\) at .*A sample has no derivative in x"),
    "Decimal": (
        lambda x: decimal.Decimal(x),
        r"^decimal\.Decimal\(x\), called at test_messages.py.*" + ADAPT,
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_says_what_was_called_and_what_to_write(name: str) -> None:
    f, message = MESSAGES[name]
    for run in (grad(f), lambda x: jvp(f, (x,), (1.0,)), grad(grad(f))):
        with pytest.raises(
            (TracerConversionError, TracerWriteError), match=message.replace("Reverse", "(Reverse|Forward)")
        ):
            run(1.0)


@pytest.mark.parametrize("use", [write, lambda x: math.sin(x), lambda x: rng.normal(x), lambda x: "%.1f" % x])
def test_under_vmap_too(use: Any) -> None:
    with pytest.raises((BatchedControlFlowError, TracerWriteError, TracerConversionError), match=r"\. "):
        vmap(use)(np.ones(2))


LOOKS: dict[str, Callable[[Any], Any]] = {
    "%": lambda x: "%.3f and %5.1f, %s" % (x, x, x),
    "format": lambda x: f"{x:.3f} {x!s} {x!r}" + f"{x:5.1e}",
    "print": lambda x: print(x, end=""),
    "isclose": lambda x: (
        math.isclose(x, 2.0) and not math.isnan(x) and math.isfinite(x) and not math.isinf(x)
    ),
    "allclose": lambda x: np.testing.assert_allclose(x, 2.0),
    "almost equal": lambda x: np.testing.assert_almost_equal(x, 2.0),
    "less": lambda x: np.testing.assert_array_less(x, 3.0),
    "equal": lambda x: np.testing.assert_array_equal(np.stack([x, x]), [2.0, 2.0]),
    "allclose of arrays": lambda x: np.testing.assert_allclose(np.stack([x, x]), np.array([2.0, 2.0])),
}


@pytest.mark.parametrize("name", LOOKS)
def test_what_only_looks_works(name: str) -> None:
    def f(x: Any) -> Any:
        LOOKS[name](x)
        return x**3

    assert grad(f)(2.0) == 12
    assert grad(grad(f))(2.0) == 12
    assert jvp(f, (2.0,), (1.0,))[1] == 12


def test_what_is_written_and_asserted_is_the_value() -> None:
    seen: list[Any] = []
    grad(lambda x: (seen.append("%.3f" % x), seen.append(math.isclose(x, 1.0)), x)[2])(2.0)
    assert seen == ["2.000", False]
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        grad(lambda x: (np.testing.assert_allclose(x, 3.0), x)[1])(2.0)


def test_equal_numbers_of_which_one_is_traced_are_told_apart_by_numpy_alone() -> None:
    message = r"assert_equal\(x, y\) at test_messages.py, line \d+, in f .*Write np.testing.assert_array_equal\(x, y\), or import"

    def f(x: Any, y: Any) -> Any:
        np.testing.assert_equal(x, y)
        return x

    with pytest.raises(TracerConversionError, match=message):
        grad(f)(2.0, 2.0)
    with pytest.raises(AssertionError, match="Items are not equal"):
        grad(f)(2.0, 3.0)


def test_an_error_of_the_users_own_is_kept() -> None:
    def f(x: Any) -> Any:
        raise TypeError(f"no {type(x).__name__} here")

    with pytest.raises(TypeError, match=r"^no ReverseTracer here$") as caught:
        grad(f)(1.0)
    assert not isinstance(caught.value, FuncgradError)


def test_the_line_is_the_users_and_not_a_librarys() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(TracerConversionError, match=r"at test_messages.py, line \d+, in <lambda>"):
        grad(lambda x: pd.Series(np.ones(2)).map(lambda v: math.sin(x) * v).sum())(1.0)
    with pytest.raises(TracerConversionError, match=r"at test_messages.py, line \d+, in <lambda>"):
        grad(lambda x: np.sum(pd.DataFrame({"a": np.stack([x, x])})))(1.0)


def test_wrapped_functions_of_scipy_are_named_too() -> None:
    stats, linalg = pytest.importorskip("scipy.stats"), pytest.importorskip("scipy.linalg")
    calls = {
        r"stats\.norm\.cdf\(x\)": lambda x: stats.norm.cdf(x[0, 0]),
        r"linalg\.cholesky\(x\)": lambda x: linalg.cholesky(x)[0, 0],
    }
    for name, f in calls.items():
        with pytest.raises(
            TracerConversionError, match=rf"^{name} at test_messages.py.*Import funcgrad\.scipy in the place"
        ):
            grad(f)(np.eye(2))


def test_scipys_functions_are_named() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    # as SciPy's version has it, undecorated or not
    message = (
        r"scipy\.linalg\.inv at test_messages.py.*Write funcgrad\.scipy\.linalg\.inv"
        r"|linalg\.inv\(x\) at test_messages.py.*Import funcgrad\.scipy in the place of scipy"
    )
    with pytest.raises(TracerConversionError, match=message):
        grad(lambda x: linalg.inv(x)[0, 0])(np.eye(2))
