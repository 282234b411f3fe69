"""Every ufunc of scipy.special with a derivative: against mpmath, differences, and its other modes."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import special

from funcgrad import grad, jvp, vjp, vmap
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.kinds import Elementwise
from funcgrad.core.engine.named import Custom
from funcgrad.core.libraries import load_late
from funcgrad.errors import NonDifferentiableError, UnsupportedFunctionError
from funcgrad.testing import check_grads, check_vmap
from tests.grouping import in_groups
from tests.rules.truth import derivative, relative_error
from tests.scipy.special.cases import CASES, Case

UFUNCS = {name: f for name, f in sorted(vars(special).items()) if isinstance(f, np.ufunc)}
load_late()

NAMED = {f"{c} ({i})": c for i, c in enumerate(CASES)}
each = in_groups(NAMED)


def in_wrt(case: Case, point: tuple[float, ...]) -> tuple[Any, list[float]]:
    """The case as a function of the operands with a derivative alone, and these."""

    def run(*xs: Any) -> Any:
        full = list(point)
        for i, x in zip(case.wrt, xs, strict=True):
            full[i] = x
        return case(*full)

    return run, [point[i] for i in case.wrt]


def batch_of(case: Case) -> tuple[Any, list[Any]]:
    """The first point, thrice, moved a little, in the operands with a derivative."""
    run, xs = in_wrt(case, case.points[0])
    return run, [x * (1 + 1e-3 * np.arange(3.0)) for x in xs]


# ---- each has a status, and each derivative a case -------------------------------------------------------------------


def test_every_ufunc_has_a_status() -> None:
    missing = [name for name, f in UFUNCS.items() if f not in CATALOGUE]
    assert missing == [], f"{len(missing)} ufuncs of scipy.special are in no chapter: {', '.join(missing)}"


def test_every_derivative_has_a_case() -> None:
    covered = {(getattr(special, c.name), i) for c in CASES for i in c.wrt}
    wanted = {(f, i) for f in UFUNCS.values() for i in known_operands(f)} - {(special.wofz, 0)}
    for name in ("hankel1", "hankel2", "hankel1e", "hankel2e", "modfresnelp", "modfresnelm", "kelvin"):
        wanted -= {(f, i) for f, i in wanted if f is UFUNCS[name]}  # complex: see test_values.py
    assert sorted((f.__name__, i) for f, i in wanted - covered) == []


def known_operands(f: np.ufunc) -> list[int]:
    made: Any = CATALOGUE[f]
    rule = getattr(made, "rule", None)
    if isinstance(rule, Elementwise):
        return [i for i in range(f.nin) if i not in rule.unknown]
    if isinstance(rule, Custom):
        return [i for i, name in enumerate(made.operand_names) if callable(rule.pulls.get(name))]
    return []


# ---- the numbers -----------------------------------------------------------------------------------------------------


def digits(point: tuple[float, ...], order: int) -> int:
    """Enough for the truth's differences: its steps are 1e-25 of the operands."""
    depth = max(-math.log10(abs(x)) for x in point if x) if any(point) else 0
    return 30 + 27 * order + (order + 2) * max(0, math.ceil(depth))


@each
def test_derivatives_keep_their_digits(case: Case) -> None:
    if case.truth is None:
        pytest.skip("not in mpmath: see the finite differences")
    for point in case.points:
        for order in range(1, case.orders + 1):
            for argnums in combinations_with_replacement(case.wrt, order):
                slope: Any = case
                for i in argnums:
                    slope = grad(slope, argnums=i)
                exact = derivative(
                    case.truth, point, [argnums.count(i) for i in range(len(point))], digits(point, order)
                )
                came = slope(*point)
                if abs(exact) < mp.mpf(10) ** -20:  # of a derivative that is 0 only the rounding is left
                    assert abs(came) < 1e-13
                elif abs(exact) < 1e290:
                    assert relative_error(came, exact) < case.tol * 10 ** (order - 1), (
                        point,
                        argnums,
                        came,
                        exact,
                    )


@each
def test_derivatives_are_those_of_finite_differences(case: Case) -> None:
    run, xs = in_wrt(case, case.points[0])
    check_grads(run, xs, order=2, atol=1e-4, rtol=1e-4)


@each
def test_forward_and_reverse_mode_agree(case: Case) -> None:
    for point in case.points:
        run, xs = in_wrt(case, point)
        for i, ct in enumerate(vjp(run, *xs)[1](1.0)):
            t = jvp(run, xs, [float(i == j) for j in range(len(xs))])[1]
            np.testing.assert_allclose(ct, t, rtol=1e-13)


@each
def test_vmap_is_a_loop(case: Case) -> None:
    run, xs = batch_of(case)
    check_vmap(run, xs)
    gradient = grad(run, argnums=tuple(range(len(xs))))
    np.testing.assert_allclose(
        np.array(vmap(gradient)(*xs)),
        np.transpose([gradient(*(x[k] for x in xs)) for k in range(3)]),
        rtol=1e-10,
    )


@each
def test_broadcasting_is_summed_back(case: Case) -> None:
    run, xs = batch_of(case)
    columns = [x[:, None] if k else x for k, x in enumerate(xs)]
    out, pull = vjp(run, *columns)
    cts = pull(np.ones(np.shape(out)))
    for x, ct in zip(columns, cts, strict=True):
        assert ct.shape == x.shape
    each_alone = grad(run, argnums=tuple(range(len(xs))))
    rows = np.array(
        [[each_alone(*(x[i if k else j] for k, x in enumerate(xs))) for j in range(3)] for i in range(3)]
    )
    for k, ct in enumerate(cts):
        expected = (rows[0] if len(xs) == 1 else rows.sum(axis=1 if k else 0))[:, k]
        np.testing.assert_allclose(ct.reshape(-1), expected, rtol=1e-10)


@in_groups({name: c for name, c in NAMED.items() if c.single})
def test_single_precision_stays_single(case: Case) -> None:
    run, xs = batch_of(case)
    singles = [x.astype(np.float32) for x in xs]
    out, pull = vjp(run, *singles)
    assert out.dtype == run(*singles).dtype
    exact = vjp(run, *[x.astype(float) for x in singles])[1](np.ones(np.shape(out)))
    for x, ct, expected in zip(singles, pull(np.ones(np.shape(out), out.dtype)), exact, strict=True):
        assert ct.dtype == x.dtype
        np.testing.assert_allclose(ct, expected, rtol=2e-3, atol=2e-3 * np.max(abs(expected)))


@each
def test_empty_arrays_have_empty_gradients(case: Case) -> None:
    run, xs = in_wrt(case, case.points[0])
    out, pull = vjp(run, *[np.zeros(0) for _ in xs])
    assert [ct.shape for ct in pull(out)] == [(0,)] * len(xs)


# ---- what has no derivative ------------------------------------------------------------------------------------------


# Degrees that SciPy itself takes as integers only.
@in_groups({name: name for name in sorted(UFUNCS.keys() - {"eval_hermite", "eval_hermitenorm"})})
@pytest.mark.filterwarnings("ignore:non-integer arg")
def test_operands_without_a_derivative_are_refused_by_name(name: str) -> None:
    f = UFUNCS[name]
    made: Any = CATALOGUE[f]
    if made.kind not in ("elementwise", "custom"):
        return
    for i in set(range(f.nin)) - set(known_operands(f)):
        args = [1] * f.nin
        traced = lambda x, i=i, args=args: np.sum(np.real(f(*args[:i], x, *args[i + 1 :])))
        with pytest.raises(NonDifferentiableError, match=rf"{made.title} has no known derivative"):
            grad(traced)(1.0)
        with pytest.raises(NonDifferentiableError, match=rf"{made.title} has no known derivative"):
            jvp(traced, (1.0,), (1.0,))


@in_groups({name: name for name, f in UFUNCS.items() if CATALOGUE[f].status == "unsupported"})
def test_what_is_refused_says_why(name: str) -> None:
    f = UFUNCS[name]
    with pytest.raises(UnsupportedFunctionError, match=rf"scipy\.special\.{name} was called on a tracer"):
        grad(lambda x: np.sum(f(*[x] * f.nin)[0] if f.nout > 1 else f(*[x] * f.nin)))(1.0)
