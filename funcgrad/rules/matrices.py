"""Helpers of the rules for matrices, and for stacks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.core.engine.cotangent import select


def mT(x: Any) -> Any:
    """The transpose."""
    return x.swapaxes(-1, -2)


def conj(x: Any) -> Any:
    """The complex conjugate; a real array is given back as it is."""
    return x.conj() if x.dtype.kind == "c" else x


def mH(x: Any) -> Any:
    """The conjugate transpose."""
    return conj(mT(x))


def symmetrised(x: Any) -> Any:
    """The Hermitian part: all that a function of Hermitian matrices sees of a tangent, or may pull back."""
    return (x + mH(x)) * 0.5


def whole_matrix(ct: Any) -> Any:
    """The `reach` of a function of matrices: all elements of the matrix in the same place of the stack."""
    return ct.sum(axis=(-2, -1), keepdims=True)


def in_live_matrices(x: Any, cts: Sequence[Any], live: Sequence[Any]) -> Any:
    """`x`, zero by structure in those matrices of the stack that no cotangent of any output needs."""
    needed: Any = False
    for ct, mask in zip(cts, live, strict=True):
        if ct is None:
            continue
        if mask is None:
            return x
        needed = needed | mask.any(axis=tuple(range(x.ndim - 2, mask.ndim)))
    return select(needed[..., None, None], x)
