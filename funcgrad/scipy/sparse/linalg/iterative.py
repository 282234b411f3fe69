"""Iterative solvers: a x = b as an equation, whose derivatives' systems use the same method.

Kept are the solution and what the matrix is made of, not the iteration. `a` may be an array, a sparse matrix,
or a LinearOperator whose functions close over tracers; where the transposed operator is not given, the
function itself is transposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as ss
import scipy.sparse.linalg as sl

from funcgrad.core.engine.primitive import as_operand
from funcgrad.core.engine.trace import RUNNING, Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.implicit import solved, written
from funcgrad.scipy.mirror import carries_tracer
from funcgrad.scipy.optimize.calls import plainly, values
from funcgrad.scipy.sparse.linalg.direct import csc_of
from funcgrad.scipy.sparse.traced import TracedSparse, is_sparse
from funcgrad.transforms.derivatives import vjp

linalg = Chapter("sparse.linalg")

# ---- operators -----------------------------------------------------------------------------------------------------------


class _OperatorMeta(type(sl.LinearOperator)):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, sl.LinearOperator)


class LinearOperator(sl.LinearOperator, metaclass=_OperatorMeta):
    """scipy.sparse.linalg.LinearOperator, whose functions may close over tracers, and which takes them."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """As SciPy's."""
        if cls is not LinearOperator:
            return super().__new__(cls)
        return _operator(*args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if type(self).__mro__[1] is LinearOperator:  # a subclass of the user's
            super().__init__(*args, **kwargs)


def _operator(shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
    given = {"rmatvec": rmatvec, "matmat": matmat, "rmatmat": rmatmat}
    plain = {name: plainly(f) for name, f in given.items()}
    made = sl.LinearOperator(shape, matvec=plainly(matvec), dtype=dtype, **plain)
    made.plain = sl.LinearOperator(shape, matvec=plainly(matvec), dtype=made.dtype, **plain)
    made.functions = {"matvec": matvec, **{name: f for name, f in given.items() if f is not None}}
    made.__class__ = _of_functions(type(made))
    return made


_CLASSES: dict[type, type] = {}


def _of_functions(theirs: Any) -> type:
    if theirs not in _CLASSES:

        class Operator(theirs):
            """An operator of functions, on which tracers are given to these functions."""

            def matvec(self, x: Any) -> Any:
                return self.functions["matvec"](x) if RUNNING.get() is not None else super().matvec(x)

            def rmatvec(self, x: Any) -> Any:
                if RUNNING.get() is not None and "rmatvec" in self.functions:
                    return self.functions["rmatvec"](x)
                return super().rmatvec(x)

            def dot(self, x: Any) -> Any:
                if isinstance(x, Tracer):
                    return times(self)(x)
                return super().dot(x)

            __matmul__ = __mul__ = __call__ = dot
            __array_ufunc__ = None

        _CLASSES[theirs] = Operator
    return _CLASSES[theirs]


linalg.replaces("LinearOperator", LinearOperator)


def aslinearoperator(A):
    """scipy.sparse.linalg.aslinearoperator, of tracers too."""
    if isinstance(A, sl.LinearOperator):
        return A
    if not carries_tracer(A) and not is_sparse(A):
        return sl.aslinearoperator(A)
    a = A if is_sparse(A) else as_operand(A)
    return _operator(a.shape, lambda v: a @ v, rmatvec=lambda v: a.T.conj() @ v, dtype=a.dtype)


linalg.replaces("aslinearoperator", aslinearoperator)


def times(a: Any) -> Any:
    """The function v -> a v."""
    if isinstance(a, sl.LinearOperator):
        functions = getattr(a, "functions", None)
        apply = functions["matvec"] if functions else a.matvec
        return lambda v: (
            as_operand(apply(v)) if v.ndim == 1 else np.stack([as_operand(apply(c)) for c in v.T], axis=1)
        )
    if isinstance(a, TracedSparse):
        return lambda v: a @ v
    if ss.issparse(a):
        from funcgrad.scipy.sparse.traced import constant_times

        return lambda v: constant_times(a, v) if isinstance(v, Tracer) else a @ v
    a = as_operand(a)
    return lambda v: a @ v


def plain_operator(a: Any) -> Any:
    """The operator on plain values, for SciPy."""
    if isinstance(a, TracedSparse):
        return csc_of(a).tocsr()
    if isinstance(a, sl.LinearOperator) or ss.issparse(a):
        return getattr(a, "plain", a)
    return values(as_operand(a))


# ---- the methods ---------------------------------------------------------------------------------------------------------


class Method:
    """A solver of SciPy's, with the user's options."""

    def __init__(self, name: str, options: dict[str, Any], preconditioner: Any) -> None:
        self.solver, self.name, self.options, self.preconditioner = (
            getattr(sl, name),
            name,
            options,
            preconditioner,
        )
        self.is_symmetric = name in ("cg", "minres")

    def solve(self, f: Any, b: Any, *, transposed: bool = False) -> Any:
        """x with f(x) = b, for a linear function f that may close over tracers."""
        if not isinstance(b, Tracer):
            b = np.asarray(b)
        given, call = written(lambda v: as_operand(f(v)), [np.ones(b.shape, np.result_type(b.dtype, float))])
        x = self.found(f, values(b), transposed=transposed)

        def back(ct: Any, given: Any) -> Any:
            return vjp(lambda v: call([v], given), np.zeros_like(x))[1](ct)[0]

        return solved(
            f"scipy.sparse.linalg.{self.name}",
            x,
            [b, *given],
            lambda x, b, *given: call([x], given) - b,
            lambda x, operands, rhs: self.solve(
                lambda v: call([v], operands[1:]), rhs, transposed=transposed
            ),
            lambda x, operands, rhs: self.solve(
                lambda v: back(v, operands[1:]), rhs, transposed=not transposed
            ),
        )

    def found(self, f: Any, b: Any, *, transposed: bool) -> Any:
        """SciPy's solution of a system of the derivative."""
        plain = plainly(f)
        n, dtype = b.shape[0], np.result_type(b.dtype, float)
        back = plainly(lambda v: vjp(f, np.zeros(n, dtype))[1](v)[0])
        operator = sl.LinearOperator((n, n), matvec=plain, rmatvec=back, dtype=dtype)
        options = {
            key: v
            for key, v in self.options.items()
            if key not in ("x0", "callback", "callback_type", "show", "check")
        }
        m = self.preconditioner
        if m is not None and (self.is_symmetric or not transposed):
            options["M"] = m
        elif m is not None and not isinstance(m, sl.LinearOperator):
            options["M"] = m.T
        return self.solver(operator, b, **options)[0].astype(b.dtype, copy=False)


def _declare(name: str) -> None:
    theirs = getattr(sl, name, None)
    if theirs is None:
        return

    @linalg.functional(name)
    def body(A, b, M=None, **options):
        plain = {key: v if callable(v) else values(v) for key, v in options.items()}
        m = None if M is None else plain_operator(M)
        b = as_operand(b)
        b = b if isinstance(b, Tracer) else np.asarray(b)
        x, info = theirs(plain_operator(A), values(b), M=m, **plain)
        method = Method(name, plain, m)
        return _attached(method, times(A), x, b), info


def _attached(method: Method, f: Any, x: Any, b: Any) -> Any:
    """The solution that has been found, with its derivatives."""
    flat, column = (x.reshape(-1), b.reshape(-1)) if b.ndim == 2 else (x, b)
    given, call = written(lambda v: as_operand(f(v)), [flat])
    column = column.astype(flat.dtype)

    def back(ct: Any, given: Any) -> Any:
        return vjp(lambda v: call([v], given), np.zeros_like(flat))[1](ct)[0]

    out = solved(
        f"scipy.sparse.linalg.{method.name}",
        flat,
        [column, *given],
        lambda x, b, *given: call([x], given) - b,
        lambda x, operands, rhs: method.solve(lambda v: call([v], operands[1:]), rhs),
        lambda x, operands, rhs: method.solve(lambda v: back(v, operands[1:]), rhs, transposed=True),
    )
    return out.reshape(x.shape)


for _name in ("cg", "bicg", "bicgstab", "cgs", "gmres", "lgmres", "minres", "gcrotmk", "tfqmr"):
    _declare(_name)


@linalg.functional("qmr")
def qmr(A, b, M1=None, M2=None, **options):
    plain = {key: v if callable(v) else values(v) for key, v in options.items()}
    b = as_operand(b)
    b = b if isinstance(b, Tracer) else np.asarray(b)
    x, info = sl.qmr(plain_operator(A), values(b), M1=M1, M2=M2, **plain)
    return _attached(Method("qmr", plain, None), times(A), x, b), info


# ---- least squares -------------------------------------------------------------------------------------------------------


def _least(name: str) -> None:
    theirs = getattr(sl, name)

    @linalg.functional(name)
    def body(A, b, damp=0.0, **options):
        """The normal equations hold; their inverse is that of the method, twice."""
        plain_a, plain = plain_operator(A), values(options)
        b = as_operand(b)
        b = b if isinstance(b, Tracer) else np.asarray(b)
        found = theirs(plain_a, values(b), damp, **plain)
        x = found[0]
        f = times(A)
        given, call = written(lambda v: as_operand(f(v)), [x])
        tight = dict.fromkeys(("atol", "btol"), 1e-14)
        operator = sl.aslinearoperator(plain_a)

        def normal(x: Any, b: Any, given: Any) -> Any:
            value, pull = vjp(lambda v: call([v], given), x)
            return pull(value - b)[0] + damp**2 * x

        def inverse(x: Any, operands: Any, rhs: Any) -> Any:
            return NormalEquations(
                lambda v: normal(v, 0.0, operands[1:]), operator, damp, theirs, tight
            ).solve(rhs)

        out = solved(
            f"scipy.sparse.linalg.{name}", x, [b, *given], lambda x, b, *g: normal(x, b, g), inverse, inverse
        )
        return (out, *found[1:])


class NormalEquations:
    """inv(a.T a + damp**2), by the method on a.T, then a; differentiable in what `f` closes over."""

    def __init__(self, f: Any, operator: Any, damp: float, solver: Any, tight: dict[str, float]) -> None:
        self.f, self.operator, self.damp, self.solver, self.tight = f, operator, damp, solver, tight

    def solve(self, rhs: Any) -> Any:
        """The solution of f(x) = rhs."""
        plain = np.asarray(values(rhs))
        half = self.solver(self.operator.T, plain, self.damp, **self.tight)[0]
        x = self.solver(self.operator, half, self.damp, **self.tight)[0]
        if self.damp:
            x = _conjugate_gradients(plainly(self.f), plain)
        given, call = written(lambda v: as_operand(self.f(v)), [x])

        def again(x: Any, operands: Any, rhs: Any) -> Any:
            return NormalEquations(
                lambda v: call([v], operands[1:]), self.operator, self.damp, self.solver, self.tight
            ).solve(rhs)

        return solved(
            "scipy.sparse.linalg", x, [rhs, *given], lambda x, rhs, *g: call([x], g) - rhs, again, again
        )


def _conjugate_gradients(f: Any, rhs: Any) -> Any:
    n = rhs.shape[0]
    return sl.cg(sl.LinearOperator((n, n), matvec=f, dtype=rhs.dtype), rhs, rtol=1e-13, atol=0.0)[0]


for _name in ("lsqr", "lsmr"):
    _least(_name)
