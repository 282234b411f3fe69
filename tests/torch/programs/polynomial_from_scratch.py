"""A cubic fitted to a sine: by hand, by autograd, by a Function, by modules and an optimizer."""

import math

import torch

x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
torch.manual_seed(1)
a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
for _ in range(200):
    loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c, d):
            p -= 1e-6 * p.grad
            p.grad = None
print(f"{a.item():.4f} {b.item():.4f} {c.item():.4f} {d.item():.4f} {loss.item():.3f}")


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


e, f = torch.full((), -1.0, requires_grad=True), torch.full((), 0.3, requires_grad=True)
loss = (e * LegendrePolynomial3.apply(f * x) - y).pow(2).sum()
loss.backward()
print(e.grad, f.grad)
powers = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for _ in range(100):
    loss = torch.nn.MSELoss(reduction="sum")(model(powers), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), model[0].bias.item())
