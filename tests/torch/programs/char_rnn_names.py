"""Names classified by their letters with a recurrent network written by hand."""

import torch
import torch.nn as nn

letters = "abcdefgh"
names = {0: ["abba", "cab", "bead"], 1: ["hefe", "gegh", "fhe"]}


def to_tensor(name):
    out = torch.zeros(len(name), 1, len(letters))
    for i, letter in enumerate(name):
        out[i][0][letters.find(letter)] = 1
    return out


class RNN(nn.Module):
    def __init__(self, size, hidden, out):
        super().__init__()
        self.hidden = hidden
        self.i2h, self.h2h, self.h2o = (
            nn.Linear(size, hidden),
            nn.Linear(hidden, hidden),
            nn.Linear(hidden, out),
        )

    def forward(self, x, hidden):
        hidden = torch.tanh(self.i2h(x) + self.h2h(hidden))
        return torch.log_softmax(self.h2o(hidden), dim=1), hidden


torch.manual_seed(3)
rnn, criterion = RNN(len(letters), 8, 2), nn.NLLLoss()
for step in range(30):
    total = 0.0
    for category, words in names.items():
        for word in words:
            hidden = torch.zeros(1, rnn.hidden)
            rnn.zero_grad()
            for letter in to_tensor(word):
                output, hidden = rnn(letter, hidden)
            loss = criterion(output, torch.tensor([category]))
            loss.backward()
            for p in rnn.parameters():
                p.data.add_(p.grad.data, alpha=-0.1)
            total += loss.item()
    if step % 10 == 9:
        print(step, total)
print(output.topk(1, 1)[1].item())
