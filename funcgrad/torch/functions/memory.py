"""Questions about memory: where a tensor's storage is, and where in it the tensor begins."""

from __future__ import annotations

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.tensors.storage import link_of
from funcgrad.torch.tensors.tensor import Tensor


class UntypedStorage:
    """The bytes that a tensor and its views have in common."""

    def __init__(self, t: Tensor) -> None:
        self._array = np.asarray(concrete(link_of(t).storage.array))

    def data_ptr(self) -> int:
        """The address of the first byte: equal for tensors that share memory."""
        return np.lib.array_utils.byte_bounds(self._array)[0]

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._array.nbytes

    size = __len__ = nbytes


def _storage_offset(self: Tensor) -> int:
    """The number of elements between the beginning of the storage and the first element of this tensor."""
    value = np.asarray(concrete(self.value))
    first = value.__array_interface__["data"][0]
    distance = first - UntypedStorage(self).data_ptr()
    return distance // value.itemsize if 0 <= distance < UntypedStorage(self).nbytes() else 0


def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Are both the same view of the same memory?"""
    same = link_of(self).storage is link_of(tensor).storage and self.shape == tensor.shape
    return same and (self.stride(), _storage_offset(self)) == (tensor.stride(), _storage_offset(tensor))


Tensor.untyped_storage = Tensor.storage = lambda self: UntypedStorage(self)
Tensor.storage_offset, Tensor.is_set_to = _storage_offset, _is_set_to
