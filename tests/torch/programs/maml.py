"""Learning to learn: a gradient through steps of gradient descent."""

import torch
from torch.func import grad, vmap


def net(x, p):
    for w, b in zip(p[::2], p[1::2]):
        x = torch.tanh(x @ w + b)
    return x


torch.manual_seed(0)
params = [torch.randn(1, 8), torch.zeros(8), torch.randn(8, 1) / 3, torch.zeros(1)]
for p in params:
    p.requires_grad_()
optimizer = torch.optim.Adam(params, lr=1e-2)
mse = lambda x, y: ((x - y) ** 2).mean()


def task(amplitude, phase):
    x = torch.linspace(-2, 2, 10)[:, None]
    y = amplitude * torch.sin(x + phase)
    inner = grad(lambda p: mse(net(x[::2], p), y[::2]))(tuple(params))
    adapted = [p - 0.1 * g for p, g in zip(params, inner)]
    return mse(net(x[1::2], adapted), y[1::2])


for step in range(4):
    losses = vmap(task)(torch.rand(5), torch.rand(5))
    optimizer.zero_grad()
    losses.mean().backward()
    optimizer.step()
    print(step, losses.mean().item())
x = torch.tensor([1.5], requires_grad=True)
inner = x
for _ in range(3):
    (g,) = torch.autograd.grad((inner**4).sum(), inner, create_graph=True)
    inner = inner - 0.01 * g
print(torch.autograd.grad((inner**2).sum(), x))
