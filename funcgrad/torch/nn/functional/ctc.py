"""ctc_loss: connectionist temporal classification (Graves and others, 2006), in log probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.nn.kernels.ctc import ctc
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.reduction import reducing
from funcgrad.torch.tensors.tensor import Tensor, plain
from funcgrad.torch.tensors.values import constant


def _lengths(x: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(plain(x) if isinstance(x, Tensor) else x, np.int64))


def _padded_targets(targets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Targets (N, S), also from all of them in one row."""
    if targets.ndim == 2:
        return targets
    found = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int64)
    found[np.arange(found.shape[1]) < lengths[:, None]] = targets
    return found


def _body(
    log_probs: Any, labels: Any, inputs: Any, targets: Any, blank: int, reduction: str, zero: bool
) -> Any:
    single = log_probs.ndim == 2
    rows = log_probs[:, None] if single else log_probs
    loss = ctc(rows, labels, inputs, targets, blank) + _surplus(rows, inputs)
    if zero:
        loss = np.where(np.isinf(concrete(loss)), loss.dtype.type(0), loss)
    if reduction == "mean":
        return np.mean(loss / np.maximum(targets, 1).astype(loss.dtype))
    return np.sum(loss) if reduction == "sum" else loss[0] if single else loss


def _surplus(log_probs: Any, inputs: Any) -> Any:
    """Zeros (N,) whose gradient is that of the sum of all probabilities.

    PyTorch gives, for the gradient in log_probs, that in the logits they came from. Through log_softmax both are the
    same, as the probabilities of one frame always add up to 1.
    """
    inside = np.arange(log_probs.shape[0])[:, None] < inputs
    total = np.sum(np.where(inside[..., None], np.exp(log_probs), log_probs.dtype.type(0)), (0, 2))
    return total - constant(total)


_NODES = {"mean": "MeanBackward0", "sum": "SumBackward0", "none": "CtcLossBackward0"}
_CTC = Op("ctc_loss", _body, lambda *args: _NODES[args[5]])


@reducing(None)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of the targets, with blanks and repetitions between: log_probs (T, N, C) or (T,
    C).

    `targets` is (N, S), or all targets in one row; the lengths are (N,). "mean" first divides by the lengths
    of the targets. zero_infinity=True makes losses of impossible targets 0. As in PyTorch, log_probs are taken for
    the log_softmax of logits, whose gradient theirs is.
    """
    inputs, lengths = _lengths(input_lengths), _lengths(target_lengths)
    value = np.asarray(plain(targets))
    labels = _padded_targets(value[None] if log_probs.dim() == 2 and value.ndim == 1 else value, lengths)
    if inputs.max(initial=0) > log_probs.shape[0]:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {log_probs.shape[0]}, but got value {inputs.max()}"
        )
    return _CTC(log_probs, labels, inputs, lengths, blank, reduction, zero_infinity)
