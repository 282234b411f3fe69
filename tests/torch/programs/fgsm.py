"""Images changed along the sign of the gradient, to be misread."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
model = nn.Sequential(
    nn.Flatten(), nn.Linear(25, 20), nn.ReLU(), nn.Dropout(0.25), nn.Linear(20, 4), nn.LogSoftmax(dim=1)
)
model.eval()
images = torch.rand(30, 1, 5, 5)
labels = model(images).argmax(1)
for epsilon in (0.0, 0.05, 0.1, 0.3):
    correct = 0
    for data, target in zip(images.split(1), labels.split(1)):
        data = data.clone()
        data.requires_grad = True
        loss = F.nll_loss(model(data), target)
        model.zero_grad()
        loss.backward()
        perturbed = torch.clamp(data + epsilon * data.grad.data.sign(), 0, 1)
        correct += model(perturbed).max(1, keepdim=True)[1].item() == target.item()
    print(epsilon, correct / 30)
