"""Norms, determinants, singular values, and what is constant wherever it is smooth."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl

from funcgrad.rules.matrices import mH
from funcgrad.scipy.declare import Chapter, constant
from funcgrad.scipy.linalg.stacks import matrix, over_stacks

linalg = Chapter("linalg")
linalg.piecewise_constant("bandwidth ishermitian issymmetric")


@linalg.composite("norm")
def norm(a, ord=None, axis=None, keepdims=False):
    a = matrix(a)
    if axis is None and not keepdims and (a.ndim, ord) in ((1, None), (1, 2), (2, 1), (2, np.inf)):
        # BLAS gives a number in double precision
        a = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    return np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)


@constant("a")
def _known_det(a: Any) -> Any:
    return np.asarray(sl.det(a))


@linalg.composite("det")
def det(a):
    a = matrix(a)
    if a.ndim < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    if a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Last 2 dimensions of the array must be square but received shape {a.shape}.")
    wide = {"f": np.float64, "c": np.complex128}[a.dtype.kind]
    return np.linalg.det(a.astype(wide))


@linalg.composite("svd")
@over_stacks(a=2)
def svd(a, full_matrices=True, compute_uv=True):
    out = np.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(out) if compute_uv else out


@linalg.composite("svdvals")
@over_stacks(a=2)
def svdvals(a):
    return np.linalg.svd(a, compute_uv=False)


@constant("s")
def _rank(s: Any, cutoff: float) -> Any:
    return np.asarray(np.sum(s > np.max(s, initial=0) * cutoff))


def _cutoff(a: Any, rcond: Any) -> Any:
    return np.finfo(a.dtype).eps * max(a.shape) if rcond is None else rcond


@linalg.composite("null_space")
def null_space(A, rcond=None):
    a = matrix(A)
    _, s, vh = np.linalg.svd(a, full_matrices=True)
    return mH(vh[int(_rank(s, _cutoff(a, rcond))) :])


@linalg.composite("orth")
def orth(A, rcond=None):
    a = matrix(A)
    u, s, _ = np.linalg.svd(a, full_matrices=False)
    return u[:, : int(_rank(s, _cutoff(a, rcond)))]


linalg.rerun("subspace_angles")
linalg.unsupported(
    "qz ordqz",
    "its factors depend on choices of phase and order, which have no derivative",
    "Write scipy.linalg.eig(a, b) or eigvals(a, b), or scipy.linalg.schur(scipy.linalg.solve(b, a)).",
)
linalg.unsupported(
    "expm_cond",
    "the condition number of the exponential is the norm of a matrix of size n**2 that is built by compiled code",
    "Write np.linalg.norm of funcgrad.jacobian(scipy.linalg.expm).",
)
