"""Memory: in-place operations, views, versions, NumPy. What is saved is never spoiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_a_saved_value_that_was_overwritten_is_an_error_that_names_the_line() -> None:
    y = leaf(1.0, 2.0) * 1
    z = y * y
    y.add_(1)  # here
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation: .* is at version 1; expected version 0"
    ) as caught:
        z.sum().backward()
    assert "test_storage.py" in str(caught.value)


def test_the_gradient_of_the_values_at_the_time_where_that_is_allowed() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        z.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_overwriting_what_nobody_saved_is_fine() -> None:
    x = leaf(1.0, 2.0)
    y = x + 2
    y.add_(1)
    (y * y).sum().backward()
    assert x.grad.tolist() == [8, 10]


def test_data_is_written_without_spoiling_a_graph() -> None:
    x = leaf(1.0, 1.0)
    y = x * x
    x.data.mul_(5)
    assert x.tolist() == [5, 5]
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_views_see_writes_both_ways_and_share_the_version() -> None:
    x = torch.zeros(4)
    v = x[1:3]
    v.add_(1)
    x[2] = 5
    assert x.tolist() == [0, 1, 5, 0]
    assert v.tolist() == [1, 5]
    assert v._version == x._version == 2
    assert v._base is x


def test_a_write_through_a_view_rewrites_the_history_of_its_base() -> None:
    x = torch.ones(4, requires_grad=True)
    y = x.clone()
    y.view(2, 2)[0].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [10, 10, 1, 1]


def test_a_base_that_did_not_require_grad_does_so_after_the_write() -> None:
    w = leaf(1.0, 2.0)
    z = torch.zeros(4)
    half = z[:2]
    half.copy_(w * 3)
    assert z.requires_grad
    z.sum().backward()
    assert w.grad.tolist() == [3, 3]


def test_detach_shares_memory_and_version() -> None:
    x = torch.ones(2)
    d = x.detach()
    d.add_(1)
    assert x.tolist() == [2, 2]
    assert x._version == 1


def test_numpy_shares_memory() -> None:
    x = torch.zeros(3)
    a = x.numpy()
    a[0] = 5
    x[1] = 7
    x.add_(1)
    assert a.tolist() == x.tolist() == [6, 8, 1]


def test_from_numpy_shares_memory_but_graphs_keep_copies() -> None:
    a = np.ones(3)
    x = torch.from_numpy(a)
    w = torch.ones(3, dtype=torch.float64, requires_grad=True)
    loss = (x * w).sum()
    a[:] = 100
    assert x.tolist() == [100] * 3
    loss.backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_numpy_on_a_saved_value_does_not_spoil_it() -> None:
    x = leaf(0.0)
    y = x.exp()
    y.detach().numpy()[:] = 7
    y.sum().backward()
    assert x.grad.tolist() == [1]


def test_writing_element_by_element_takes_no_copies() -> None:
    y = torch.zeros(1000)
    y[0] = 1
    before = y.data_ptr()
    for i in range(1000):
        y[i] = i
    assert y.data_ptr() == before
    assert y.sum().item() == 499500


def test_two_losses_through_one_model() -> None:
    w = leaf(1.0, 1.0)
    first, second = (w * w).sum(), (w * w * w).sum()
    optimizer = torch.optim.SGD([w], lr=0.1)
    first.backward()
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        second.backward()


@pytest.mark.parametrize(
    "make", [lambda x: x.view(1), lambda x: x.unsqueeze(0), lambda x: x.flatten(), lambda x: x[None]]
)
def test_views_of_a_number_see_writes_both_ways(make: Any) -> None:
    x = torch.tensor(3.0) * 1
    y = make(x)
    y[0] = 5
    assert x.item() == 5
    x.mul_(2)
    assert y.item() == 10


def test_a_refused_write_leaves_the_tensor_as_it_was() -> None:
    x = torch.ones(3)
    with pytest.raises(IndexError):
        x[7] = 2
    assert x.tolist() == [1, 1, 1]
    assert x._version == 0
