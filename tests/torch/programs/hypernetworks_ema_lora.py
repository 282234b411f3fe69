"""Weights made by another network; a running mean of weights; weights averaged late; low-rank adapters."""

import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call
from torch.nn.utils import parametrize, parameters_to_vector, vector_to_parameters
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn, get_ema_multi_avg_fn


class HyperNet(nn.Module):
    def __init__(self, target, dim):
        super().__init__()
        self.shapes = {k: v.shape for k, v in target.named_parameters()}
        self.total = sum((v.numel() for v in target.parameters()))
        self.z = nn.Parameter(torch.randn(dim))
        self.make = nn.Linear(dim, self.total)
        self.target = [target]

    def forward(self, x):
        flat, out, at = (self.make(self.z), {}, 0)
        for k, s in self.shapes.items():
            out[k] = flat[at : at + s.numel()].view(s) * 0.1
            at += s.numel()
        return functional_call(self.target[0], out, (x,))


torch.manual_seed(0)
hyper = HyperNet(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)), 4)
x, y = (torch.randn(16, 3), torch.randn(16, 1))
opt = torch.optim.Adam(hyper.parameters(), 0.01)
for _ in range(3):
    loss = F.mse_loss(hyper(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())


class EMA:
    def __init__(self, model, decay):
        self.model, self.decay, self.shadow = (model, decay, {})
        for n, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[n] = p.data.clone()

    def update(self):
        for n, p in self.model.named_parameters():
            self.shadow[n] = ((1.0 - self.decay) * p.data + self.decay * self.shadow[n]).clone()


net = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
ema, swa = (EMA(net, 0.9), AveragedModel(net))
avg = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
cos = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=3)
swa_lr = SWALR(opt, swa_lr=0.05, anneal_epochs=2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
for epoch in range(6):
    for a, b in loader:
        opt.zero_grad()
        F.mse_loss(net(a), b).backward()
        opt.step()
        ema.update()
        avg.update_parameters(net)
    if epoch > 2:
        swa.update_parameters(net)
        swa_lr.step()
    else:
        cos.step()
    print(epoch, opt.param_groups[0]["lr"])
update_bn(loader, swa)
print(swa(x).mean().item(), ema.shadow["0.weight"].sum().item(), avg(x).mean().item(), swa.n_averaged)


class LoRA(nn.Module):
    def __init__(self, rows, cols, rank=2, alpha=4):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(rank, cols))
        self.b = nn.Parameter(torch.zeros(rows, rank))
        nn.init.normal_(self.a, mean=0, std=1)
        self.scale = alpha / rank
        self.enabled = True

    def forward(self, w):
        return w + torch.matmul(self.b, self.a).view(w.shape) * self.scale if self.enabled else w


big = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
before = copy.deepcopy(big.state_dict())
for layer in (big[0], big[2]):
    parametrize.register_parametrization(layer, "weight", LoRA(*layer.weight.shape))
for n, p in big.named_parameters():
    if "parametrizations" not in n or n.endswith("original"):
        p.requires_grad = False
opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, big.parameters()), lr=0.01)
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(big(x), y)
    loss.backward()
    opt.step()
    print(loss.item())
print(
    [n for n, p in big.named_parameters() if p.requires_grad],
    torch.equal(big[0].parametrizations.weight.original, before["0.weight"]),
)
big[0].parametrizations.weight[0].enabled = False
parametrize.remove_parametrizations(big[0], "weight", leave_parametrized=True)
v = parameters_to_vector(big.parameters())
vector_to_parameters(v * 2, big.parameters())
print(v.norm().item(), big(x).sum().item())
