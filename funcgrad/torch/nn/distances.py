"""Distances as modules."""

from __future__ import annotations

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.from_functions import module
from funcgrad.torch.nn.module import Module
from funcgrad.torch.tensors.tensor import Tensor

CosineSimilarity = module("CosineSimilarity", functional.cosine_similarity, shows="")


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
