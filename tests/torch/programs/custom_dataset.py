"""Datasets of one's own, transforms, samplers with weights, batches of sequences padded to one length."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler


class Words(Dataset):
    def __init__(self, transform=None):
        self.items = [(torch.arange(1, n + 2), n % 2) for n in range(7)]
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        x, y = self.items[i]
        return {"x": self.transform(x) if self.transform else x, "y": y}


def collate(batch):
    xs = [item["x"] for item in batch]
    return (
        pad_sequence(xs, batch_first=True),
        torch.tensor([len(x) for x in xs]),
        torch.tensor([item["y"] for item in batch]),
    )


torch.manual_seed(0)
data = Words(lambda x: x * 2)
for x, lengths, y in DataLoader(data, batch_size=3, shuffle=True, collate_fn=collate):
    print(x.tolist(), lengths.tolist(), y.tolist())
sampler = WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6, 0.2], 5)
print(
    [item["y"].tolist() for item in DataLoader(data, batch_size=None, sampler=sampler)]
    if False
    else list(sampler)
)
gru = torch.nn.GRU(1, 3, batch_first=True)
x, lengths, _ = collate([data[i] for i in (1, 4, 2)])
packed = pack_padded_sequence(x.float().unsqueeze(-1), lengths, batch_first=True, enforce_sorted=False)
out, h = gru(packed)
padded, sizes = pad_packed_sequence(out, batch_first=True)
print(padded.shape, sizes, padded[0].detach(), h.shape)
padded.sum().backward()
print(gru.weight_ih_l0.grad.sum())
