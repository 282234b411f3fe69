"""A language model of words: LSTM with tied weights, truncated backpropagation, clipped gradients."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class RNNModel(nn.Module):
    def __init__(self, tokens, size, layers):
        super().__init__()
        self.drop, self.encoder = nn.Dropout(0.0), nn.Embedding(tokens, size)
        self.rnn, self.decoder = nn.LSTM(size, size, layers, dropout=0.0), nn.Linear(size, tokens)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.size, self.layers = size, layers

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return F.log_softmax(self.decoder(self.drop(out)).view(-1, self.decoder.out_features), dim=1), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(self.layers, batch, self.size), weight.new_zeros(
            self.layers, batch, self.size
        )


def batchify(data, batch):
    n = data.size(0) // batch
    return data.narrow(0, 0, n * batch).view(batch, -1).t().contiguous()


def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)


torch.manual_seed(1111)
train = batchify(torch.arange(120) * 5 % 9, 4)
model, criterion, lr = RNNModel(9, 12, 2), nn.NLLLoss(), 2.0
for epoch in range(3):
    hidden = model.init_hidden(4)
    for i in range(0, train.size(0) - 1, 7):
        length = min(7, len(train) - 1 - i)
        x, target = train[i : i + length], train[i + 1 : i + 1 + length].view(-1)
        model.zero_grad()
        hidden = repackage(hidden)
        out, hidden = model(x, hidden)
        loss = criterion(out, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
    print(epoch, loss.item(), loss.exp().item())
