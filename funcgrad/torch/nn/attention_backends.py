"""torch.nn.attention: which kernel computes scaled_dot_product_attention. There is one only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any


class SDPBackend(Enum):
    """The kernels that PyTorch has."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Choose among kernels: the one there is runs. Raises TypeError for what is no SDPBackend."""
    for each in backends if isinstance(backends, (list, tuple)) else [backends]:
        if not isinstance(each, SDPBackend):
            raise TypeError(
                "Backend must be an instance of SDPBackend or a list of SDPBackend instances, not "
                f"{type(each).__name__}"
            )
    yield
