# ruff: noqa: E501 (programs are kept on few lines)
"""backward, autograd.grad, nodes: what programs for torch print, on the facade and on the original."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2.3 one element
x = torch.ones(1, requires_grad=True)
(x * 2).backward()
print(x.grad)
=>
tensor([2.])

## 2.3 several elements
x = torch.ones(2, requires_grad=True)
(x * 2).backward()
=>
RuntimeError: grad can be implicitly created only for scalar ...

## 2.3 complex scalar
x = torch.ones((), dtype=torch.complex64, requires_grad=True)
(x * 2).backward()
=>
RuntimeError: grad can be implicitly created only for real scalar outputs but got torch.complex64

## 2.3 scalar leaf
x = torch.tensor(3.0, requires_grad=True)
x.backward()
print(x.grad)
=>
tensor(1.)

## 2.3 gradient of another shape
x = torch.ones(2, requires_grad=True)
(x * 2).backward(torch.ones(3))
=>
RuntimeError: Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a ...

## 2.3 gradient of another dtype
x = torch.ones(2, requires_grad=True)
(x * 2).backward(torch.ones(2, dtype=torch.float64))
print(x.grad)
=>
tensor([2., 2.])

## 2.3 gradient is a float
x = torch.tensor(1.0, requires_grad=True)
(x * 2).backward(1.0)
=>
TypeError: ...

## 2.3 accumulation is in place
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
alias = x.grad
(x * 3).sum().backward()
print(alias, alias is x.grad)
=>
tensor([5., 5.]) True

## !2.3 accumulation with create_graph is not (and there is no cycle to warn of)
x = torch.ones(2, requires_grad=True)
(x * x).sum().backward()
alias = x.grad
(x * x * x).sum().backward(create_graph=True)
print(alias, alias is x.grad, x.grad.grad_fn)
=>
tensor([2., 2.]) False <AddBackward0 object at 0x>

## 2.3 the first accumulation aliases nothing
x, g = torch.ones(2, requires_grad=True), torch.ones(2)
y = torch.ones(2, requires_grad=True)
(x + y).backward(g)
x.grad.add_(5)
print(g, y.grad)
=>
tensor([1., 1.]) tensor([1., 1.])

## 2.3 inputs
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
y = x * w
y.sum().backward(inputs=[w, y])
print(x.grad, w.grad, y.grad)
=>
None tensor([1., 1.]) tensor([1., 1.])

## 2.3 empty inputs
x = torch.ones(2, requires_grad=True)
x.sum().backward(inputs=[])
=>
RuntimeError: `inputs` argument to `backward()` cannot be empty.

## 2.3 inputs not reached
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
x.sum().backward(inputs=[w])
print(w.grad, x.grad)
=>
None None

## 2.3 several outputs
a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
torch.autograd.backward([a * 2, b * 3])
print(a.grad, b.grad)
=>
tensor([2.]) tensor([3.])

## 2.3 backward under no_grad
x = torch.ones(2, requires_grad=True)
y = (x * x).sum()
with torch.no_grad():
    y.backward()
print(x.grad)
=>
tensor([2., 2.])

## 2.3 grad gives a tuple
x = torch.ones(2, requires_grad=True)
print(torch.autograd.grad(x.sum(), x), torch.autograd.grad((x.sum(),), [x]), x.grad)
=>
(tensor([1., 1.]),) (tensor([1., 1.]),) None

## 2.3 grad of an edge
x = torch.ones(2, requires_grad=True)
y = x * 2
e = torch.autograd.graph.get_gradient_edge(y)
print(torch.autograd.grad((y * 3).sum(), e), torch.autograd.grad(e, x, torch.ones(2)))
=>
(tensor([3., 3.]),) (tensor([2., 2.]),)

## 2.3 inputs as a dict
x = torch.ones(2, requires_grad=True)
print(torch.autograd.grad((x * 2).sum(), {"x": x}))
=>
{'x': tensor([2., 2.])}

## 2.3 unused
x, z = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
torch.autograd.grad(x.sum(), [x, z])
=>
RuntimeError: The differentiated Tensor at index 1 appears to not have been used in the graph. Set ...

## 2.3 input without grad
x = torch.ones(2, requires_grad=True)
torch.autograd.grad(x.sum(), torch.ones(2))
=>
RuntimeError: One of the differentiated Tensors does not require grad

## 2.3 allow_unused
x, z = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
print(torch.autograd.grad(x.sum(), [x, z], allow_unused=True))
=>
(tensor([1., 1.]), None)

## 2.3 materialize_grads
x, z = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
print(torch.autograd.grad(x.sum(), [x, z], materialize_grads=True))
torch.autograd.grad(x.sum(), [x, z], materialize_grads=True, allow_unused=False)
=>
(tensor([1., 1.]), tensor([0., 0.]))
ValueError: Expected allow_unused to be True or not passed when materialize_grads=True, but got: ...

## 2.3 count of grad_outputs
x = torch.ones(2, requires_grad=True)
torch.autograd.grad([x.sum(), x.prod()], x, [torch.tensor(1.0)])
=>
RuntimeError: got 2 tensors and 1 gradients

## 2.3 is_grads_batched
x = torch.ones(2, requires_grad=True)
print(torch.autograd.grad(x * 3, x, torch.eye(2), is_grads_batched=True))
=>
(tensor([[3., 0.],
        [0., 3.]]),)

## 2.3 no inputs
x = torch.ones(2, requires_grad=True)
torch.autograd.grad(x.sum(), [])
=>
RuntimeError: `inputs` argument to `grad()` cannot be empty.

## 2.3 a view made afterwards
x = torch.ones(2, requires_grad=True)
y = x[0:1]
torch.autograd.grad(x.sum(), y)
=>
RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph. Set ...

## 2.3 retain_graph is create_graph
x = torch.ones(2, requires_grad=True)
y = (x * x).sum()
torch.autograd.grad(y, x, create_graph=True)
torch.autograd.grad(y, x)
torch.autograd.grad(y, x)
=>
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors ...

## 2.3 a graph that keeps nothing
x = torch.ones(2, requires_grad=True)
y = (x + 1).sum()
y.backward()
y.backward()
print(x.grad)
=>
tensor([2., 2.])

## 2.3 saved values after freeing
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.sum().backward()
y.grad_fn._saved_result
=>
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors ...

## 2.3 order
seen = []
x = torch.ones(1, requires_grad=True)
a = x * 1; b = x * 2; c = a * 3; d = b * 4; e = d * 5; s = c + e
for n in "abcdes":
    globals()[n].register_hook(lambda g, n=n: seen.append(n))
s.backward()
print(seen)
=>
['s', 'e', 'd', 'c', 'b', 'a']

## 2.3 leaves first
seen = []
p = torch.ones(1, requires_grad=True) * 1
w = torch.ones(1, requires_grad=True)
q = p + w
p.register_hook(lambda g: seen.append("p"))
w.register_post_accumulate_grad_hook(lambda t: seen.append("w"))
q.backward()
print(seen)
=>
['w', 'p']

## 2.4 arithmetic
x = torch.ones(2, requires_grad=True)
print(*[t.grad_fn.name() for t in (x + x, x - x, x * x, x / x, -x, 1 - x, x**2, x**x, 2**x, 2 / x)])
print((2 / x).grad_fn.next_functions[0][0].name())
=>
AddBackward0 SubBackward0 MulBackward0 DivBackward0 NegBackward0 RsubBackward1 PowBackward0 PowBackward1 PowBackward2 MulBackward0
ReciprocalBackward0

## 2.4 products
m, v, b = torch.ones(2, 2, requires_grad=True), torch.ones(2), torch.ones(1, 2, 2)
print(*[t.grad_fn.name() for t in (m @ m, m @ v, m[0] @ v, torch.bmm(m[None], b), m.t(), m.T, m.transpose(0, 1))])
=>
MmBackward0 MvBackward0 DotBackward0 BmmBackward0 TBackward0 PermuteBackward0 TransposeBackward0

## 2.4 reductions
x = torch.ones(2, 2, requires_grad=True)
print(*[t.grad_fn.name() for t in (x.sum(), x.sum(0), x.mean(), x.mean(0), x.max(), x.max(0)[0], x.std(), x.var(), x.norm(), x.prod())])
print(x.cumsum(0).grad_fn.name(), x.logsumexp(0).grad_fn.name())
=>
SumBackward0 SumBackward1 MeanBackward0 MeanBackward1 MaxBackward1 MaxBackward0 StdBackward0 VarBackward0 LinalgVectorNormBackward0 ProdBackward0
CumsumBackward0 LogsumexpBackward0

## 2.4 elementwise
x = torch.ones(2, requires_grad=True)
print(*[getattr(x, n)().grad_fn.name() for n in "exp log abs sqrt sin tanh sigmoid relu clone double".split()])
print(x.clamp(0, 1).grad_fn.name(), torch.maximum(x, x).grad_fn.name(), x.masked_fill(x > 0, 1.0).grad_fn.name())
=>
ExpBackward0 LogBackward0 AbsBackward0 SqrtBackward0 SinBackward0 TanhBackward0 SigmoidBackward0 ReluBackward0 CloneBackward0 ToCopyBackward0
ClampBackward1 MaximumBackward0 MaskedFillBackward0

## 2.4 shapes
x = torch.ones(2, 2, requires_grad=True)
print(*[t.grad_fn.name() for t in (x.reshape(4), x.flatten(), x.view(4), x[0], x[:, 1:], x[:], x[...], x[x > 0], x[[0, 1]])])
print(*[t.grad_fn.name() for t in (x[None], x.unsqueeze(0), x.squeeze(), x.expand(3, 2, 2), x.repeat(2, 1), x.split(1)[0], x.unbind()[0])])
print(torch.cat([x, x]).grad_fn.name(), torch.stack([x, x]).grad_fn.name(), torch.einsum("ij->ji", x).grad_fn.name())
=>
ViewBackward0 ViewBackward0 ViewBackward0 SelectBackward0 SliceBackward0 SliceBackward0 AliasBackward0 IndexBackward0 IndexBackward0
UnsqueezeBackward0 UnsqueezeBackward0 SqueezeBackward0 ExpandBackward0 RepeatBackward0 SplitBackward0 UnbindBackward0
CatBackward0 StackBackward0 PermuteBackward0

## 2.4 choices
x = torch.ones(2, 2, requires_grad=True)
i = torch.zeros(1, 2, dtype=torch.int64)
print(*[t.grad_fn.name() for t in (torch.where(x > 0, x, x), x.gather(0, i), x.sort()[0], x.topk(1)[0], x.tril())])
print(torch.softmax(x, 0).grad_fn.name(), torch.log_softmax(x, 0).grad_fn.name(), torch.linalg.inv(x + torch.eye(2)).grad_fn.name())
=>
WhereBackward0 GatherBackward0 SortBackward0 TopkBackward0 TrilBackward0
SoftmaxBackward0 LogSoftmaxBackward0 LinalgInvExBackward0

## 2.4 layers
x = torch.ones(2, 2, requires_grad=True)
F = torch.nn.functional
print(F.linear(x, x, torch.ones(2)).grad_fn.name(), F.mse_loss(x, torch.ones(2, 2)).grad_fn.name())
=>
AddmmBackward0 MseLossBackward0

## 2.4 an in-place operation has the name of the operation
y = torch.ones(2, requires_grad=True) * 2
print(y.add_(1).grad_fn.name(), y.mul_(2).grad_fn.name(), y.exp_().grad_fn.name())
=>
AddBackward0 MulBackward0 ExpBackward0

## 2.4 a write to a part
y = torch.ones(4, requires_grad=True) * 2
v = y[:2]
v.mul_(2)
print(y.grad_fn, y.grad_fn.name(), v.grad_fn.name())
y[0] = 3
print(y.grad_fn.name(), v.grad_fn.name())
=>
<CopySlices object at 0x> torch::autograd::CopySlices AsStridedBackward0
torch::autograd::CopySlices AsStridedBackward0

## !2.4 accumulation with create_graph: no reference cycle to warn of
x = torch.ones(2, requires_grad=True)
(x * x).sum().backward(create_graph=True)
print(x.grad.grad_fn.name())
=>
torch::autograd::CopyBackwards

## 2.4 next functions
x = torch.ones(2, requires_grad=True)
y = x + 2
z = y * y * 3
print(y.grad_fn.next_functions, z.grad_fn.next_functions, z.mean().grad_fn.next_functions)
=>
((<AccumulateGrad object at 0x>, 0), (None, 0)) ((<MulBackward0 object at 0x>, 0), (None, 0)) ((<MulBackward0 object at 0x>, 0),)

## 2.4 next functions of a number times a tensor
x = torch.ones(2, requires_grad=True)
print((2 * x).grad_fn.next_functions, (x * 2).grad_fn.next_functions, (2 + x).grad_fn.next_functions)
print((1 - x).grad_fn.next_functions, (2 / x).grad_fn.next_functions, (x / 2).grad_fn.next_functions, (2**x).grad_fn.next_functions)
c = torch.ones(2)
print((c * x).grad_fn.next_functions, (x - c).grad_fn.next_functions, (c / x).grad_fn.next_functions, (x @ c).grad_fn.next_functions)
=>
((<AccumulateGrad object at 0x>, 0), (None, 0)) ((<AccumulateGrad object at 0x>, 0), (None, 0)) ((<AccumulateGrad object at 0x>, 0), (None, 0))
((<AccumulateGrad object at 0x>, 0),) ((<ReciprocalBackward0 object at 0x>, 0), (None, 0)) ((<AccumulateGrad object at 0x>, 0), (None, 0)) ((<AccumulateGrad object at 0x>, 0),)
((None, 0), (<AccumulateGrad object at 0x>, 0)) ((<AccumulateGrad object at 0x>, 0), (None, 0)) ((None, 0), (<AccumulateGrad object at 0x>, 0)) ((<AccumulateGrad object at 0x>, 0), (None, 0))

## 2.4 members
x = torch.ones(2, requires_grad=True)
n = (x * 2).grad_fn
n.metadata["a"] = 1
print(n.name(), n.metadata, n.requires_grad, isinstance(n, torch.autograd.graph.Node))
a, b = (x * 2).grad_fn, (x * 3).grad_fn
print(b._sequence_nr() > a._sequence_nr())
=>
MulBackward0 {'a': 1} True True
True

## 2.4 hooks on nodes
x = torch.ones(2, requires_grad=True)
y = x * 2
y.grad_fn.register_hook(lambda gi, go: print("after", gi, go))
y.grad_fn.register_prehook(lambda go: (print("before", go), (go[0] * 3,))[1])
y.sum().backward()
print(x.grad)
=>
before (tensor([1., 1.]),)
after (tensor([6., 6.]), None) (tensor([3., 3.]),)
tensor([6., 6.])

## 2.4 saved values by name
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
print(x.exp().grad_fn._saved_result, (x * y).grad_fn._saved_self, (x * y).grad_fn._saved_other, x.sin().grad_fn._saved_self)
print((x**3).grad_fn._saved_exponent, (x**3).grad_fn._saved_self, x.sum(0).grad_fn._saved_dim, x.tanh().grad_fn._saved_result)
=>
tensor([2.7183, 7.3891], grad_fn=<ExpBackward0>) tensor([1., 2.], requires_grad=True) tensor([3., 6.], grad_fn=<MulBackward0>) tensor([1., 2.], requires_grad=True)
3 tensor([1., 2.], requires_grad=True) (0,) tensor([0.7616, 0.9640], grad_fn=<TanhBackward0>)

## 2.4 saved numbers
x = torch.ones(2, 3, requires_grad=True)
print(x.sum(1, keepdim=True).grad_fn._saved_keepdim, x.sum().grad_fn._saved_self_sym_sizes, x.softmax(1).grad_fn._saved_dim)
=>
True (2, 3) 1

## 2.4 hooks on saved values
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
y.sum().backward()
print(x.grad)
=>
tensor([ 5.4366, 14.7781])

## 2.4 the leaf of an accumulation
x = torch.ones(2, requires_grad=True)
n = (x * 2).grad_fn.next_functions[0][0]
print(n, n.name(), n.variable is x)
=>
<AccumulateGrad object at 0x> torch::autograd::AccumulateGrad True

## 2.4 the leaf of an accumulation after it is gone
x = torch.ones(2, requires_grad=True)
y = x * 2
del x
print(y.grad_fn.next_functions[0][0].variable)
=>
tensor([1., 1.], requires_grad=True)

## 2.4 the node of a first accumulation
import warnings
x = torch.ones(2, requires_grad=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    (x * x).sum().backward(create_graph=True)
print(x.grad.grad_fn.name())
=>
torch::autograd::CopyBackwards

## 2.4 the node of a Function
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
y = Double.apply(torch.ones(2, requires_grad=True))
print(y, y.grad_fn, type(y.grad_fn).__module__, y.grad_fn.saved_tensors, y.grad_fn.needs_input_grad)
=>
tensor([2., 2.], grad_fn=<DoubleBackward>) <torch.autograd.function.DoubleBackward object at 0x> torch.autograd.function (tensor([1., 1.], requires_grad=True),) (True,)

## 2.4 edges
x = torch.ones(2, 2, requires_grad=True)
a, b = x.unbind()
e = torch.autograd.graph.get_gradient_edge(b)
print(e.node, e.output_nr, len(e), torch.autograd.graph.get_gradient_edge(x).node)
=>
<UnbindBackward0 object at 0x> 1 3 <AccumulateGrad object at 0x>

## 2.4 a hook on several tensors
x = torch.ones(2, requires_grad=True)
a, b, c = x * 2, x * 3, x * 4
torch.autograd.graph.register_multi_grad_hook([a, b, c], lambda gs: print([None if g is None else g.tolist() for g in gs]))
torch.autograd.graph.register_multi_grad_hook([a, b], lambda g: print("any", g), mode="any")
(a + b).sum().backward()
=>
any tensor([1., 1.])
[[1.0, 1.0], [1.0, 1.0], None]

## 2.4 saved_tensors_hooks
seen = []
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append("pack"), t)[1], lambda t: (seen.append("unpack"), t)[1]):
    y = (x * x).exp()
print(seen)
y.sum().backward()
print(seen, x.grad)
=>
['pack', 'pack', 'pack']
['pack', 'pack', 'pack', 'unpack', 'unpack', 'unpack'] tensor([5.4366, 5.4366])

## 2.4 saved_tensors_hooks and a Function
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda t: torch.tensor(t)):
    y = Square.apply(x)
y.sum().backward()
print(x.grad)
=>
tensor([2., 4.])

## 2.4 saved_tensors_hooks and functions of several steps
x = torch.tensor([1.0, 2.0], requires_grad=True)
n = [0, 0]
def pack(t):
    n[0] += 1
    return t.tolist()
with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: torch.tensor(t)):
    y = torch.logsumexp(x, 0)
y.backward()
print(x.grad, n[0] > 0)
=>
tensor([0.2689, 0.7311]) True

## 2.4 save_on_cpu
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.save_on_cpu():
    y = (x * x).sum()
y.backward()
print(x.grad)
=>
tensor([2., 2.])

## 2.4 disable_saved_tensors_hooks
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        pass
=>
RuntimeError: not here

## 2.4 allow_mutation_on_saved_tensors
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    y = x * 1
    z = y * y
    y.add_(1)
    z.sum().backward()
print(x.grad)
=>
tensor([2., 2.])

## 2.4 increment_version
x = torch.ones(2, requires_grad=True)
y = x * 1
z = y * y
torch.autograd.graph.increment_version(y)
z.sum().backward()
=>
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace ...
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
