"""What pyright and mypy must reject: each line that is marked as ignored, or the mark itself is an error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import funcgrad as fg


def of_number(x: float) -> float:
    return x * x


def of_array(x: NDArray[np.float64]) -> float:
    return float(np.sum(x))


fg.grad(3)  # type: ignore
fg.grad(of_number)("text")  # type: ignore
fg.grad(of_array)(2.0)  # type: ignore
fg.grad(of_array, argnums="x")  # type: ignore
fg.grad(of_number, hasaux=True)  # type: ignore
fg.value_and_grad(of_number)()  # type: ignore
fg.vmap(of_number, 0, 0, "all")  # type: ignore
fg.hessian(of_array, chunk_size="many")  # type: ignore
slope: str = fg.grad(of_number)(1.0)  # type: ignore
