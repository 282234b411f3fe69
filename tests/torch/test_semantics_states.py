# ruff: noqa: E501 (programs are kept on few lines)
"""Numbers with a dim, what keeps its gradient, what a transform writes to, states of optimizers: programs for torch, on both."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2 numbers have one dim
x = torch.tensor(3.0)
for name in "cumsum cumprod logcumsumexp cummax sort argsort max median mode nanmedian argmax softmax logsumexp".split():
    print(name, getattr(torch, name)(x, 0), getattr(torch, name)(x, dim=-1))
print(x.topk(1), x.kthvalue(1), torch.msort(x), x.index_select(0, torch.tensor([0])))
=>
cumsum tensor(3.) tensor(3.)
cumprod tensor(3.) tensor(3.)
logcumsumexp tensor(3.) tensor(3.)
cummax torch.return_types.cummax(
values=tensor(3.),
indices=tensor(0)) torch.return_types.cummax(
values=tensor(3.),
indices=tensor(0))
sort torch.return_types.sort(
values=tensor(3.),
indices=tensor(0)) torch.return_types.sort(
values=tensor(3.),
indices=tensor(0))
argsort tensor(0) tensor(0)
max torch.return_types.max(
values=tensor(3.),
indices=tensor(0)) torch.return_types.max(
values=tensor(3.),
indices=tensor(0))
median torch.return_types.median(
values=tensor(3.),
indices=tensor(0)) torch.return_types.median(
values=tensor(3.),
indices=tensor(0))
mode torch.return_types.mode(
values=tensor(3.),
indices=tensor(0)) torch.return_types.mode(
values=tensor(3.),
indices=tensor(0))
nanmedian torch.return_types.nanmedian(
values=tensor(3.),
indices=tensor(0)) torch.return_types.nanmedian(
values=tensor(3.),
indices=tensor(0))
argmax tensor(0) tensor(0)
softmax tensor(1.) tensor(1.)
logsumexp tensor(3.) tensor(3.)
torch.return_types.topk(
values=tensor(3.),
indices=tensor(0)) torch.return_types.kthvalue(
values=tensor(3.),
indices=tensor(0)) tensor(3.) tensor(3.)

## 2 numbers have one dim only
torch.tensor(3.0).cumsum(1)
=>
IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)

## 2 numbers have one dim only: softmax
torch.tensor(3.0).softmax(1)
=>
IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)

## 2 derivatives along the dim of a number
x = torch.tensor(3.0, requires_grad=True)
(x.cummax(0).values * x.sort(0).values * x.topk(1).values * x.logcumsumexp(0)).backward()
print(x.grad)
=>
tensor(108.)

## 2.5 a view keeps its gradient after a write to a sibling
x = torch.ones(4, requires_grad=True)
y = x * 2
a, b = y[:2], y[1:]
b.retain_grad()
a.mul_(3)
(b * b).sum().backward()
print(b.grad, b.retains_grad, x.grad)
=>
tensor([12.,  4.,  4.]) True tensor([ 0., 72.,  8.,  8.])

## 2.5 a view keeps its gradient after a write to its base
x = torch.ones(4, requires_grad=True)
y = x * 2
b = y[1:]
b.retain_grad()
y.mul_(3)
(b * b).sum().backward()
print(b.grad, b.retains_grad, x.grad)
=>
tensor([12., 12., 12.]) True tensor([ 0., 72., 72., 72.])

## 2.5 a base keeps its gradient after a write to a view
x = torch.ones(4, requires_grad=True)
y = x * 2
y.retain_grad()
y[:2].mul_(3)
(y * y).sum().backward()
print(y.grad, x.grad)
=>
tensor([12., 12.,  4.,  4.]) tensor([72., 72.,  8.,  8.])

## 2.8 saved tensors of a backward go through the hooks, too
packs = []
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: packs.append(1) or t * 2, lambda t: t / 2):
    y = x.exp().sum()
    before = len(packs)
    g, = torch.autograd.grad(y, x, create_graph=True)
print(len(packs) > before, g, torch.autograd.grad(g.sum(), x))
=>
True tensor([2.7183, 7.3891], grad_fn=<MulBackward0>) (tensor([2.7183, 7.3891]),)

## 3 modules check the device
torch.nn.Conv2d(1, 1, 1, device="nowhere")
=>
RuntimeError: ...nowhere...

## 3 modules in another dtype, by factory arguments
nn = torch.nn
layers = nn.Conv1d(1, 1, 1, dtype=torch.float64, device="cpu"), nn.LSTM(1, 1, dtype=torch.float64, device="cpu")
layers += nn.GRUCell(1, 1, dtype=torch.float64, device="cpu"), nn.Embedding(1, 1, dtype=torch.float64, device="cpu")
layers += nn.MultiheadAttention(2, 1, dtype=torch.float64, device="cpu"), nn.TransformerEncoderLayer(2, 1, 2, dtype=torch.float64, device="cpu")
print([{p.dtype for p in layer.parameters()} for layer in layers])
=>
[{torch.float64}, {torch.float64}, {torch.float64}, {torch.float64}, {torch.float64}, {torch.float64}]

## 3 differentiable steps with amsgrad
x = torch.ones(2, requires_grad=True)
for optimizer in torch.optim.Adam, torch.optim.AdamW:
    p = x * 1
    p.grad = x * 2
    optimizer([p], lr=0.1, amsgrad=True, differentiable=True).step()
    print(torch.autograd.grad(p.sum(), x))
=>
(tensor([1., 1.]),)
(tensor([0.9990, 0.9990]),)

## 3 numbers in an optimizer's state take gradients
x = torch.ones(2, requires_grad=True)
mu = torch.tensor(0.5, requires_grad=True)
p = x * 1
p.grad = x * 2
optimizer = torch.optim.NAdam([p], lr=0.1, differentiable=True)
optimizer.state[p] = {"step": torch.tensor(1.0), "mu_product": mu * 1, "exp_avg": torch.ones(2), "exp_avg_sq": torch.ones(2)}
optimizer.step()
print(torch.autograd.grad(p.sum(), [x, mu]))
=>
(tensor([0.9933, 0.9933]), tensor(-0.0085))

## 3 schedulers copy rates that are tensors
p = torch.nn.Parameter(torch.ones(1))
lr, high = torch.tensor(0.1), torch.tensor(0.5)
optimizer = torch.optim.SGD([p], lr=lr)
cycle = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.1, max_lr=high, step_size_up=4)
high.mul_(2)
optimizer.step()
cycle.step()
print(round(float(cycle.get_last_lr()[0]), 4))
=>
0.2

## 3 schedulers in checkpoints
import io
p = torch.nn.Parameter(torch.ones(1))
scheduler = torch.optim.lr_scheduler.MultiStepLR(torch.optim.SGD([p], lr=0.1), [1, 1, 3])
f = io.BytesIO()
torch.save(scheduler.state_dict(), f)
f.seek(0)
print(torch.load(f)["milestones"])
=>
Counter({1: 2, 3: 1})

## 2.4 writes to arguments under vmap are seen outside
x = torch.arange(6.0).reshape(2, 3)
y = torch.zeros(3)
torch.vmap(lambda a, b: b.add_(1) + a[:2].mul_(3).sum(), in_dims=(0, None))(x, y)
print(x, y)
z = torch.arange(6.0).reshape(2, 3)
print(torch.vmap(lambda d: d["a"].add_(1), in_dims=1)({"a": z}), z)
=>
tensor([[ 0.,  3.,  2.],
        [ 9., 12.,  5.]]) tensor([1., 1., 1.])
tensor([[1., 4.],
        [2., 5.],
        [3., 6.]]) tensor([[1., 2., 3.],
        [4., 5., 6.]])

## 2.4 writes to primals and tangents of jvp are seen outside
x, t = torch.arange(3.0), torch.ones(3)
print(torch.func.jvp(lambda x: x.mul_(2), (x,), (t,)), x, t)
x, t = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
torch.vmap(lambda x, t: torch.func.jvp(lambda x: x.copy_(x * x), (x,), (t,)))(x, t)
print(x, t)
=>
(tensor([0., 2., 4.]), tensor([2., 2., 2.])) tensor([0., 2., 4.]) tensor([2., 2., 2.])
tensor([[ 0.,  1.,  4.],
        [ 9., 16., 25.]]) tensor([[ 0.,  2.,  4.],
        [ 6.,  8., 10.]])

## 2.4 saved tensor hooks are refused inside of a transform
def f(x):
    with torch.autograd.graph.save_on_cpu():
        return x.sin().sum()
for transform in torch.func.grad, torch.func.jacrev, torch.func.hessian:
    try:
        transform(f)(torch.ones(2))
    except RuntimeError as error:
        print("saved tensor hooks" in str(error))
print(torch.func.jvp(f, (torch.zeros(2),), (torch.ones(2),)))
=>
True
True
True
(tensor(0.), tensor(2.))

## 2.7 a Function returns an input that it marked dirty
class Double(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.mul_(2)
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])
    @staticmethod
    def backward(ctx, g):
        return g * 2
    @staticmethod
    def jvp(ctx, t):
        return t.mul_(2)
fwAD = torch.autograd.forward_ad
x, t = torch.ones(2), torch.ones(2)
with fwAD.dual_level():
    dual = fwAD.make_dual(x, t)
    print(Double.apply(dual) is dual, fwAD.unpack_dual(dual), x)
=>
True UnpackedDualTensor(primal=tensor([2., 2.]), tangent=tensor([2., 2.])) tensor([2., 2.])

## 2.7 a Function saves an input that it returns
class Same(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx, g):
        return g
Same.apply(torch.ones(2, requires_grad=True))
=>
RuntimeError: An input that has been returned as-is as output is being saved for backward. This is not supported if you override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself.

## 2.7 which gradients a Function needs under a transform
class Product(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        print(ctx.needs_input_grad)
        x, y = ctx.saved_tensors
        return g * y, g * x
print(torch.func.grad(Product.apply, argnums=1)(torch.tensor(2.0), torch.tensor(3.0)))
=>
(False, True)
tensor(2.)

## 2.8 hooks that refer to their tensor are collected with it
import gc, weakref
class Thing:
    pass
x, thing = torch.ones(2, requires_grad=True), Thing()
x.register_hook(lambda g, kept=(x, thing): None)
found = weakref.ref(thing)
del x, thing
gc.collect()
print(found())
=>
None

## 2.5 the values of var_mean may be overwritten
x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
v, m = torch.var_mean(x * 1, 0)
v.mul_(2)
(v + m).backward()
print(x.grad)
=>
tensor([-2.3333, -0.3333,  3.6667])

## 2.5 both views keep their gradients after a write to one
base = torch.tensor([1.0], requires_grad=True).clone()
a, b = base[:], base[:]
a.retain_grad()
b.retain_grad()
a.mul_(2)
(a + b).sum().backward()
print(a.grad, b.grad)
=>
tensor([1.]) tensor([1.])

## 2.8 a pack hook that writes
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
    x.exp()
=>
RuntimeError: A saved tensor pack hook is modifying its input in place....

## 2.8 one context of mutation
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        pass
=>
RuntimeError: allow_mutation_on_saved_tensors contexts cannot be nested

## 2.1 data of integers for a tensor that requires grad
torch.tensor(1.0, requires_grad=True).data = torch.tensor(3)
=>
RuntimeError: data set to a tensor that requires gradients must be floating point or complex dtype

"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
