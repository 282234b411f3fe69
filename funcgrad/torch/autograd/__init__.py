# ruff: noqa: F401 (these are the public names)
"""torch.autograd: backward, grad, Function, hooks, functional transforms, checks."""

from funcgrad.torch.autograd import forward_ad, function, functional, graph, profiler, saved
from funcgrad.torch.autograd.anomaly import detect_anomaly, set_detect_anomaly
from funcgrad.torch.autograd.backward import backward, grad
from funcgrad.torch.autograd.function import Function
from funcgrad.torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from funcgrad.torch.autograd.variable import Variable
from funcgrad.torch.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

for _name in (
    *("saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "allow_mutation_on_saved_tensors"),
    "forbid_second_backward",
):
    setattr(graph, _name, getattr(saved, _name))
