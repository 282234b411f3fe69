"""Layers and losses: the functions of funcgrad.nn, each of which covers a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.nn.kernels import activations, basic, recurrent
from funcgrad.nn.kernels.attention import ATTEND
from funcgrad.nn.kernels.columns import ADDED_COLUMNS, COLUMNS
from funcgrad.nn.kernels.convolution import CONVOLVE, CONVOLVE_TRANSPOSED
from funcgrad.nn.kernels.embedding import ROWS_AT
from funcgrad.nn.kernels.losses import (
    BCE,
    BCE_WITH_LOGITS,
    CROSS_ENTROPY,
    HUBER,
    KL,
    KL_OF_LOGS,
    L1,
    MSE,
    NLL,
    POISSON,
    POISSON_OF_LOGS,
    SMOOTH_L1,
    SOFT_CROSS_ENTROPY,
    SOFT_MARGIN,
)
from funcgrad.nn.kernels.normalization import NORMALIZE
from funcgrad.nn.kernels.pooling import TAKE_PLACES, WINDOW_MEANS
from tests.rules.samples import A, S, Sample


def N(function: Any, kernel: Any, /, *args: Any, **kwargs: Any) -> Sample:
    """A sample of a function of funcgrad.nn, and the kernel that it covers."""
    settings = ",".join(
        [*(str(a) for a in args if np.ndim(a) == 0), *(f"{k}={v}" for k, v in kwargs.items())]
    )
    shapes = ",".join("x".join(map(str, np.shape(a))) for a in args if np.ndim(a))
    label = f"{function.__name__}({shapes};{settings})".replace(" ", "")
    wrt = tuple(k for k, a in enumerate(args) if not isinstance(a, (int, float, str)))
    return S(function, *args, **kwargs).but(covers=kernel.function, label=label, wrt=wrt)


def softened(**settings: Any) -> Any:
    """batch_norm, whose new statistics are constants."""

    def batch_norm(x: Any, scale: Any = None, bias: Any = None) -> Any:
        return nn.batch_norm(x, nn.batch_statistics(x.shape[1], x.dtype), scale, bias, **settings)[0]

    return batch_norm


def dropped(x: Any) -> Any:
    """The same elements at each call."""
    return nn.dropout(x, 0.4, np.random.default_rng(0))


def ctc(log_probs: Any) -> Any:
    """Sequences of different lengths, with a label that comes twice."""
    return nn.ctc(log_probs, np.array([[1, 1, 2], [2, 1, 0]]), [6, 5], [3, 2])


P = A(3, 4, low=0.1, high=0.9)
Y = A(3, 4, low=0.1, high=0.9)
SIGNS = np.sign(A(3, 4))
CLASSES = np.array([2, 0, 3])
STATE, CELL = A(2, 3), A(2, 3)
SEQUENCE = A(4, 2, 2)

SAMPLES = [
    # ---- activations -------------------------------------------------------------------------------------------------
    N(nn.sigmoid, basic.SIGMOID, A(2, 3)),
    N(nn.log_sigmoid, activations.LOG_SIGMOID, A(2, 3, low=-4, high=4)),
    N(nn.silu, activations.SILU, A(2, 3)),
    N(nn.gelu, activations.GELU, A(2, 3)),
    N(nn.gelu, activations.GELU_TANH, A(2, 3), approximate=True),
    N(nn.mish, activations.MISH, A(2, 3)),
    N(nn.softplus, activations.SOFTPLUS, A(2, 3), 2.0),
    S(nn.softsign, A(2, 3)).but(covers=np.divide, label="softsign"),
    N(nn.relu, basic.RELU, A(2, 3)),
    N(nn.leaky_relu, activations.LEAKY_RELU, A(2, 3), 0.2),
    N(nn.prelu, activations.PRELU, A(2, 3), A(3)),
    N(nn.elu, activations.ELU, A(2, 3), 1.5),
    N(nn.celu, activations.ELU, A(2, 3), 1.5),
    N(nn.selu, activations.ELU, A(2, 3)),
    N(nn.hard_tanh, activations.HARDTANH, A(2, 3, low=-2, high=2)),
    N(nn.hard_sigmoid, activations.HARDSIGMOID, A(2, 3, low=-5, high=5)),
    N(nn.hard_silu, activations.HARDSWISH, A(2, 3, low=-5, high=5)),
    N(nn.hard_shrink, activations.HARDSHRINK, A(2, 3)),
    N(nn.soft_shrink, activations.SOFTSHRINK, A(2, 3)),
    N(nn.softmax, basic.SOFTMAX, A(2, 3)),
    N(nn.softmax, basic.SOFTMAX, A(2, 3, 2), axis=(0, -1)),
    N(nn.log_softmax, basic.LOG_SOFTMAX, A(2, 3), axis=0),
    N(nn.log_softmax, basic.LOG_SOFTMAX, A(2, 3, 2), axis=(0, 2)),
    N(nn.logsumexp, basic.LOGSUMEXP, A(2, 3)),
    N(nn.logsumexp, basic.LOGSUMEXP, A(2, 3, 2), axis=(0, 1), keepdims=True),
    # ---- maps --------------------------------------------------------------------------------------------------------
    N(nn.linear, basic.AFFINE, A(2, 3), A(3, 4), A(4)),
    N(nn.linear, basic.AFFINE, A(2, 2, 3), A(3, 4), A(4)),
    S(nn.linear, A(3), A(3, 4)).but(covers=np.matmul, label="linear"),
    N(nn.embedding, ROWS_AT, np.array([[2, 0], [2, 1]]), A(3, 2)).but(vmap_also=(0,)),
    N(nn.embedding, ROWS_AT, np.array([2, 0]), A(3, 2, 2)),
    S(dropped, A(3, 4)).but(covers=np.multiply, label="dropout", rolls=False),
    N(nn.conv, CONVOLVE, A(2, 2, 5), A(3, 2, 3), A(3), padding="same"),
    N(nn.conv, CONVOLVE, A(2, 5, 4), A(2, 2, 3, 2), stride=2, padding=(1, 0)),
    N(nn.conv, CONVOLVE, A(1, 4, 6), A(2, 2, 2), A(2), groups=2, dilation=2),
    N(nn.conv_transpose, CONVOLVE_TRANSPOSED, A(2, 2, 3), A(2, 3, 2), A(3), stride=2, output_padding=1),
    N(nn.conv_transpose, CONVOLVE_TRANSPOSED, A(1, 2, 3, 2), A(2, 1, 2, 2), padding=1, groups=2),
    N(nn.unfold, COLUMNS, A(1, 2, 5), (2,), stride=2, padding=1).but(wrt=(0,)),
    N(nn.fold, ADDED_COLUMNS, A(1, 4, 3), (4,), (2,)).but(wrt=(0,)),
    N(nn.max_pool, TAKE_PLACES, A(2, 4, 4), (2, 2)).but(wrt=(0,)),
    N(nn.max_pool, TAKE_PLACES, A(2, 6), (3,), stride=2, padding=1, ceil_mode=True).but(wrt=(0,)),
    N(nn.avg_pool, WINDOW_MEANS, A(2, 4, 4), (2, 3), stride=1, padding=(1, 0)).but(wrt=(0,)),
    N(nn.avg_pool, WINDOW_MEANS, A(5), (2,), padding=1, count_padding=False).but(wrt=(0,)),
    N(nn.adaptive_max_pool, TAKE_PLACES, A(2, 5), (3,)).but(wrt=(0,)),
    N(nn.adaptive_avg_pool, WINDOW_MEANS, A(5, 4), (3, 2)).but(wrt=(0,)),
    # ---- normalization and attention ---------------------------------------------------------------------------------
    N(nn.layer_norm, NORMALIZE, A(2, 4), A(4), A(4)),
    N(nn.layer_norm, NORMALIZE, A(2, 3, 2), A(2, 2), axis=(0, 2)),
    N(nn.rms_norm, NORMALIZE, A(2, 4), A(4)),
    N(nn.group_norm, NORMALIZE, A(2, 4, 3), 2, A(4), A(4)),
    N(softened(training=True), NORMALIZE, A(4, 2), A(2), A(2)),
    N(softened(training=True), NORMALIZE, A(2, 2, 3)),
    N(softened(training=False), NORMALIZE, A(4, 2), A(2), A(2)),
    N(nn.attention, ATTEND, A(2, 3), A(4, 3), A(4, 2)),
    N(nn.attention, ATTEND, A(2, 3, 2), A(2, 3, 2), A(2, 3, 2), causal=True),
    N(nn.attention, ATTEND, A(2, 3), A(3, 3), A(3, 2), A(2, 3), weights=True),
    # ---- recurrence --------------------------------------------------------------------------------------------------
    N(nn.rnn_cell, recurrent.TANH_SCAN, A(2, 2), STATE, A(2, 3), A(3, 3), A(3)),
    N(nn.lstm_cell, recurrent.LSTM_SCAN, A(2, 2), (STATE, CELL), A(2, 12), A(3, 12), A(12)).but(
        wrt=(0, 1, 2, 3, 4)
    ),
    N(nn.gru_cell, recurrent.GRU_SCAN, A(2, 2), STATE, A(2, 9), A(3, 9), A(9), A(9)),
    N(nn.rnn, recurrent.TANH_SCAN, SEQUENCE, STATE, A(2, 3), A(3, 3), A(3)),
    N(nn.rnn, recurrent.RELU_SCAN, SEQUENCE, None, A(2, 3), A(3, 3), activation="relu"),
    N(nn.lstm, recurrent.LSTM_SCAN, SEQUENCE, (STATE, CELL), A(2, 12), A(3, 12), A(12), reverse=True),
    N(nn.gru, recurrent.GRU_SCAN, SEQUENCE, STATE, A(2, 9), A(3, 9), A(9), A(9)),
    # ---- losses ------------------------------------------------------------------------------------------------------
    N(nn.mse, MSE, A(3, 4), A(3, 4)),
    N(nn.mse, MSE, A(3, 4), A(4), reduction="none"),
    N(nn.mae, L1, A(3, 4), A(3, 4), reduction="sum"),
    N(nn.huber, HUBER, A(3, 4), A(3, 4), 0.3),
    N(nn.smooth_l1, SMOOTH_L1, A(3, 4), A(3, 4), 0.3),
    N(nn.binary_cross_entropy, BCE, P, Y),
    N(nn.binary_cross_entropy_with_logits, BCE_WITH_LOGITS, A(3, 4), Y),
    N(nn.soft_margin, SOFT_MARGIN, A(3, 4), SIGNS),
    S(nn.hinge, A(3, 4), SIGNS).but(covers=np.where, label="hinge", wrt=(0,)),
    N(nn.kl_divergence, KL, A(3, 4), P),
    N(nn.kl_divergence, KL_OF_LOGS, A(3, 4), A(3, 4), log_p=True, reduction="sum"),
    N(nn.poisson_nll, POISSON_OF_LOGS, A(3, 4), P),
    N(nn.poisson_nll, POISSON, P, Y, log=False),
    S(nn.gaussian_nll, A(3), A(3), A(3, low=0.5, high=2)).but(covers=np.log, label="gaussian_nll"),
    N(nn.cross_entropy, CROSS_ENTROPY, A(3, 4), CLASSES).but(vmap_also=(1,)),
    N(nn.cross_entropy, CROSS_ENTROPY, A(3, 4), CLASSES, weights=np.array([1.0, 2.0, 0.5, 3.0]), ignore=0),
    N(nn.cross_entropy, CROSS_ENTROPY, A(4, 3), CLASSES, axis=0, reduction="none"),
    N(nn.cross_entropy, SOFT_CROSS_ENTROPY, A(3, 4), P),
    N(nn.cross_entropy, SOFT_CROSS_ENTROPY, A(3, 4), CLASSES, smoothing=0.1, reduction="sum"),
    N(nn.nll, NLL, A(3, 4), CLASSES),
    S(ctc, A(6, 2, 3)).but(covers=np.exp, label="ctc"),
]
