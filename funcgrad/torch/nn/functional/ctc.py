"""ctc_loss: connectionist temporal classification (Graves and others, 2006), in the logarithms of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.reduction import chosen
from funcgrad.torch.tensors.tensor import Tensor, plain


def _lengths(x: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(plain(x) if isinstance(x, Tensor) else x, np.int64))


def _padded_targets(targets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Targets (N, S), also from all of them in one row."""
    if targets.ndim == 2:
        return targets
    found = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int64)
    found[np.arange(found.shape[1]) < lengths[:, None]] = targets
    return found


def _log_add(terms: list[Any]) -> Any:
    """log of the sum of exp(terms); -inf, with gradient 0, where all are -inf."""
    top = np.maximum.reduce([concrete(t) for t in terms])
    dead = np.isneginf(top)
    top = np.where(dead, top.dtype.type(0), top)
    total = sum(np.exp(t - top) for t in terms)
    return np.where(dead, -np.inf, np.log(np.where(dead, top.dtype.type(1), total)) + top).astype(top.dtype)


def _behind(x: Any, k: int) -> Any:
    """The columns moved to the right by k; -inf comes in."""
    gap = np.full((x.shape[0], k), -np.inf, x.dtype)
    return np.concatenate([gap, x[:, : x.shape[1] - k]], axis=1)


def _ctc(log_probs: Any, labels: np.ndarray, input_lengths: np.ndarray, target_lengths: np.ndarray, blank: int) -> Any:
    """The loss of each sequence: log_probs (T, N, C), labels (N, S).

    alpha[n, s]: the log-probability of all ways to have read s of the symbols blank, label, blank, label, ..., blank.
    """
    n = labels.shape[0]
    symbols = np.full((n, 2 * labels.shape[1] + 1), blank)
    symbols[:, 1::2] = labels
    may_skip = np.zeros(symbols.shape, bool)
    may_skip[:, 2:] = (symbols[:, 2:] != blank) & (symbols[:, 2:] != symbols[:, :-2])
    rows = np.arange(n)[:, None]
    minus_inf = log_probs.dtype.type(-np.inf)
    begins = np.arange(symbols.shape[1]) < 2
    alpha = np.where(begins, log_probs[0][rows, symbols], minus_inf)
    for t in range(1, log_probs.shape[0]):
        skipped = np.where(may_skip, _behind(alpha, 2), minus_inf)
        moved = _log_add([alpha, _behind(alpha, 1), skipped]) + log_probs[t][rows, symbols]
        alpha = np.where((t < input_lengths)[:, None], moved, alpha)
    at = np.arange(n)
    last = alpha[at, 2 * target_lengths]
    before = np.where(target_lengths > 0, alpha[at, np.maximum(2 * target_lengths - 1, 0)], minus_inf)
    return -_log_add([last, before])


def _body(log_probs: Any, labels: Any, inputs: Any, targets: Any, blank: int, reduction: str, zero: bool) -> Any:
    single = log_probs.ndim == 2
    loss = _ctc(log_probs[:, None] if single else log_probs, labels, inputs, targets, blank)
    if zero:
        loss = np.where(np.isinf(concrete(loss)), loss.dtype.type(0), loss)
    if reduction == "mean":
        return np.mean(loss / np.maximum(targets, 1).astype(loss.dtype))
    return np.sum(loss) if reduction == "sum" else loss[0] if single else loss


_NODES = {"mean": "MeanBackward0", "sum": "SumBackward0", "none": "CtcLossBackward0"}
_CTC = Op("ctc_loss", _body, lambda *args: _NODES[args[5]])


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of the targets, with blanks and repetitions between: log_probs (T, N, C) or (T, C).

    `targets` is (N, S), or all targets in one row; the lengths are (N,). "mean" first divides by the lengths of the targets.
    zero_infinity=True makes losses of impossible targets 0.
    """
    reduction = chosen(reduction)
    inputs, lengths = _lengths(input_lengths), _lengths(target_lengths)
    value = np.asarray(plain(targets))
    labels = _padded_targets(value[None] if log_probs.dim() == 2 and value.ndim == 1 else value, lengths)
    if inputs.max(initial=0) > log_probs.shape[0]:
        raise RuntimeError(f"Expected input_lengths to have value at most {log_probs.shape[0]}, but got value {inputs.max()}")
    return _CTC(log_probs, labels, inputs, lengths, blank, reduction, zero_infinity)
