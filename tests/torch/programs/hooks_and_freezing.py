"""Activations and gradients seen by hooks; a model whose body is frozen for a new head."""

import torch
import torch.nn as nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU())
seen = {}
handles = [
    m.register_forward_hook(lambda m, i, o, n=n: seen.__setitem__(n, o.detach().mean().item()))
    for n, m in body.named_children()
]
handles.append(
    body[2].register_full_backward_hook(
        lambda m, gi, go: seen.__setitem__("grad", (gi[0].norm().item(), go[0].norm().item()))
    )
)
x = torch.rand(3, 4, requires_grad=True)
body(x).sum().backward()
print(seen)
for h in handles:
    h.remove()
for p in body.parameters():
    p.requires_grad = False
model = nn.Sequential(body, nn.Linear(5, 2))
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
before = body[0].weight.clone()
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x.detach()), torch.tensor([0, 1, 0]))
    loss.backward()
    optimizer.step()
print(
    loss.item(),
    torch.equal(before, body[0].weight),
    sum(p.numel() for p in model.parameters() if p.requires_grad),
)
ema = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
ema.update_parameters(model)
print(ema(x).detach()[0])
