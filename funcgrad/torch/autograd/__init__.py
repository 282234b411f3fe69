"""torch.autograd: backward, grad, Function, hooks, functional transforms, checks.

What runs behind these names is in `funcgrad/torch/graph`.
"""

from funcgrad.torch.autograd import forward_ad, function, functional, graph, profiler
from funcgrad.torch.autograd.function import Function
from funcgrad.torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from funcgrad.torch.autograd.variable import Variable
from funcgrad.torch.graph.anomaly import detect_anomaly, set_detect_anomaly
from funcgrad.torch.graph.backward import backward, grad
from funcgrad.torch.graph.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
