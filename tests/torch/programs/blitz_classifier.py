"""A small convolutional classifier of images, trained by SGD with momentum."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.pool, self.conv2 = nn.Conv2d(3, 4, 5), nn.MaxPool2d(2, 2), nn.Conv2d(4, 6, 3)
        self.fc1, self.fc2 = nn.Linear(6 * 2 * 2, 12), nn.Linear(12, 5)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


torch.manual_seed(0)
images, labels = torch.rand(32, 3, 16, 16), torch.randint(0, 5, (32,))
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(images, labels), batch_size=8, shuffle=True
)
net, criterion = Net(), nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    running = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(epoch, running / len(loader))
with torch.no_grad():
    _, predicted = torch.max(net(images), 1)
print((predicted == labels).sum().item(), predicted[:8].tolist())
