"""A transformer encoder with positions and a causal mask."""

import math

import torch
from torch import nn
from torch.nn import TransformerEncoder, TransformerEncoderLayer


class PositionalEncoding(nn.Module):
    def __init__(self, d, length=50):
        super().__init__()
        position = torch.arange(length).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(length, 1, d)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(position * div), torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


torch.manual_seed(0)
embed, pos = nn.Embedding(10, 8), PositionalEncoding(8)
encoder = TransformerEncoder(TransformerEncoderLayer(8, 2, 16, dropout=0.0), 2, enable_nested_tensor=False)
linear = nn.Linear(8, 10)
params = [*embed.parameters(), *encoder.parameters(), *linear.parameters()]
optimizer = torch.optim.SGD(params, lr=0.5)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
src = torch.randint(0, 10, (7, 3))
mask = nn.Transformer.generate_square_subsequent_mask(7)
for epoch in range(4):
    out = linear(encoder(pos(embed(src) * math.sqrt(8)), mask))
    loss = nn.CrossEntropyLoss()(out[:-1].reshape(-1, 10), src[1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 0.5)
    optimizer.step()
    scheduler.step()
    print(epoch, loss.item(), optimizer.param_groups[0]["lr"])
