"""torch.nn: modules."""

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.layers import Linear, MSELoss, ReLU, Sequential, Sigmoid, Tanh
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.nn import utils
