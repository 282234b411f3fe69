"""Parameter: a leaf that a module knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.tensor import Tensor, make_tensor


class Parameter(Tensor):
    """A tensor that belongs to a module as soon as it is assigned to one; it requires grad."""

    __slots__ = ()
    prints_as_tensor = True

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        source = make_tensor(np.zeros(0, np.float32)) if data is None else data
        made = object.__new__(cls)
        made.value, made.node = source.value, None
        if source.link is not None:
            from funcgrad.torch import storage

            storage.share(source, made, own_version=True)
        return made.requires_grad_(requires_grad)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{Tensor.__repr__(self)}"
