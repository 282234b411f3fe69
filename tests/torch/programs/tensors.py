"""What a first tutorial shows of tensors: making, joining, products, writing in place, NumPy."""

import numpy as np
import torch

data = [[1, 2], [3, 4]]
x = torch.tensor(data)
print(torch.from_numpy(np.array(data)), torch.ones_like(x), torch.rand_like(x, dtype=torch.float).shape)
device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
t = torch.ones(4, 4).to(device)
t[:, 1] = 0
print(t[0], t[..., -1], torch.cat([t, t], dim=1).shape)
y1, y2, y3 = t @ t.T, t.matmul(t.T), torch.rand_like(t)
torch.matmul(t, t.T, out=y3)
z = torch.empty(4, 4)
torch.mul(t, t, out=z)
print(y1.equal(y2), y3, z.sum().item(), t.sum())
t.add_(5)
n = t.numpy()
np.add(n, 1, out=n)
print(t, n.dtype, t.dtype, t.device)
