"""Sequences reversed by an encoder and a decoder with additive attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SOS, SIZE, HIDDEN = 0, 6, 12


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.gru = nn.Embedding(SIZE, HIDDEN), nn.GRU(HIDDEN, HIDDEN, batch_first=True)

    def forward(self, x):
        return self.gru(self.embedding(x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.attention = nn.Embedding(SIZE, HIDDEN), Attention()
        self.gru, self.out = nn.GRU(2 * HIDDEN, HIDDEN, batch_first=True), nn.Linear(HIDDEN, SIZE)

    def forward(self, outputs, hidden, target):
        token = torch.empty(outputs.size(0), 1, dtype=torch.long).fill_(SOS)
        found = []
        for i in range(target.size(1)):
            context, _ = self.attention(hidden.permute(1, 0, 2), outputs)
            step, hidden = self.gru(torch.cat((self.embedding(token), context), dim=2), hidden)
            found.append(self.out(step))
            token = target[:, i].unsqueeze(1)
        return F.log_softmax(torch.cat(found, dim=1), dim=-1)


torch.manual_seed(0)
encoder, decoder, criterion = Encoder(), Decoder(), nn.NLLLoss()
optimizers = [torch.optim.Adam(m.parameters(), lr=0.02) for m in (encoder, decoder)]
source = torch.randint(1, SIZE, (16, 4))
target = source.flip(1)
for step in range(25):
    for o in optimizers:
        o.zero_grad()
    outputs, hidden = encoder(source)
    decoded = decoder(outputs, hidden, target)
    loss = criterion(decoded.view(-1, SIZE), target.reshape(-1))
    loss.backward()
    for o in optimizers:
        o.step()
    if step % 8 == 0:
        print(step, loss.item())
print((decoded.topk(1)[1].squeeze(-1) == target).float().mean())
