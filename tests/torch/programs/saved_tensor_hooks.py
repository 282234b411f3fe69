"""What a graph saves: seen, packed into files, and put away."""

import os
import tempfile
import uuid

import torch

directory = tempfile.mkdtemp()


class Disk:
    def __init__(self, tensor):
        self.name = os.path.join(directory, str(uuid.uuid4()))
        torch.save(tensor, self.name)

    def load(self):
        return torch.load(self.name)

    def __del__(self):
        os.remove(self.name)


x = torch.linspace(0.5, 2, 4, requires_grad=True)
y = x.exp()
print(y.equal(y.grad_fn._saved_result), (x * x).grad_fn._saved_self is x)
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: Disk(t) if t.numel() > 2 else t, lambda v: v.load() if isinstance(v, Disk) else v
):
    z = (x * x).sin() * x
print(len(os.listdir(directory)) > 0)
z.sum().backward()
print(x.grad)
counts = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: counts.append(tuple(t.shape)) or t, lambda t: t):
    torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())(x[None])
print(len(counts) > 0)
with torch.autograd.graph.save_on_cpu(pin_memory=False):
    w = (x**3).sum()
w.backward()
print(x.grad)
