"""A gated recurrence whose gates depend on the input alone, in sequence and by a scan in logarithms."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def positive(x):
    return torch.where(x >= 0, x + 0.5, x.sigmoid())


def log_positive(x):
    return torch.where(x >= 0, (F.relu(x) + 0.5).log(), -F.softplus(-x))


class Recurrence(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.both = nn.Linear(dim, 2 * hidden, bias=False)
        self.out = nn.Linear(hidden, dim, bias=False) if hidden != dim else nn.Identity()

    def forward(self, x, parallel=True):
        h, gate = self.both(x).chunk(2, dim=-1)
        if parallel:
            log_coeffs = -F.softplus(gate)
            log_values = -F.softplus(-gate) + log_positive(h)
            a_star = log_coeffs.cumsum(dim=1)
            return self.out((a_star + (log_values - a_star).logcumsumexp(dim=1)).exp())
        state, outs = (torch.zeros_like(h[:, 0]), [])
        for t in range(x.shape[1]):
            state = torch.lerp(state, positive(h[:, t]), gate[:, t].sigmoid())
            outs.append(state)
        return self.out(torch.stack(outs, dim=1))


torch.manual_seed(0)
net = Recurrence(4, 6)
x = torch.randn(2, 7, 4)
a, b = (net(x), net(x, parallel=False))
print(torch.allclose(a, b, atol=1e-05), a.sum().item())
opt = torch.optim.AdamW(net.parameters(), lr=0.01, betas=(0.9, 0.95))
for step in range(5):
    loss = F.mse_loss(net(x), x.roll(-1, 1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    print(step, loss.item(), norm.item())
