"""Linear algebra: inverses, systems of equations, powers and condition numbers. (Determinants are in
determinants.py, factors and eigenvalues in decompositions.py, norms in norms.py, products in
contractions.py.)

All of them take stacks of matrices. `pinv` and `lstsq` are differentiated at constant rank: where a
perturbation would raise the rank, they jump and have no derivative. With hermitian=True the matrix is taken
as Hermitian, and the gradient is symmetrised.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.arguments import as_operand
from funcgrad.core.arrays.ufunc import as_result
from funcgrad.core.engine.batch import leading, one_by_one
from funcgrad.core.engine.declare import composite, custom, elementwise, piecewise_constant
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import concrete
from funcgrad.core.memory.chunks import runner
from funcgrad.core.memory.orders import lying_as_copy_of
from funcgrad.rules.contractions import OverStacks
from funcgrad.rules.matrices import conj, mH, mT, symmetrised, whole_matrix

# ---- inverses --------------------------------------------------------------------------------------------------------


def _inv_pull(ct, out):
    turned = mT(out)
    return -(turned @ ct @ turned)


def _pinv_pull(ct, a, out, hermitian=False):
    """The transpose of `_pinv_push`."""
    turned, adjoint, ct_turned = mT(out), mH(out), mT(ct)
    left = (ct_turned - a @ (out @ ct_turned)) @ (out @ adjoint)
    right = (adjoint @ out) @ (ct_turned - (ct_turned @ out) @ a)
    total = conj(left + right) - turned @ ct @ turned
    return symmetrised(total) if hermitian else total


def _pinv_push(t, a, out, hermitian=False):
    """Golub and Pereyra, SIAM Journal on Numerical Analysis 10 (1973), 413-432, equation (4.12)."""
    t = symmetrised(t) if hermitian else t
    adjoint, t_adjoint = mH(out), mH(t)
    left = (out @ adjoint) @ (t_adjoint - (t_adjoint @ a) @ out)
    right = (t_adjoint - out @ (a @ t_adjoint)) @ (adjoint @ out)
    return left + right - out @ t @ out


def inverse_or_nan(a: Any) -> Any:
    """The inverse of each matrix of a stack; NaN for those that are singular, where np.linalg.inv raises."""
    is_lazy = runner(concrete(a)) is not None  # it raises as NumPy does, when it is computed
    if is_lazy or not (np.linalg.slogdet(concrete(a)).sign == 0).any():
        return np.linalg.inv(a)
    singular = (np.linalg.slogdet(a).sign == 0)[..., None, None]
    # Products, not choices: the derivative of what is NaN is NaN too.
    regular = np.logical_not(singular) * a + singular * np.eye(a.shape[-1], dtype=a.dtype)
    return np.linalg.inv(regular) * np.where(singular, np.nan, np.ones((), a.real.dtype))


def _tensorinv(a: Any, ind: int = 2) -> Any:
    a = as_operand(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = math.prod(a.shape[ind:])
    inverse = np.linalg.inv(a.reshape(rows, -1) if rows else a.reshape(0, 0))
    return inverse.reshape(a.shape[ind:] + a.shape[:ind])


custom(np.linalg.inv, _inv_pull, push=lambda t, out: -(out @ t @ out), reach=whole_matrix, batch="leading")
custom(np.linalg.pinv, _pinv_pull, push=_pinv_push, reach=whole_matrix, batch="leading")
composite(np.linalg.tensorinv, _tensorinv)


# ---- systems of equations --------------------------------------------------------------------------------------------


def _column(b: Any, is_vector: bool) -> Any:
    return b[..., None] if is_vector else b


def _vector(b: Any, is_vector: bool) -> Any:
    return b[..., 0] if is_vector else b


def _solve_b(ct, a):
    is_vector = ct.ndim < a.ndim  # only a one-dimensional b is one: NumPy takes all else as matrices
    return _vector(np.linalg.solve(mT(a), _column(ct, is_vector)), is_vector)


def _solve_joint(ct, a, out):
    is_vector = ct.ndim < a.ndim
    ct_b = _solve_b(ct, a)
    return -(_column(ct_b, is_vector) @ mT(_column(out, is_vector))), ct_b


def _solve_push(t, a, b, out):
    is_vector = np.ndim(b) == 1
    right = 0 if t["b"] is None else _column(t["b"], is_vector)
    if t["a"] is not None:
        right = right - t["a"] @ _column(out, is_vector)
    return _vector(np.linalg.solve(a, right), is_vector)


def _batched_solve(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    a, b = call.operands
    is_vector = b.ndim - batched[1] == 1
    b = _column(b, is_vector)
    # one matrix: the right sides side by side, to factorise it once
    if not batched[0] and a.ndim == 2 and b.ndim == 3:
        columns = b.swapaxes(0, 1)
        out = np.linalg.solve(a, columns.reshape(b.shape[1], size * b.shape[2]))
        return _vector(out.reshape(columns.shape).swapaxes(0, 1), is_vector)
    return _vector(OverStacks(2, 2)(primitive, call.with_operands([a, b]), batched, size), is_vector)


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = as_operand(a), as_operand(b)
    if axes is not None:
        last = [operator.index(k) % a.ndim for k in axes]
        a = np.transpose(a, [*(i for i in range(a.ndim) if i not in last), *last])
    shape = a.shape[b.ndim :]
    n = math.prod(shape)
    if a.size != n * n:
        raise np.linalg.LinAlgError(
            f"np.linalg.tensorsolve: the last {len(shape)} axes of a need as many elements as the first {b.ndim}, "
            f"but a has shape {a.shape}"
        )
    return np.linalg.solve(a.reshape(n, n), b.reshape(n)).reshape(shape)


custom(
    np.linalg.solve,
    {"b": _solve_b},
    joint=_solve_joint,
    push=_solve_push,
    operands="a b",
    batch=_batched_solve,
)
composite(np.linalg.tensorsolve, _tensorsolve)


def _lstsq_joint(ct, a, b, out, wanted, rcond=None):
    """By P = pinv(a) and the residual r = b - a x, orthogonal to the columns of a; in terms of conj(ct)."""
    ct_x, ct_r, _, ct_s = ct
    is_vector = b.ndim == 1
    x, b = _column(out[0], is_vector), _column(b, is_vector)
    inverse, r = np.linalg.pinv(a, rcond=_cutoff(a, b, rcond)), b - a @ x
    parts_a, parts_b = [], []
    if ct_x is not None:
        ct_x = _column(conj(ct_x), is_vector)
        back = mH(inverse) @ ct_x
        outside = ct_x - inverse @ (a @ ct_x)
        parts_a += [r @ mH(inverse @ back), mH(inverse) @ x @ mH(outside), -(back @ mH(x))]
        parts_b.append(back)
    if ct_r is not None and ct_r.shape[-1]:
        weighted = 2 * r * ct_r
        parts_a.append(-(weighted @ mH(x)))
        parts_b.append(weighted)
    if ct_s is not None:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        parts_a.append((u * ct_s) @ vh)
    ct_a, ct_b = (conj(sum(parts[1:], parts[0])) if parts else None for parts in (parts_a, parts_b))
    return ct_a, ct_b if ct_b is None else _vector(ct_b, is_vector)


def _cutoff(a: Any, b: Any, rcond: Any) -> Any:
    return np.finfo(np.result_type(a, b)).eps * max(a.shape) if rcond is None else rcond


custom(np.linalg.lstsq, joint=_lstsq_joint, operands="a b")


# ---- powers, rank and condition --------------------------------------------------------------------------------------


def _matrix_power(a: Any, n: int) -> Any:
    a = as_operand(a)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(
            f"np.linalg.matrix_power takes square matrices, not an array of shape {a.shape}"
        )
    if n == 0:
        return lying_as_copy_of(np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy(), a)
    power, result = np.linalg.inv(a) if n < 0 else a, None
    n = abs(n)
    while n:
        n, is_odd = divmod(n, 2)
        if is_odd:
            result = power if result is None else result @ power
        if n:
            power = power @ power
    return result


def _batched_rank(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    is_matrix = call.operands[0].ndim > 2
    return (leading if is_matrix else one_by_one)(primitive, call, batched, size)


def _nan_as_inf(x: Any) -> Any:
    return np.where(np.isnan(x), np.inf, x)


_nan_as_inf = elementwise(_nan_as_inf, lambda x: np.where(np.isnan(x), np.nan, 1))


def _cond(x: Any, p: Any = None) -> Any:
    x = as_operand(x)
    if not x.size:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = np.linalg.svdvals(x)
        first, last = s[..., 0], s[..., -1]
        with np.errstate(all="ignore"):
            out = last / first if p == -2 else first / last
    else:
        out = np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inverse_or_nan(x), p, axis=(-2, -1))
    return as_result(np.where(np.isnan(x).any(axis=(-2, -1)), out, _nan_as_inf(out)))


composite(np.linalg.matrix_power, _matrix_power)
composite(np.linalg.cond, _cond)
piecewise_constant(np.linalg.matrix_rank, batch=_batched_rank)
