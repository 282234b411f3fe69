"""Layers trained one by one: high goodness for right pairs, low for wrong ones."""

import torch
import torch.nn as nn


class Layer(nn.Linear):
    def __init__(self, size, out):
        super().__init__(size, out)
        self.relu, self.opt, self.threshold = nn.ReLU(), torch.optim.Adam(self.parameters(), lr=0.03), 1.5

    def forward(self, x):
        direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(direction, self.weight.T) + self.bias.unsqueeze(0))

    def learn(self, positive, negative):
        for _ in range(10):
            g_pos, g_neg = self(positive).pow(2).mean(1), self(negative).pow(2).mean(1)
            loss = torch.log(
                1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))
            ).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return self(positive).detach(), self(negative).detach(), loss.item()


def overlay(x, y):
    out = x.clone()
    out[:, :3] *= 0.0
    out[range(x.shape[0]), y] = x.max()
    return out


torch.manual_seed(1234)
x, y = torch.rand(20, 12), torch.randint(0, 3, (20,))
pos, neg = overlay(x, y), overlay(x, y[torch.randperm(20)])
for size, out in ((12, 16), (16, 16)):
    pos, neg, loss = Layer(size, out).learn(pos, neg)
    print(loss, pos.pow(2).mean().item(), neg.pow(2).mean().item())
