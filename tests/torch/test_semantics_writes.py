# ruff: noqa: E501 (programs are kept on few lines)
"""In-place operations, views, grad modes: what programs for torch print, on the facade and on the original."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2.5 a leaf
torch.ones(2, requires_grad=True).add_(1)
=>
RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.

## 2.5 a diagonal is written to
x = torch.arange(24.0, requires_grad=True)
y = (x * 1).view(2, 3, 4)
y.diagonal(-1, -1, -2).mul_(3)
y[0].diagonal(1)[1:] = y[1, 0, :2]
(y * y).sum().backward()
print(y.detach().flatten(), x.grad)
=>
tensor([ 0.,  3.,  2.,  3.,  4.,  5., 12.,  7.,  8.,  9., 10., 39., 12., 39.,
        14., 15., 16., 17., 54., 19., 20., 21., 22., 69.]) tensor([  0.,  18.,   4.,   6.,   8.,  10.,   0.,  14.,  16.,  18.,  20.,   0.,
         48., 468.,  28.,  30.,  32.,  34., 324.,  38.,  40.,  42.,  44., 414.])

## 2.5 a view of a leaf
torch.ones(2, requires_grad=True)[0].add_(1)
=>
RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.

## 2.5 a leaf under no_grad
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    x.add_(1)
    x[0].mul_(5)
print(x)
=>
tensor([10.,  2.], requires_grad=True)

## 2.5 the version error
x = torch.ones(2, 2, requires_grad=True)
y = x + 2
z = y * y * 3
y.add_(1)
z.mean().backward()
=>
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace ...

## 2.5 who keeps operands
for f in (lambda y: y * y, lambda y: y**2, lambda y: y.sin(), lambda y: y @ y, lambda y: y[torch.tensor([0])]):
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = f(y)
    y.add_(1)
    try:
        z.sum().backward()
        print("fine")
    except RuntimeError as e:
        print(str(e)[:30])
=>
one of the variables needed fo
one of the variables needed fo
one of the variables needed fo
one of the variables needed fo
fine

## 2.5 who keeps results
for f in "exp sqrt sigmoid tanh relu".split():
    x = torch.ones(2, requires_grad=True)
    z = getattr(x, f)()
    z.add_(1)
    try:
        z.sum().backward()
        print("fine")
    except RuntimeError as e:
        print(str(e)[:30])
=>
one of the variables needed fo
one of the variables needed fo
one of the variables needed fo
one of the variables needed fo
one of the variables needed fo

## 2.5 who keeps nothing
for f in (lambda y: y + 1, lambda y: y - y, lambda y: -y, lambda y: y.sum(), lambda y: y.mean(), lambda y: y * 2, lambda y: y / 2):
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = f(y)
    y.add_(1)
    z.sum().backward()
    print(x.grad)
=>
tensor([1., 1.])
tensor([0., 0.])
tensor([-1., -1.])
tensor([1., 1.])
tensor([0.5000, 0.5000])
tensor([2., 2.])
tensor([0.5000, 0.5000])

## 2.5 a number is kept
x = torch.ones(2, requires_grad=True)
y = (x * 2).sum()
y.backward()
y.backward()
=>
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors ...

## 2.5 chains of writes
y = torch.ones(2, requires_grad=True) * 4
y.sqrt_().exp_()
y.sum().backward()
=>
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace ...

## 2.5 pow_
x = torch.ones(2, requires_grad=True)
y = x * 3
y.pow_(2)
y.sum().backward()
print(x.grad)
=>
tensor([18., 18.])

## 2.5 y *= y
x = torch.ones(2, requires_grad=True)
y = x * 3
y *= y
y.sum().backward()
=>
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace ...

## !2.5 index tensors are copied, so that a write to them spoils nothing
x = torch.ones(3, requires_grad=True)
i = torch.tensor([0, 1])
y = x[i]
i.add_(1)
y.sum().backward()
print(x.grad)
=>
tensor([1., 1., 0.])

## 2.5 views
y = torch.ones(4, requires_grad=True) * 1
v = y[:2]
v.add_(1)
print(v._version, y._version, v._base is y, v._is_view(), y._is_view(), y._base)
=>
1 1 True True False None

## 2.5 a write through a view rewrites the base
x = torch.ones(2, requires_grad=True)
y = x.clone()
y[:1].mul_(10)
y.sum().backward()
print(x.grad)
=>
tensor([10.,  1.])

## 2.5 a write to the base rewrites the view
x = torch.ones(2, requires_grad=True)
y = x.clone()
v = y[:1]
y.mul_(10)
v.sum().backward()
print(x.grad, v)
=>
tensor([10.,  0.]) tensor([10.], grad_fn=<AsStridedBackward0>)

## 2.5 the base need not have required grad
w = torch.ones(2, requires_grad=True)
z = torch.zeros(4)
z[:2] = w * 2
print(z.requires_grad)
z.sum().backward()
print(w.grad)
=>
True
tensor([2., 2.])

## 2.5 several views from one call
y = torch.ones(2, 2, requires_grad=True) * 1
y.unbind()[0].add_(1)
=>
RuntimeError: Output 0 of Unbind is a view and is being modified inplace. This view is the output ...

## 2.5 views from split
y = torch.ones(4, requires_grad=True) * 1
y.split(2)[0].mul_(2)
=>
RuntimeError: Output 0 of Split is a view and is being modified inplace. This view is the output of ...

## 2.5 views from chunk
y = torch.ones(4, requires_grad=True) * 1
y.chunk(2)[1].mul_(2)
=>
RuntimeError: Output 1 of Split is a view and is being modified inplace. This view is the output of ...

## 2.5 a view made without grad
y = torch.ones(4, requires_grad=True) * 1
with torch.no_grad():
    v = y[:2]
v.mul_(2)
=>
RuntimeError: A view was created in no_grad mode and is being modified inplace with grad mode ...

## 2.5 expanded memory
torch.ones(1).expand(3).add_(1)
=>
RuntimeError: unsupported operation: more than one element of the written-to tensor refers to a ...

## 2.5 memory that overlaps
y = torch.ones(4)
y[1:] = y[:-1]
=>
RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor ...

## 2.5 copy_, zero_, fill_, clamp_
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1
y.clamp_(0, 1.5)
print(y)
y.copy_(x * 3)
print(y)
y.fill_(4)
y.zero_()
print(y, y.grad_fn)
y.sum().backward()
print(x.grad)
=>
tensor([1.0000, 1.5000], grad_fn=<ClampBackward1>)
tensor([3., 6.], grad_fn=<CopyBackwards>)
tensor([0., 0.], grad_fn=<ZeroBackward0>) <ZeroBackward0 object at 0x>
tensor([0., 0.])

## 2.5 out=
x = torch.ones(2)
out = torch.zeros(2)
print(torch.add(x, x, out=out) is out, out)
torch.add(x.requires_grad_(), x, out=out)
=>
True tensor([2., 2.])
RuntimeError: add(): functions with out=... arguments don't support automatic differentiation, but ...

## 2.5 numpy shares memory and leaves the version
x = torch.ones(2)
a = x.numpy()
a[0] = 5
print(x, x._version)
=>
tensor([5., 1.]) 0

## 2.6 managers
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    print((x * 2).requires_grad)
    with torch.enable_grad():
        print((x * 2).requires_grad)
with torch.set_grad_enabled(False):
    print((x * 2).requires_grad)
with torch.inference_mode():
    print((x * 2).requires_grad, torch.is_inference_mode_enabled())
with torch.inference_mode(False):
    print((x * 2).requires_grad)
print(torch.is_grad_enabled())
=>
False
True
False
False True
True
True

## 2.6 decorators
x = torch.ones(2, requires_grad=True)
@torch.no_grad()
def f():
    return (x * 2).requires_grad
@torch.no_grad
def g():
    return (x * 2).requires_grad
@torch.inference_mode()
def h():
    return (x * 2).requires_grad
@torch.set_grad_enabled(False)
def k():
    return (x * 2).requires_grad
@torch.no_grad()
@torch.enable_grad()
def l():
    return (x * 2).requires_grad
print(f(), g(), h(), k(), l(), torch.is_grad_enabled())
=>
False False False False True True

## 2.6 generators
@torch.no_grad()
def numbers():
    got = yield torch.is_grad_enabled()
    try:
        yield torch.is_grad_enabled(), got
    except ValueError:
        yield "thrown", torch.is_grad_enabled()
g = numbers()
print(next(g), torch.is_grad_enabled(), g.send(3), torch.is_grad_enabled(), g.throw(ValueError), torch.is_grad_enabled())
=>
False True (False, 3) True ('thrown', False) True

## !2.6 coroutines
import asyncio
@torch.no_grad()
async def f():
    before = torch.is_grad_enabled()
    await asyncio.sleep(0)
    return before, torch.is_grad_enabled()
print(asyncio.run(f()))
=>
(False, False)

## 2.6 set_grad_enabled switches at once
torch.set_grad_enabled(False)
print(torch.is_grad_enabled())
torch.set_grad_enabled(True)
print(torch.is_grad_enabled())
=>
False
True

## 2.6 a decorated class
@torch.no_grad()
class C:
    pass
=>
warns FutureWarning

## 2.6 leaves inside no_grad
with torch.no_grad():
    x = torch.ones(2, requires_grad=True)
print(x.requires_grad, x.is_leaf)
=>
True True

## 2.6 a raw generator leaks its mode
def numbers():
    with torch.no_grad():
        yield 1
g = numbers()
next(g)
print(torch.is_grad_enabled())
g.close()
print(torch.is_grad_enabled())
=>
False
True

## 2.6 inference tensors
with torch.inference_mode():
    x = torch.ones(2)
print(x.is_inference(), torch.ones(2).is_inference())
x.requires_grad_()
=>
True False
RuntimeError: Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.

## 2.6 writing to inference tensors
with torch.inference_mode():
    x = torch.ones(2)
    x.add_(1)
x.add_(1)
=>
RuntimeError: Inplace update to inference tensor outside InferenceMode is not ...

## 2.6 keeping inference tensors
with torch.inference_mode():
    x = torch.ones(2)
w = torch.ones(2, requires_grad=True)
print((w + x).requires_grad)
w * x
=>
True
RuntimeError: Inference tensors cannot be saved for backward. Please do not use Tensors created in ...

## 2.6 versions of inference tensors
with torch.inference_mode():
    x = torch.ones(2)
x._version
=>
RuntimeError: Inference tensors do not track version counter.

## partly overlapping memory
x = torch.arange(5.0)
for write in (lambda: x[1:].add_(x[:-1]), lambda: x[1:].copy_(x[:-1]), lambda: torch.mul(x[:-1], 2, out=x[1:])):
    try:
        write()
    except RuntimeError as error:
        print(str(error)[:60])
x[1:].add_(x[1:])
print(x)
=>
unsupported operation: some elements of the input tensor and
unsupported operation: some elements of the input tensor and
unsupported operation: some elements of the input tensor and
tensor([0., 2., 4., 6., 8.])

## dim and keepdim by the names of NumPy
x = torch.tensor([[1.0, 4.0], [3.0, 2.0]])
print(x.cumprod(axis=1), torch.argmax(x, axis=0), x.max(axis=1, keepdims=True).values, torch.softmax(x, axis=0).argmin(axis=0))
print(torch.median(x, axis=0).values, x.sort(axis=1).indices, x.logsumexp(dim=1, keepdims=True).shape, x.unsqueeze(axis=0).shape)
=>
tensor([[1., 4.],
        [3., 6.]]) tensor([1, 0]) tensor([[4.],
        [3.]]) tensor([0, 1])
tensor([1., 2.]) tensor([[0, 1],
        [1, 0]]) torch.Size([2, 1]) torch.Size([1, 2, 2])
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
