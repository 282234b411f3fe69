"""Layers and losses of neural networks as pure functions of arrays: parameters are arguments.

Names follow NumPy (`axis`, `keepdims`), arrays lie as PyTorch has them: examples first, then channels, then
space. Every function has a derivative of its own, is vectorised by `vmap`, and works in the dtype of its
arrays. `funcgrad.torch.nn.functional` runs the same kernels under PyTorch's names.

>>> import numpy as np
>>> from funcgrad import nn, value_and_grad
>>> def loss(params, images, labels):
...     x = nn.relu(nn.conv(images, params["kernel"], params["bias"], padding="same"))
...     x = nn.max_pool(x, (2, 2)).reshape(len(x), -1)
...     return nn.cross_entropy(nn.linear(x, params["scores"]), labels)
>>> rng = np.random.default_rng(0)
>>> params = {"kernel": rng.normal(size=(4, 1, 3, 3)), "bias": np.zeros(4)}
>>> params["scores"] = rng.normal(size=(64, 10))
>>> value, gradients = value_and_grad(loss)(params, rng.normal(size=(2, 1, 8, 8)), np.array([3, 5]))
>>> gradients["kernel"].shape
(4, 1, 3, 3)

Its parts, each over a file of `kernels/` that has the rules::

    operands.py        what the functions take, and one dtype for all
    activations.py     relu, softmax, one_hot, ...
    linear.py          linear, embedding, dropout
    convolution.py     conv, conv_transpose, fold, unfold
    pooling.py         the largest and the mean of windows
    normalization.py   layer_norm, group_norm, batch_norm, ...
    attention.py       attention
    recurrent.py       cells, and all steps of a layer
    losses.py          mse, cross_entropy, ctc, ...
"""

from funcgrad.nn.activations import (
    celu,
    elu,
    gelu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    logsumexp,
    mish,
    one_hot,
    prelu,
    relu,
    selu,
    sigmoid,
    silu,
    soft_shrink,
    softmax,
    softplus,
    softsign,
)
from funcgrad.nn.attention import attention
from funcgrad.nn.convolution import conv, conv_transpose, fold, unfold
from funcgrad.nn.linear import dropout, embedding, linear
from funcgrad.nn.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    ctc,
    gaussian_nll,
    hinge,
    huber,
    kl_divergence,
    mae,
    mse,
    nll,
    poisson_nll,
    smooth_l1,
    soft_margin,
)
from funcgrad.nn.normalization import (
    BatchStatistics,
    batch_norm,
    batch_statistics,
    group_norm,
    layer_norm,
    rms_norm,
)
from funcgrad.nn.pooling import adaptive_avg_pool, adaptive_max_pool, avg_pool, max_pool
from funcgrad.nn.recurrent import gru, gru_cell, lstm, lstm_cell, rnn, rnn_cell

__all__ = [
    "BatchStatistics",
    "adaptive_avg_pool",
    "adaptive_max_pool",
    "attention",
    "avg_pool",
    "batch_norm",
    "batch_statistics",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv",
    "conv_transpose",
    "cross_entropy",
    "ctc",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "gaussian_nll",
    "gelu",
    "group_norm",
    "gru",
    "gru_cell",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "hinge",
    "huber",
    "kl_divergence",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "lstm",
    "lstm_cell",
    "mae",
    "max_pool",
    "mish",
    "mse",
    "nll",
    "one_hot",
    "poisson_nll",
    "prelu",
    "relu",
    "rms_norm",
    "rnn",
    "rnn_cell",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1",
    "soft_margin",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "unfold",
]
