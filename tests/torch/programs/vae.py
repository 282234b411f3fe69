"""A variational autoencoder."""

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc21, self.fc22 = nn.Linear(36, 16), nn.Linear(16, 3), nn.Linear(16, 3)
        self.fc3, self.fc4 = nn.Linear(3, 16), nn.Linear(16, 36)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 36))
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


torch.manual_seed(1)
model, data = VAE(), (torch.rand(24, 1, 6, 6) > 0.5).float()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for batch in data.split(8):
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        bce = F.binary_cross_entropy(recon, batch.view(-1, 36), reduction="sum")
        loss = bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss.backward()
        optimizer.step()
    print(epoch, loss.item() / 8)
