"""Elements that are written from elements of the same memory, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ours
from tests.optional import optional

theirs = optional("torch", reason="PyTorch is compared with")


def from_an_element(y: Any) -> None:
    y[0, 0] = y[1, 1]


def from_a_row_of_a_row(y: Any) -> None:
    y[0][0] = y[1][1]


def from_a_kept_view(y: Any) -> None:
    row = y[1]
    element = row[1]
    y[0, 1] = element


def into_a_view(y: Any) -> None:
    row = y[1]
    row[0] = y[0, 1]
    row[1] = row[0]


def along(y: Any) -> None:
    flat = y.view(-1)
    for i in range(1, 4):
        flat[i] = flat[i - 1]


def onto_itself(y: Any) -> None:
    y[0, 0] = y[0, 0]
    y[1, 1] += y[0, 1]
    y[0][1] -= y[1][0]


def through_a_transpose(y: Any) -> None:
    y.t()[0, 1] = y[0, 1]


WRITES = [
    from_an_element,
    from_a_row_of_a_row,
    from_a_kept_view,
    into_a_view,
    along,
    onto_itself,
    through_a_transpose,
]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("write", WRITES)
def test_elements_of_one_memory(write: Callable[[Any], None], requires_grad: bool) -> None:
    outcomes = []
    for torch in (ours, theirs):
        x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64, requires_grad=requires_grad)
        y = x.clone()
        write(y)
        if requires_grad:
            (y * y).sum().backward()
        outcomes.append([t.detach().numpy() for t in (y, x.grad if requires_grad else x)] + [y._version])
    for mine, its in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(mine, its)
