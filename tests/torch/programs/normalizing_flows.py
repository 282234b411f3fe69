"""Coupling layers with masks, and a planar flow, trained by maximum likelihood."""

import torch
from torch import nn
from torch.distributions import MultivariateNormal, TransformedDistribution, Normal, Independent
from torch.distributions.transforms import (
    AffineTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    ComposeTransform,
)


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super().__init__()
        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s, t = (self.s[i](x_) * (1 - self.mask[i]), self.t[i](x_) * (1 - self.mask[i]))
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = (x.new_zeros(x.shape[0]), x)
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s, t = (self.s[i](z_) * (1 - self.mask[i]), self.t[i](z_) * (1 - self.mask[i]))
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return (z, log_det_J)

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, n):
        return self.g(self.prior.sample((n,)))


torch.manual_seed(3)
nets = lambda: nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2), nn.Tanh())
nett = lambda: nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2))
masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]] * 2)
flow = RealNVP(nets, nett, masks, MultivariateNormal(torch.zeros(2), torch.eye(2)))
opt = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=0.01)
x = torch.randn(32, 2) * torch.tensor([0.3, 1.0]) + torch.tensor([1.0, -1.0])
for t in range(4):
    loss = -flow.log_prob(x).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print(t, loss.item())
print(flow.sample(3), flow.f(flow.g(x[:2]))[0] - x[:2] < 0.0001)
base = Normal(torch.tensor(0.2), torch.tensor(1.3))
loc = torch.tensor(0.5, requires_grad=True)
d = TransformedDistribution(base, [AffineTransform(loc, 2.0), TanhTransform()])
v = d.rsample((3,))
d.log_prob(v.detach()).sum().backward()
print(v, loc.grad)
d2 = TransformedDistribution(
    Independent(Normal(torch.zeros(3), 1.0), 1),
    ComposeTransform([ExpTransform(), AffineTransform(1.0, torch.tensor([1.0, 2.0, 3.0]))]),
)
print(d2.log_prob(torch.tensor([1.5, 2.5, 4.0])), d2.event_shape, d2.batch_shape)
print(
    SigmoidTransform().inv(torch.tensor(0.3)),
    SigmoidTransform().log_abs_det_jacobian(torch.tensor(0.4), torch.tensor(0.4).sigmoid()),
)
