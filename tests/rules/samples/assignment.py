"""NumPy's writing functions, each on a copy that is a tracer wherever an operand is one."""

from typing import Any

import numpy as np

from tests.rules.samples import A, S, Sample


def W(function: Any, x: Any, write: Any, v: Any, label: str) -> Sample:
    """The array x after write(x, v), which calls `function`."""

    def written(x: Any, v: Any) -> Any:
        out = x + 0 * np.sum(v)
        write(out, v)
        return out

    return S(written, x, v).but(covers=function, label=label)


_MASK = np.array([[True, False, True], [False, True, True]])

SAMPLES = [
    W(np.copyto, A(2, 3), lambda x, v: np.copyto(x, v), A(3), "everywhere"),
    W(np.copyto, A(2, 3), lambda x, v: np.copyto(x, v, where=_MASK), A(2, 1), "where"),
    W(np.putmask, A(2, 3), lambda x, v: np.putmask(x, _MASK, v), A(2, 3), "aligned"),
    W(np.putmask, A(2, 3), lambda x, v: np.putmask(x, _MASK, v), A(2), "cycled"),
    W(np.place, A(2, 3), lambda x, v: np.place(x, _MASK, v), A(3), "cycled"),
    W(np.put, A(2, 3), lambda x, v: np.put(x, [4, 0, -1, 0], v), A(4), "repeated"),
    W(np.put, A(2, 3), lambda x, v: np.put(x, [7, 1], v, mode="wrap"), A(1), "wrapped"),
    W(
        np.put_along_axis,
        A(2, 3),
        lambda x, v: np.put_along_axis(x, np.array([[2], [0]]), v, axis=1),
        A(2, 1),
        "column",
    ),
    W(
        np.put_along_axis,
        A(2, 3),
        lambda x, v: np.put_along_axis(x, np.array([5, 1]), v, axis=None),
        A(2),
        "flat",
    ),
    W(np.fill_diagonal, A(2, 3), lambda x, v: np.fill_diagonal(x, v), A(), "number"),
    W(np.ndarray.fill, A(2, 3), lambda x, v: x.fill(v), A(), "number"),
    W(np.ndarray.sort, A(2, 3), lambda x, v: x.sort(axis=0), A(), "columns"),
    W(np.ndarray.partition, A(2, 3), lambda x, v: x.partition(1), A(), "rows"),
    W(np.ufunc.at, A(3), lambda x, v: np.add.at(x, [0, 2, 0], v), A(3), "add"),
    W(np.ufunc.at, A(2, 3), lambda x, v: np.subtract.at(x, (slice(None), [1, 1]), v), A(2, 2), "subtract"),
    W(np.ufunc.at, A(3), lambda x, v: np.multiply.at(x, [[0, 1], [1, 1]], v), A(2, 2), "multiply"),
    W(np.ufunc.at, A(3), lambda x, v: np.maximum.at(x, [2, 1, 2], v), A(3), "maximum"),
    W(np.ufunc.at, A(3), lambda x, v: np.sin.at(x, [0, 2, 0]), A(), "of one operand"),
    W(np.fill_diagonal, A(5, 2), lambda x, v: np.fill_diagonal(x, v, wrap=True), A(3), "wrapped"),
]
