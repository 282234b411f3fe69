"""A classifier refactored step by step: tensors, a module, a dataset, a loader, validation."""

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.rand(64, 20), torch.randint(0, 4, (64,))
weights = (torch.randn(20, 4) / 20**0.5).requires_grad_()
bias = torch.zeros(4, requires_grad=True)
log_softmax = lambda x: x - x.exp().sum(-1).log().unsqueeze(-1)
nll = lambda input, target: -input[range(target.shape[0]), target].mean()
loss = nll(log_softmax(x @ weights + bias), y)
loss.backward()
print(loss, weights.grad.norm(), bias.grad)


class Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(20, 4)

    def forward(self, xb):
        return self.lin(xb)


train, valid = torch.utils.data.random_split(TensorDataset(x, y), [48, 16])
model = Logistic()
opt = optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    model.train()
    for xb, yb in DataLoader(train, batch_size=16, shuffle=True):
        F.cross_entropy(model(xb), yb).backward()
        opt.step()
        opt.zero_grad()
    model.eval()
    with torch.no_grad():
        print(epoch, sum(F.cross_entropy(model(xb), yb) for xb, yb in DataLoader(valid, batch_size=8)))
