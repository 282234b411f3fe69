"""Sine waves continued by LSTM cells, trained by L-BFGS."""

import torch
import torch.nn as nn


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm1, self.lstm2, self.linear = nn.LSTMCell(1, 6), nn.LSTMCell(6, 6), nn.Linear(6, 1)

    def forward(self, x, future=0):
        outputs = []
        h1 = c1 = torch.zeros(x.size(0), 6, dtype=torch.double)
        h2 = c2 = torch.zeros(x.size(0), 6, dtype=torch.double)
        for step in x.split(1, dim=1):
            h1, c1 = self.lstm1(step, (h1, c1))
            h2, c2 = self.lstm2(h1, (h2, c2))
            output = self.linear(h2)
            outputs += [output]
        for _ in range(future):
            h1, c1 = self.lstm1(output, (h1, c1))
            h2, c2 = self.lstm2(h1, (h2, c2))
            output = self.linear(h2)
            outputs += [output]
        return torch.cat(outputs, dim=1)


torch.manual_seed(0)
data = torch.sin(torch.arange(24, dtype=torch.double) / 4 + torch.arange(3, dtype=torch.double)[:, None])
x, y = data[:, :-1], data[:, 1:]
model, criterion = Sequence().double(), nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=4)
for step in range(2):

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        return loss

    print(step, optimizer.step(closure).item())
with torch.no_grad():
    print(model(x, future=5)[:, -5:])
