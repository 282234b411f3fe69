"""States of a model, an optimizer, a schedule, saved and loaded; the run goes on as if uninterrupted."""

import io

import torch
import torch.nn as nn


def make():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    return model, optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)


def train(parts, x, y, steps):
    model, optimizer, scheduler = parts
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
    return loss.item()


parts = make()
x, y = torch.rand(16, 4), torch.rand(16, 1)
print(train(parts, x, y, 5))
file = io.BytesIO()
torch.save({"parts": [p.state_dict() for p in parts], "epoch": 5}, file)
expected = train(parts, x, y, 5)
file.seek(0)
checkpoint = torch.load(file, weights_only=True)
again = make()
for part, state in zip(again, checkpoint["parts"]):
    part.load_state_dict(state)
print(checkpoint["epoch"], train(again, x, y, 5) == expected, expected)
whole = io.BytesIO()
torch.save(again[0], whole)
whole.seek(0)
model = torch.load(whole, weights_only=False)
model.eval()
print(model(x[:2]), model[1].running_mean)
