"""A linear chain over tags in batches with masks, and capsules that agree by routing."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class CRF(nn.Module):
    def __init__(self, n, batch_first=False):
        super().__init__()
        self.n = n
        self.start, self.end = (nn.Parameter(torch.empty(n)), nn.Parameter(torch.empty(n)))
        self.trans = nn.Parameter(torch.empty(n, n))
        for p in self.parameters():
            nn.init.uniform_(p, -0.1, 0.1)

    def forward(self, em, tags, mask):
        return (self._score(em, tags, mask) - self._norm(em, mask)).sum() / mask.float().sum()

    def _score(self, em, tags, mask):
        L, B = tags.shape
        mask = mask.float()
        score = self.start[tags[0]]
        score += em[0, torch.arange(B), tags[0]]
        for i in range(1, L):
            score += self.trans[tags[i - 1], tags[i]] * mask[i]
            score += em[i, torch.arange(B), tags[i]] * mask[i]
        ends = mask.long().sum(dim=0) - 1
        return score + self.end[tags[ends, torch.arange(B)]]

    def _norm(self, em, mask):
        score = self.start + em[0]
        for i in range(1, em.size(0)):
            nxt = torch.logsumexp(score.unsqueeze(2) + self.trans + em[i].unsqueeze(1), dim=1)
            score = torch.where(mask[i].unsqueeze(1), nxt, score)
        return torch.logsumexp(score + self.end, dim=1)

    def decode(self, em, mask):
        score, history = (self.start + em[0], [])
        for i in range(1, em.size(0)):
            nxt, idx = (score.unsqueeze(2) + self.trans + em[i].unsqueeze(1)).max(dim=1)
            score = torch.where(mask[i].unsqueeze(1), nxt, score)
            history.append(idx)
        score += self.end
        ends, best = (mask.long().sum(dim=0) - 1, [])
        for b in range(em.size(1)):
            tags = [score[b].max(dim=0)[1].item()]
            for h in reversed(history[: ends[b]]):
                tags.append(h[b][tags[-1]].item())
            best.append(tags[::-1])
        return best


torch.manual_seed(0)
crf, lin = (CRF(4), nn.Linear(5, 4))
x, tags = (torch.randn(6, 3, 5), torch.randint(4, (6, 3)))
mask = torch.arange(6)[:, None] < torch.tensor([6, 4, 2])[None]
opt = torch.optim.Adam([*crf.parameters(), *lin.parameters()], 0.05)
for _ in range(3):
    loss = -crf(lin(x), tags, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item(), crf.trans.grad.norm().item())
with torch.no_grad():
    print(crf.decode(lin(x), mask))


def squash(x, dim=-1):
    n = (x**2).sum(dim=dim, keepdim=True)
    return n / (1 + n) * x / (n.sqrt() + 1e-08)


class Capsules(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 5)
        self.prim = nn.ModuleList([nn.Conv2d(8, 4, 3, 2) for _ in range(2)])
        self.W = nn.Parameter(0.1 * torch.randn(1, 16, 3, 6, 2))

    def forward(self, x):
        x = F.relu(self.conv(x))
        u = squash(torch.stack([p(x) for p in self.prim], dim=-1).reshape(x.size(0), -1, 2))[:, :16]
        uh = torch.matmul(self.W, u[:, :, None, :, None]).squeeze(-1)
        b = torch.zeros(*uh.shape[:3], 1)
        for it in range(3):
            c = F.softmax(b, dim=2)
            v = squash((c * uh).sum(dim=1, keepdim=True))
            if it < 2:
                b = b + (uh.detach() * v).sum(-1, keepdim=True)
        return v.squeeze(1).norm(dim=-1)


net = Capsules()
opt = torch.optim.Adam(net.parameters(), 0.01)
x, y = (torch.rand(4, 1, 10, 10), torch.eye(3).index_select(dim=0, index=torch.tensor([0, 1, 2, 0])))
for _ in range(2):
    p = net(x)
    loss = (y * F.relu(0.9 - p) ** 2 + 0.5 * (1 - y) * F.relu(p - 0.1) ** 2).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
