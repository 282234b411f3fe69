"""Losses of classes, as functions: cross_entropy and nll_loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import Tracer
from funcgrad.nn.kernels import losses as kernels
from funcgrad.nn.losses import at_classes, of_probabilities, smoothed
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.reduction import reducing
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.inplace import kind_name
from funcgrad.torch.tensors.tensor import Tensor


def _classes_last(x: Any) -> Any:
    """(N, C, ...) as (N, ..., C)."""
    return np.moveaxis(x, 1, -1) if x.ndim > 2 else x


def _check_classes(x: Any, target: Any) -> None:
    """Refuse classes whose shape or dtype does not fit the scores."""
    if x.ndim < 3 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dtype.kind not in "iu" or target.dtype.itemsize not in (1, 8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {kind_name(target.dtype)}")
    if x.ndim > 1 and (not target.ndim or x.shape[0] != target.shape[0]):
        size = target.shape[0] if target.ndim else 1
        raise ValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({size}).")
    if x.ndim > 2 and x.shape[:1] + x.shape[2:] != target.shape:
        wanted = list(x.shape[:1] + x.shape[2:])
        raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")


def _check_weight(x: Any, weight: Any, classes: int) -> None:
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{list(weight.shape)}"
        )


def _checked(x: Any, target: Any, weight: Any, ignored: int) -> tuple[Any, int | None]:
    """The scores with classes last, and the ignored class, if a target may be that; all fit."""
    classes = x.shape[1 if x.ndim > 1 else 0]
    _check_classes(x, target)
    _check_weight(x, weight, classes)
    if isinstance(target, Tracer) or not target.size:
        return _classes_last(x), ignored
    low, high = target.min(), target.max()
    if low < 0 or high >= classes:
        outside = (target != ignored) & ((target < 0) | (target >= classes))
        if np.any(outside):
            raise IndexError(f"Target {target[outside].flat[0]} is out of bounds.")
    return _classes_last(x), ignored if low <= ignored <= high else None


def _from_scores(kernel: Any) -> Any:
    def body(input: Any, target: Any, weight: Any, reduction: str, ignored: int) -> Any:
        x, ignore = _checked(input, target, weight, ignored)
        return at_classes(kernel, x, target, weight, reduction, ignore)

    return body


def _smoothed(input: Any, target: Any, weight: Any, reduction: str, ignored: int, smoothing: float) -> Any:
    x, ignore = _checked(input, target, weight, ignored)
    return smoothed(x, target, weight, reduction, ignore, smoothing)


def _of_probabilities(input: Any, target: Any, weight: Any, reduction: str, smoothing: float) -> Any:
    x, q = dtypes.aligned((_classes_last(input), _classes_last(target)))
    return of_probabilities(x, q, weight, reduction, smoothing)


def _node(input: Tensor, target: Tensor, weight: Any, reduction: str, *rest: Any) -> str:
    if input.ndim < 3:
        return "NllLossBackward0"
    return "ViewBackward0" if reduction == "none" and input.ndim != 4 else "NllLoss2DBackward0"


_CROSS_ENTROPY = Op("cross_entropy_loss", _from_scores(kernels.CROSS_ENTROPY), _node)
_NLL = Op("nll_loss", _from_scores(kernels.NLL), _node)
_SMOOTHED = Op("cross_entropy_loss", _smoothed, "AddBackward0")
_OF_PROBABILITIES = Op(
    "cross_entropy_loss",
    _of_probabilities,
    lambda input, target, weight, reduction, smoothing: (
        "DivBackward1" if reduction == "mean" else "NegBackward0"
    ),
)


@reducing("ignore_index")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log(softmax(input))[target]: logits (C,), (N, C) or (N, C, d1, ...), and classes (), (N,) or (N, d1,
    ...).

    A target of the shape of `input` holds probabilities of the classes. `weight` (C,) weights the classes;
    targets equal to ignore_index do not count. Raises IndexError for a class out of range, ValueError and
    RuntimeError for what does not fit.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.cross_entropy(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([2]), label_smoothing=0.1)
    tensor(0.5076)
    """
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.value.dtype.kind != "f":
        raise NotImplementedError(
            f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{kind_name(input.value.dtype)}'"
        )
    if input.shape == target.shape:
        if target.value.dtype.kind != "f":
            found = kind_name(target.value.dtype)
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {found}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        _check_weight(input, weight, input.shape[1 if input.ndim > 1 else 0])
        return _OF_PROBABILITIES(input, target, weight, reduction, float(label_smoothing))
    if label_smoothing:
        return _SMOOTHED(input, target, weight, reduction, ignore_index, float(label_smoothing))
    return _CROSS_ENTROPY(input, target, weight, reduction, ignore_index)


@reducing("ignore_index")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-input[target]: log-probabilities (C,), (N, C) or (N, C, d1, ...), and classes (), (N,) or (N, d1,
    ...).

    `weight` (C,) weights the classes; targets equal to ignore_index do not count.
    """
    if not input.ndim:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    return _NLL(input, target, weight, reduction, ignore_index)


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Rows of zeros with a one at the class: classes (*) of int64 give (*, num_classes) of int64.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]), num_classes=3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if input.value.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    return _ONE_HOT(input, num_classes)


def _one_hot(input: Any, num_classes: int) -> Any:
    if isinstance(input, Tracer):
        if num_classes < 0:
            raise RuntimeError(
                "one_hot: num_classes must be given inside vmap, where the largest class is not known"
            )
    elif not input.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
    elif np.min(input) < 0:
        raise RuntimeError("Class values must be non-negative.")
    elif num_classes >= 0 and np.max(input) >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    classes = num_classes if num_classes >= 0 else int(np.max(input)) + 1
    return (input[..., None] == np.arange(classes)).astype(np.int64)


_ONE_HOT = Op("one_hot", _one_hot)
