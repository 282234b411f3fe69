"""Items into batches: `default_collate` stacks tensors, arrays and numbers wherever they are in the items."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from funcgrad.torch.functions.creation import as_tensor, tensor
from funcgrad.torch.functions.join import stack
from funcgrad.torch.tensors.tensor import Tensor, make_tensor

_REFUSED = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_collate(batch: Any) -> Any:
    """A batch of a list of items: tensors, arrays and numbers are stacked, in dicts, tuples, lists and named
    tuples too.

    Tuples become lists, strings stay lists. Raises RuntimeError where lists differ in length, TypeError for
    other items.

    >>> from funcgrad.torch.utils.data import default_collate
    >>> default_collate([{"x": 1.0, "y": "a"}, {"x": 2.0, "y": "b"}])
    {'x': tensor([1., 2.], dtype=torch.float64), 'y': ['a', 'b']}
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stacked(batch)
    if isinstance(first, (np.ndarray, np.generic)):
        if first.dtype.kind not in "biufc":
            raise TypeError(_REFUSED.format(first.dtype))
        return (
            as_tensor(np.asarray(batch))
            if isinstance(first, np.generic)
            else stack([as_tensor(x) for x in batch], 0)
        )
    if isinstance(first, float):
        return tensor(batch, dtype=np.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _like_mapping(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _like_sequence(first, columns)
    raise TypeError(_REFUSED.format(type(first)))


def stacked(tensors: Sequence[Any]) -> Any:
    """Tensors of one shape, stacked; at once, if they are plain."""
    shape, dtype = tensors[0].value.shape, tensors[0].value.dtype
    for t in tensors:
        value = t.value
        plain = (
            type(t) is Tensor
            and t.node is None
            and (type(value) is np.ndarray or isinstance(value, np.generic))
        )
        if not plain or value.dtype is not dtype or value.shape != shape:
            return stack(list(tensors), 0)
    out = np.empty((len(tensors), *shape), dtype)
    for k, t in enumerate(tensors):
        out[k] = t.value
    return make_tensor(out)


def default_convert(data: Any) -> Any:
    """One item with its arrays as tensors; everything else stays as it is."""
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind not in "biufc" else as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(x) for x in data])
    return data


def _like_mapping(example: Any, made: dict[Any, Any]) -> Any:
    """`made` as a mapping of the type of `example`; a dict if that can't be."""
    if type(example) is dict:
        return made
    if isinstance(example, MutableMapping):
        return _copied(example, lambda clone: clone.update(made), made)
    return _called(type(example), made)


def _like_sequence(example: Any, made: list[Any]) -> Any:
    if type(example) is list:
        return made
    if isinstance(example, MutableSequence):

        def fill(clone: Any) -> None:
            for i, value in enumerate(made):
                clone[i] = value

        return _copied(example, fill, made)
    return _called(type(example), made)


def _copied(example: Any, fill: Callable[[Any], None], made: Any) -> Any:
    try:
        clone = copy.copy(example)
        fill(clone)
    except TypeError:
        return made
    return clone


def _called(kind: Any, made: Any) -> Any:
    try:
        return kind(made)
    except TypeError:
        return made
