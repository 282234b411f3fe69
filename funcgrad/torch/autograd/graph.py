"""torch.autograd.graph: nodes as objects, edges, hooks on several tensors, saved tensors."""

from funcgrad.torch.graph.nodes import (
    GradientEdge,
    Node,
    SavedTensor,
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
)
from funcgrad.torch.graph.saved import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    forbid_second_backward,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "SavedTensor",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "forbid_second_backward",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
