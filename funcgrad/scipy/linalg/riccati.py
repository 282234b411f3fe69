"""Riccati's equations, implicitly: the residual's derivative is Lyapunov's (Stein's) operator.

Kao and Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations",
arXiv:2011.11430.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.rules.matrices import conj, mH, mT
from funcgrad.scipy.declare import Chapter, constant
from funcgrad.scipy.implicit import solved
from funcgrad.scipy.linalg.functions import solve_discrete_lyapunov, sylvester
from funcgrad.scipy.linalg.stacks import over_stacks

linalg = Chapter("linalg")


@constant("a b q r e s")
def _known(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, how: str = "", balanced: bool = True
) -> Any:
    return getattr(sl, how)(a, b, q, r, e, s, balanced)


def _continuous(x, a, b, q, r, e, s):
    ahead = mH(e) @ x
    side = ahead @ b + s
    return ahead @ a + mH(ahead @ a) - side @ np.linalg.solve(r, mH(side)) + q


def _closed_continuous(x: Any, given: Any) -> tuple[Any, Any]:
    a, b, _, r, e, s = given
    return a - b @ np.linalg.solve(r, mH(b) @ x @ e + mH(s)), e


def _discrete(x, a, b, q, r, e, s):
    side = mH(a) @ x @ b + s
    return (
        mH(a) @ x @ a - mH(e) @ x @ e - side @ np.linalg.solve(r + mH(b) @ x @ b, mH(b) @ x @ a + mH(s)) + q
    )


def _closed_discrete(x: Any, given: Any) -> tuple[Any, Any]:
    a, b, _, r, e, s = given
    return a - b @ np.linalg.solve(r + mH(b) @ x @ b, mH(b) @ x @ a + mH(s)), e


def _right_divided(x: Any, e: Any) -> Any:
    """x inv(e)"""
    return mT(np.linalg.solve(mT(e), mT(x)))


def _inverse_of(closed: Any, lyapunov: Any) -> Any:
    """Solves e.H (dx m + m.H dx) e = rhs (continuous), e.H (m.H dx m - dx) e = rhs; m = f inv(e)."""

    def inverse(x: Any, given: Any, rhs: Any) -> Any:
        f, e = closed(x, given)
        return lyapunov(mH(_right_divided(f, e)), np.linalg.solve(mH(e), _right_divided(rhs, e)))

    def transposed(x: Any, given: Any, rhs: Any) -> Any:
        f, e = closed(x, given)
        out = lyapunov(conj(_right_divided(f, e)), rhs)
        return np.linalg.solve(conj(e), _right_divided(out, mT(e)))

    return inverse, transposed


def _lyapunov(m: Any, rhs: Any) -> Any:
    """m y + y m.H = rhs"""
    return sylvester(m, mH(m), rhs)


def _stein(m: Any, rhs: Any) -> Any:
    """m y m.H - y = rhs"""
    return solve_discrete_lyapunov(a=m, q=-rhs)


def _declare(name: str, residual: Any, closed: Any, lyapunov: Any) -> None:
    @linalg.composite(name)
    @over_stacks(a=2, b=2, q=2, r=2, e=2, s=2)
    def body(a, b, q, r, e=None, s=None, balanced=True):
        x = _known(a, b, q, r, e, s, name, balanced)
        dtype = x.dtype
        e = np.eye(a.shape[0], dtype=dtype) if e is None else e
        s = np.zeros(b.shape, dtype) if s is None else s
        operands = [m.astype(dtype) for m in (a, b, q, r, e, s)]
        return solved(f"scipy.linalg.{name}", x, operands, residual, *_inverse_of(closed, lyapunov))


_declare("solve_continuous_are", _continuous, _closed_continuous, _lyapunov)
_declare("solve_discrete_are", _discrete, _closed_discrete, _stein)
