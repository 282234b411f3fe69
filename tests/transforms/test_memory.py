"""What options promise of memory: `chunk_size=` bounds it. (checkpoint and fixed_point: see their own tests.)"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch
from funcgrad import hessian, hessian_diagonal, jacfwd, jacobian, jacrev
from funcgrad.transforms.progress import Collected, identity_rows

N, CHUNK = 1200, 10
MATRIX = 8 * N * N  # bytes of a square matrix, such as the identity
A = np.linspace(0.1, 1.0, 3 * N).reshape(N, 3)


def peak(call: Callable[[], Any]) -> int:
    """How many bytes are held at most while it runs."""
    call()  # what is imported, and remembered, at the first call
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def wide(x: Any) -> Any:
    """N numbers of 3."""
    return np.sin(A @ x)


def tall(x: Any) -> Any:
    """3 numbers of N."""
    return np.sin(x) @ A


def square(x: Any) -> Any:
    return np.sin(x) * x[::-1]


def number(x: Any) -> Any:
    return np.sum(np.sin(x) * x[::-1])


SMALL = {  # the result has 3 rows or columns, or is a vector: so no matrix may be made
    "jacrev": lambda: jacrev(wide, chunk_size=CHUNK)(np.ones(3)),
    "jacfwd": lambda: jacfwd(tall, chunk_size=CHUNK)(np.ones(N)),
    "jacobian, by rows": lambda: jacobian(tall, chunk_size=CHUNK)(np.ones(N)),
    "jacobian, by columns": lambda: jacobian(wide, chunk_size=CHUNK)(np.ones(3)),
    "hessian_diagonal": lambda: hessian_diagonal(number, chunk_size=CHUNK)(np.ones(N)),
}
ROWS, COLUMNS = torch.ones(N, 1), torch.linspace(0.1, 1.0, N)
FACADE = {  # the same of PyTorch's functions
    "jacrev": lambda: torch.func.jacrev(lambda x: torch.sin(torch.from_numpy(A) @ x), chunk_size=CHUNK)(
        torch.ones(3, dtype=torch.float64)
    ),
    "jacfwd": lambda: torch.func.jacfwd(lambda x: torch.sin(x) @ torch.from_numpy(A), chunk_size=CHUNK)(
        torch.ones(N, dtype=torch.float64)
    ),
    "vmap": lambda: torch.vmap(lambda x: torch.sin(x * COLUMNS).sum(), chunk_size=CHUNK)(ROWS),
}
LARGE = {  # the result is a matrix, and is to be the only one
    "jacrev": lambda: jacrev(square, chunk_size=CHUNK)(np.ones(N)),
    "jacfwd": lambda: jacfwd(square, chunk_size=CHUNK)(np.ones(N)),
    "hessian": lambda: hessian(number, chunk_size=CHUNK)(np.ones(N)),
}


CASES = {**SMALL, **{f"torch, {name}": call for name, call in FACADE.items()}}


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_chunks_of_a_small_result_take_little_memory(call: Callable[[], Any]) -> None:
    assert peak(call) < MATRIX / 4


@pytest.mark.parametrize("call", LARGE.values(), ids=LARGE)
def test_chunks_of_a_matrix_take_little_more_than_it(call: Callable[[], Any]) -> None:
    assert peak(call) < 1.4 * MATRIX


@pytest.mark.parametrize("rows", [slice(0, 2), slice(2, 5), slice(4, 5), slice(0, 5)])
def test_rows_of_the_identity(rows: slice) -> None:
    np.testing.assert_array_equal(
        identity_rows(np.zeros(5), rows, np.float32), np.eye(5, dtype=np.float32)[rows]
    )


@pytest.mark.parametrize("last", [False, True])
def test_chunks_are_put_together(last: bool) -> None:
    rows = np.arange(24.0).reshape(6, 2, 2)
    for bounds in ([0, 6], [0, 2, 6], [0, 5, 6]):
        collected = Collected(6, last=last)
        for start, stop in zip(bounds, bounds[1:]):
            collected.add(rows[start:stop])
        np.testing.assert_array_equal(collected.result(), np.moveaxis(rows, 0, -1) if last else rows)
