"""Sub-pixel convolution that doubles the size of images."""

import torch
import torch.nn as nn
import torch.nn.init as init


class Net(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1, self.conv2 = (
            nn.Conv2d(1, 8, (5, 5), (1, 1), (2, 2)),
            nn.Conv2d(8, 4, (3, 3), (1, 1), (1, 1)),
        )
        self.conv3, self.pixel_shuffle = nn.Conv2d(4, factor**2, 3, padding=1), nn.PixelShuffle(factor)
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))

    def forward(self, x):
        return self.pixel_shuffle(self.conv3(self.relu(self.conv2(self.relu(self.conv1(x))))))


torch.manual_seed(123)
net, fine = Net(2), torch.rand(2, 1, 12, 12)
coarse = nn.functional.interpolate(fine, scale_factor=0.5, mode="bilinear", align_corners=False)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(6):
    optimizer.zero_grad()
    loss = nn.MSELoss()(net(coarse), fine)
    loss.backward()
    optimizer.step()
    print(step, loss.item(), 10 * torch.log10(1 / loss).item())
