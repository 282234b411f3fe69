"""Tags of words by a bidirectional LSTM and a conditional random field."""

import torch
import torch.nn as nn

START, STOP = "<START>", "<STOP>"


def argmax(vec):
    _, idx = torch.max(vec, 1)
    return idx.item()


def log_sum_exp(vec):
    top = vec[0, argmax(vec)]
    return top + torch.log(torch.sum(torch.exp(vec - top.view(1, -1).expand(1, vec.size()[1]))))


class BiLSTM_CRF(nn.Module):
    def __init__(self, vocab, tags, hidden):
        super().__init__()
        self.hidden, self.tags, self.size = hidden, tags, len(tags)
        self.embeds, self.lstm = (
            nn.Embedding(vocab, 5),
            nn.LSTM(5, hidden // 2, num_layers=1, bidirectional=True),
        )
        self.hidden2tag = nn.Linear(hidden, self.size)
        self.transitions = nn.Parameter(torch.randn(self.size, self.size))
        self.transitions.data[tags[START], :] = -10000
        self.transitions.data[:, tags[STOP]] = -10000

    def features(self, sentence):
        state = (torch.randn(2, 1, self.hidden // 2), torch.randn(2, 1, self.hidden // 2))
        out, _ = self.lstm(self.embeds(sentence).view(len(sentence), 1, -1), state)
        return self.hidden2tag(out.view(len(sentence), self.hidden))

    def forward_alg(self, feats):
        alphas = torch.full((1, self.size), -10000.0)
        alphas[0][self.tags[START]] = 0.0
        for feat in feats:
            step = []
            for tag in range(self.size):
                emit = feat[tag].view(1, -1).expand(1, self.size)
                step.append(log_sum_exp(alphas + self.transitions[tag].view(1, -1) + emit).view(1))
            alphas = torch.cat(step).view(1, -1)
        return log_sum_exp(alphas + self.transitions[self.tags[STOP]])

    def score(self, feats, tags):
        total = torch.zeros(1)
        tags = torch.cat([torch.tensor([self.tags[START]], dtype=torch.long), tags])
        for i, feat in enumerate(feats):
            total = total + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return total + self.transitions[self.tags[STOP], tags[-1]]

    def neg_log_likelihood(self, sentence, tags):
        feats = self.features(sentence)
        return self.forward_alg(feats) - self.score(feats, tags)

    def forward(self, sentence):
        feats, back = self.features(sentence), []
        step = torch.full((1, self.size), -10000.0)
        step[0][self.tags[START]] = 0
        for feat in feats:
            pointers, values = [], []
            for tag in range(self.size):
                v = step + self.transitions[tag]
                best = argmax(v)
                pointers.append(best)
                values.append(v[0][best].view(1))
            step = (torch.cat(values) + feat).view(1, -1)
            back.append(pointers)
        best = argmax(step + self.transitions[self.tags[STOP]])
        path = [best]
        for pointers in reversed(back):
            best = pointers[best]
            path.append(best)
        return path[::-1][1:]


torch.manual_seed(1)
tags = {"B": 0, "I": 1, "O": 2, START: 3, STOP: 4}
model = BiLSTM_CRF(7, tags, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)
data = [
    (torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 2, 2])),
    (torch.tensor([4, 5, 6]), torch.tensor([0, 2, 0])),
]
for epoch in range(6):
    for sentence, target in data:
        model.zero_grad()
        loss = model.neg_log_likelihood(sentence, target)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
with torch.no_grad():
    print(model(data[0][0]))
