"""Where the facade does better than the original, and the conventions at kinks: what programs for torch
print, on the facade and on the original.
"""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## !5.1 a tensor of tensors
x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.tensor([x.sum(), x.prod() * 2]).sum().backward()
print(x.grad)
=>
tensor([5., 3.])

## 5.2 order
seen = []
x = torch.ones(1, requires_grad=True)
a, b = x * 1, x * 2
c = a + b
for n, t in (("a", a), ("b", b), ("x", x)):
    t.register_hook(lambda g, n=n: seen.append(n))
c.backward()
print(seen)
=>
['b', 'a', 'x']

## !5.4 a change through NumPy does not reach a graph
x = torch.ones(2, requires_grad=True)
y = x * 3
z = y * y
y.detach().numpy()[0] = 100
z.sum().backward()
print(x.grad)
=>
tensor([18., 18.])

## !5.4 a change through from_numpy does not reach a graph
import numpy as np
a = np.ones(2, np.float32)
w = torch.from_numpy(a)
x = torch.ones(2, requires_grad=True)
y = x * w
a[0] = 100
y.sum().backward()
print(x.grad)
=>
tensor([1., 1.])

## !5.4 a change through data does not reach a graph
x = torch.ones(2, requires_grad=True)
y = x * x
x.data.mul_(5)
y.sum().backward()
print(x.grad)
=>
tensor([2., 2.])

## !5.5 arrays and tensors
import numpy as np
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
a = np.array([3.0, 4.0])
(np.exp(x) + a * x + x * a + a @ x + np.sum(x)).sum().backward()
print(x.grad)
=>
tensor([16.7183, 25.3891], dtype=torch.float64)

## !5.5 hooks get gradients of their own
x = torch.ones(1, requires_grad=True)
a, b = x * 1, x * 1
b.register_hook(lambda g: (g.mul_(100), None)[1])
given = torch.ones(1)
(a + b).backward(given)
print(x.grad, given)
=>
tensor([2.]) tensor([1.])

## !5.5 values on ctx
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.e = 2 * x
        return ctx.e**2
    @staticmethod
    def backward(ctx, g):
        return 4 * ctx.e * g
x = torch.tensor(3.0, requires_grad=True)
g, = torch.autograd.grad(F.apply(x) ** 2, x, create_graph=True)
print(g)
torch.autograd.grad(g, x)
=>
tensor(1728., grad_fn=<MulBackward0>)
RuntimeError: FBackward: the derivative of backward depends on a tensor kept by ctx.e, ...

## !5.5 no leak with create_graph
import gc, weakref
gc.disable()
x = torch.ones(2, requires_grad=True)
(x * x).sum().backward(create_graph=True)
r = weakref.ref(x)
del x
print(r() is None)
gc.enable()
=>
True

## !5.5 errors name the line of the operation
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        raise ValueError("mine")
y = F.apply(torch.ones(1, requires_grad=True))
try:
    y.backward()
except ValueError as error:
    print(getattr(error, "__notes__", None))
=>
['F was applied at program, line 8, in <module>.', 'This happened while a cotangent was pulled back through FBackward.']

## !5.5 errors name the line of the write
x = torch.ones(2, requires_grad=True)
y = x * 1
z = y * y
y.add_(1)
try:
    z.sum().backward()
except RuntimeError as error:
    print("program, line 4" in str(error))
=>
True

## !5.5 a second backward through a graph that keeps nothing, refused on request
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.forbid_second_backward():
    y = (x + 1).sum()
    y.backward(retain_graph=True)
    y.backward()
    print(x.grad)
    y.backward()
=>
tensor([2., 2.])
RuntimeError: Trying to backward through the graph a second time ...

## 5.6 relu, abs and norm at 0
x = torch.zeros(2, requires_grad=True)
for f in (torch.relu, torch.abs, torch.norm):
    print(torch.autograd.grad(f(x).sum(), x))
=>
(tensor([0., 0.]),)
(tensor([0., 0.]),)
(tensor([0., 0.]),)

## 5.6 ties are split by max() and amax
x = torch.tensor([1.0, 1.0, 0.0], requires_grad=True)
print(torch.autograd.grad(x.max(), x), torch.autograd.grad(x.amax(), x), torch.autograd.grad(x.amin(0), x))
=>
(tensor([0.5000, 0.5000, 0.0000]),) (tensor([0.5000, 0.5000, 0.0000]),) (tensor([0., 0., 1.]),)

## 5.6 one index by max(dim), min(dim), median(dim)
x = torch.tensor([1.0, 1.0, 0.0], requires_grad=True)
print([int(torch.autograd.grad(f(0).values, x)[0].sum()) for f in (x.max, x.min, x.median)])
=>
[1, 1, 1]

## 5.6 clamp at a bound
x = torch.tensor([0.0, 1.0, 0.5, 2.0], requires_grad=True)
print(torch.autograd.grad(x.clamp(0, 1).sum(), x))
=>
(tensor([1., 1., 1., 0.]),)
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
