"""Two networks against each other: spectral norms and hinges; gradients penalised between samples."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd
from torch.nn.utils import spectral_norm, weight_norm
from torch.autograd import Variable

torch.manual_seed(0)
D = nn.Sequential(
    spectral_norm(nn.Conv2d(1, 4, 3, 2, 1)), nn.LeakyReLU(0.1), nn.Flatten(), spectral_norm(nn.Linear(64, 1))
)
G = nn.Sequential(
    nn.Linear(5, 64),
    nn.Unflatten(1, (4, 4, 4)),
    nn.BatchNorm2d(4),
    nn.ReLU(True),
    nn.ConvTranspose2d(4, 1, 4, 2, 1),
    nn.Tanh(),
)
for m in G.modules():
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        m.weight.data.normal_(0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)
optD = torch.optim.Adam(filter(lambda p: p.requires_grad, D.parameters()), lr=0.002, betas=(0.0, 0.9))
optG = torch.optim.Adam(G.parameters(), lr=0.002, betas=(0.0, 0.9))
sched = torch.optim.lr_scheduler.ExponentialLR(optD, gamma=0.99)
real = torch.rand(8, 1, 8, 8)
for step in range(3):
    for _ in range(2):
        z = Variable(torch.randn(8, 5))
        optD.zero_grad()
        optG.zero_grad()
        loss_d = nn.ReLU()(1.0 - D(real)).mean() + nn.ReLU()(1.0 + D(G(z))).mean()
        loss_d.backward()
        optD.step()
    optD.zero_grad()
    optG.zero_grad()
    loss_g = -D(G(torch.randn(8, 5))).mean()
    loss_g.backward()
    optG.step()
    sched.step()
    print(step, loss_d.item(), loss_g.item(), D[0].weight.norm().item())
print([n for n, _ in D.named_parameters()], [n for n, _ in D.named_buffers()])
critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(True), nn.Linear(16, 1))
gen = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))


def gradient_penalty(critic, real, fake, lam=10):
    alpha = torch.rand(real.size(0), 1).expand(real.size())
    inter = (alpha * real + (1 - alpha) * fake).detach().requires_grad_(True)
    out = critic(inter)
    g = autograd.grad(
        outputs=out,
        inputs=inter,
        grad_outputs=torch.ones(out.size()),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((g.norm(2, dim=1) - 1) ** 2).mean() * lam


one = torch.tensor(1.0)
mone = one * -1
oc, og = (torch.optim.RMSprop(critic.parameters(), 0.001), torch.optim.RMSprop(gen.parameters(), 0.001))
for it in range(3):
    for p in critic.parameters():
        p.requires_grad = True
    x = torch.randn(16, 2) * 0.1 + 1
    critic.zero_grad()
    d_real = critic(x).mean()
    d_real.backward(mone)
    with torch.no_grad():
        noise = torch.randn(16, 2)
    fake = gen(noise).data
    d_fake = critic(fake).mean()
    d_fake.backward(one)
    gp = gradient_penalty(critic, x, fake)
    gp.backward()
    oc.step()
    for p in critic.parameters():
        p.requires_grad = False
    gen.zero_grad()
    g = critic(gen(torch.randn(16, 2))).mean()
    g.backward(mone)
    og.step()
    print(it, (d_fake - d_real + gp).item(), g.item())
wn = weight_norm(nn.Linear(3, 4), name="weight")
print(wn.weight_g.shape, wn(torch.ones(1, 3)).sum().item())
real_logit, fake_logit = (critic(x), critic(fake))
print(
    F.softplus(-real_logit).mean().item(),
    F.binary_cross_entropy_with_logits(fake_logit, torch.zeros_like(fake_logit)).item(),
)
x = torch.randn(4, 2, requires_grad=True)
r1 = autograd.grad(critic(x).sum(), x, create_graph=True)[0].pow(2).reshape(4, -1).sum(1).mean()
print(r1.item())
