"""Files that PyTorch's torch.save has written: read without running what they name.

Such a file is a zip archive of raw storages and one pickle. A pickle may name any function; here only those
that build tensors and containers are known, and each is replaced by one of ours.
"""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.serialization.placing import finished, placed
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.size import Size, device
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


def _tensor(root: Tensor, offset: int, shape: Any, strides: Any, requires_grad: bool, *_: Any) -> Tensor:
    return placed(root, offset, list(shape), list(strides)).requires_grad_(requires_grad)


def _parameter(data: Tensor, requires_grad: bool, *_: Any) -> Tensor:
    return finished(data, requires_grad, True)


_STORAGES = {
    "HalfStorage": "float16",
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
}
_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    **{("torch", kind): np.dtype(name) for kind, name in _STORAGES.items()},
    **{("torch", made.name): made for made in dtypes.DTYPES.values()},
}


class _TensorUnpickler(pickle.Unpickler):
    """An unpickler that knows nothing but tensors, dtypes and containers."""

    def __init__(self, file: Any, storage_of: Callable[[Any, str], Tensor]) -> None:
        super().__init__(file)
        self.storage_of = storage_of

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle may name."""
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise RuntimeError(
                f"torch.load: the file names {module}.{name}, which would be run if it were read. Only tensors, numbers, strings "
                "and containers are read: in PyTorch, save the state_dict() of a module."
            ) from None

    def persistent_load(self, pid: Any) -> Tensor:
        """The storage that a pickle refers to."""
        kind, numpy, key, *_ = pid
        if kind != "storage" or not isinstance(numpy, np.dtype):
            raise RuntimeError(f"torch.load: the file refers to a {kind!r} of {numpy!r}, which is not known")
        return self.storage_of(numpy, key)


def read(archive: zipfile.ZipFile, name: str) -> Any:
    """The content of a file of PyTorch's, given as an open archive."""
    inside = next((n for n in archive.namelist() if n.endswith("data.pkl")), None)
    if inside is None:
        raise RuntimeError(f"torch.load: {name} is no archive that torch.save has written")
    folder = inside.removesuffix("data.pkl")
    byte_order = f"{folder}byteorder"
    swapped = byte_order in archive.namelist() and archive.read(byte_order) == b"big"
    roots: dict[str, Tensor] = {}

    def storage_of(numpy: Any, key: str) -> Tensor:
        if key not in roots:
            raw = np.frombuffer(
                archive.read(f"{folder}data/{key}"), numpy.newbyteorder(">" if swapped else "<")
            )
            roots[key] = make_tensor(raw.astype(numpy))
        return roots[key]

    with archive.open(inside) as file:
        return _TensorUnpickler(file, storage_of).load()
