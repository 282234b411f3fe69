"""The textbook's algorithms of linear algebra, in place."""

from __future__ import annotations

from typing import Any

import numpy as np


def gauss(a: Any, b: Any) -> Any:
    """The solution of a x = b by elimination with partial pivoting; a and b are used up."""
    n = len(b)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros_like(b)
    for k in reversed(range(n)):
        x[k] = (b[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return x


def gram_schmidt(rows: Any) -> Any:
    """The rows, made orthonormal one after the other."""
    for i in range(len(rows)):
        row = rows[i]
        for earlier in rows[:i]:
            row -= (earlier @ row) * earlier
        row /= np.sqrt(row @ row)
    return rows


def lu(a: Any) -> Any:
    """Both triangles of a = l u (without pivoting), in the place of a."""
    n = len(a)
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def cholesky(a: Any) -> Any:
    """The lower triangle l with a = l l^T, element by element; only the lower triangle of a is read."""
    n = len(a)
    lower = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j]
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
    return lower


def thomas(below: Any, on: Any, above: Any, right: Any) -> Any:
    """The solution of a tridiagonal system; its diagonal and right-hand side are used up."""
    n = len(on)
    for i in range(1, n):
        factor = below[i - 1] / on[i - 1]
        on[i] -= factor * above[i - 1]
        right[i] -= factor * right[i - 1]
    right[-1] /= on[-1]
    for i in range(n - 2, -1, -1):
        right[i] -= above[i] * right[i + 1]
        right[i] /= on[i]
    return right
