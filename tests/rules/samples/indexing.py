"""Samples of indexing.py, and of x[index]."""

import operator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.rules.samples import A, C, S

_ROWS = np.array([[0], [2]])
_MASK = np.array([[True, False, True], [False, False, True]])

SAMPLES = [
    *(
        S(operator.getitem, A(3, 4, 2), index)
        for index in (
            1,
            (-1, 2),
            (..., 0),
            slice(None, None, -2),
            (slice(1, None), None, slice(0, 2)),
            [0, 0, 2],
            (slice(None), [0, 3], 1),
            ([0, 1], slice(None), [1, 1]),
            (_ROWS, [0, 1, 1]),
            (None, [1, 0], ..., np.array([0, 1])),
            np.array([True, False, True]),
            (slice(None), np.array([True, False, True, True]), 0),
            slice(1, 1),
            [],
            (),
        )
    ),
    S(operator.getitem, C(3), [0, 0, 2]),
    S(sliding_window_view, A(5), 3),
    S(sliding_window_view, A(3, 4), (2, 3)),
    S(sliding_window_view, A(3, 4), (2, 2), axis=(-1, 1)),
    S(sliding_window_view, A(2, 3), 2, axis=0),
    S(np.take, A(2, 3), [4, -1]),
    S(np.take, A(2, 3), np.array([[0, 1], [1, 1]]), axis=1),
    S(np.take, A(2, 3), 1, axis=-1),
    S(np.take, A(2, 3), [7, -1], mode="wrap"),
    S(np.take, A(2, 3), [7, -1], axis=0, mode="clip"),
    S(np.take_along_axis, A(2, 3), np.array([[0, 1, 0], [2, 1, 2]]), 1).but(vmap_also=(1,)),
    S(np.take_along_axis, A(2, 3), np.array([[0, 1, 0]]), axis=0),
    S(np.take_along_axis, A(2, 3), np.array([[0], [1]]), -1),
    S(np.take_along_axis, A(2, 3), np.array([4, 4, 1]), axis=None),
    S(np.compress, [True, False, True], A(2, 3), axis=1),
    S(np.compress, np.array([False, True]), A(2, 3)),
    S(np.extract, _MASK, A(2, 3)),
    S(lambda x: np.trim_zeros(np.append(np.zeros(2), x)), A(3)).but(
        covers=np.trim_zeros, vmap=False, label="padded"
    ),
    S(np.diagonal, A(3, 3)),
    S(np.diagonal, A(2, 3), 1),
    S(np.diagonal, A(3, 2), offset=-1),
    S(np.diagonal, A(2, 3), 5),
    S(np.diagonal, A(2, 3, 4), 1, axis1=-1, axis2=0),
    S(np.diag, A(3)),
    S(np.diag, A(2), -1),
    S(np.diag, A(3, 2), k=1),
    S(np.diag, C(2), 2),
    S(np.diagflat, A(2, 2), 1),
    S(np.trace, A(3, 2)),
    S(np.trace, A(3, 2, 3), 1, axis1=-1, axis2=0),
    S(np.tril, A(3, 2)),
    S(np.tril, A(2, 3, 3), k=-1),
    S(np.tril, A(3)),
    S(np.triu, A(2, 3, 4), -1),
    S(np.triu, A(3, 3), k=1),
]
