"""The gradient of each example, by a loop and by vmap of grad."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 3, 3), nn.Linear(27, 4)

    def forward(self, x):
        return F.log_softmax(self.fc(torch.flatten(F.max_pool2d(F.relu(self.conv(x)), 2), 1)), dim=1)


torch.manual_seed(0)
data, targets = torch.randn(6, 1, 8, 8), torch.randint(4, (6,))
model = CNN()
params = {k: v.detach() for k, v in model.named_parameters()}
buffers = {k: v.detach() for k, v in model.named_buffers()}


def compute_loss(params, buffers, sample, target):
    return F.nll_loss(functional_call(model, (params, buffers), (sample.unsqueeze(0),)), target.unsqueeze(0))


each = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))(params, buffers, data, targets)
loop = [
    torch.autograd.grad(F.nll_loss(model(x[None]), t[None]), list(model.parameters()))
    for x, t in zip(data, targets)
]
for (name, found), expected in zip(each.items(), zip(*loop)):
    print(name, found.shape, torch.allclose(found, torch.stack(expected), atol=1e-6), found.norm().item())
