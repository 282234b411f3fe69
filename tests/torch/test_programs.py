# ruff: noqa: E501 (programs are kept on few lines)
"""Small programs for torch: the facade prints what the original prints, errors and warnings included."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PROGRAMS = r"""
x=torch.full((2,2),-0.5,requires_grad=True); y=x+2; z=y*y*3; out=z.mean()
print(x.grad_fn,y.grad_fn,z.grad_fn,out.grad_fn,out)
print(y.grad_fn.next_functions,z.grad_fn.next_functions,out.grad_fn.next_functions)
out.backward(); print(x.grad); print(y.grad)
#---
x=torch.ones(2,2,requires_grad=True); y=x+2; y.add_(1); z=y*y*3; z.mean().backward(); print(y.grad_fn,y._version,x.grad)
#---
x=torch.ones(2,2,requires_grad=True); y=x+2; y.retain_grad(); print(y.retains_grad); z=y*y*3; z.mean().backward(); print(y.grad)
#---
x=torch.ones(2,2,requires_grad=True)
with torch.no_grad(): y=x+2
z=y*y*3; out=z.mean(); print(y.requires_grad,y.is_leaf,out); out.backward()
#---
x=torch.ones(2,requires_grad=True)
with torch.no_grad():
    with torch.enable_grad(): y=x*2
print(y)
#---
a=torch.tensor([1.,2,3,4],requires_grad=True); c=(a*a).mean(); d=(a*a).sum(); print(torch.autograd.grad([c,d],[a]), a.grad)
#---
x=torch.tensor([1.],requires_grad=True); y=x**2; y.backward(); print(x.grad,y.grad_fn)
#---
x=torch.tensor([1.],requires_grad=True);o=x*2; d=o.detach(); print(d.requires_grad,d.is_leaf,d.data_ptr()==o.data_ptr())
#---
class CustomFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx,input):
        ctx.save_for_backward(input); return input.clamp(min=0)
    @staticmethod
    def backward(ctx,g):
        input,=ctx.saved_tensors
        gi=g.clone(); gi[input<0]=0
        return gi
x=torch.tensor([-1.,0,2],requires_grad=True); y=CustomFunction.apply(x); print(y); y.sum().backward(); print(x.grad); print(y.grad_fn)
#---
x=torch.tensor([1.,2],requires_grad=True); y=(x*x).sum(); y.backward(); y.backward()
#---
x=torch.tensor([1.,2],requires_grad=True); y=(x*x).sum(); y.backward(retain_graph=True); y.backward(); print(x.grad)
#---
x=torch.tensor([1.,2],requires_grad=True); y=(x+1).mean(); y.backward(); y.backward(); print(x.grad)
#---
x=torch.tensor(1.,requires_grad=True); y1=x+1;y2=2*x; loss=(y1-y2)**2; y1.register_hook(lambda g: print('y1 grad: ',g)); y2.register_hook(lambda g: print('y2 grad: ',g)); loss.retain_grad(); loss.backward(); print(x.grad,loss.grad,f"{x.grad} {loss.grad}",y1.grad)
#---
x=torch.ones(2,requires_grad=True); y=x*1
y.requires_grad=True; print(y.requires_grad); y.requires_grad=False
#---
x=torch.ones(2,requires_grad=True); y=x*1; y.requires_grad_(False)
#---
x=torch.ones(2,requires_grad=True); x.grad=1.0
#---
x=torch.ones(2,requires_grad=True); x.grad=torch.ones(3)
#---
x=torch.ones(2,requires_grad=True); x.grad=x
#---
x=torch.ones(2,requires_grad=True); (x*2).backward()
#---
x=torch.ones(2,requires_grad=True); (x*2).backward(torch.ones(3))
#---
x=torch.tensor(3.,requires_grad=True); x.backward(); print(x.grad)
#---
x=torch.ones(2,requires_grad=True); y=x*2; y.sum().backward(inputs=[y]); print(y.grad,x.grad); y.sum().backward(inputs=[])
#---
x=torch.ones(2,requires_grad=True); z=torch.ones(2,requires_grad=True); torch.autograd.grad(x.sum(),[x,z])
#---
x=torch.ones(2,requires_grad=True); z=torch.ones(2,requires_grad=True); print(torch.autograd.grad(x.sum(),[x,z],allow_unused=True)); print(torch.autograd.grad(x.sum(),[x,z],materialize_grads=True)); print(torch.autograd.grad(x.sum(),{'a':x}))
#---
x=torch.ones(2,requires_grad=True); torch.autograd.grad(x.sum(),torch.ones(2))
#---
x=torch.ones(2,requires_grad=True); torch.autograd.grad([x.sum(),x.sum()],x,[torch.tensor(1.)])
#---
x=torch.ones(2,requires_grad=True); torch.autograd.grad(x.sum(),[])
#---
L=[]; x=torch.ones(1,requires_grad=True)
def h(n): return lambda g: L.append(n)
a=x*1;b=x*2;c=a*3;d=b*4;e=d*5;s=c+e
for n,t in zip('abcdes',(a,b,c,d,e,s)): t.register_hook(h(n))
s.backward(); print(L)
#---
p=torch.ones(1,requires_grad=True); w=torch.ones(1,requires_grad=True); L=[]
q=p+w;
w.register_post_accumulate_grad_hook(lambda t: L.append('w')); p.register_hook(lambda g: L.append('p')); p.register_post_accumulate_grad_hook(lambda t: L.append('pa')); q.backward(); print(sorted(L))
#---
x=torch.ones(3,requires_grad=True)
print((1-x).grad_fn,(x**2).grad_fn,(x**x).grad_fn,(2**x).grad_fn,(2/x).grad_fn,(2/x).grad_fn.next_functions[0][0],x.sum(0).grad_fn,x.max().grad_fn,x.exp().grad_fn,x.clamp(0,1).grad_fn,x.clone().grad_fn,x[0].grad_fn,x[1:].grad_fn,x[...].grad_fn,x[[0,1]].grad_fn,x[x>0].grad_fn, (-x).grad_fn, x.abs().grad_fn, torch.cat([x,x]).grad_fn, torch.stack([x,x]).grad_fn, torch.where(x>0,x,x).grad_fn, x.std().grad_fn,x.var().grad_fn,x.norm().grad_fn,x.prod().grad_fn,x.cumsum(0).grad_fn,x.double().grad_fn,x.softmax(0).grad_fn,x.log_softmax(0).grad_fn, x.repeat(2).grad_fn,x.split(1)[0].grad_fn,x.unbind()[0].grad_fn,x.masked_fill(x>0,1.).grad_fn,x.gather(0,torch.tensor([0])).grad_fn,x.sort()[0].grad_fn,x.topk(1)[0].grad_fn,torch.maximum(x,x).grad_fn,torch.logsumexp(x,0).grad_fn)
#---
x=torch.ones(3,3,requires_grad=True); v=torch.ones(3,requires_grad=True)
print((x@x).grad_fn,(x@v).grad_fn,(v@v).grad_fn,x.T.grad_fn,x.t().grad_fn,x.transpose(0,1).grad_fn,x.permute(1,0).grad_fn,x.sum(0).grad_fn,x.mean(0).grad_fn,x.max(0)[0].grad_fn,x.view(9).grad_fn,x.reshape(9).grad_fn,x.flatten().grad_fn,x[:,1:].grad_fn,x[0].grad_fn,x.unsqueeze(0).grad_fn,x.squeeze().grad_fn,x.expand(2,3,3).grad_fn,torch.linalg.inv(x+torch.eye(3)).grad_fn,x.tril().grad_fn, torch.bmm(x[None],x[None]).grad_fn)
#---
x=torch.ones(2,requires_grad=True); x.add_(1)
#---
x=torch.ones(2,requires_grad=True); x[0].add_(1)
#---
x=torch.ones(2,requires_grad=True)
with torch.no_grad(): x.add_(1)
print(x,x._version)
#---
x=torch.ones(2,requires_grad=True); y=x.exp(); y.add_(1); y.sum().backward()
#---
x=torch.ones(2,requires_grad=True); y=x*1; y.pow_(2); y.sum().backward(); print(x.grad); y=x*1; y*=y; y.sum().backward()
#---
x=torch.ones(2,requires_grad=True); y=x*1; y.sqrt_().exp_(); y.sum().backward()
#---
x=torch.ones(4,requires_grad=True); y=x.clone(); v=y[:1]; v.mul_(10); print(y,v._version,y._version,v._base is y,v._is_view(),v.grad_fn); print(y.grad_fn,y.grad_fn.name()); y.sum().backward(); print(x.grad)
#---
w=torch.ones(2,requires_grad=True); z=torch.zeros(4); z[:2]=w*2; print(z); z.sum().backward(); print(w.grad)
#---
x=torch.ones(4,requires_grad=True); y=x*1; a,b=y.chunk(2); a.add_(1)
#---
x=torch.ones(4,requires_grad=True); y=x*1
with torch.no_grad(): v=y[:2]
v.add_(1)
#---
x=torch.ones(1).expand(3); x.add_(1)
#---
y=torch.ones(4); y[1:]=y[:-1]
#---
y=torch.arange(4); y.add_(1.5)
#---
x=torch.ones(2,requires_grad=True); a=x*1; a.register_hook(lambda g: print(g)); a.retain_grad(); a.mul_(2); (a*3).sum().backward(); print(a.grad)
#---
torch.ones(2).register_hook(print)
#---
x=torch.ones(2,requires_grad=True); y=x*1; y.register_hook(lambda g: 1.0); y.sum().backward()
#---
x=torch.ones(2,requires_grad=True); y=x*1; y.register_hook(lambda g: torch.ones(3)); y.sum().backward()
#---
torch.ones(2).retain_grad()
#---
x=torch.ones(2,requires_grad=True); y=x*1; y.register_hook(lambda g: g*2); y.register_hook(lambda g: g*3); y.sum().backward(); print(x.grad)
#---
x=torch.tensor(2.,requires_grad=True); y=x**4
for i in range(4):
    y,=torch.autograd.grad(y,x,create_graph=True); print(y.item())
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x,n): return x*n
    @staticmethod
    def backward(ctx,g): return g
x=torch.ones(2,requires_grad=True); F.apply(x,2).sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x,n): return x*n
    @staticmethod
    def backward(ctx,g): return g, g
x=torch.ones(2,requires_grad=True); F.apply(x,2).sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return torch.ones(3)
x=torch.ones(2,requires_grad=True); F.apply(x).sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return 1.0
x=torch.ones(2,requires_grad=True); F.apply(x).sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
x=torch.ones(2,requires_grad=True); F.apply(x).sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_dirty(x); x.mul_(2); return x
    @staticmethod
    def backward(ctx,g): return g*2
x=torch.ones(2,requires_grad=True); y=x*1; z=F.apply(y); print(z is y, z.grad_fn, y.grad_fn); z.sum().backward(); print(x.grad)
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x):
        y=x.exp(); ctx.save_for_backward(x,y); return y, x*2
    @staticmethod
    def backward(ctx,g,h):
        x,y=ctx.saved_tensors; return g*y+h*2
x=torch.tensor(1.,requires_grad=True); a,b=F.apply(x); g,=torch.autograd.grad(a*b,x,create_graph=True); print(g); print(torch.autograd.grad(g,x))
#---
F=type('F',(torch.autograd.Function,),{}); F()(1)
#---
torch.manual_seed(0); x=torch.randn(2,2,requires_grad=True); y=x+2; z=y*y*3; out=z.mean(); print(out)
#---
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
model.train(); optimizer.zero_grad()
for i in range(8):
    output = model(torch.randn(1,10)); loss = criterion(output, torch.randn(1,1)); loss.backward()
    if (i+1)%4==0: optimizer.step(); optimizer.zero_grad()
print(loss, model.linear.weight.grad, model, optimizer)
print(model.linear.bias)
#---
p=torch.nn.Linear(2,3); o=p(torch.ones(4,2)); print(o.grad_fn, o.shape); (o*o).sum().backward(); n=torch.nn.utils.clip_grad_norm_(p.parameters(),0.5); print(n.shape, round(torch.nn.utils.clip_grad_norm_(p.parameters(),0.5).item(),4))
#---
F=torch.autograd.functional
f=lambda x: (x**3).sum(); g=lambda x,y: (x*y, x+y)
x=torch.tensor([1.,2.]); y=torch.tensor([3.,4.])
print(F.jacobian(lambda x: x**2,x)); print(F.hessian(f,x)); print(F.vjp(f,x)); print(F.jvp(lambda x:x**2,x,torch.ones(2))); print(F.hvp(f,x,torch.ones(2))); print(F.vhp(f,x,torch.ones(2)))
print(F.jacobian(g,(x,y))); print(F.hessian(lambda x,y:(x*y).sum(),(x,y)))
#---
torch.autograd.functional.jacobian(lambda x:x,[torch.ones(2)])
#---
x=torch.tensor([1.,2.])
f=lambda x:(x**3).sum()
print(torch.func.grad(f)(x)); print(torch.func.hessian(f)(x)); print(torch.func.jacrev(lambda x:x**2)(x)); print(torch.func.jacfwd(lambda x:x**2)(x)); print(torch.func.vmap(torch.func.grad(lambda x:x**3))(x)); print(torch.func.jvp(f,(x,),(torch.ones(2),))); print(torch.func.grad_and_value(f)(x)); o,fn=torch.func.vjp(f,x); print(o,fn(torch.tensor(1.)))
print(torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.)))
print(torch.func.vmap(lambda x,y: x@y)(torch.ones(3,2),torch.ones(3,2)))
#---
x=torch.tensor([1.,2.]); torch.func.grad(lambda x:x)(x)
#---
fwAD=torch.autograd.forward_ad
with fwAD.dual_level():
    d=fwAD.make_dual(torch.tensor([1.,2.]),torch.tensor([1.,0.])); o=d**2; print(fwAD.unpack_dual(o).tangent)
print(fwAD.unpack_dual(o).tangent)
#---
x=torch.tensor([1.,2.],dtype=torch.float64,requires_grad=True)
print(torch.autograd.gradcheck(lambda x:x**3,(x,)),torch.autograd.gradgradcheck(lambda x:x**3,(x,)))
#---
with torch.autograd.detect_anomaly():
    x=torch.tensor([0.],requires_grad=True); y=(x.sqrt()*0).sum(); y.backward()
#---
L=[]
with torch.autograd.graph.saved_tensors_hooks(lambda t:(L.append('p'),t)[1],lambda t:(L.append('u'),t)[1]):
    x=torch.ones(2,requires_grad=True); y=(x*x).exp().sum()
y.backward(); print(L,x.grad)
#---
n=[0]
def f(x): n[0]+=1; return (x*x).sin()
import importlib
x=torch.ones(2,requires_grad=True); y=torch.utils.checkpoint.checkpoint(f,x,use_reentrant=False).sum(); y.backward(); print(n,x.grad)
#---
x=torch.ones(2,requires_grad=True); y=x*1
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    z=y*y; y.add_(1); z.sum().backward(); print(x.grad)
#---
@torch.no_grad()
def f(x): return x*2
@torch.no_grad
def g(x): return x*2
x=torch.ones(1,requires_grad=True); print(f(x).requires_grad,g(x).requires_grad)
@torch.no_grad()
def gen():
    yield x*2
    yield torch.is_grad_enabled()
for v in gen(): print(v, torch.is_grad_enabled())
torch.set_grad_enabled(False); print((x*2).requires_grad); torch.set_grad_enabled(True)
with torch.inference_mode(): y=x*2; print(y.is_inference(),y.requires_grad)
z=y*x
#---
t1=torch.tensor([3.,1.,2.]); print(t1.max(0)); print(t1.sort()); print(t1.topk(2)); print(t1.median(),t1.min(dim=0).indices,t1.argmax(),t1.max())
#---
print(torch.ones(2)*torch.tensor(2.,dtype=torch.float64), torch.tensor([1,2])*2.5, torch.tensor([1,2])/torch.tensor([2,2]), torch.tensor([True])+torch.tensor([True]), torch.tensor([1],dtype=torch.uint8)-3, torch.tensor([7])//2, torch.tensor([-7])%3, torch.fmod(torch.tensor([-7.]),3), torch.tensor([1,2],dtype=torch.int32).sum())
#---
torch.ones(3)+torch.ones(2)
#---
torch.ones(2,3)@torch.ones(2,3)
#---
torch.tensor([1,2]).mean()
#---
x=torch.ones(2,requires_grad=True); x.numpy()
#---
import copy, pickle
x=torch.ones(2,requires_grad=True); y=copy.deepcopy(x); print(y,y is x); copy.deepcopy(x*2)
#---
x=torch.zeros(3); idx=torch.tensor([0,0,1]); print(x.index_add(0,idx,torch.ones(3)), x.scatter_add(0,idx,torch.ones(3)), x.scatter(0,torch.tensor([1]),5.), torch.gather(torch.tensor([[1.,2],[3,4]]),1,torch.tensor([[0],[1]])))
x[idx]=2.; x[x==0]=7; print(x); x[1:]*=2; print(x); print(x[None].shape,x[...,0],x[-1],torch.nonzero(x))
#---
x=torch.arange(6).reshape(2,3); print(x.T,x.flip(0),x.roll(1,1),x.sum(1),x.sum(1,keepdim=True),x.float().mean((0,1)),x.view(-1)[2:],x.permute(1,0).is_contiguous(),x.stride(),x.unsqueeze(0).size())
#---
a=torch.ones(2,requires_grad=True); b=torch.tensor([a.sum()*2,a.sum()*3]) if False else torch.stack([a.sum()*2,a.sum()*3]); b.sum().backward(); print(a.grad)
#---
x=torch.ones(2,requires_grad=True); y=x.exp(); g,=torch.autograd.grad(y,x,torch.eye(2),is_grads_batched=True); print(g)
#---
x=torch.ones(2,requires_grad=True); a=x*2;b=x*3; L=[]
h=torch.autograd.graph.register_multi_grad_hook([a,b],lambda gs: L.append([None if g is None else g.tolist() for g in gs])); (a+b).sum().backward(); print(L); a2=x*2
#---
x=torch.ones(2,requires_grad=True); y=x*2; n=y.grad_fn; n.register_hook(lambda gi,go: print(gi,go)); n.register_prehook(lambda go: (go[0]*3,)); y.sum().backward(); print(x.grad)
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x**2
    @staticmethod
    def backward(ctx,g): return g
torch.func.grad(lambda x: F.apply(x).sum())(torch.ones(2))
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.set_materialize_grads(False); return x*2, x*3
    @staticmethod
    def backward(ctx,a,b): print(a,b); return a*2
x=torch.ones(2,requires_grad=True); F.apply(x)[0].sum().backward(); print(x.grad)
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): y=x*2; z=x*3; ctx.mark_non_differentiable(z); return y,z
    @staticmethod
    def backward(ctx,a,b): print(a,b); return a*2
x=torch.ones(2,requires_grad=True); y,z=F.apply(x); print(y.requires_grad,z.requires_grad); y.sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): y=x*1; ctx.mark_dirty(x); return y
    @staticmethod
    def backward(ctx,a): return a
F.apply(torch.ones(2,requires_grad=True)*1)
#---
from_once=torch.autograd.function.once_differentiable
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x**2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx,g): return g*2*ctx.saved_tensors[0]
x=torch.ones(2,requires_grad=True); g,=torch.autograd.grad((F.apply(x)**2).sum(),x,create_graph=True); print(g.requires_grad); g.sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(3); return x
    @staticmethod
    def backward(ctx,g): return g
F.apply(torch.ones(2,requires_grad=True))
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x**2
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return 2*x*g
x=torch.ones(2,requires_grad=True); y=F.apply(x); y.sum().backward(); y.grad_fn.saved_tensors
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x**2
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return 2*x*g
x=torch.ones(2,requires_grad=True); y=x*1; z=F.apply(y); y.add_(1); z.sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x,y): return x*y
    @staticmethod
    def backward(ctx,g): print(ctx.needs_input_grad); return g.expand(3,2), None
x=torch.ones(2,requires_grad=True); F.apply(x,torch.ones(2)).sum().backward(); print(x.grad)
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): raise KeyError('mine')
F.apply(torch.ones(2,requires_grad=True)).sum().backward()
#---
x=torch.ones(2,requires_grad=True); y=x.exp(); print(y.grad_fn._saved_result); y.sum().backward(); y.grad_fn._saved_result
#---
x=torch.ones(2,requires_grad=True); y=x*x; print(y.grad_fn._saved_self, y.grad_fn._saved_other)
#---
x=torch.ones(2,requires_grad=True); y=x*1; e=torch.autograd.graph.get_gradient_edge(y); z=(y*2).sum(); print(e.node, e.output_nr, torch.autograd.grad(z,e))
#---
x=torch.ones(2,requires_grad=True); acc=(x*1).grad_fn.next_functions[0][0]; print(acc, acc.variable is x, acc.name())
#---
x=torch.ones(3,requires_grad=True); a,b,c=x.unbind(); print(a.grad_fn, a.grad_fn is b.grad_fn, b.output_nr); (a*2+c).backward(); print(x.grad)
#---
x=torch.ones(2,requires_grad=True); n=(x*2).grad_fn; print(n==n, isinstance(n,torch.autograd.graph.Node)); n.metadata['a']=1; print(n.metadata)
#---
with torch.no_grad(): x=torch.ones(2,requires_grad=True); print(x.requires_grad,x.is_leaf)
#---
x=torch.ones(2,requires_grad=True); y=x[0:1]; torch.autograd.grad(x.sum(),y)
#---
x=torch.ones(2,requires_grad=True); y=x*2; y.detach_(); print(y.requires_grad,y.grad_fn); (x*2)[0].detach_()
#---
x=torch.ones(2,requires_grad=True); x.data=torch.zeros(3); print(x,x.shape); x.sum().backward(); print(x.grad)
#---
x=torch.ones(2,requires_grad=True); x.grad=torch.ones(2); a=x.grad; (x*2).sum().backward(); print(a, a is x.grad); del x.grad; print(x.grad)
#---
x=torch.ones(2,requires_grad=True); y=torch.ones(2,requires_grad=True); (x+y).sum().backward(); x.grad.add_(5); print(y.grad)
#---
g=torch.ones(2); x=torch.ones(2,requires_grad=True); (x*1).backward(g); x.grad.add_(5); print(g)
#---
x=torch.ones(2,requires_grad=True); h=x.register_hook(lambda g: g*2); x.sum().backward(); h.remove(); x.sum().backward(); print(x.grad)
#---
x=torch.ones(2,requires_grad=True); L=[]; x.register_post_accumulate_grad_hook(lambda p: L.append(p.grad.clone())); (x*2).sum().backward(); print(L); (x*1).register_post_accumulate_grad_hook(print)
#---
x=torch.tensor([1.,2.,3.]); x+=1; x*=2; x-=1; x/=2; x**=2; print(x); y=torch.arange(3); y//=2; y+=1; print(y); y/=2
#---
x=torch.ones(2,requires_grad=True); print(torch.tensor([1.]).requires_grad, x.clone().requires_grad, x.detach().is_leaf, (x*1).is_leaf, torch.ones(2).is_leaf)
#---
torch.tensor([1,2],requires_grad=True)
#---
torch.ones(2,dtype=torch.int64).requires_grad_()
#---
x=torch.ones(2,2); bool(x)
#---
x=torch.ones(2,2); x.item()
#---
for v in torch.tensor(1.): pass
#---
len(torch.tensor(1.))
#---
print(torch.tensor([1,2,3])[torch.tensor([True,False,True])], torch.tensor([3.])==None, 2 in torch.tensor([1,2]), int(torch.tensor(3)), float(torch.tensor(2.5)), [1,2,3][torch.tensor(1)])
#---
torch.ones(3)[::-1]
#---
torch.ones(3)[5]
#---
torch.ones(2,3).sum(2)
#---
torch.ones(2,3).view(4)
#---
torch.ones(2).expand(3)
#---
x=torch.ones(3,4); print(x.t().is_contiguous(), x.t().contiguous().is_contiguous(), x.stride(), x.t().stride(), x.storage_offset() if hasattr(x,'storage_offset') else 0); x.t().view(12)
#---
x=torch.arange(4.); v=x.view(2,2); v[0,0]=9; print(x, x.data_ptr()==v.data_ptr(), v._base is x)
#---
x=torch.ones(2,requires_grad=True); y=x.float(); print(y is x, x.double().grad_fn, x.to(torch.float32) is x, x.contiguous() is x)
#---
print(torch.result_type(torch.ones(2,dtype=torch.int32),2.5), torch.promote_types(torch.int32,torch.float16), torch.ones(2,dtype=torch.float16)*torch.ones(2,dtype=torch.int64), torch.can_cast(torch.float32,torch.int32))
#---
f=torch.autograd.functional
print(f.vjp(lambda x:x**2,torch.ones(2),torch.ones(2))); f.vjp(lambda x:x**2,torch.ones(2))
#---
torch.autograd.functional.hessian(lambda x:x,torch.ones(2))
#---
torch.autograd.functional.jacobian(lambda x:torch.ones(2),torch.ones(2),strict=True)
#---
torch.autograd.gradcheck(lambda x: x.detach()*x,(torch.ones(2,dtype=torch.float64,requires_grad=True),))
#---
torch.autograd.gradcheck(lambda x: x,(torch.ones(2,dtype=torch.float64),))
#---
with torch.autograd.detect_anomaly(check_nan=False):
    x=torch.tensor([0.],requires_grad=True); (x.sqrt()*0).sum().backward(); print(x.grad)
with torch.autograd.set_detect_anomaly(True): x=torch.tensor([-1.],requires_grad=True); x.log().sum().backward(); print(x.grad)
#---
with torch.autograd.graph.disable_saved_tensors_hooks("no"):
    with torch.autograd.graph.saved_tensors_hooks(lambda x:x,lambda x:x): pass
#---
x=torch.ones(2,requires_grad=True); y=torch.utils.checkpoint.checkpoint(lambda x:x*x,x,use_reentrant=True); torch.autograd.grad(y.sum(),x)
#---
x=torch.ones(2,requires_grad=True); y=torch.utils.checkpoint.checkpoint(lambda x:x*x,x); y.sum().backward(); print(x.grad)
#---
w=torch.tensor(3.,requires_grad=True)
x=torch.ones(2,requires_grad=True); y=torch.utils.checkpoint.checkpoint(lambda x:x*w,x,use_reentrant=False); y.sum().backward(); print(x.grad,w.grad)
#---
with torch.inference_mode(): x=torch.ones(2)
x.requires_grad_()
#---
with torch.inference_mode(): x=torch.ones(2); y=x*2; y.add_(1)
y.add_(1)
#---
with torch.inference_mode(): y=torch.ones(2)*2
x=torch.ones(2,requires_grad=True); print(x+y)
y._version
#---
print(torch.func.vmap(lambda x,y:x+y,in_dims=(0,None))(torch.ones(2,2),torch.ones(2)), torch.func.vmap(lambda x:x.sum(),in_dims=1)(torch.ones(2,3)), torch.func.vmap(lambda x:x,out_dims=1)(torch.ones(2,3)).shape)
#---
o,a=torch.func.grad(lambda x:(x.sum(),x*2),has_aux=True)(torch.ones(2)); print(o,a); print(torch.func.grad(lambda x,y:(x*y).sum(),argnums=(0,1))(torch.ones(2),torch.ones(2)*3)); print(torch.func.grad(lambda d:(d['a']**2).sum())({'a':torch.ones(2)}))
#---
m=torch.nn.Linear(2,1); p=dict(m.named_parameters()); print(torch.func.functional_call(m,{'weight':torch.ones(1,2),'bias':torch.zeros(1)},(torch.ones(2),)))
#---
m=torch.nn.Linear(2,1); sd=m.state_dict(); print(list(sd), m.load_state_dict(sd)); m.load_state_dict({'weight':torch.ones(1,2)})
#---
class M(torch.nn.Module):
    def __init__(self): self.l=torch.nn.Linear(1,1)
M()
#---
m=torch.nn.Linear(2,1); m.weight=torch.ones(1,2)
#---
torch.optim.SGD([],lr=.1)
#---
torch.optim.SGD([torch.ones(2,requires_grad=True)*2],lr=.1)
#---
torch.optim.SGD(torch.ones(2),lr=.1)
#---
w=torch.tensor([1.,-2.],dtype=torch.float64,requires_grad=True)
for kw in ({},{'momentum':.9},{'momentum':.9,'nesterov':True},{'weight_decay':.1}):
    w=torch.tensor([1.,-2.],dtype=torch.float64,requires_grad=True); o=torch.optim.SGD([w],lr=.1,**kw)
    for i in range(5): o.zero_grad(); ((w**2).sum()+w[0]*w[1]).backward(); o.step()
    print(w)
#---
m=torch.nn.Sequential(torch.nn.Linear(2,3),torch.nn.ReLU(),torch.nn.Linear(3,1)); print(m, [n for n,_ in m.named_parameters()], m[0], len(m)); m.register_forward_hook(lambda m,i,o: print('hook',o.shape)); m(torch.ones(4,2))
#---
l=torch.nn.Linear(2,1); l.register_full_backward_hook(lambda m,gi,go: print(gi[0].shape if gi[0] is not None else None,go[0].shape)); x=torch.ones(3,2,requires_grad=True); l(x).sum().backward()
#---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_forward(x); return x**2
    @staticmethod
    def backward(ctx,g): return g
    @staticmethod
    def jvp(ctx,t): x,=ctx.saved_tensors; return 2*x*t
fw=torch.autograd.forward_ad
with fw.dual_level(): print(fw.unpack_dual(F.apply(fw.make_dual(torch.tensor([3.]),torch.tensor([1.])))).tangent)
"""


@pytest.mark.parametrize("program", [p.strip("\n") for p in PROGRAMS.split("\n#---\n")])
def test_prints_the_same(program: str, same: Callable[[str], None]) -> None:
    same(program)
