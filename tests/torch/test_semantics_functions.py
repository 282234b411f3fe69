"""Hooks, and autograd.Function: what programs for torch print, on the facade and on the original."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2.7 without grad
torch.ones(2).register_hook(print)
=>
RuntimeError: cannot register a hook on a tensor that doesn't require gradient

## 2.7 hooks chain
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: g * 2)
x.register_hook(lambda g: None)
x.register_hook(lambda g: g + 1)
x.sum().backward()
print(x.grad)
=>
tensor([3., 3.])

## 2.7 a wrong type
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: 1.0)
x.sum().backward()
=>
TypeError: expected Variable, but hook returned 'float'

## 2.7 a wrong shape
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: torch.ones(3))
x.sum().backward()
=>
RuntimeError: hook '<lambda>' has changed the size of value

## 2.7 a leaf sees the sum once
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: print(g))
(x * 2 + x * 3).sum().backward()
=>
tensor([5., 5.])

## 2.7 hooks run in autograd.grad
x = torch.ones(2, requires_grad=True)
y = x * 2
y.register_hook(lambda g: g * 10)
print(torch.autograd.grad(y.sum(), [y], retain_graph=True), torch.autograd.grad(y.sum(), [x]))
=>
(tensor([10., 10.]),) (tensor([20., 20.]),)

## 2.7 handles
x = torch.ones(2, requires_grad=True)
h = x.register_hook(lambda g: g * 10)
h.remove()
with x.register_hook(lambda g: g * 2):
    x.sum().backward()
x.sum().backward()
print(x.grad)
=>
tensor([3., 3.])

## 2.7 retain_grad sees the value after the hooks
x = torch.ones(2, requires_grad=True)
y = x * 1
y.retain_grad()
y.register_hook(lambda g: g * 3)
y.sum().backward()
print(y.grad, y.retains_grad)
=>
tensor([3., 3.]) True

## 2.7 retain_grad on a leaf
x = torch.ones(2, requires_grad=True)
x.retain_grad()
print(x.retains_grad)
=>
False

## 2.7 retain_grad without grad
torch.ones(2).retain_grad()
=>
RuntimeError: can't retain_grad on Tensor that has requires_grad=False

## 2.7 hooks after a write
x = torch.ones(1, requires_grad=True)
a = x * 1
a.register_hook(lambda g: print(g))
a.retain_grad()
a.mul_(2)
(a * 3).sum().backward()
print(a.grad)
=>
tensor([6.])
tensor([3.])

## 2.7 after accumulation
x = torch.ones(2, requires_grad=True)
x.register_post_accumulate_grad_hook(lambda p: print("grad is", p.grad))
x.sum().backward()
(x * 1).register_post_accumulate_grad_hook(print)
=>
grad is tensor([1., 1.])
RuntimeError: post accumulate grad hooks cannot be registered on non-leaf tensors

## 2.7 after accumulation nothing is to be returned
x = torch.ones(2, requires_grad=True)
x.register_post_accumulate_grad_hook(lambda p: 1)
x.sum().backward()
=>
TypeError: expected Variable, but hook returned ...

## 2.7 an optimizer in the backward pass
x = torch.ones(2, requires_grad=True)
o = torch.optim.SGD([x], lr=0.5)
def step(p):
    o.step()
    o.zero_grad()
x.register_post_accumulate_grad_hook(step)
(x * x).sum().backward()
print(x, x.grad)
=>
tensor([0., 0.], requires_grad=True) None

## 2.8 setup_context
class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g
x = torch.tensor(3.0, requires_grad=True)
print(torch.autograd.grad(Square.apply(x), x), torch.func.grad(Square.apply)(torch.tensor(3.0)))
=>
(tensor(6.),) tensor(6.)

## 2.8 vjp instead of backward
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def vjp(ctx, g):
        return g * 2
x = torch.ones(2, requires_grad=True)
Double.apply(x).sum().backward()
print(x.grad)
=>
tensor([2., 2.])

## 2.8 an instance is not called
torch.autograd.Function()(1)
=>
RuntimeError: Legacy autograd function with non-static forward method is deprecated. Please use ...

## 2.8 without backward
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
F.apply(torch.ones(2, requires_grad=True)).sum().backward()
=>
NotImplementedError: You must implement either the backward or vjp method for your custom ...

## 2.8 grad mode in forward and backward
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward", torch.is_grad_enabled())
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print("backward", torch.is_grad_enabled())
        return g * 2
y = F.apply(torch.ones(2, requires_grad=True)).sum()
y.backward(retain_graph=True)
y.backward(create_graph=False)
=>
forward False
backward False
backward False

## 2.8 grad mode in a backward with create_graph
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print("backward", torch.is_grad_enabled())
        return g * 2
x = torch.ones(2, requires_grad=True)
torch.autograd.grad(F.apply(x).sum(), x, create_graph=True)
=>
backward True

## 2.8 save_for_backward of other things
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(3)
        return x
F.apply(torch.ones(2, requires_grad=True))
=>
TypeError: save_for_backward can only save variables, but argument ...

## 2.8 save_for_backward twice
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(None, x * 5)
        ctx.note = "any attribute"
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print(ctx.saved_tensors, ctx.note)
        return g
F.apply(torch.ones(1, requires_grad=True)).backward()
=>
(None, tensor([5.])) any attribute

## 2.8 needs_input_grad
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n, y):
        print(ctx.needs_input_grad)
        return x * n
    @staticmethod
    def backward(ctx, g):
        print(ctx.needs_input_grad)
        return g, None, None
F.apply(torch.ones(1, requires_grad=True), 2, torch.ones(1)).backward()
=>
(True, False, False)
(True, False, False)

## 2.8 absent gradients are zeros
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        print(g, h)
        return g
F.apply(torch.ones(1, requires_grad=True))[0].backward()
=>
tensor([1.]) tensor([0.])

## 2.8 or None
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        print(g, h)
        return g
F.apply(torch.ones(1, requires_grad=True))[0].backward()
=>
tensor([1.]) None

## 2.8 mark_dirty
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = torch.ones(2, requires_grad=True)
y = x * 1
print(F.apply(y) is y, y)
y.sum().backward()
print(x.grad)
=>
True tensor([2., 2.], grad_fn=<FBackward>)
tensor([2., 2.])

## 2.8 dirty, but not returned
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return g
F.apply(torch.ones(2, requires_grad=True) * 1)
=>
RuntimeError: Some elements marked as dirty during the forward method were not returned as output. ...

## 2.8 mark_non_differentiable
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y, z = x * 2, x * 3
        ctx.mark_non_differentiable(z)
        return y, z
    @staticmethod
    def backward(ctx, g, h):
        print(g, h)
        return g
y, z = F.apply(torch.ones(1, requires_grad=True))
print(y.requires_grad, z.requires_grad)
y.backward()
=>
True False
tensor([1.]) tensor([0.])

## 2.8 outputs of integers, and what is no tensor
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, (x * 3).long(), "text"
    @staticmethod
    def backward(ctx, g, h, t):
        print(g, h, t)
        return g
y, z, t = F.apply(torch.ones(1, requires_grad=True))
print(y.requires_grad, z.requires_grad, t)
y.backward()
=>
True False text
tensor([1.]) tensor([0]) None

## 2.8 save_for_forward and jvp
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x
    @staticmethod
    def jvp(ctx, t):
        return 2 * ctx.saved_tensors[0] * t
f = torch.autograd.forward_ad
with f.dual_level():
    print(f.unpack_dual(F.apply(f.make_dual(torch.tensor([3.0]), torch.tensor([1.0])))).tangent)
=>
tensor([6.])

## 2.8 an input that is returned
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = torch.ones(2, requires_grad=True)
y = F.apply(x)
print(y is x, y.data_ptr() == x.data_ptr(), y.grad_fn.name())
=>
False True FBackward

## 2.8 too few gradients
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y
    @staticmethod
    def backward(ctx, g):
        return g
F.apply(torch.ones(1, requires_grad=True), 2).backward()
=>
RuntimeError: function FBackward returned an incorrect number of gradients (expected 2, got 1)

## 2.8 trailing None
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g, None, None
x = torch.ones(1, requires_grad=True)
F.apply(x).backward()
print(x.grad)
=>
tensor([1.])

## 2.8 a gradient for what is no tensor
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        return x * n
    @staticmethod
    def backward(ctx, g):
        return g, g
F.apply(torch.ones(1, requires_grad=True), 2).backward()
=>
RuntimeError: function FBackward returned a gradient different than None at position 2, but the ...

## 2.8 a gradient that is no tensor
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return 1.0
F.apply(torch.ones(1, requires_grad=True)).backward()
=>
RuntimeError: expected Variable or None (got float)

## 2.8 a gradient of a wrong shape
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return torch.ones(3)
F.apply(torch.ones(2, requires_grad=True)).sum().backward()
=>
RuntimeError: Function FBackward returned an invalid gradient at index 0 - got [3] but expected ...

## 2.8 a gradient that is to be summed
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return torch.ones(3, 2)
x = torch.ones(2, requires_grad=True)
F.apply(x).sum().backward()
print(x.grad)
=>
tensor([3., 3.])

## 2.8 a gradient that would have to be expanded
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return torch.ones(1)
F.apply(torch.ones(2, requires_grad=True)).sum().backward()
=>
RuntimeError: Function FBackward returned an invalid gradient at index 0 - got [1] but expected ...

## 2.8 a user's own exception
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        raise KeyError("mine")
F.apply(torch.ones(1, requires_grad=True)).backward()
=>
KeyError: 'mine'

## !2.8 once_differentiable
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g
x = torch.ones(1, requires_grad=True)
g, = torch.autograd.grad(F.apply(x) ** 2, x, create_graph=True)
torch.autograd.grad(g, x)
=>
RuntimeError: trying to differentiate twice a function that was marked with ...

## !2.8 once_differentiable where the gradient needs none
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g
x = torch.ones(1, requires_grad=True)
g, = torch.autograd.grad(F.apply(x), x, create_graph=True)
print(g.requires_grad)
=>
True

## 2.8 under func without setup_context
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
torch.func.grad(lambda x: F.apply(x).sum())(torch.ones(2))
=>
RuntimeError: In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, ...

## 2.8 forward mode without jvp
class F(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, g):
        return g * 2
torch.func.jvp(F.apply, (torch.ones(2),), (torch.ones(2),))
=>
NotImplementedError: You must implement the jvp function for custom autograd.Function to use it ...

## 2.8 vmap by a generated rule
class F(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x * x
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g
x = torch.tensor([1.0, 2.0])
print(torch.func.vmap(F.apply)(x), torch.func.vmap(torch.func.grad(F.apply))(x))
print(torch.func.grad(lambda x: torch.func.vmap(F.apply)(x).sum())(x))
=>
tensor([1., 4.]) tensor([2., 4.])
tensor([2., 4.])

## 2.8 vmap by a rule
class F(torch.autograd.Function):
    @staticmethod
    def forward(x, n):
        return x * n
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[1]
    @staticmethod
    def backward(ctx, g):
        return g * ctx.n, None
    @staticmethod
    def vmap(info, in_dims, x, n):
        print(info.batch_size, info.randomness, in_dims)
        return F.apply(x, n), 0
x = torch.tensor([[1.0, 2.0, 3.0]])
print(torch.func.vmap(F.apply, in_dims=(0, None))(x.T, 5))
=>
3 error (0, None)
tensor([[ 5.],
        [10.],
        [15.]])

## 2.8 vmap without a rule
class F(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
torch.func.vmap(F.apply)(torch.ones(2))
=>
RuntimeError: You tried to vmap over F, but it does not have vmap support. Please override and ...

## eigenvalues are complex, also where all are real
A = torch.tensor([[2.0, 1.0], [0.0, 3.0]], requires_grad=True)
values, vectors = torch.linalg.eig(A)
print(torch.linalg.eigvals(A.detach()).dtype, values.dtype, vectors.dtype, type(torch.linalg.eig(A)).__name__)
values.real.pow(2).sum().backward()
print(A.grad.round())
=>
torch.complex64 torch.complex64 torch.complex64 linalg_eig
tensor([[4., 0.],
        [2., 6.]])
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
