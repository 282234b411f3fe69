"""torch.autograd: backward, grad, Function, hooks, functional transforms, checks."""

from funcgrad.torch.autograd import graph
from funcgrad.torch.autograd.backward import backward, grad
