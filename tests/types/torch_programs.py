"""funcgrad.torch programs that pyright and mypy must accept, with types to find; never run."""

from __future__ import annotations

from typing import assert_type

import funcgrad.torch as torch
from funcgrad.torch import Tensor, nn


def operators(x: Tensor, y: Tensor) -> Tensor:
    assert_type(x + 1, Tensor)
    assert_type(2.0 * x - y / x, Tensor)
    assert_type(x @ y.T, Tensor)
    assert_type(x[0], Tensor)
    return -(x**2) % 3


def methods(x: Tensor) -> float:
    y = x.reshape(2, -1).transpose(0, 1).exp().sum(dim=0, keepdim=True)
    assert_type(y, Tensor)
    assert_type(x.max(), Tensor)
    assert_type(x.max(1).indices, Tensor)
    assert_type(x.sort(descending=True).values, Tensor)
    assert_type(x.requires_grad, bool)
    assert_type(x.ndim, int)
    x.requires_grad_(True).register_hook(print)
    x.add_(1).clamp_(min=0, max=1).zero_()
    for row in x:
        assert_type(row, Tensor)
    y.backward()
    return float(y)


def functions(x: Tensor) -> Tensor:
    assert_type(torch.zeros(2, 3, dtype=torch.float64), Tensor)
    assert_type(torch.float32, torch.dtype)
    assert_type(torch.add(x, 1, alpha=2), Tensor)
    assert_type(torch.cat([x, x], dim=1), Tensor)
    assert_type(torch.split(x, 2)[0], Tensor)
    assert_type(torch.linalg.inv(x), Tensor)
    assert_type(torch.fft.fft(x), Tensor)
    assert_type(torch.special.erf(x), Tensor)
    assert_type(torch.is_grad_enabled(), bool)
    with torch.no_grad():
        return torch.where(x > 0, x, torch.tanh(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.layer(x))


def training(net: Net, x: Tensor) -> None:
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), torch.zeros(2)).backward()
        optimizer.step()


def numbers_and_tensors(x: Tensor | float) -> Tensor:
    if torch.is_tensor(x):
        assert_type(x, Tensor)
        return x
    return torch.tensor(x + 1)
