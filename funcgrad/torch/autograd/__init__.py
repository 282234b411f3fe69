"""torch.autograd: backward, grad, Function, hooks, functional transforms, checks.

What runs behind these names is in `funcgrad/torch/graph`.
"""

from funcgrad.torch.autograd import forward_ad, function, functional, gradcheck, graph, profiler, variable
from funcgrad.torch.graph import anomaly, backward, modes
from funcgrad.torch.public import gather

_NAMES = {
    function: "Function",
    gradcheck: "GradcheckError gradcheck gradgradcheck",
    variable: "Variable",
    anomaly: "detect_anomaly set_detect_anomaly",
    backward: "backward grad",
    modes: "enable_grad inference_mode no_grad set_grad_enabled set_multithreading_enabled",
}
gather(globals(), _NAMES, forward_ad, function, functional, graph, profiler)
