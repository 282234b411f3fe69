"""Soft actor and critics: squashed Gaussian policy, twin critics, targets that follow slowly, learnt temperature."""

import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions.normal import Normal


def mlp(sizes, activation, output=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[j], sizes[j + 1]), (activation if j < len(sizes) - 2 else output)()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, obs, act, limit):
        super().__init__()
        self.net = mlp([obs, 16, 16], nn.ReLU, nn.ReLU)
        self.mu, self.log_std, self.limit = (nn.Linear(16, act), nn.Linear(16, act), limit)

    def forward(self, obs, deterministic=False):
        h = self.net(obs)
        mu, log_std = (self.mu(h), torch.clamp(self.log_std(h), -20, 2))
        pi = Normal(mu, torch.exp(log_std))
        u = mu if deterministic else pi.rsample()
        logp = pi.log_prob(u).sum(axis=-1)
        logp -= (2 * (torch.log(torch.tensor(2.0)) - u - F.softplus(-2 * u))).sum(axis=1)
        return (self.limit * torch.tanh(u), logp)


torch.manual_seed(2)
actor = Actor(3, 2, 1.5)
q1, q2 = (mlp([5, 16, 1], nn.ReLU), mlp([5, 16, 1], nn.ReLU))
t1, t2 = (copy.deepcopy(q1), copy.deepcopy(q2))
for p in [*t1.parameters(), *t2.parameters()]:
    p.requires_grad = False
log_alpha = torch.zeros(1, requires_grad=True)
pi_opt = torch.optim.Adam(actor.parameters(), lr=0.001)
q_opt = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=0.001)
a_opt = torch.optim.Adam([log_alpha], lr=0.003)
for step in range(4):
    o, o2, a, r, d = (
        torch.randn(8, 3),
        torch.randn(8, 3),
        torch.rand(8, 2) * 2 - 1,
        torch.randn(8),
        torch.zeros(8),
    )
    with torch.no_grad():
        a2, logp2 = actor(o2)
        target = torch.min(t1(torch.cat([o2, a2], -1)), t2(torch.cat([o2, a2], -1))).squeeze(-1)
        backup = r + 0.99 * (1 - d) * (target - log_alpha.exp() * logp2)
    loss_q = ((q1(torch.cat([o, a], -1)).squeeze(-1) - backup) ** 2).mean() + (
        (q2(torch.cat([o, a], -1)).squeeze(-1) - backup) ** 2
    ).mean()
    q_opt.zero_grad()
    loss_q.backward()
    q_opt.step()
    for p in [*q1.parameters(), *q2.parameters()]:
        p.requires_grad = False
    pi, logp = actor(o)
    loss_pi = (
        log_alpha.exp().detach() * logp
        - torch.min(q1(torch.cat([o, pi], -1)), q2(torch.cat([o, pi], -1))).squeeze(-1)
    ).mean()
    pi_opt.zero_grad()
    loss_pi.backward()
    pi_opt.step()
    for p in [*q1.parameters(), *q2.parameters()]:
        p.requires_grad = True
    alpha_loss = -(log_alpha * (logp + -2.0).detach()).mean()
    a_opt.zero_grad()
    alpha_loss.backward()
    a_opt.step()
    with torch.no_grad():
        for q, t in ((q1, t1), (q2, t2)):
            for p, pt in zip(q.parameters(), t.parameters()):
                pt.data.mul_(0.995)
                pt.data.add_(0.005 * p.data)
    print(step, loss_q.item(), loss_pi.item(), alpha_loss.item(), log_alpha)
print(actor(torch.zeros(1, 3), deterministic=True), next(t1.parameters()).sum())
