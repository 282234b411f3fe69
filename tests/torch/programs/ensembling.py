"""Several models of one kind run at once, on one batch or on a batch each."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, stack_module_state, vmap


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(9, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


torch.manual_seed(0)
models, data = [MLP() for _ in range(4)], torch.randn(4, 5, 3, 3)
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0])
fmodel = lambda params, buffers, x: functional_call(base, (params, buffers), (x,))
each = vmap(fmodel)(params, buffers, data)
same = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, data[0])
print(each.shape, torch.allclose(each, torch.stack([m(x) for m, x in zip(models, data)]), atol=1e-5))
print(torch.allclose(same, torch.stack([m(data[0]) for m in models]), atol=1e-5), same.sum())
each.sum().backward()
print({name: p.grad.shape for name, p in params.items()})
