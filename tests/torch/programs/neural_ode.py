"""An ordinary differential equation with a learnt slope: by steps through the graph, and by the adjoint."""

import torch
import torch.nn as nn


class Slope(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def rk4(f, t, dt, y):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt * k1 / 2)
    k3 = f(t + dt / 2, y + dt * k2 / 2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6


def odeint(f, y, ts):
    ys = [y]
    for a, b in zip(ts[:-1], ts[1:]):
        ys.append(rk4(f, a, b - a, ys[-1]))
    return torch.stack(ys)


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, y, ts, flat):
        ctx.f = f
        with torch.no_grad():
            ys = odeint(f, y, ts)
        ctx.save_for_backward(ts, ys, flat)
        return ys

    @staticmethod
    def backward(ctx, grad):
        f, (ts, ys, flat) = (ctx.f, ctx.saved_tensors)
        params = tuple(f.parameters())
        a, gp = (torch.zeros_like(ys[-1]), torch.zeros_like(flat))
        for i in range(len(ts) - 1, 0, -1):
            a = a + grad[i]
            with torch.enable_grad():
                y = ys[i - 1].detach().requires_grad_(True)
                out = rk4(f, ts[i - 1], ts[i] - ts[i - 1], y)
                ga, *gs = torch.autograd.grad(out, (y,) + params, a, allow_unused=True)
            a = ga
            gp += torch.cat(
                [torch.zeros_like(p).reshape(-1) if g is None else g.reshape(-1) for p, g in zip(params, gs)]
            )
        return (None, a + grad[0], None, gp)


torch.manual_seed(0)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
ts = torch.linspace(0.0, 1.0, 6)
y0 = torch.tensor([[2.0, 0.0]])
with torch.no_grad():
    true_y = odeint(lambda t, y: torch.mm(y**3, true_A), y0, ts)
f = Slope()
opt = torch.optim.RMSprop(f.parameters(), lr=0.001)
for it in range(4):
    opt.zero_grad()
    loss = torch.mean(torch.abs(odeint(f, y0, ts) - true_y))
    loss.backward()
    opt.step()
    print(it, loss.item())
opt.zero_grad()
flat = torch.cat([p.reshape(-1) for p in f.parameters()])
torch.mean((Adjoint.apply(f, y0, ts, flat) - true_y) ** 2).backward()
g1 = [p.grad.clone() for p in f.parameters()]
opt.zero_grad()
torch.mean((odeint(f, y0, ts) - true_y) ** 2).backward()
print([torch.allclose(a, p.grad, atol=1e-05) for a, p in zip(g1, f.parameters())], g1[0].norm())
