"""TensorBoard's message types and its event writer, found on first use: the package is optional."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from funcgrad.torch.tensors.tensor import Tensor

_PROTO = "tensorboard.compat.proto"
_NAMES = {
    f"{_PROTO}.event_pb2": "Event SessionLog TaggedRunMetadata",
    f"{_PROTO}.summary_pb2": "HistogramProto Summary SummaryMetadata",
    f"{_PROTO}.tensor_pb2": "TensorProto",
    f"{_PROTO}.tensor_shape_pb2": "TensorShapeProto",
    f"{_PROTO}.types_pb2": "DT_DOUBLE DT_FLOAT DT_STRING",
    f"{_PROTO}.graph_pb2": "GraphDef",
    f"{_PROTO}.attr_value_pb2": "AttrValue",
    f"{_PROTO}.node_def_pb2": "NodeDef",
    f"{_PROTO}.versions_pb2": "VersionDef",
    "tensorboard.summary.writer.event_file_writer": "EventFileWriter",
    "tensorboard.util.tensor_util": "make_tensor_proto",
}


@cache
def protos() -> SimpleNamespace:
    """The types, by name. Raises ImportError, which names the extra, where the package is absent."""
    try:
        return SimpleNamespace(
            **{n: getattr(import_module(path), n) for path, names in _NAMES.items() for n in names.split()}
        )
    except ImportError as error:
        raise ImportError(
            f"SummaryWriter writes through the tensorboard package, which could not be imported ({error}). "
            "Install the extra: pip install 'funcgrad[tensorboard]'"
        ) from error


def as_array(x: Any) -> np.ndarray:
    """A tensor, an array, a number or a sequence of numbers as an array, outside every graph."""
    return x.detach().numpy() if isinstance(x, Tensor) else np.asarray(x)


def as_number(who: str, x: Any) -> float:
    """A number, or what holds exactly one."""
    found = as_array(x)
    if found.size != 1 or found.dtype.kind not in "buif":
        raise ValueError(
            f"{who}: a scalar must be one real number, found {found.dtype} of shape {found.shape}: reduce it first"
        )
    return float(found.reshape(()))


def plugin(name: str, content: bytes = b"") -> Any:
    """The metadata of a summary that one of TensorBoard's plugins shows."""
    types = protos()
    return types.SummaryMetadata(
        plugin_data=types.SummaryMetadata.PluginData(plugin_name=name, content=content)
    )


def summary(tag: str, **content: Any) -> Any:
    """A summary of one value."""
    types = protos()
    return types.Summary(value=[types.Summary.Value(tag=tag, **content)])
