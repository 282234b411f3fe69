"""torch.utils: checkpoint, data, benchmark, swap_tensors."""

from funcgrad.torch.utils import benchmark, checkpoint, data
from funcgrad.torch.utils.swapping import swap_tensors

__all__ = ["benchmark", "checkpoint", "data", "swap_tensors"]
