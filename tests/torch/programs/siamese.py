"""Pairs told alike or not by one network for both."""

import torch
import torch.nn as nn


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten())
        self.fc = nn.Sequential(nn.Linear(72, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
        self.sigmoid = nn.Sigmoid()
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward(self, a, b):
        return self.sigmoid(self.fc(torch.cat((self.conv(a), self.conv(b)), 1)))


torch.manual_seed(0)
a, b = torch.rand(12, 1, 8, 8), torch.rand(12, 1, 8, 8)
b[:6] = a[:6]
labels = torch.cat([torch.ones(6), torch.zeros(6)])
model = Siamese()
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.BCELoss()(model(a, b).squeeze(), labels)
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(epoch, loss.item(), scheduler.get_last_lr())
contrastive = nn.functional.pairwise_distance(model.conv(a), model.conv(b), keepdim=True)
print(contrastive[:2].detach(), nn.TripletMarginLoss()(model.conv(a), model.conv(b), model.conv(b.flip(0))))
