"""Jacobians, Hessians and products with them."""

import torch
import torch.nn.functional as F
from torch.func import hessian, jacfwd, jacrev, jvp, vjp, vmap

torch.manual_seed(0)
weight, bias, x = torch.randn(3, 3), torch.randn(3), torch.randn(3)
predict = lambda weight, bias, x: F.linear(x, weight, bias).tanh()
xp = x.clone().requires_grad_()
rows = [torch.autograd.grad(predict(weight, bias, xp), xp, v)[0] for v in torch.eye(3)]
_, pull = vjp(lambda x: predict(weight, bias, x), x)
(batched,) = vmap(pull)(torch.eye(3))
print(
    torch.allclose(torch.stack(rows), batched),
    torch.allclose(batched, jacrev(predict, argnums=2)(weight, bias, x)),
)
w, b = jacrev(predict, argnums=(0, 1))(weight, bias, x)
print(w.shape, b, jacfwd(predict, argnums=2)(weight, bias, x))
h = hessian(predict, argnums=2)(weight, bias, x)
print(
    h.shape,
    torch.allclose(h, jacrev(jacrev(predict, argnums=2), argnums=2)(weight, bias, x), atol=1e-6),
    h.sum(),
)
print(torch.autograd.functional.hessian(lambda x: predict(weight, bias, x).sum(), x))
print(
    vmap(jacrev(lambda x: predict(weight, bias, x)))(torch.randn(2, 3)).shape,
    jvp(lambda x: x.sin(), (x,), (torch.ones(3),))[1],
)
