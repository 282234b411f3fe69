"""Gradients: a graph, leaves, vector-Jacobian products, accumulation."""

import torch

x, y = torch.ones(5), torch.zeros(3)
torch.manual_seed(0)
w, b = torch.randn(5, 3, requires_grad=True), torch.randn(3, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy_with_logits(torch.matmul(x, w) + b, y)
loss.backward()
print(w.grad, b.grad, loss.grad_fn)
inp = torch.eye(4, 5, requires_grad=True)
out = (inp + 1).pow(2).t()
for _ in range(2):
    out.backward(torch.ones_like(out), retain_graph=True)
    print(inp.grad.sum())
a, c = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([6.0, 4.0], requires_grad=True)
q = 3 * a**3 - c**2
q.backward(gradient=torch.tensor([1.0, 1.0]))
print(9 * a**2 == a.grad, -2 * c == c.grad)
