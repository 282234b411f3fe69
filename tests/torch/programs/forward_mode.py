"""Forward mode: dual numbers, modules with tangents, custom functions, jvp."""

import torch
import torch.autograd.forward_ad as fwAD

torch.manual_seed(0)
primal, tangent = torch.randn(4, 4), torch.randn(4, 4)
fn = lambda x, y: x**2 + y**2
with fwAD.dual_level():
    dual = fwAD.make_dual(primal, tangent)
    assert fwAD.unpack_dual(dual).tangent is tangent
    print(fwAD.unpack_dual(fn(dual, torch.ones(4, 4))).tangent.sum())
assert fwAD.unpack_dual(fn(dual, primal)).tangent is None
model = torch.nn.Linear(4, 3)
params = {name: p for name, p in model.named_parameters()}
tangents = {name: torch.rand_like(p) for name, p in params.items()}
with fwAD.dual_level():
    for name, p in params.items():
        delattr(model, name)
        setattr(model, name, fwAD.make_dual(p, tangents[name]))
    out = model(primal)
    jvp = fwAD.unpack_dual(out).tangent
print(jvp.sum().item())


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, foo):
        result = torch.exp(foo)
        ctx.result = result
        return result

    @staticmethod
    def jvp(ctx, gI):
        return gI * ctx.result


x = torch.linspace(0, 1, 3, dtype=torch.double)
with fwAD.dual_level():
    print(fwAD.unpack_dual(Fn.apply(fwAD.make_dual(x, torch.ones_like(x)))).tangent)
print(torch.func.jvp(lambda x: x.pow(2).cumsum(0), (x,), (x,)))
