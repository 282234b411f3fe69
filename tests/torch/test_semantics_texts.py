"""Snippets and claims of introductory texts on autograd: what they print on facade and original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.torch.semantics import Row, check, matches, outcome, rows_of

TABLE = r"""
## 1 A1
torch.manual_seed(0)
x = torch.randn(2, 2, requires_grad=True)
y = x + 2
z = y * y * 3
out = z.mean()
print(out)
print(x.grad_fn, y.grad_fn, z.grad_fn, out.grad_fn)
print(y.grad_fn.next_functions, z.grad_fn.next_functions, out.grad_fn.next_functions)
out.backward()
print(x.grad, 1.5 * (x + 2))
print(y.grad)
=>
tensor(16.5599, grad_fn=<MeanBackward0>)
None <AddBackward0 object at 0x> <MulBackward0 object at 0x> <MeanBackward0 object at 0x>
((<AccumulateGrad object at 0x>, 0), (None, 0)) ((<MulBackward0 object at 0x>, 0), (None, 0)) ((<MulBackward0 object at 0x>, 0),)
tensor([[ 5.3115,  2.5599],
        [-0.2682,  3.8526]]) tensor([[ 5.3115,  2.5599],
        [-0.2682,  3.8526]], grad_fn=<MulBackward0>)
None
warns UserWarning

## 1 A3 a matrix of -0.5
x = torch.full((2, 2), -0.5, requires_grad=True)
((x + 2) * (x + 2) * 3).mean().backward()
print(x.grad)
=>
tensor([[2.2500, 2.2500],
        [2.2500, 2.2500]])

## 1 A4.1
torch.manual_seed(0)
class SimpleModel(torch.nn.Module):
    def __init__(self):
        super(SimpleModel, self).__init__()
        self.linear = torch.nn.Linear(10, 1)
    def forward(self, x):
        return self.linear(x)
model = SimpleModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = torch.nn.MSELoss()
model.train()
optimizer.zero_grad()
for i in range(64):
    loss = criterion(model(torch.randn(1, 10)), torch.randn(1, 1))
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
print([p.grad for p in model.parameters()], loss, model, optimizer)
=>
[None, None] tensor(0.2327, grad_fn=<MseLossBackward0>) SimpleModel(
  (linear): Linear(in_features=10, out_features=1, bias=True)
) SGD (
Parameter Group 0
    dampening: 0
    differentiable: False
    foreach: None
    fused: None
    lr: 0.01
    maximize: False
    momentum: 0
    nesterov: False
    weight_decay: 0
)

## 1 A4.2
x = torch.full((2, 2), 1.0, requires_grad=True)
y = x + 2
y.add_(1)
z = y * y * 3
z.mean().backward()
print(y.grad_fn, y._version, x.grad)
=>
<AddBackward0 object at 0x> 1 tensor([[6., 6.],
        [6., 6.]])

## 1 A4.3
x = torch.full((2, 2), 1.0, requires_grad=True)
y = x + 2
y.retain_grad()
(y * y * 3).mean().backward()
print(y.grad)
=>
tensor([[4.5000, 4.5000],
        [4.5000, 4.5000]])

## 1 A4.4
x = torch.full((2, 2), 1.0, requires_grad=True)
with torch.no_grad():
    y = x + 2
out = (y * y * 3).mean()
print(y.requires_grad, y.is_leaf, out)
out.backward()
=>
False True tensor(27.)
RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

## 1 A4.4b
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    with torch.enable_grad():
        print(x * 2)
=>
tensor([2., 2.], grad_fn=<MulBackward0>)

## 1 A4.5
x = torch.full((2, 2), 1.0, requires_grad=True)
out = ((x + 2) * (x + 2) * 3).mean()
print(torch.autograd.grad(out, x), x.grad)
a = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
b = a * a
print(torch.autograd.grad([b.mean(), b.sum()], [a]))
=>
(tensor([[4.5000, 4.5000],
        [4.5000, 4.5000]]),) None
(tensor([ 2.5000,  5.0000,  7.5000, 10.0000]),)

## 1 B1 and B2
x = torch.tensor([1.0], requires_grad=True)
y = x**2
y.backward()
print(x.grad, y.grad_fn, torch.ones(2, 2, requires_grad=True).mean().grad_fn)
=>
tensor([2.]) <PowBackward0 object at 0x> <MeanBackward0 object at 0x>

## 1 B3
old = torch.ones(2, requires_grad=True) * 2
new = old.detach()
print(new.requires_grad, new.is_leaf, new.data_ptr() == old.data_ptr())
=>
False True True

## 1 B4
x = torch.tensor(2.0, requires_grad=True)
y = x**3
dy = torch.autograd.grad(y, x, create_graph=True)
print(dy, torch.autograd.grad(dy, x))
=>
(tensor(12., grad_fn=<MulBackward0>),) (tensor(12.),)

## 1 B5
class CustomFunction(torch.autograd.Function):
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
x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
y = CustomFunction.apply(x)
print(y)
y.sum().backward()
print(x.grad)
=>
tensor([0., 0., 2.], grad_fn=<CustomFunctionBackward>)
tensor([0., 1., 1.])

## 1 B6
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
data, target = torch.randn(8, 3), torch.randn(8, 1)
criterion = torch.nn.MSELoss()
for k in range(4):
    (criterion(model(data[2 * k : 2 * k + 2]), target[2 * k : 2 * k + 2]) / 4).backward()
parts = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
criterion(model(data), target).backward()
print([torch.allclose(a, p.grad) for a, p in zip(parts, model.parameters())])
=>
[True, True]

## 1 B7
torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
(model(torch.ones(4, 3)) * 100).sum().backward()
print(torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5))
print(torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5))
=>
tensor(1131.3708)
tensor(0.5000)

## 1 C1
torch.manual_seed(0)
w = torch.tensor([[3.0, 1.0]], requires_grad=True)
b = torch.tensor([[3.0]], requires_grad=True)
X, Y = torch.randn(10, 2), torch.randn(10, 1)
Y_hat = X @ w.t() + b
loss = torch.mean(torch.pow(Y_hat - Y, 2))
print(Y_hat.data, loss.data, Y_hat.grad_fn)
=>
tensor([[-1.5299],
        [ 1.8144],
        [ 3.2414],
        [ 3.8289],
        [ 4.2466],
        [ 7.5970],
        [ 8.7544],
        [ 4.9952],
        [ 7.0545],
        [ 9.0687]]) tensor(33.6895) <AddBackward0 object at 0x>

## 1 C2
x = torch.ones(2, requires_grad=True)
loss = (x * x).sum()
loss.backward()
loss.backward()
=>
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors ...

## 1 C2b
x = torch.ones(2, requires_grad=True)
loss = (x * x).sum()
loss.backward(retain_graph=True)
loss.backward()
print(x.grad)
=>
tensor([4., 4.])

## 1 C3
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
print(w.grad, b.grad, Y_hat.grad_fn, loss.item())
=>
tensor([[4.5000, 4.5000]]) tensor([[4.5000]]) <torch.autograd.function.MyReLUBackward object at 0x> 13.5

## 1 C4 and C5
x = torch.tensor(3.0, requires_grad=True)
y1 = x + 1
y2 = 2 * x
loss = (y1 - y2) ** 2
loss.backward()
print(x.grad)
print(f"loss.grad: {loss.grad}", f"y1.grad: {y1.grad}", f"x.grad: {x.grad}", f"{x.grad:.2f}")
print(loss.is_leaf, y1.is_leaf, y2.is_leaf, x.is_leaf)
f"{torch.ones(2):.2f}"
=>
tensor(4.)
loss.grad: None y1.grad: None x.grad: 4.0 4.00
False False False True
TypeError: unsupported format string passed to Tensor.__format__
warns UserWarning

## 1 C6
x = torch.tensor(3.0, requires_grad=True)
y1 = x + 1
y2 = 2 * x
loss = (y1 - y2) ** 2
y1.register_hook(lambda grad: print("y1 grad: ", grad))
y2.register_hook(lambda grad: print("y2 grad: ", grad))
loss.retain_grad()
loss.backward()
print(loss.grad, y1.grad, y2.grad, x.grad)
=>
y2 grad:  tensor(4.)
y1 grad:  tensor(-4.)
tensor(1.) None None tensor(4.)
warns UserWarning

## 1.2 requires_grad of a result keeps no grad
y = torch.ones(2, requires_grad=True) * 2
y.requires_grad_(True)
y.sum().backward()
print(y.grad)
=>
None
warns UserWarning

## 1.2 two nodes for y*y*3
y = torch.ones(2, requires_grad=True) + 2
z = y * y * 3
print(z.grad_fn.name(), z.grad_fn.next_functions[0][0].name())
=>
MulBackward0 MulBackward0

## 1.2 a leaf without grad
print(torch.ones(2).is_leaf, torch.ones(2).requires_grad)
=>
True False
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)


def test_all_in_order_where_import_torch_gives_the_facade(as_torch: Any) -> None:
    for row in rows_of(TABLE):
        found = outcome(
            None, f"import torch\nimport torch.nn as nn\nimport torch.optim as optim\n{row.program}"
        )
        assert matches(found, row.expected), row.name


GRAPH_OF_A_MODEL = """
import torch
from torch import nn
from torch.utils import tensorboard

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.w = nn.Parameter(torch.randn(2, 1))
        self.b = nn.Parameter(torch.zeros(1, 1))

    def forward(self, x):
        return x @ self.w + self.b

writer = tensorboard.SummaryWriter(folder)
writer.add_graph(Net(), input_to_model=torch.rand(10, 2))
writer.close()
"""


def test_the_graph_of_a_model_goes_to_tensorboard(as_torch: Any, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    exec(compile(GRAPH_OF_A_MODEL, "program", "exec"), {"folder": str(tmp_path), "__name__": "program"})
    (events,) = tmp_path.iterdir()
    assert events.name.startswith("events.out.tfevents")
    content = events.read_bytes()
    assert b"Net" in content
    assert len(content) > 200
