"""Functions of matrices: exponential, logarithm, roots, powers, trigonometric; Sylvester's equation.

For an analytic function, f([[a, e], [0, a]]) has the derivative of f along e in its upper right block
(Higham, "Functions of Matrices", 2008, theorem 3.6): so every order follows from f. The transposed derivative
is the derivative at a.T. The exponential has a cheaper first order (Al-Mohy and Higham, SIAM J. Matrix Anal.
Appl. 30, 2009); a square root leads to Sylvester's equation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.core.engine.trace import concrete
from funcgrad.rules.matrices import conj, mH, mT
from funcgrad.scipy.declare import Chapter, constant, step
from funcgrad.scipy.linalg.exponentials import frechet
from funcgrad.scipy.linalg.stacks import matrix, over_stacks

linalg = Chapter("linalg")


@linalg.functional("funm")
def funm(A, func, disp=True):
    """By eigenvectors. SciPy's way, through Schur's form, divides by the same gaps between eigenvalues."""
    from funcgrad.scipy.linalg import eig

    a = matrix(A)
    w, v = eig(a)
    out = (v * func(w)) @ np.linalg.inv(v)
    eps = np.finfo(a.dtype).eps
    tolerance = eps * (1e3 if eps > 1e-10 else 1e6)  # as SciPy has it
    if a.dtype.kind == "f" and np.allclose(concrete(out).imag, 0.0, atol=tolerance):
        out = out.real
    return out if disp else (out, eps * np.linalg.cond(concrete(v)) * (1 + np.linalg.norm(concrete(a), 1)))


def block(a: Any, e: Any) -> Any:
    """[[a, e], [0, a]]"""
    a, e = a.astype(np.result_type(a.dtype, e.dtype)), e.astype(np.result_type(a.dtype, e.dtype))
    return np.concatenate([np.concatenate([a, e], -1), np.concatenate([np.zeros_like(a), a], -1)], -2)


def along(f: Callable[[Any], Any], a: Any, e: Any) -> Any:
    """The derivative of the function of matrices f at a along e."""
    n = a.shape[-1]
    return f(block(a, e))[..., :n, n:]


def analytic(function: Callable[..., Any]) -> Any:
    """A step for an analytic function of a matrix."""

    def pull(ct, a, **named):
        return along(lambda x: made(x, **named), mT(a), ct)

    def push(t, a, **named):
        return along(lambda x: made(x, **named), a, t)

    made = step("a", _naming(pull, function), push=_naming(push, function))(function)
    return made


def _naming(formula: Any, function: Any) -> Any:
    """`formula`, so that the engine sees the parameters of `function` among its own."""
    import inspect

    first = next(iter(inspect.signature(formula).parameters))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = (first, *inspect.signature(function).parameters)
    formula.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
    return formula


# ---- the exponential -----------------------------------------------------------------------------------------------------


@step("a", lambda ct, a, out: _frechet(mT(a), ct, mT(out)), push=lambda t, a, out: _frechet(a, t, out))
def exponential(a):
    """expm"""
    return sl.expm(a)


def _second(a: Any, e: Any, f: Any) -> Any:
    """The second derivative of the exponential along e and f."""
    n = a.shape[-1]
    return exponential(block(block(a, e), block(f, np.zeros_like(f))))[..., :n, 3 * n :]


def _frechet_push(t, a, e, exp_a, out):
    total = np.zeros_like(out)
    if t["e"] is not None:
        total = total + _frechet(a, t["e"], exp_a)
    if t["a"] is not None:
        total = total + _second(a, e, t["a"])
    return total


def _frechet_pull_e(ct, a, exp_a):
    return _frechet(mT(a), ct, mT(exp_a))


@step(
    "a e exp_a",
    {"a": lambda ct, a, e: _second(mT(a), mT(e), ct), "e": _frechet_pull_e},
    push=_frechet_push,
)
def _frechet(a, e, exp_a):
    """The derivative at a along e; exp_a is the exponential of a, and no operand of its own."""
    dtype = np.result_type(a, e)
    precise = np.result_type(dtype, np.float64)
    return frechet(*(x.astype(precise, copy=False) for x in (a, e, exp_a))).astype(dtype, copy=False)


@linalg.composite("expm")
@over_stacks(A=2)
def expm(A):
    if A.shape[-1] != A.shape[-2]:
        raise np.linalg.LinAlgError("The input array must be square")
    return exponential(A)


@linalg.composite("expm_frechet")
@over_stacks(A=2, E=2)
def expm_frechet(A, E, method=None, compute_expm=True):
    dtype = np.complex128 if "c" in (A.dtype.kind, E.dtype.kind) else np.float64  # as SciPy computes
    A, E = A.astype(dtype), E.astype(dtype)
    exp_a = exponential(A)
    out = _frechet(A, E, exp_a)
    return (exp_a, out) if compute_expm else out


@linalg.composite("cosm")
@over_stacks(A=2)
def cosm(A):
    if A.dtype.kind == "c":
        return 0.5 * (exponential(1j * A) + exponential(-1j * A))
    return np.real(exponential(1j * A))


@linalg.composite("sinm")
@over_stacks(A=2)
def sinm(A):
    if A.dtype.kind == "c":
        return -0.5j * (exponential(1j * A) - exponential(-1j * A))
    return np.imag(exponential(1j * A))


@linalg.composite("tanm")
@over_stacks(A=2)
def tanm(A):
    return np.linalg.solve(cosm(A=A), sinm(A=A))


@linalg.composite("coshm")
@over_stacks(A=2)
def coshm(A):
    return 0.5 * (exponential(A) + exponential(-A))


@linalg.composite("sinhm")
@over_stacks(A=2)
def sinhm(A):
    return 0.5 * (exponential(A) - exponential(-A))


@linalg.composite("tanhm")
@over_stacks(A=2)
def tanhm(A):
    return np.linalg.solve(coshm(A=A), sinhm(A=A))


# ---- logarithm, powers ---------------------------------------------------------------------------------------------------


@analytic
def _logarithm(a):
    return sl.logm(a)


@analytic
def _power(a, power):
    return sl.fractional_matrix_power(a, power)


@linalg.composite("logm")
@over_stacks(A=2)
def logm(A):
    return _logarithm(A)


@linalg.composite("fractional_matrix_power")
@over_stacks(A=2)
def fractional_matrix_power(A, t):
    if t == int(t):
        return np.linalg.matrix_power(A, int(t))
    return _power(A, float(t))


# ---- Sylvester's equation ------------------------------------------------------------------------------------------------


@constant("a b")
def _schur_forms(a: Any, b: Any) -> Any:
    """The Schur forms of a and of b.H, which serve all right sides, and the transposed equation."""
    output = "real" if a.dtype.kind == "f" and b.dtype.kind == "f" else "complex"
    r, u = sl.schur(a, output=output, check_finite=False)
    s, v = sl.schur(b.conj().T, output=output, check_finite=False)
    return r, u, s, v


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The x with a x + x b = q."""
    dtype = np.result_type(a.dtype, b.dtype, q.dtype)
    a, b, q = a.astype(dtype), b.astype(dtype), q.astype(dtype)
    return _sylvester(*_schur_forms(a, b), a, b, q)


@constant("a")
def _schur_form(a: Any) -> Any:
    return sl.schur(a, output="real" if a.dtype.kind == "f" else "complex", check_finite=False)


def symmetric_sylvester(a: Any, q: Any) -> Any:
    """The x with a x + x a = q: one Schur form serves both sides."""
    dtype = np.result_type(a.dtype, q.dtype)
    a = a if a.dtype == dtype else a.astype(dtype)
    r, u = _schur_form(a)
    return _sylvester(r, u, r, u, a, a, q if q.dtype == dtype else q.astype(dtype), alike=True)


def _sylvester_joint(ct, r, u, s, v, a, b, out, transposed=False, alike=False):
    ct_q = _sylvester(r, u, s, v, a, b, ct, not transposed, alike)
    if transposed:
        return None, None, None, None, -(out @ mT(ct_q)), -(mT(ct_q) @ out), ct_q
    return None, None, None, None, -(ct_q @ mT(out)), -(mT(out) @ ct_q), ct_q


def _sylvester_push(t, r, u, s, v, a, b, q, out, transposed=False, alike=False):
    right = np.zeros_like(out) if t["q"] is None else t["q"]
    turned = mT if transposed else (lambda x: x)
    if t["a"] is not None:
        right = right - turned(t["a"]) @ out
    if t["b"] is not None:
        right = right - out @ turned(t["b"])
    return _sylvester(r, u, s, v, a, b, right, transposed, alike)


def _sylvester_pull_q(ct, r, u, s, v, a, b, transposed=False, alike=False):
    return _sylvester(r, u, s, v, a, b, ct, not transposed, alike)


@step("r u s v a b q", {"q": _sylvester_pull_q}, joint=_sylvester_joint, push=_sylvester_push)
def _sylvester(r, u, s, v, a, b, q, transposed=False, alike=False):
    """a x + x b = q, or a.T x + x b.T = q, by the Schur forms a = u r u.H and b.H = v s v.H.

    Where a and b are `alike`, both have the form u r u.H.
    """
    trsyl = sl.get_lapack_funcs("trsyl", (r, s))
    sides = (
        ("C", "N") if transposed else ("N", "C")
    )  # transposed is conjugated: a.H y + y b.H = conj(q), y = conj(x)
    if alike:
        sides = (sides[0], sides[0])
    f = u.conj().T @ (q.conj() if transposed else q) @ v
    y, scale, info = trsyl(r, s, f, trana=sides[0], tranb=sides[1], overwrite_c=True)
    if info < 0:
        raise np.linalg.LinAlgError(f"Illegal value encountered in the {-info} term")
    del f
    y *= scale
    out = u @ y
    del y
    out = out @ v.conj().T
    return out.conj() if transposed else out


@linalg.composite("solve_sylvester")
@over_stacks(a=2, b=2, q=2)
def solve_sylvester(a, b, q):
    return sylvester(a, b, q)


@linalg.composite("solve_continuous_lyapunov solve_lyapunov")
@over_stacks(a=2, q=2)
def solve_continuous_lyapunov(a, q):
    _check_square(a, q)
    return sylvester(a, mH(a), q)


@linalg.composite("solve_discrete_lyapunov")
@over_stacks(a=2, q=2)
def solve_discrete_lyapunov(a, q, method=None):
    _check_square(a, q)
    if method is None:
        method = "bilinear" if a.shape[0] >= 10 else "direct"
    n = a.shape[0]
    if method == "direct":
        lhs = np.eye(n * n) - np.kron(a, conj(a))
        return np.linalg.solve(lhs, q.reshape(-1)).reshape(n, n)
    if method != "bilinear":
        raise ValueError(f"Unknown solver {method}")
    eye = np.eye(n)
    back = np.linalg.inv(mH(a) + eye)
    b = (mH(a) - eye) @ back
    c = 2 * (np.linalg.inv(a + eye) @ q @ back)
    return sylvester(mH(b), b, -c)


def _check_square(a: Any, q: Any) -> None:
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"Matrix a should be square, but its shape is {a.shape}.")
    if a.shape != q.shape:
        raise ValueError("Matrix a and q should have the same shape.")


# ---- square roots --------------------------------------------------------------------------------------------------------
# x x = a, so dx x + x dx = da.


@step("a", lambda ct, out: symmetric_sylvester(mT(out), ct), push=lambda t, out: symmetric_sylvester(out, t))
def square_root(a):
    """sqrtm"""
    return sl.sqrtm(a)


@linalg.composite("sqrtm")
@over_stacks(A=2)
def sqrtm(A):
    return square_root(A)


@linalg.composite("signm")
@over_stacks(A=2)
def signm(A):
    return np.linalg.solve(square_root(A @ A), A)
