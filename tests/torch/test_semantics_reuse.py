# ruff: noqa: E501 (programs are kept on few lines)
"""Gradients accumulated, kept, hooked, taken of dicts: what programs print on facade and original."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## retain_grad accumulates
x = torch.tensor(1.0, requires_grad=True); h = x * 3; h.retain_grad(); y = h * h
y.backward(retain_graph=True); first = h.grad; y.backward()
print(first, h.grad)
=>
tensor(6.) tensor(12.)

## !create_graph makes a new .grad
x = torch.ones(2, requires_grad=True); x.sum().backward(); held = x.grad
(2 * x).sum().backward(create_graph=True)
print(held, x.grad, held is x.grad)
=>
tensor([1., 1.]) tensor([3., 3.]) False

## a second backward through a write
b = torch.ones(3, requires_grad=True); c = torch.zeros(3); c[:2] = b[:2]
c.backward(torch.ones(3))
c.backward(torch.ones(3))
=>
RuntimeError: Trying to backward through the graph a second time ...

## mark_dirty on a view
class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y): ctx.mark_dirty(x); x.add_(y); return x
    @staticmethod
    def backward(ctx, g): return g, 2 * g
a, b = torch.zeros(4, requires_grad=True), torch.ones(2, requires_grad=True)
x = a.clone(); y = Add.apply(x.narrow(0, 1, 2), b); (x * torch.arange(4.0)).sum().backward()
print(a.grad, b.grad, x.grad_fn.name(), y.grad_fn is not None, x.detach())
=>
tensor([0., 1., 2., 3.]) tensor([2., 4.]) torch::autograd::CopySlices True tensor([0., 1., 1., 0.])

## mark_dirty on a view, with several outputs
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.mark_dirty(x); x.add_(1); return x, x * 2
    @staticmethod
    def backward(ctx, g, h): return g
Two.apply(torch.zeros(4, requires_grad=True).clone()[:2])
=>
RuntimeError: If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor...

## defaults of forward
class P(torch.autograd.Function):
    @staticmethod
    def forward(x, y=3): return x ** y
    @staticmethod
    def setup_context(ctx, inputs, output): x, ctx.y = inputs[:2]; ctx.save_for_backward(x)
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; return g * ctx.y * x ** (ctx.y - 1), None
x = torch.tensor(2.0, requires_grad=True)
P.apply(x).backward(); print(x.grad)
P.apply(x, 2).backward(); print(x.grad)
=>
tensor(12.)
tensor(16.)

## jvp of tensors before other arguments
class Q(torch.autograd.Function):
    @staticmethod
    def forward(x, n, y): return x * n + y
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.n = inputs[1]
    @staticmethod
    def jvp(ctx, tx, n, ty): print(n, ty); return tx * ctx.n
print(torch.func.jvp(lambda x: Q.apply(x, 3, 1), (torch.ones(2),), (torch.ones(2),)))
=>
None None
(tensor([4., 4.]), tensor([3., 3.]))

## full backward hooks, differentiated twice
x = torch.tensor([0.5], requires_grad=True); f = torch.nn.MSELoss()
f.register_full_backward_hook(lambda m, i, o: print(len(i), i[0].detach(), o))
g, = torch.autograd.grad(f(x, torch.zeros(1)), x, create_graph=True)
print(g, torch.autograd.grad(g, x))
=>
2 tensor([1.]) (tensor(1.),)
tensor([1.], ...) (tensor([2.]),)

## materialized zeros
x, a = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0, requires_grad=True)
d, = torch.autograd.grad(x * a, x, create_graph=True)
print(torch.autograd.grad(d, x, create_graph=True, allow_unused=True, materialize_grads=True))
print(torch.autograd.grad(d, x, allow_unused=True, materialize_grads=True))
=>
(tensor(0., requires_grad=True),)
(tensor(0.),)

## prehooks of a leaf's node
x = torch.ones(2, requires_grad=True); y = x * 2
node = y.grad_fn.next_functions[0][0]
node.register_prehook(lambda g: (print("before", g), (g[0] * 10,))[1])
node.register_hook(lambda i, o: print("after", i, o))
y.sum().backward(); print(x.grad)
=>
before (tensor([2., 2.]),)
after () (tensor([20., 20.]),)
tensor([20., 20.])

## hooks with inputs=
x = torch.ones(2, requires_grad=True); y = x * 2; z = y * 3
x.register_hook(lambda g: g + 1); y.register_hook(lambda g: g * 10)
z.sum().backward(inputs=[y], retain_graph=True); print(x.grad, y.grad)
z.sum().backward(inputs=[x]); print(x.grad)
=>
None tensor([30., 30.])
tensor([61., 61.])

## an edge among inputs=
x = torch.tensor(2.0, requires_grad=True); z = (x * 3) ** 2
torch.autograd.backward(z, inputs=[torch.autograd.graph.get_gradient_edge(x)]); print(x.grad)
=>
tensor(36.)

## saved tensors know their graph
a = torch.ones(2, requires_grad=True); b = 2 * torch.ones(2, requires_grad=True)
print((a * a).grad_fn._saved_self is a)
with torch.autograd.graph.saved_tensors_hooks(lambda x: (print("pack", x), x)[1], lambda x: x):
    b * a; a * 3; a ** 2; a.exp()
=>
True
pack tensor([1., 1.], requires_grad=True)
pack tensor([2., 2.], grad_fn=<MulBackward0>)
pack tensor([1., 1.], requires_grad=True)
pack tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>)

## the gradient of a dual number
fwAD = torch.autograd.forward_ad
a, t = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 3.0])
with fwAD.dual_level():
    d = fwAD.make_dual(a, t)
    for x in (a, d): print(fwAD.unpack_dual(torch.autograd.grad((d ** 3).sum(), x)[0]))
    w = torch.tensor([2.0, 5.0], requires_grad=True); d = fwAD.make_dual(a, w * a); out = (d ** 3).sum()
    print([g.detach() for g in torch.autograd.grad(fwAD.unpack_dual(out).tangent, [w], retain_graph=True)])
    g = fwAD.unpack_dual(torch.autograd.grad(out, a, create_graph=True)[0])
    print(g.primal.detach(), g.tangent.detach())
    d = fwAD.make_dual(torch.ones(2), t); g, = torch.autograd.grad((d * a).sum(), a)
    print(fwAD.unpack_dual(g), g.requires_grad)
=>
UnpackedDualTensor(primal=tensor([ 3., 12.]), tangent=tensor([ 6., 36.]))
UnpackedDualTensor(primal=tensor([ 3., 12.]), tangent=tensor([ 6., 36.]))
[tensor([ 3., 24.])]
tensor([ 3., 12.]) tensor([ 12., 120.])
UnpackedDualTensor(primal=tensor([1., 1.]), tangent=tensor([1., 3.])) False

## dual numbers share memory
fwAD = torch.autograd.forward_ad
with fwAD.dual_level():
    p, t = torch.zeros(2), torch.ones(2); d = fwAD.make_dual(p, t)
    d += 1; d[0] *= 2
    print(p, t, fwAD.unpack_dual(d).tangent is t, fwAD.unpack_dual(d.detach()).tangent)
    fwAD.make_dual(p.requires_grad_(), t).mul_(2)
=>
tensor([2., 1.]) tensor([2., 1.]) True None
RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.

## a checkpoint stops as soon as it can
checkpoint, n = torch.utils.checkpoint.checkpoint, []
def f(x): y = x.sin(); n.append("f"); y = y * 2; n.append("g"); return y
x = torch.ones(2, requires_grad=True)
y = checkpoint(f, x, use_reentrant=False); y.sum().backward(); print(n, y.grad_fn.name(), x.grad)
with torch.utils.checkpoint.set_checkpoint_early_stop(False): y = checkpoint(f, x, use_reentrant=False)
y.sum().backward(); print(n)
=>
['f', 'g'] MulBackward0 tensor([1.0806, 1.0806])
['f', 'g', 'f', 'g', 'f', 'g']

## checkpoints in checkpoints, with random numbers, differentiated twice
checkpoint, drop = torch.utils.checkpoint.checkpoint, torch.nn.Dropout(0.5)
x = torch.linspace(0, 1, 4, requires_grad=True)
f = lambda x, k: drop((x * k).exp()).sin()
def found(run):
    torch.manual_seed(0)
    g, = torch.autograd.grad(run(x).sum(), x, create_graph=True)
    return g.detach(), torch.autograd.grad(g.sum(), x)[0], torch.rand(1)
def nested(x): return checkpoint(lambda x: checkpoint(f, x, k=2.0, use_reentrant=False) * x, x, use_reentrant=False)
print([torch.equal(a, b) for a, b in zip(found(nested), found(lambda x: f(x, 2.0) * x))])
=>
[True, True, True]

## a checkpoint of what changes
n = []
def f(x): n.append(1); return x.sin().exp() if len(n) == 1 else x * 2
torch.utils.checkpoint.checkpoint(f, torch.ones(2, requires_grad=True), use_reentrant=False).sum().backward()
=>
CheckpointError: torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.

## gradcheck moves the tensors themselves
x = torch.tensor([0.5, 2.0], dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(lambda _: x * x, (x,)), x.tolist())
=>
True [0.5, 2.0]

## Jacobians of several arguments and of dicts
jacrev, jacfwd, hessian = torch.func.jacrev, torch.func.jacfwd, torch.func.hessian
x, y = torch.ones(2), torch.full((2,), 2.0)
for t in (jacrev, jacfwd):
    print(t(lambda x, y: x * y, argnums=(0, 1))(x, y))
    print(t(lambda p: (p["b"] * 2, p["a"].sum()))({"b": x, "a": y}))
print(hessian(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, y))
print(hessian(lambda p: (p["b"] ** 2 * p["a"]).sum())({"b": x[:1], "a": y[:1]}))
=>
(tensor([[2., 0.],
        [0., 2.]]), tensor([[1., 0.],
        [0., 1.]]))
({'b': tensor([[2., 0.],
        [0., 2.]]), 'a': tensor([[0., 0.],
        [0., 0.]])}, {'b': tensor([0., 0.]), 'a': tensor([1., 1.])})
(tensor([[2., 0.],
        [0., 2.]]), tensor([[1., 0.],
        [0., 1.]]))
({'b': tensor([[2., 0.],
        [0., 2.]]), 'a': tensor([[0., 0.],
        [0., 0.]])}, {'b': tensor([0., 0.]), 'a': tensor([1., 1.])})
((tensor([[0., 0.],
        [0., 0.]]), tensor([[1., 0.],
        [0., 1.]])), (tensor([[1., 0.],
        [0., 1.]]), tensor([[0., 0.],
        [0., 0.]])))
{'b': {'b': tensor([[4.]]), 'a': tensor([[2.]])}, 'a': {'b': tensor([[2.]]), 'a': tensor([[0.]])}}

## dicts keep the order of their keys
grad, vjp, vmap, jvp = torch.func.grad, torch.func.vjp, torch.func.vmap, torch.func.jvp
p = {"w": torch.ones(2), "b": torch.zeros(2)}
f = lambda p: {"z": p["w"] * 2, "a": p["b"]}
print(list(grad(lambda p: p["w"].sum() + p["b"].sum())(p)), list(vjp(f, p)[1](f(p))[0]), list(vmap(f)(p)), list(jvp(f, (p,), (p,))[1]))
=>
['w', 'b'] ['w', 'b'] ['z', 'a'] ['z', 'a']

## detach inside transforms
x = torch.tensor([1.0, 2.0])
print(torch.func.grad(lambda x: (x * x.detach()).sum())(x), torch.func.jvp(lambda x: x * x.detach(), (x,), (x,))[1])
print(torch.func.vmap(torch.func.grad(lambda x: x * x.data))(x), torch.func.hessian(lambda x: (x.detach() * x ** 2).sum())(x))
=>
tensor([1., 2.]) tensor([1., 4.])
tensor([1., 2.]) tensor([[2., 0.],
        [0., 4.]])

## views in inference mode
a = torch.ones(2)
with torch.inference_mode():
    b = torch.ones(2); v = a.view(2, 1); w = a[:1]; u = a + 1
print(b.view(2, 1).is_inference(), b[0].is_inference(), v.is_inference(), w.is_inference(), u.is_inference())
=>
True True False False True

## lists as indices
x = torch.zeros(2, 3); x[[slice(None), [0, 2]]] = 1; print(x)
x = torch.arange(6).reshape(2, 3); print(x[[[0, 1], [0, 2]]], x[[0, 1]].shape, x[[..., 0]])
=>
tensor([[1., 0., 1.],
        [1., 0., 1.]])
tensor([0, 5]) torch.Size([2, 3]) tensor([0, 3])
warns UserWarning

## out=
a = torch.tensor([[2.0, 1.0], [0.0, 3.0]]); o = torch.empty(2, 2)
for f in (torch.matmul, torch.add, torch.maximum): f(a, a, out=o); print(o.tolist())
torch.where(a > 1, a, torch.zeros(()), out=o); print(o.tolist())
i = torch.empty(0, dtype=torch.long); torch.nonzero(a, out=i); print(i.tolist())
v, k = torch.empty(2), torch.empty(2, dtype=torch.long); torch.max(a, 0, out=(v, k)); print(v, k)
r = torch.empty(4); torch.arange(4, out=r); print(r)
=>
[[4.0, 5.0], [0.0, 9.0]]
[[4.0, 2.0], [0.0, 6.0]]
[[2.0, 1.0], [0.0, 3.0]]
[[2.0, 0.0], [0.0, 3.0]]
[[0, 0], [0, 1], [1, 1]]
tensor([2., 3.]) tensor([0, 1])
tensor([0., 1., 2., 3.])

## small ones
x = torch.full((3,), float("nan"), requires_grad=True); torch.median(x).backward(); print(x.grad)
x = torch.rand(4, requires_grad=True); print(torch.unique(x).requires_grad)
v, m = torch.var_mean(x); print(v.grad_fn is m.grad_fn, v.grad_fn.name())
a, b = torch.unsafe_chunk(torch.ones(4, requires_grad=True).clone(), 2); a.mul_(b); print(a)
print(torch.gather(torch.arange(3.0), 0, torch.tensor(1)), torch.aminmax(torch.arange(3.0)).max)
torch.manual_seed(0)
lstm = torch.nn.LSTM(2, 3); print(lstm(torch.ones(2, 1, 2), [torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)])[0][1, 0])
=>
tensor([0.3333, 0.3333, 0.3333])
True
True VarMeanBackward0
tensor([1., 1.], grad_fn=<MulBackward0>)
tensor(1.) tensor(2.)
tensor([-0.3889, -0.1919,  0.1183], grad_fn=<SelectBackward0>)
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_programs_print_what_the_original_prints(row: Row) -> None:
    check(row)
