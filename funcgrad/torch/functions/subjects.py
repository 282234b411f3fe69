# ruff: noqa: F401 (each declares its functions as it is loaded)
"""All subjects: once this is loaded, the functions of `torch` and the methods of Tensor are declared."""

from funcgrad.torch.functions import (
    convert,
    elementwise,
    index,
    join,
    linalg,
    matrices,
    more,
    rare,
    reduce,
    scipy,
    settings,
    shape,
    special,
    views,
)
from funcgrad.torch.random import sampling
from funcgrad.torch.tensors import interop, memory, printing, subclasses
