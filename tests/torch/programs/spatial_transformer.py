"""Images that a network turns before it reads them."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2, stride=2), nn.ReLU(True))
        self.fc_loc = nn.Sequential(nn.Linear(4 * 4 * 4, 8), nn.ReLU(True), nn.Linear(8, 6))
        self.fc = nn.Linear(100, 3)
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        theta = self.fc_loc(self.localization(x).view(-1, 64)).view(-1, 2, 3)
        x = F.grid_sample(x, F.affine_grid(theta, x.size(), align_corners=False), align_corners=False)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


torch.manual_seed(0)
model, x, y = Net(), torch.rand(6, 1, 10, 10), torch.randint(0, 3, (6,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for step in range(6):
    optimizer.zero_grad()
    loss = F.nll_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(model.fc_loc[2].bias.data)
