# ruff: noqa: F401 (each declares its functions as it is loaded)
"""All subjects: once this is loaded, the functions of `torch` and the methods of Tensor are declared."""

from funcgrad.torch.functions import (
    convert,
    differences,
    distances,
    elementwise,
    index,
    join,
    linalg,
    matrices,
    memory,
    operators,
    questions,
    raw,
    reduce,
    scatter,
    scipy,
    sets,
    settings,
    shape,
    signals,
    special,
    statistics,
    views,
)
from funcgrad.torch.random import sampling
from funcgrad.torch.tensors import interop, printing, subclasses
