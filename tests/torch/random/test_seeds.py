"""Programs as people write them for torch, run unchanged: `import torch` gives the facade."""

from __future__ import annotations

from typing import Any

import pytest

ACCUMULATION = """
import torch
import torch.nn as nn
import torch.optim as optim

class SimpleModel(nn.Module):
    def __init__(self):
        super(SimpleModel, self).__init__()
        self.linear = nn.Linear(10, 1)

    def forward(self, x):
        return self.linear(x)

model = SimpleModel()
optimizer = optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()
steps = 0
model.train()
optimizer.zero_grad()
for i in range(64):
    output = model(torch.randn(1, 10))
    loss = criterion(output, torch.randn(1, 1))
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
assert steps == 16
assert all(p.grad is None for p in model.parameters())
"""

CUSTOM_FUNCTION = """
import torch
from torch.autograd import Function, grad

class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input

w = torch.tensor([[3.0, 1.0]], requires_grad=True)
b = torch.tensor([[3.0]], requires_grad=True)
X = torch.tensor([[-1.0, -1.0], [1.0, 1.0]])
Y = torch.tensor([[2.0, 3.0]])
Y_hat = MyReLU.apply(X @ w.t() + b)
loss = torch.mean(torch.pow(Y_hat - Y, 2))
loss.backward()
assert Y_hat.grad_fn.name() == "MyReLUBackward"
assert issubclass(MyReLU, Function)
"""

CLIPPING = """
import torch
model = torch.nn.Linear(3, 2)
(model(torch.ones(4, 3)) * 100).sum().backward()
before = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
assert before.shape == () and before > 0.5
assert abs(torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5).item() - 0.5) < 1e-4
"""

HOOKS = """
import torch
x = torch.tensor(1.0, requires_grad=True)
y1 = x + 1
y2 = 2 * x
seen = []
y1.register_hook(lambda g: seen.append(("y1", g.item())))
y2.register_hook(lambda g: seen.append(("y2", g.item())))
loss = (y1 - y2 + 2) ** 2
loss.retain_grad()
loss.backward()
assert seen == [("y2", -4.0), ("y1", 4.0)]
assert f"loss.grad: {loss.grad}" == "loss.grad: 1.0"
assert [t.is_leaf for t in (loss, y1, y2, x)] == [False, False, False, True]
"""


@pytest.mark.parametrize("program", [ACCUMULATION, CUSTOM_FUNCTION, CLIPPING, HOOKS])
def test_runs_unchanged(program: str, as_torch: Any) -> None:
    exec(compile(program, "program", "exec"), {})


def test_modes_in_coroutines() -> None:
    import asyncio

    import funcgrad.torch as torch

    @torch.no_grad()
    async def inside() -> list[bool]:
        before = torch.is_grad_enabled()
        await asyncio.sleep(0)
        return [before, torch.is_grad_enabled()]

    async def outside() -> list[bool]:
        await asyncio.sleep(0)
        return [torch.is_grad_enabled()]

    async def both() -> Any:
        return await asyncio.gather(inside(), outside())

    assert asyncio.run(both()) == [[False, False], [True]]


def test_a_hook_can_spoil_neither_siblings_nor_the_caller() -> None:
    import funcgrad.torch as torch

    x = torch.tensor([1.0], requires_grad=True)
    a, b = x * 1, x * 1
    b.register_hook(lambda gradient: (gradient.mul_(100), None)[1])
    given = torch.ones(1)
    (a + b).backward(given)
    assert x.grad.tolist() == [2]
    assert given.tolist() == [1]


def test_a_tensor_made_of_tensors_stays_in_the_graph() -> None:
    import funcgrad.torch as torch

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = torch.tensor([x.sum(), x.prod() * 2])
    made.sum().backward()
    assert x.grad.tolist() == [5, 3]


def test_values_kept_on_ctx_are_no_silent_zero() -> None:
    import funcgrad.torch as torch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.e = 2 * a
            return ctx.e**2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return 4 * ctx.e * gradient

    a = torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(Square.apply(a), a, create_graph=True)
    assert first.item() == 24
    with pytest.raises(RuntimeError, match=r"kept by ctx\.e"):
        torch.autograd.grad(first, a)


def test_what_is_missing_says_so() -> None:
    import funcgrad.torch as torch

    with pytest.raises(AttributeError, match=r"funcgrad\.torch lacks it"):
        torch.no_such_function  # noqa: B018
    with pytest.raises(AttributeError, match=r"funcgrad\.torch lacks it"):
        torch.ones(1).no_such_method  # noqa: B018
