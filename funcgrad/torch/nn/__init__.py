# ruff: noqa: F401 (these are the public names)
"""torch.nn: modules, one file for each subject; the functions beneath them are in functional/, in files of the same names."""

from funcgrad.torch.nn import functional, utils
from funcgrad.torch.nn.activations import ReLU, Sigmoid, Tanh
from funcgrad.torch.nn.containers import Sequential
from funcgrad.torch.nn.linear import Linear
from funcgrad.torch.nn.losses import MSELoss
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
