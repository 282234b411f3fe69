"""functional, func, forward_ad, gradcheck, checkpoint: what programs print on facade and original."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2.9 vjp
print(torch.autograd.functional.vjp(lambda x: x**2, torch.ones(2), torch.ones(2)))
torch.autograd.functional.vjp(lambda x: x**2, torch.ones(2))
=>
(tensor([1., 1.]), tensor([2., 2.]))
RuntimeError: The vector v can only be None if the user-provided function returns a single Tensor ...

## 2.9 jvp, jacobian, hessian, hvp, vhp
F = torch.autograd.functional
x = torch.tensor([1.0, 2.0])
f = lambda x: (x**3).sum()
print(F.jvp(lambda x: x**2, x, torch.ones(2)), F.jacobian(lambda x: x**2, x), F.hessian(f, x))
print(F.hvp(f, x, torch.ones(2)), F.vhp(f, x, torch.ones(2)))
=>
(tensor([1., 4.]), tensor([2., 4.])) tensor([[2., 0.],
        [0., 4.]]) tensor([[ 6.,  0.],
        [ 0., 12.]])
(tensor(9.), tensor([ 6., 12.])) (tensor(9.), tensor([ 6., 12.]))

## 2.9 jacobian, options
F = torch.autograd.functional
x = torch.tensor([1.0, 2.0])
print(F.jacobian(lambda x: x**2, x, create_graph=True).requires_grad, F.jacobian(lambda x: x**2, x, vectorize=True))
print(F.jacobian(lambda x: x**2, x, vectorize=True, strategy="forward-mode"))
=>
True tensor([[2., 0.],
        [0., 4.]])
tensor([[2., 0.],
        [0., 4.]])

## 2.9 a list of inputs
torch.autograd.functional.jacobian(lambda x: x, [torch.ones(2)])
=>
TypeError: The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the given ...

## 2.9 nested structure
F = torch.autograd.functional
x, y = torch.ones(1), torch.ones(1) * 2
print(F.jacobian(lambda x, y: (x * y, x + y), (x, y)))
print(F.hessian(lambda x, y: (x * y).sum(), (x, y)))
=>
((tensor([[2.]]), tensor([[1.]])), (tensor([[1.]]), tensor([[1.]])))
((tensor([[0.]]), tensor([[1.]])), (tensor([[1.]]), tensor([[0.]])))

## 2.9 strict
torch.autograd.functional.jacobian(lambda x: torch.ones(2), torch.ones(2), strict=True)
=>
RuntimeError: Output 0 of the user-provided function does not require gradients. The outputs must ...

## 2.9 hessian of several
torch.autograd.functional.hessian(lambda x: x, torch.ones(2))
=>
RuntimeError: The Tensor returned by the function given to hessian should contain a single element

## 2.9 func
f = torch.func
x = torch.tensor([1.0, 2.0])
g = lambda x: (x**3).sum()
print(f.grad(g)(x), f.grad_and_value(g)(x), f.jvp(g, (x,), (torch.ones(2),)), f.hessian(g)(x))
out, pull = f.vjp(g, x)
print(out, pull(torch.tensor(1.0)), pull(torch.tensor(2.0)))
print(f.jacrev(lambda x: x * x)(x), f.jacfwd(lambda x: x * x)(x))
=>
tensor([ 3., 12.]) (tensor([ 3., 12.]), tensor(9.)) (tensor(9.), tensor(15.)) tensor([[ 6.,  0.],
        [ 0., 12.]])
tensor(9.) (tensor([ 3., 12.]),) (tensor([ 6., 24.]),)
tensor([[2., 0.],
        [0., 4.]]) tensor([[2., 0.],
        [0., 4.]])

## 2.9 argnums and has_aux
f = torch.func
x, y = torch.tensor(2.0), torch.tensor(3.0)
print(f.grad(lambda x, y: x * y, argnums=1)(x, y), f.grad(lambda x, y: x * y, argnums=(0, 1))(x, y))
print(f.grad(lambda x: (x * x, x + 1), has_aux=True)(x), f.grad_and_value(lambda x: (x * x, x + 1), has_aux=True)(x))
=>
tensor(2.) (tensor(3.), tensor(2.))
(tensor(4.), tensor(3.)) (tensor(4.), (tensor(4.), tensor(3.)))

## 2.9 linearize
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    out, push = torch.func.linearize(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    print(out, push(torch.ones(2)), push(torch.tensor([1.0, 0.0])))
=>
tensor(9.) tensor(15.) tensor(3.)

## 2.9 vmap
f = torch.func
x = torch.arange(6.0).reshape(2, 3)
print(f.vmap(lambda x: x.sum())(x), f.vmap(lambda x: x.sum(), in_dims=1)(x), f.vmap(lambda x: x, out_dims=1)(x).shape)
print(f.vmap(lambda x, y: x * y, in_dims=(0, None))(x, torch.tensor(2.0)), f.vmap(lambda x: x * 2, chunk_size=1)(x))
=>
tensor([ 3., 12.]) tensor([3., 5., 7.]) torch.Size([3, 2])
tensor([[ 0.,  2.,  4.],
        [ 6.,  8., 10.]]) tensor([[ 0.,  2.,  4.],
        [ 6.,  8., 10.]])

## 2.9 random numbers under vmap: an error
torch.func.vmap(lambda x: x + torch.randn(()))(torch.zeros(3))
=>
RuntimeError: vmap: called random operation while in randomness error mode. Please either use the ...

## 2.9 random numbers under vmap: the same
out = torch.func.vmap(lambda x: x + torch.randn(()), randomness="same")(torch.zeros(3))
print(out.shape, (out == out[0]).all().item())
=>
torch.Size([3]) True

## 2.9 random numbers under vmap: different
out = torch.func.vmap(lambda x: x + torch.randn(2), randomness="different")(torch.zeros(3, 2))
print(out.shape, len(set(out.flatten().tolist())))
=>
torch.Size([3, 2]) 6

## 2.9 random numbers under vmap: in other words
torch.func.vmap(lambda x: x, randomness="often")(torch.zeros(3))
=>
RuntimeError: Only allowed values for randomness are 'error', 'different', or 'same'. Got often

## 2.9 functional_call, stack_module_state
torch.manual_seed(0)
ms = [torch.nn.Linear(2, 1) for _ in range(3)]
p, b = torch.func.stack_module_state(ms)
print({k: v.shape for k, v in p.items()}, b)
print(torch.func.functional_call(ms[0], {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, (torch.ones(2),)))
out = torch.func.vmap(lambda p, x: torch.func.functional_call(ms[0], p, (x,)), in_dims=(0, None))(p, torch.ones(2))
print(torch.allclose(out, torch.stack([m(torch.ones(2)) for m in ms])))
=>
{'weight': torch.Size([3, 1, 2]), 'bias': torch.Size([3, 1])} {}
tensor([2.])
True

## 2.9 pytrees
print(torch.func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": torch.ones(2), "b": (torch.ones(2) * 3,)}))
=>
{'a': tensor([3., 3.]), 'b': (tensor([1., 1.]),)}

## 2.9 grad of a non-scalar
torch.func.grad(lambda x: x)(torch.ones(2))
=>
RuntimeError: grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor ...

## 2.9 item under vmap
torch.func.vmap(lambda x: x.item())(torch.ones(2))
=>
RuntimeError: vmap: It looks like you're calling .item() on a Tensor. ...

## 2.9 if under vmap
torch.func.vmap(lambda x: x if x > 0 else -x)(torch.ones(2))
=>
RuntimeError: vmap: It looks like you're attempting to use a Tensor in some data-dependent control ...

## 2.9 item and if under grad
print(torch.func.grad(lambda x: x * x.item() if x > 0 else -x)(torch.tensor(3.0)))
=>
tensor(3.)

## 2.9 no_grad outside and inside
f = torch.func.grad(lambda x: x**3)
def g(x):
    with torch.no_grad():
        c = x * x
    return x * c
with torch.no_grad():
    print(f(torch.tensor(2.0)))
print(torch.func.grad(g)(torch.tensor(2.0)))
=>
tensor(12.)
tensor(4.)

## 2.9 writes to captured tensors
y = torch.zeros(2)
def f(x):
    y.add_(x)
    return y.sum()
torch.func.grad(f)(torch.ones(2))
=>
RuntimeError: During a ...

## 2.9 perturbation confusion
g = torch.func.grad
print(g(lambda x: x * g(lambda y: x + y)(torch.tensor(1.0)))(torch.tensor(2.0)))
=>
tensor(1.)

## 2.9 forward_ad
f = torch.autograd.forward_ad
with f.dual_level():
    x = f.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
    y = x * x
    print(f.unpack_dual(y).tangent, f.unpack_dual(y).primal, x)
print(f.unpack_dual(y).tangent)
=>
tensor([2., 0.]) tensor([1., 4.]) tensor([1., 2.], tangent=tensor([1., 0.]))
None

## 2.9 gradcheck
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
g = torch.autograd
print(g.gradcheck(lambda x: x**3, (x,)), g.gradgradcheck(lambda x: x**3, (x,)), g.gradcheck(lambda x: x**3, (x,), fast_mode=True))
print(g.gradcheck(lambda x: x * x.detach(), (x,), raise_exception=False))
print(g.gradcheck(lambda x: x**3, (x,), check_forward_ad=True, check_batched_grad=True))
=>
True True True
False
True

## 2.9 gradcheck, a wrong gradient
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(lambda x: x * x.detach(), (x,))
=>
GradcheckError: Jacobian mismatch for output 0 with respect to input 0,

## 2.9 gradcheck without grad
torch.autograd.gradcheck(lambda x: x, (torch.ones(2, dtype=torch.float64),))
=>
ValueError: gradcheck expects at least one input tensor to require gradient, but none of ...

## 2.9 gradcheck in single precision
x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.autograd.gradcheck(lambda x: x**3, (x,))
=>
GradcheckError: Jacobian mismatch for output 0 with respect to input 0,
warns UserWarning

## 2.9 detect_anomaly
with torch.autograd.detect_anomaly():
    x = torch.tensor([0.0], requires_grad=True)
    (x.sqrt() * 0).sum().backward()
=>
RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th ...
warns UserWarning

## 2.9 detect_anomaly without the check
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    x = torch.tensor([0.0], requires_grad=True)
    (x.sqrt() * 0).sum().backward()
print(x.grad)
=>
tensor([nan])

## 2.9 profiler
with torch.autograd.profiler.profile() as p:
    with torch.autograd.profiler.record_function("mine"):
        torch.ones(2) + 1
print("mine" in p.key_averages().table())
=>
True

## 2.9 checkpoint
n = [0]
def f(x):
    n[0] += 1
    return x * x
x = torch.ones(2, requires_grad=True)
torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum().backward()
print(n, x.grad)
=>
[2] tensor([2., 2.])

## 2.9 checkpoint without the flag
x = torch.ones(2, requires_grad=True)
torch.utils.checkpoint.checkpoint(lambda x: x * x, x).sum().backward()
print(x.grad)
=>
tensor([2., 2.])
warns UserWarning

## 2.9 checkpoint, reentrant, and grad
x = torch.ones(2, requires_grad=True)
torch.autograd.grad(torch.utils.checkpoint.checkpoint(lambda x: x * x, x, use_reentrant=True).sum(), x)
=>
RuntimeError: When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or ...

## 2.9 checkpoint, reentrant, without grad
y = torch.utils.checkpoint.checkpoint(lambda x: x * 1, torch.ones(2), use_reentrant=True)
print(y.requires_grad)
=>
False
warns UserWarning

## 2.9 checkpoint_sequential
x = torch.ones(2, requires_grad=True)
f = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.ReLU())
torch.utils.checkpoint.checkpoint_sequential(f, 2, x, use_reentrant=False).sum().backward()
print(x.grad)
=>
tensor([1., 1.])

## arguments of reverse-mode transforms are leaves
grad, vjp, jacrev, hessian, vmap = [getattr(torch.func, name) for name in "grad vjp jacrev hessian vmap".split()]
def f(x):
    x.mul_(2)
    return (x**3).sum()
x = torch.tensor([1.0, 2.0])
for g in (lambda: grad(f)(x), lambda: vjp(f, x), lambda: jacrev(f)(x), lambda: hessian(f)(x), lambda: vmap(grad(f))(x)):
    try:
        g()
    except RuntimeError as error:
        print(error)
try:
    grad(lambda x: f(x[:1]))(x)
except RuntimeError as error:
    print(error)
print(torch.func.jacfwd(f)(x), x)
=>
a leaf Variable that requires grad is being used in an in-place operation.
a leaf Variable that requires grad is being used in an in-place operation.
a leaf Variable that requires grad is being used in an in-place operation.
a leaf Variable that requires grad is being used in an in-place operation.
a leaf Variable that requires grad is being used in an in-place operation.
a view of a leaf Variable that requires grad is being used in an in-place operation.
tensor([24., 96.]) tensor([2., 4.])

## backward(inputs=) of an intermediate result that keeps its gradient
x = torch.ones(2, requires_grad=True)
y = x * 3
y.register_hook(lambda g: g * 10)
y.retain_grad()
y.sum().backward(inputs=[y, x])
z = x * 2
z.sum().backward(inputs=[z])
print(y.grad, x.grad, z.grad, z.retains_grad)
=>
tensor([10., 10.]) tensor([30., 30.]) tensor([1., 1.]) True
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
