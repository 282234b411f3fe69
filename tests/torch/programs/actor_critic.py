"""Actor and critic in a corridor of five places."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine, self.action, self.value = nn.Linear(5, 16), nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.affine(x))
        return F.softmax(self.action(x), dim=-1), self.value(x)


torch.manual_seed(0)
model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
eps = torch.finfo(torch.float32).eps
for episode in range(6):
    place, saved, rewards = 2, [], []
    for _ in range(12):
        probs, value = model(F.one_hot(torch.tensor(place), 5).float())
        m = Categorical(probs)
        action = m.sample()
        saved.append((m.log_prob(action), value))
        place += 1 if action.item() else -1
        rewards.append(1.0 if place == 4 else -0.1)
        if place in (0, 4):
            break
    R, returns = 0.0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std(unbiased=False) + eps)
    losses = []
    for (log_prob, value), R in zip(saved, returns):
        advantage = R - value.item()
        losses.append(-log_prob * advantage + F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(losses).sum()
    loss.backward()
    optimizer.step()
    print(episode, len(rewards), loss.item())
