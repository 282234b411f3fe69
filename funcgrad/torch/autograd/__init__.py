"""torch.autograd: backward, grad, Function, hooks, functional transforms, checks."""

from funcgrad.torch.autograd import function, graph
from funcgrad.torch.autograd.backward import backward, grad
from funcgrad.torch.autograd.function import Function
from funcgrad.torch.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
