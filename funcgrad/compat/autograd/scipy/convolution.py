"""autograd's convolve: along some axes, summed over others, outer over the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Axes = Sequence[Sequence[int]]


def convolve(A: Any, B: Any, axes: Axes | None = None, dot_axes: Axes = ((), ()), mode: str = "full") -> Any:
    """Convolve A and B along `axes` (a list of each, in pairs; by default all).

    The products are summed over `dot_axes` (in pairs). The axes of the result are those of A that are left,
    those of B that are left, and those of the convolution.

    Raises ValueError for another mode than "full", "valid" and "same", or where neither is the larger for
    "valid".

    >>> convolve(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([1., 3., 2.])
    """
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolve: mode is 'full', 'valid' or 'same', not {mode!r}")
    if axes is None:
        axes = [list(range(np.ndim(A))), list(range(np.ndim(B)))]
    of_a, of_b = (_lay_out(x, conv, dot) for x, conv, dot in zip((A, B), axes, dot_axes, strict=True))
    (a, left_a, n_dot), (b, left_b, _) = of_a, of_b
    n = len(axes[0])
    sizes_a, sizes_b = np.shape(a)[left_a + n_dot :], np.shape(b)[left_b + n_dot :]
    if mode == "valid" and any(p < q for p, q in zip(sizes_a, sizes_b, strict=True)):
        if any(p > q for p, q in zip(sizes_a, sizes_b, strict=True)):
            raise ValueError(
                f"convolve: for mode 'valid' one must be the larger along all axes, found {sizes_a}, {sizes_b}"
            )
        return _swapped(convolve(B, A, axes[::-1], dot_axes[::-1], mode), left_b, left_a)
    full = mode != "valid"
    pads = [(0, 0)] * (left_a + n_dot) + [(q - 1, q - 1) if full else (0, 0) for q in sizes_b]
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(a, pads), sizes_b, axis=tuple(range(left_a + n_dot, np.ndim(a)))
    )
    flipped = np.flip(b, axis=tuple(range(left_b + n_dot, np.ndim(b))))
    out = _contracted(windows, flipped, left_a, left_b, n_dot, n)
    if mode == "same":
        starts = [(q - 1) // 2 for q in sizes_b]
        cut = [slice(s, s + p) for s, p in zip(starts, sizes_a, strict=True)]
        out = out[(slice(None),) * (left_a + left_b) + tuple(cut)]
    return out


def _lay_out(x: Any, conv: Sequence[int], dot: Sequence[int]) -> tuple[Any, int, int]:
    """`x` with its axes in the order: left, summed over, convolved; and how many there are of the first two."""
    moved = [i % np.ndim(x) for i in (*dot, *conv)]
    left = [i for i in range(np.ndim(x)) if i not in moved]
    return np.transpose(x, [*left, *moved]), len(left), len(dot)


def _contracted(windows: Any, kernel: Any, left_a: int, left_b: int, n_dot: int, n: int) -> Any:
    """The windows of A times the kernel, summed: axes left in A, left in B, and the positions of the windows."""
    label = iter(range(left_a + left_b + n_dot + 2 * n))
    a, b, d, places, inner = ([next(label) for _ in range(k)] for k in (left_a, left_b, n_dot, n, n))
    return np.einsum(windows, [*a, *d, *places, *inner], kernel, [*b, *d, *inner], [*a, *b, *places])


def _swapped(out: Any, first: int, second: int) -> Any:
    """The first axes of a result after those that follow them."""
    axes = [*range(first, first + second), *range(first), *range(first + second, np.ndim(out))]
    return np.transpose(out, axes)
