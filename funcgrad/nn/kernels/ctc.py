"""Connectionist temporal classification (Graves and others, 2006), in the logarithms of probabilities."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from funcgrad.transforms.elementwise import stop_gradient


def _log_add(terms: list[Any]) -> Any:
    """log of the sum of exp(terms); -inf, with gradient 0, where all are -inf."""
    top = reduce(np.maximum, map(stop_gradient, terms))
    dead = np.isneginf(top)
    top = np.where(dead, top.dtype.type(0), top)
    total = sum(np.exp(t - top) for t in terms)
    return np.where(dead, -np.inf, np.log(np.where(dead, top.dtype.type(1), total)) + top).astype(top.dtype)


def _behind(x: Any, k: int) -> Any:
    """The columns moved to the right by k; -inf comes in."""
    gap = np.full((x.shape[0], k), -np.inf, x.dtype)
    return np.concatenate([gap, x[:, : x.shape[1] - k]], axis=1)


def ctc(
    log_probs: Any, labels: np.ndarray, input_lengths: np.ndarray, target_lengths: np.ndarray, blank: int
) -> Any:
    """The loss of each sequence: log_probs (T, N, C), labels (N, S).

    alpha[n, s]: the log-probability of all ways to have read s of the symbols blank, label, blank, label,
    ..., blank.
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
