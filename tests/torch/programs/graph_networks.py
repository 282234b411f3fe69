"""Messages along the edges of a graph: convolution, attention and mean, by index_add and scatter."""

import torch
import torch.nn as nn
import torch.nn.functional as F

edges = torch.tensor([[0, 1, 2, 3, 4, 0, 2, 5], [1, 2, 3, 4, 5, 3, 0, 1]])
edges = torch.cat([edges, edges.flip(0), torch.arange(6).repeat(2, 1)], dim=1)
row, col = edges


class GCN(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout, bias=False)
        self.bias = nn.Parameter(torch.empty(cout))
        self.reset_parameters()

    def reset_parameters(self):
        self.lin.reset_parameters()
        self.bias.data.zero_()

    def forward(self, x):
        deg = torch.zeros(x.size(0)).scatter_add_(0, col, torch.ones(col.numel()))
        d = deg.pow(-0.5)
        d[d == float("inf")] = 0
        norm = d[row] * d[col]
        x = self.lin(x)
        out = torch.zeros_like(x).index_add_(0, col, norm.view(-1, 1) * x[row])
        return out + self.bias


class GAT(nn.Module):
    def __init__(self, cin, cout, heads):
        super().__init__()
        self.h, self.c = (heads, cout)
        self.w = nn.Linear(cin, heads * cout, bias=False)
        self.a = nn.Parameter(torch.Tensor(1, heads, 2 * cout))
        nn.init.xavier_uniform_(self.a)

    def forward(self, x):
        z = self.w(x).view(-1, self.h, self.c)
        e = F.leaky_relu((torch.cat([z[row], z[col]], -1) * self.a).sum(-1), 0.2)
        top = torch.full((x.size(0), self.h), float("-inf")).scatter_reduce(
            0, col[:, None].expand_as(e), e, "amax"
        )
        w = (e - top[col]).exp()
        total = torch.zeros(x.size(0), self.h).index_add(0, col, w)
        w = w / (total[col] + 1e-16)
        return torch.zeros_like(z).index_add_(0, col, w.unsqueeze(-1) * z[row]).flatten(1)


torch.manual_seed(0)
x, y = (torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2]))
train = torch.tensor([True, True, True, True, False, False])
for net in (
    nn.Sequential(GCN(4, 8), nn.ReLU(), nn.Dropout(0.2), GCN(8, 3)),
    nn.Sequential(GAT(4, 4, 2), nn.ELU(), GAT(8, 3, 1)),
):
    opt = torch.optim.Adam(
        [{"params": net[0].parameters(), "weight_decay": 0.0005}, {"params": net[-1].parameters()}], lr=0.01
    )
    for epoch in range(4):
        net.train()
        opt.zero_grad()
        loss = F.nll_loss(F.log_softmax(net(x), 1)[train], y[train])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        pred = net(x).argmax(dim=1)
    print(loss.item(), pred, int((pred[~train] == y[~train]).sum()) / int((~train).sum()))
adj = torch.sparse_coo_tensor(edges, torch.ones(edges.shape[1]), (6, 6))
print(
    torch.sparse.mm(adj, x).sum(0),
    torch.zeros(6, 4)
    .scatter_reduce_(0, col[:, None].expand(-1, 4), x[row], reduce="mean", include_self=False)
    .sum(0),
)
