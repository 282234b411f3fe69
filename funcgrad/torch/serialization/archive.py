"""save and load: a container of arrays that runs no code when it is read.

A file is a zip archive: `structure.json` says what was saved, `arrays/<k>.npy` hold the numbers (NumPy's
format, without pickles), so any program can read it. Tensors that share memory share one array, as views of
it by offset and strides, and do so again when they are loaded. Files of PyTorch itself are read too
(pytorch_files.py), again without running code.

What can be saved so: tensors, parameters, arrays, numbers, strings, bytes, None, dtypes, devices, and lists,
tuples, dicts and sets of such. Other objects (whole modules) go into pickles, which `load` reads only if it
is told to (objects.py).
"""

from __future__ import annotations

import base64
import json
import os
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.serialization.objects import pickled, unpickled
from funcgrad.torch.serialization.placing import finished, placed
from funcgrad.torch.serialization.pytorch_files import read
from funcgrad.torch.tensors import dtypes, storage
from funcgrad.torch.tensors.size import Size, device
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

FORMAT = "funcgrad.torch 1"
STRUCTURE, ARRAYS, PICKLES = "structure.json", "arrays/{}.npy", "objects/{}.pkl"
_PLAIN = (type(None), bool, int, float, str)
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "Size": Size,
}


def save(obj: Any, f: Any) -> None:
    """Write `obj` to a file: a path, or an open binary file.

    Raises TypeError for what can't be saved, ValueError for a container that contains itself.

    >>> import io
    >>> import funcgrad.torch as torch
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2), "epoch": 3}, file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    writer = _Describer()
    structure = json.dumps({"format": FORMAT, "content": writer.described(obj)})
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr(STRUCTURE, structure)
        for k, array in enumerate(writer.arrays):
            with archive.open(ARRAYS.format(k), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        for k, data in enumerate(writer.pickles):
            archive.writestr(PICKLES.format(k), data)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """What was saved in a file: a path, or an open binary file.

    No code of the file is run, unless it holds objects such as modules, and weights_only=False says that it
    is trusted. Raises RuntimeError for a file of another kind, pickle.UnpicklingError for objects in a file
    that is not trusted.
    """
    if isinstance(map_location, (str, device)):
        device(map_location)
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile:
        raise RuntimeError(f"torch.load: {_name(f)} is no archive that torch.save has written") from None
    with archive:
        if STRUCTURE not in archive.namelist():
            return read(archive, _name(f))
        found = json.loads(archive.read(STRUCTURE))
        if found.get("format") != FORMAT:
            raise RuntimeError(
                f"torch.load: {_name(f)} has the format {found.get('format')!r}, not {FORMAT!r}"
            )
        return _Rebuilder(archive, trusted=weights_only is False).built(found["content"])


def _name(f: Any) -> str:
    return repr(os.fspath(f)) if isinstance(f, (str, os.PathLike)) else "the file"


# ---- writing ---------------------------------------------------------------------------------------------------------
class _Describer:
    """Describes an object in what JSON knows, and collects its arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.pickles: list[bytes] = []
        # by identity: the number of an array, and what keeps the identity valid
        self.known: dict[int, tuple[int, Any]] = {}
        self.tensors: dict[int, tuple[int, Any]] = {}
        self.open: set[int] = set()

    def described(self, x: Any) -> Any:
        """`x` as JSON: numbers and strings as they are, all else as {kind: content}."""
        if type(x) in _PLAIN:
            return x
        if isinstance(x, Tensor):
            return self._tensor(x)
        if isinstance(x, (np.ndarray, np.generic)):
            return {"array" if isinstance(x, np.ndarray) else "scalar": self._number_of(x)}
        if isinstance(x, (dict, list, tuple, set, frozenset)):
            return self._container(x)
        if isinstance(x, complex):
            return {"complex": [x.real, x.imag]}
        if isinstance(x, (bytes, bytearray)):
            return {"bytes": base64.b64encode(x).decode()}
        if isinstance(x, dtypes.dtype):
            return {"dtype": x.name}
        if isinstance(x, device):
            return {"device": str(x)}
        return self._pickle(x)

    def _pickle(self, x: Any) -> Any:
        self.pickles.append(pickled(x, self.described))
        return {"pickle": len(self.pickles) - 1}

    def _container(self, x: Any) -> Any:
        kind = type(x).__name__
        if id(x) in self.open:
            raise ValueError(f"torch.save: a {kind} contains itself")
        self.open.add(id(x))
        if isinstance(x, dict):
            if type(x) not in (dict, OrderedDict):
                return self._pickle(x)
            found = [[self.described(k), self.described(v)] for k, v in x.items()]
        elif kind in _SEQUENCES and type(x) is _SEQUENCES[kind]:
            found = [self.described(item) for item in x]
        else:
            return self._pickle(x)
        self.open.discard(id(x))
        return {kind: found}

    def _number_of(self, array: Any) -> int:
        """The number of an array among those of the file."""
        if id(array) not in self.known:
            if array.dtype.hasobject:
                raise TypeError("torch.save: can't save an array of objects safely")
            self.known[id(array)] = len(self.arrays), array
            self.arrays.append(np.asarray(array))
        return self.known[id(array)][0]

    def _tensor(self, t: Tensor) -> Any:
        from funcgrad.torch.nn.parameter import Parameter

        if id(t) in self.tensors:
            return {"again": self.tensors[id(t)][0]}
        self.tensors[id(t)] = len(self.tensors), t
        value = t.value
        if isinstance(value, Tracer):
            raise RuntimeError(
                "torch.save: a tensor inside a functional transform has no data yet. Save what the transform returns."
            )
        found: dict[str, Any] = {"requires_grad": t.requires_grad, "parameter": isinstance(t, Parameter)}
        root = value if t.link is None else t.link.storage.array
        found["array"] = self._number_of(root)
        if root is not value:
            found["place"] = _place(np.asarray(value), np.asarray(root))
            if found["place"] is None:  # the root is laid out in a way that strides don't tell
                found["array"] = self._number_of(np.array(value))
        return {"tensor": found}


def _place(x: np.ndarray, root: np.ndarray) -> Any:
    """Where `x` lies in `root`: offset, shape and strides, in elements; None if that can't be told."""
    if not root.flags.c_contiguous or x.dtype != root.dtype or not np.may_share_memory(x, root):
        return None
    offset = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return [offset // x.itemsize, list(x.shape), [s // x.itemsize for s in x.strides]]


# ---- reading ---------------------------------------------------------------------------------------------------------
class _Rebuilder:
    """Builds an object from its description."""

    def __init__(self, archive: zipfile.ZipFile, *, trusted: bool) -> None:
        self.archive, self.trusted = archive, trusted
        self.arrays: dict[int, np.ndarray] = {}
        self.roots: dict[int, Tensor] = {}
        self.tensors: list[Tensor] = []

    def built(self, x: Any) -> Any:
        """What `x` describes."""
        if not isinstance(x, dict):
            return x
        ((kind, content),) = x.items()
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.built(item) for item in content])
        if kind in ("dict", "OrderedDict"):
            pairs = [(self.built(k), self.built(v)) for k, v in content]
            return dict(pairs) if kind == "dict" else OrderedDict(pairs)
        makers: dict[str, Callable[[Any], Any]] = {
            "tensor": self._tensor,
            "again": lambda k: self.tensors[k],
            "array": lambda k: self._array(k).copy(),
            "scalar": lambda k: self._array(k)[()],
            "complex": lambda parts: complex(*parts),
            "bytes": base64.b64decode,
            "dtype": lambda name: dtypes.of(name),
            "device": device,
            "pickle": lambda k: unpickled(self.archive.read(PICKLES.format(k)), self.built, self.trusted),
        }
        if kind not in makers:
            raise RuntimeError(f"torch.load: the file holds a {kind!r}, which this version does not know")
        return makers[kind](content)

    def _array(self, k: int) -> np.ndarray:
        if k not in self.arrays:
            with self.archive.open(ARRAYS.format(k)) as member:
                self.arrays[k] = np.lib.format.read_array(member, allow_pickle=False)
        return self.arrays[k]

    def _tensor(self, found: dict[str, Any]) -> Tensor:
        root = self._root(found["array"])
        place = found.get("place")
        made = placed(root, *place) if place is not None else storage.share(root, make_tensor(root.value))
        made = finished(made, found["requires_grad"], found["parameter"])
        self.tensors.append(made)
        return made

    def _root(self, k: int) -> Tensor:
        """The tensor of a whole array, whose memory all tensors of that array share."""
        if k not in self.roots:
            self.roots[k] = make_tensor(self._array(k))
        return self.roots[k]
