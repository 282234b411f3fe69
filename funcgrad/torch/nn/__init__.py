# ruff: noqa: F401 (these are the public names)
"""torch.nn: modules."""

from funcgrad.torch.nn import functional, utils
from funcgrad.torch.nn.layers import Linear, MSELoss, ReLU, Sequential, Sigmoid, Tanh
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
