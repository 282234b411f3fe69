"""A generator and a discriminator with transposed convolutions and batch normalization."""

import torch
import torch.nn as nn


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


torch.manual_seed(999)
G = nn.Sequential(
    nn.ConvTranspose2d(8, 8, 4, 1, 0, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(True),
    nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
)
D = nn.Sequential(
    nn.Conv2d(1, 8, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(8, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
)
G.apply(weights_init)
D.apply(weights_init)
criterion = nn.BCELoss()
optD, optG = (torch.optim.Adam(m.parameters(), lr=2e-3, betas=(0.5, 0.999)) for m in (D, G))
real_images = torch.rand(8, 1, 8, 8) * 2 - 1
for step in range(4):
    D.zero_grad()
    label = torch.full((8,), 1.0, dtype=torch.float)
    errD_real = criterion(D(real_images).view(-1), label)
    errD_real.backward()
    fake = G(torch.randn(8, 8, 1, 1))
    label.fill_(0.0)
    errD_fake = criterion(D(fake.detach()).view(-1), label)
    errD_fake.backward()
    optD.step()
    G.zero_grad()
    label.fill_(1.0)
    errG = criterion(D(fake).view(-1), label)
    errG.backward()
    optG.step()
    print(step, (errD_real + errD_fake).item(), errG.item())
