"""Some eigenvalues and singular values, and the action of the exponential.

An eigenpair solves a v - w v = 0, c.H v = 1 (Nelson, AIAA Journal 14, 1976): a bordered system, which is
sparse where the matrix is. The derivative of exp(a) b along e is the integral of exp((1 - s) a) e exp(s a) b
(Wilcox, J. Math. Phys. 8, 1967), which Gauss's rule resolves to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.linalg as sl

from funcgrad.core.engine.primitive import as_operand
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter, step
from funcgrad.scipy.implicit import solved
from funcgrad.scipy.linalg.functions import exponential
from funcgrad.scipy.optimize.calls import values
from funcgrad.scipy.sparse.linalg.direct import _lu_factors
from funcgrad.scipy.sparse.linalg.direct import solved as solved_by_factors
from funcgrad.scipy.sparse.linalg.iterative import plain_operator
from funcgrad.scipy.sparse.making import _blocks
from funcgrad.scipy.sparse.structure import Pattern, product, sampled
from funcgrad.scipy.sparse.traced import TracedSparse, is_sparse, traced

linalg = Chapter("sparse.linalg")

# ---- eigenvalues ---------------------------------------------------------------------------------------------------------


class _Pairs:
    """The equations of an eigenpair: u = (v, w)."""

    def __init__(self, a: Any, c: Any) -> None:
        self.is_sparse, self.c = isinstance(a, TracedSparse), c
        self.structure = a.structure if self.is_sparse else None

    def times(self, data: Any, v: Any) -> Any:
        return product(data, v, self.structure) if self.is_sparse else data @ v

    def residual(self, u: Any, data: Any) -> Any:
        v, w = u[:-1], u[-1]
        return np.concatenate([self.times(data, v) - w * v, np.reshape(self.c @ v - 1, 1)])

    def solve(self, u: Any, data: Any, rhs: Any, *, transposed: bool) -> Any:
        """The bordered system [[a - w, -v], [c, 0]]."""
        v, w = u[:-1], u[-1]
        n = v.shape[0]
        if not self.is_sparse:
            eye = np.eye(n, dtype=u.dtype)
            top = np.concatenate([data - w * eye, -v[:, None]], axis=1)
            whole = np.concatenate([top, np.append(self.c, 0)[None].astype(u.dtype)])
            return np.linalg.solve(whole.T if transposed else whole, rhs)
        a = TracedSparse(data, self.structure, "coo", True)
        rows = np.arange(n)
        shift = TracedSparse(-w * np.ones(n, u.dtype), Pattern(rows, rows, (n, n)), "coo", True)
        border = TracedSparse(-v, Pattern(rows, 0 * rows, (n, 1)), "coo", True)
        below = TracedSparse(self.c.astype(u.dtype), Pattern(0 * rows, rows, (1, n)), "coo", True)
        whole = _blocks([[a + shift, border], [below, None]])
        whole = TracedSparse(whole.data, whole.structure, "coo", True)
        return solved_by_factors(whole.data, rhs, _lu_factors(whole), transposed)


def eigenpairs(a: Any, w: Any, v: Any, name: str) -> tuple[Any, Any]:
    """The eigenvalues w and vectors v (columns), with derivatives; a column keeps its length and phase."""
    values_out, vectors = [], []
    dtype = np.result_type(w.dtype, v.dtype)
    data = (a.data if isinstance(a, TracedSparse) else a).astype(dtype)
    for k in range(len(w)):
        c = v[:, k].conj().astype(dtype)
        equations = _Pairs(a, c)
        u = np.append(v[:, k], w[k]).astype(dtype)
        found = solved(
            name,
            u,
            [data],
            equations.residual,
            lambda u, given, rhs, e=equations: e.solve(u, given[0], rhs, transposed=False),
            lambda u, given, rhs, e=equations: e.solve(u, given[0], rhs, transposed=True),
        )
        values_out.append(found[-1])
        x = found[:-1]
        vectors.append(x / np.sqrt(np.sum((x * x.conj()).real)))
    return np.stack(values_out), np.stack(vectors, axis=1)


def _matrix(A: Any) -> Any:
    if isinstance(A, sl.LinearOperator):
        raise NotImplementedError(
            "scipy.sparse.linalg: eigenvalues of a LinearOperator that depends on tracers have no rule: give the matrix"
        )
    return traced(A) if is_sparse(A) else as_operand(A)


def _eigen(name: str) -> None:
    theirs = getattr(sl, name)

    @linalg.composite(name)
    def body(A, k=6, M=None, return_eigenvectors=True, **options):
        if M is not None:
            raise NotImplementedError(
                f"scipy.sparse.linalg.{name} with M has no derivative rule: use scipy.linalg.eigh(a, b)"
            )
        a = _matrix(A)
        w, v = theirs(plain_operator(a), k, None, return_eigenvectors=True, **values(options))
        if not return_eigenvectors:
            order = _order_alone(theirs, plain_operator(a), k, options, w)
            w, v = w[order], v[:, order]
        w, v = eigenpairs(a, w, v, f"scipy.sparse.linalg.{name}")
        return (w, v) if return_eigenvectors else w


def _order_alone(theirs: Any, a: Any, k: int, options: Any, w: Any) -> Any:
    """SciPy orders eigenvalues otherwise if they alone are wanted."""
    alone = theirs(a, k, None, return_eigenvectors=False, **values(options))
    left, order = list(range(len(w))), []
    for value in alone:
        nearest = min(left, key=lambda i: abs(w[i] - value))
        left.remove(nearest)
        order.append(nearest)
    return order


for _name in ("eigsh", "eigs"):
    _eigen(_name)


@linalg.composite("svds")
def svds(A, k=6, return_singular_vectors=True, **options):
    """By the symmetric matrix [[0, a], [a.T, 0]], whose eigenvectors are those of both sides."""
    a = _matrix(A)
    m, n = a.shape
    u, s, vh = sl.svds(plain_operator(a), k, return_singular_vectors=True, **values(options))
    if isinstance(a, TracedSparse):
        whole = _blocks(
            [
                [TracedSparse(np.zeros(0, a.dtype), Pattern([], [], (m, m)), "coo", True), a],
                [a.conj().T, None],
            ]
        )
        whole = _padded(whole, m + n)
    else:
        top = np.concatenate([np.zeros((m, m), a.dtype), a], axis=1)
        whole = np.concatenate([top, np.concatenate([a.conj().T, np.zeros((n, n), a.dtype)], axis=1)])
    both = np.concatenate([u, vh.conj().T]) / np.sqrt(2)
    w, v = eigenpairs(whole, s, both, "scipy.sparse.linalg.svds")
    w = w.real
    if return_singular_vectors is False:
        alone = sl.svds(plain_operator(a), k, return_singular_vectors=False, **values(options))
        return w[np.array([int(np.argmin(abs(s - x))) for x in alone])]
    left, right = v[:m] * np.sqrt(2), v[m:].conj().T * np.sqrt(2)
    return left, w, right


def _padded(a: TracedSparse, n: int) -> TracedSparse:
    return TracedSparse(a.data, Pattern(a.structure.rows, a.structure.cols, (n, n)), "coo", True)


# ---- the exponential -----------------------------------------------------------------------------------------------------


def _nodes(a: Any) -> tuple[Any, Any]:
    """Gauss's nodes on (0, 1): enough for an exponential of this size."""
    x, w = np.polynomial.legendre.leggauss(14 + int(np.ceil(1.5 * float(sl.norm(a, 1)) if a.nnz else 0)))
    return (x + 1) / 2, w / 2


def _along(data: Any, start: Any, s: Pattern, times: Any) -> list[Any]:
    """exp(t a) start at these increasing times."""
    found, before = [], 0.0
    for t in times:
        start = _acted(data * (t - before), start, s)
        found.append(start)
        before = t
    return found


def _acted_joint(ct, data, b, s):
    times, weights = _nodes(s.matrix(np.asarray(values(data))))
    ahead = _along(data, b, s, times)
    behind = _along(data, ct, s.T, (1 - times)[::-1])[::-1]
    ct_data = sum(w * sampled(y, x, s) for w, x, y in zip(weights, ahead, behind))
    return ct_data, _acted(data, ct, s.T)


def _acted_push(t, data, b, out, s):
    total = np.zeros_like(out) if t["b"] is None else _acted(data, t["b"], s)
    if t["data"] is not None:
        times, weights = _nodes(s.matrix(np.asarray(values(data))))
        ahead = _along(data, b, s, times)
        for time, w, x in zip(times, weights, ahead):
            total = total + w * _acted(data * (1 - time), product(t["data"], x, s), s)
    return total


@step("data b", {"b": lambda ct, data, s: _acted(data, ct, s.T)}, joint=_acted_joint, push=_acted_push)
def _acted(data, b, s):
    """exp(a) b"""
    return sl.expm_multiply(s.matrix(data), b).astype(np.result_type(data, b))


@linalg.composite("expm_multiply")
def expm_multiply(A, B, start=None, stop=None, num=None, endpoint=None, traceA=None):
    b = as_operand(B)
    b = b if isinstance(b, Tracer) else np.asarray(b)
    if isinstance(A, sl.LinearOperator):
        raise NotImplementedError(
            "scipy.sparse.linalg.expm_multiply with a LinearOperator has no derivative rule: give the matrix"
        )
    act = _action(A, b)
    if all(x is None for x in (start, stop, num, endpoint)):
        return act(1.0)
    if start is None or stop is None:
        raise ValueError("start and stop must be given together")
    times = np.linspace(
        start, stop, **{k: v for k, v in (("num", num), ("endpoint", endpoint)) if v is not None}
    )
    return np.stack([act(t) for t in times])


def _action(A: Any, b: Any) -> Any:
    """The function t -> exp(t A) b."""
    if not is_sparse(A):
        a = as_operand(A)
        return lambda t: exponential(t * a) @ b
    a = traced(A)
    dtype = np.result_type(a.dtype, b.dtype, np.float32)
    data, right = a.data.astype(dtype), b.astype(dtype)
    return lambda t: _acted(t * data, right, a.structure)
