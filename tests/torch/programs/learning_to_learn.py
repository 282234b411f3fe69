"""Learning to learn: steps through steps, Reptile, prototypes, and an optimizer that is learnt."""

from collections import OrderedDict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(OrderedDict(l1=nn.Linear(1, 10), a=nn.ReLU(), l2=nn.Linear(10, 1)))


def run(x, params):
    x = F.linear(x, params["l1.weight"], params["l1.bias"])
    return F.linear(F.relu(x), params["l2.weight"], params["l2.bias"])


def task():
    amp, phase = (torch.rand(1) * 4.9 + 0.1, torch.rand(1) * 3.14)
    x = torch.rand(20, 1) * 10 - 5
    return (x, amp * torch.sin(x + phase))


opt = torch.optim.Adam(net.parameters(), lr=0.01)
for it in range(3):
    outer = 0.0
    for _ in range(2):
        x, y = task()
        params = OrderedDict(net.named_parameters())
        for _ in range(2):
            loss = F.mse_loss(run(x[:10], params), y[:10])
            grads = torch.autograd.grad(loss, params.values(), create_graph=True)
            params = OrderedDict(((n, p - 0.01 * g) for (n, p), g in zip(params.items(), grads)))
        outer = outer + F.mse_loss(run(x[10:], params), y[10:])
    opt.zero_grad()
    outer.backward()
    opt.step()
    print(it, outer.item(), net.l1.weight.grad.norm().item())
before = {k: v.clone() for k, v in net.state_dict().items()}
inner = torch.optim.SGD(net.parameters(), lr=0.02)
for _ in range(3):
    inner.zero_grad()
    F.mse_loss(net(x), y).backward()
    inner.step()
after = net.state_dict()
net.load_state_dict({k: before[k] + (after[k] - before[k]) * 0.1 for k in before})
print(net(x).mean().item())
enc = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
s, q = (torch.randn(3, 5, 4), torch.randn(3, 5, 4))
proto = enc(s.view(15, 4)).view(3, 5, -1).mean(1)
d = ((enc(q.view(15, 4)).unsqueeze(1) - proto.unsqueeze(0)) ** 2).sum(2)
logp = F.log_softmax(-d, 1).view(3, 5, -1)
target = torch.arange(3).view(3, 1, 1).expand(3, 5, 1).long()
loss = -logp.gather(2, target).squeeze().view(-1).mean()
loss.backward()
_, yhat = logp.max(2)
print(loss.item(), torch.eq(yhat, target.squeeze()).float().mean().item())
learner = nn.LSTMCell(1, 4)
head = nn.Linear(4, 1)
mo = torch.optim.Adam([*learner.parameters(), *head.parameters()], 0.01)
for _ in range(2):
    theta = torch.randn(3, requires_grad=True)
    h = (torch.zeros(3, 4), torch.zeros(3, 4))
    total = 0
    for t in range(4):
        loss = ((theta - torch.tensor([1.0, 2.0, 3.0])) ** 2).sum()
        total = total + loss
        (g,) = torch.autograd.grad(loss, theta, retain_graph=True)
        h = learner(g.detach()[:, None], h)
        theta = theta + head(h[0])[:, 0]
        theta.retain_grad()
    mo.zero_grad()
    total.backward()
    mo.step()
    print(total.item(), theta.grad)
