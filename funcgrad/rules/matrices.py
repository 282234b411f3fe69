"""Helpers of the rules for matrices, and for stacks of them."""

from __future__ import annotations

from typing import Any


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
    """The Hermitian part: what a function of Hermitian matrices sees of a tangent, and what its pull may give back."""
    return (x + mH(x)) * 0.5
