"""Encoder and decoder with all their masks; an image cut into patches; rotary positions; attention in three ways."""

import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class PositionalEncoding(nn.Module):
    def __init__(self, emb, dropout, maxlen=50):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb, 2) * math.log(10000) / emb)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pe = torch.zeros((maxlen, emb))
        pe[:, 0::2] = torch.sin(pos * den)
        pe[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", pe.unsqueeze(-2))

    def forward(self, x: Tensor):
        return self.dropout(x + self.pe[: x.size(0), :])


class Seq2Seq(nn.Module):
    def __init__(self, V, E):
        super().__init__()
        self.tr = nn.Transformer(E, 2, 1, 1, 16, 0.1)
        self.gen = nn.Linear(E, V)
        self.emb = nn.Embedding(V, E)
        self.pe = PositionalEncoding(E, 0.1)

    def forward(self, s, t, sm, tm, sp, tp, mp):
        return self.gen(self.tr(self.pe(self.emb(s) * 2), self.pe(self.emb(t) * 2), sm, tm, None, sp, tp, mp))


torch.manual_seed(0)
m = Seq2Seq(9, 8)
for p in m.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
s, t = (torch.randint(1, 9, (5, 3)), torch.randint(1, 9, (6, 3)))
s[3:, 0] = 0
t[4:, 1] = 0
opt = torch.optim.Adam(m.parameters(), lr=0.001, betas=(0.9, 0.98), eps=1e-09)
lossf = nn.CrossEntropyLoss(ignore_index=0)
for _ in range(2):
    ti, to = (t[:-1], t[1:])
    tm = nn.Transformer.generate_square_subsequent_mask(5)
    sm = torch.zeros((5, 5)).type(torch.bool)
    sp, tp = ((s == 0).transpose(0, 1), (ti == 0).transpose(0, 1))
    out = m(s, ti, sm, tm, sp, tp, sp)
    loss = lossf(out.reshape(-1, 9), to.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
m.eval()
mem = m.tr.encoder(m.pe(m.emb(s)), sm, sp)
print(mem.sum().item(), tm[:2])


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 12, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, 12))
        self.pos = nn.Parameter(torch.randn(1, 5, 12) * 0.02)
        layer = nn.TransformerEncoderLayer(
            12, 3, 24, 0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.enc = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(12), enable_nested_tensor=False)
        self.head = nn.Linear(12, 4)
        nn.init.trunc_normal_(self.cls, std=0.02)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), 1) + self.pos
        return self.head(self.enc(x)[:, 0])


v = ViT()
x, y = (torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 3]))
opt = torch.optim.AdamW(v.parameters(), 0.001, weight_decay=0.05)
sch = torch.optim.lr_scheduler.OneCycleLR(opt, 0.01, total_steps=4)
for _ in range(3):
    loss = F.cross_entropy(v(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sch.step()
    print(loss.item(), sch.get_last_lr(), opt.param_groups[0]["betas"])


def rotary(x, base=10000.0):
    d = x.shape[-1]
    inv = 1.0 / base ** (torch.arange(0, d, 2).float() / d)
    f = torch.outer(torch.arange(x.shape[-2]).float(), inv)
    c = torch.polar(torch.ones_like(f), f)
    return (
        torch.view_as_real(torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) * c)
        .flatten(-2)
        .type_as(x)
    )


q, k, w = (torch.randn(2, 4, 6, 8, requires_grad=True) for _ in range(3))
o = F.scaled_dot_product_attention(rotary(q), rotary(k), w, is_causal=True)
o.sum().backward()
mask = torch.ones(6, 6, dtype=torch.bool).tril()
o2 = (rotary(q) @ rotary(k).transpose(-2, -1) / math.sqrt(8)).masked_fill(~mask, float("-inf")).softmax(
    -1
) @ w
print(
    torch.allclose(o, o2, atol=1e-05),
    q.grad.norm().item(),
    F.scaled_dot_product_attention(q, k, w, attn_mask=torch.randn(6, 6), scale=0.3).sum().item(),
    F.scaled_dot_product_attention(q, k[:, :2], w[:, :2], enable_gqa=True).sum().item(),
)
mha = nn.MultiheadAttention(8, 2, batch_first=True, kdim=6, vdim=5, add_bias_kv=True)
a, wts = mha(
    torch.randn(2, 3, 8),
    torch.randn(2, 4, 6),
    torch.randn(2, 4, 5),
    key_padding_mask=torch.tensor([[False, False, True, True], [False] * 4]),
    average_attn_weights=False,
)
print(a.shape, wts.shape, wts.sum(-1)[0, 0])


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-06) * self.w


z = torch.randn(2, 5)
print(
    torch.allclose(RMSNorm(5)(z), nn.RMSNorm(5, eps=1e-06)(z), atol=1e-06),
    F.rms_norm(z, (5,))[0],
    (F.silu(z) * z).sum().item(),
    F.glu(torch.cat([z, z], -1)).sum().item(),
)
