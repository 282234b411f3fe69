"""Weights that are made from others: symmetric, skew, orthogonal by the matrix exponential."""

import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


class Skew(nn.Module):
    def forward(self, X):
        A = X.triu(1)
        return A - A.transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu(1)


class MatrixExponential(nn.Module):
    def forward(self, X):
        return torch.matrix_exp(X)


torch.manual_seed(0)
layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
print(torch.allclose(layer.weight, layer.weight.T), parametrize.is_parametrized(layer), layer.weight)

print(layer.parametrizations.weight.original.shape, len(layer.parametrizations))
ortho = nn.Linear(3, 3, bias=False)
parametrize.register_parametrization(ortho, "weight", Skew())
parametrize.register_parametrization(ortho, "weight", MatrixExponential())
X = ortho.weight
print(torch.dist(X.T @ X, torch.eye(3)).item() < 1e-5)
with parametrize.cached():
    loss = (ortho(torch.ones(2, 3)) ** 2).sum() + ortho.weight[0, 1]
loss.backward()
print(ortho.parametrizations.weight.original.grad)
parametrize.remove_parametrizations(layer, "weight")
print(type(layer.weight).__name__, list(dict(layer.named_parameters())))
