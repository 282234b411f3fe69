"""The neural tangent kernel by Jacobians, and by products with them."""

import torch
import torch.nn as nn
from torch.func import functional_call, jacrev, jvp, vjp, vmap

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
params = {k: v.detach() for k, v in net.named_parameters()}
f = lambda params, x: functional_call(net, params, (x.unsqueeze(0),)).squeeze(0)
x1, x2 = torch.randn(3, 4), torch.randn(2, 4)
jac1 = [j.flatten(2) for j in vmap(jacrev(f), (None, 0))(params, x1).values()]
jac2 = [j.flatten(2) for j in vmap(jacrev(f), (None, 0))(params, x2).values()]
kernel = torch.stack([torch.einsum("Naf,Mbf->NMab", a, b) for a, b in zip(jac1, jac2)]).sum(0)


def by_products(x1, x2):
    _, pull = vjp(lambda p: f(p, x1), params)
    push = lambda v: jvp(lambda p: f(p, x2), (params,), pull(v))[1]
    return vmap(push)(torch.eye(2))


again = vmap(vmap(by_products, (None, 0)), (0, None))(x1, x2)
print(kernel.shape, torch.allclose(kernel, again, atol=1e-5), kernel[0, 0], kernel.norm())
