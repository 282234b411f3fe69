"""Activations: elementwise functions of x, and softmax and its relatives along an axis.

Slopes at kinks are those of the flat side where there is one (relu, hard_tanh), as in every library of neural
networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels import activations as kernels
from funcgrad.nn.kernels.basic import LOG_SOFTMAX, LOGSUMEXP, RELU, SIGMOID, SOFTMAX
from funcgrad.nn.operands import axes_of, floats, integers


def _float(name: str, x: Any) -> Any:
    return floats(f"funcgrad.nn.{name}", x)[0]


# ---- smooth ------------------------------------------------------------------------------------------------
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow.

    >>> from funcgrad import grad, nn
    >>> float(nn.sigmoid(0.0)), float(grad(nn.sigmoid)(0.0))
    (0.5, 0.25)
    """
    return SIGMOID(_float("sigmoid", x))


def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)), without underflow.

    >>> from funcgrad import nn
    >>> nn.log_sigmoid([-1000.0, 0.0])
    array([-1.00000000e+03, -6.93147181e-01])
    """
    return kernels.LOG_SIGMOID(_float("log_sigmoid", x))


def silu(x: Any) -> Any:
    """x * sigmoid(x), also called swish.

    >>> from funcgrad import nn
    >>> nn.silu([-1.0, 0.0, 1.0])
    array([-0.26894142,  0.        ,  0.73105858])
    """
    return kernels.SILU(_float("silu", x))


def gelu(x: Any, *, approximate: bool = False) -> Any:
    """x times the cumulative probability of the normal distribution; `approximate` computes that by tanh.

    Hendrycks and Gimpel, 2016.

    >>> from funcgrad import nn
    >>> nn.gelu([-1.0, 0.0, 1.0])
    array([-0.15865525,  0.        ,  0.84134475])
    """
    return (kernels.GELU_TANH if approximate else kernels.GELU)(_float("gelu", x))


def mish(x: Any) -> Any:
    """x * tanh(softplus(x)).

    >>> from funcgrad import nn
    >>> float(nn.mish(1.0))
    0.8650983882673103
    """
    return kernels.MISH(_float("mish", x))


def softplus(x: Any, beta: float = 1.0, *, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

    >>> from funcgrad import nn
    >>> nn.softplus([0.0, 1000.0])
    array([6.93147181e-01, 1.00000000e+03])
    """
    return kernels.SOFTPLUS(_float("softplus", x), beta, threshold)


def softsign(x: Any) -> Any:
    """x / (1 + |x|).

    >>> from funcgrad import nn
    >>> nn.softsign([-1.0, 0.0, 3.0])
    array([-0.5 ,  0.  ,  0.75])
    """
    x = _float("softsign", x)
    return x / (1 + np.abs(x))


# ---- of two pieces -----------------------------------------------------------------------------------------
def relu(x: Any) -> Any:
    """max(x, 0), with the slope 0 at 0.

    >>> from funcgrad import grad, nn
    >>> nn.relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    >>> float(grad(nn.relu)(0.0))
    0.0
    """
    return RELU(_float("relu", x))


def leaky_relu(x: Any, slope: float = 0.01) -> Any:
    """x where positive, slope * x elsewhere.

    >>> from funcgrad import nn
    >>> nn.leaky_relu([-1.0, 2.0])
    array([-0.01,  2.  ])
    """
    return kernels.LEAKY_RELU(_float("leaky_relu", x), slope)


def prelu(x: Any, slope: Any) -> Any:
    """x where positive, slope * x elsewhere, with a slope that is learnt: it broadcasts against x.

    >>> import numpy as np
    >>> from funcgrad import grad, nn
    >>> grad(lambda slope: np.sum(nn.prelu([-1.0, 2.0], slope)))(np.array([0.1, 0.1]))
    array([-1.,  0.])
    """
    return kernels.PRELU(*floats("funcgrad.nn.prelu", x, slope))


def elu(x: Any, alpha: float = 1.0) -> Any:
    """x where positive, alpha * (exp(x) - 1) elsewhere.

    >>> from funcgrad import nn
    >>> nn.elu([-1.0, 2.0])
    array([-0.63212056,  2.        ])
    """
    return kernels.ELU(_float("elu", x), alpha, 1.0, 1.0)


def celu(x: Any, alpha: float = 1.0) -> Any:
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere: its slope is continuous for every alpha.

    Raises ArgumentError for alpha = 0.

    >>> from funcgrad import nn
    >>> nn.celu([-1.0, 2.0], 0.5)
    array([-0.43233236,  2.        ])
    """
    if alpha == 0:
        raise ArgumentError("funcgrad.nn.celu with alpha=0 would divide by it: write nn.relu(x)")
    return kernels.ELU(_float("celu", x), alpha, 1.0, 1 / alpha)


def selu(x: Any) -> Any:
    """elu with the alpha and the scale that keep mean 0 and variance 1 (Klambauer and others, 2017).

    >>> from funcgrad import nn
    >>> nn.selu([-1.0, 2.0])
    array([-1.11133074,  2.10140197])
    """
    return kernels.ELU(_float("selu", x), kernels.SELU_ALPHA, kernels.SELU_SCALE, 1.0)


# ---- with flat parts ---------------------------------------------------------------------------------------
def hard_tanh(x: Any, low: float = -1.0, high: float = 1.0) -> Any:
    """x limited to [low, high]; the slope at the limits is 0. Raises ArgumentError for low > high.

    >>> from funcgrad import nn
    >>> nn.hard_tanh([-3.0, 0.5, 3.0])
    array([-1. ,  0.5,  1. ])
    """
    if low > high:
        raise ArgumentError(
            f"funcgrad.nn.hard_tanh with low={low} and high={high}: give the smaller number first"
        )
    return kernels.HARDTANH(_float("hard_tanh", x), low, high)


def hard_sigmoid(x: Any) -> Any:
    """x / 6 + 1 / 2, limited to [0, 1].

    >>> from funcgrad import nn
    >>> nn.hard_sigmoid([-4.0, 0.0, 4.0])
    array([0. , 0.5, 1. ])
    """
    return kernels.HARDSIGMOID(_float("hard_sigmoid", x))


def hard_silu(x: Any) -> Any:
    """x * hard_sigmoid(x), also called hardswish.

    >>> from funcgrad import nn
    >>> nn.hard_silu([-4.0, 0.0, 4.0])
    array([-0.,  0.,  4.])
    """
    return kernels.HARDSWISH(_float("hard_silu", x))


def hard_shrink(x: Any, bound: float = 0.5) -> Any:
    """0 where |x| <= bound, x elsewhere.

    >>> from funcgrad import nn
    >>> nn.hard_shrink([-1.0, 0.2, 0.8])
    array([-1. ,  0. ,  0.8])
    """
    return kernels.HARDSHRINK(_float("hard_shrink", x), bound)


def soft_shrink(x: Any, bound: float = 0.5) -> Any:
    """0 where |x| <= bound, x nearer to 0 by `bound` elsewhere. Raises ArgumentError for a negative bound.

    >>> from funcgrad import nn
    >>> nn.soft_shrink([-1.0, 0.2, 0.75])
    array([-0.5 ,  0.  ,  0.25])
    """
    if bound < 0:
        raise ArgumentError(f"funcgrad.nn.soft_shrink with bound={bound}: give a bound that is not negative")
    return kernels.SOFTSHRINK(_float("soft_shrink", x), bound)


# ---- along an axis -----------------------------------------------------------------------------------------
def softmax(x: Any, axis: int | Sequence[int] = -1) -> Any:
    """exp(x) / sum of exp(x) along an axis (or several), without overflow: like x.

    Raises ArgumentError for an axis that x does not have.

    >>> from funcgrad import nn
    >>> nn.softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    return _along(SOFTMAX, "softmax", x, axis)


def log_softmax(x: Any, axis: int | Sequence[int] = -1) -> Any:
    """log(softmax(x)), without underflow: like x. Raises ArgumentError for an axis that x does not have.

    >>> from funcgrad import nn
    >>> nn.log_softmax([0.0, -1000.0])
    array([    0., -1000.])
    """
    return _along(LOG_SOFTMAX, "log_softmax", x, axis)


def _along(kernel: Any, name: str, x: Any, axis: int | Sequence[int]) -> Any:
    x = _float(name, x)
    axes = axes_of(f"funcgrad.nn.{name}", axis, x.ndim)
    if len(axes) == 1:
        return kernel(x, axis=axes[0])
    last = tuple(range(-len(axes), 0))
    out = kernel(_joined(x, axes), axis=-1)
    return np.moveaxis(np.reshape(out, np.moveaxis(x, axes, last).shape), last, axes)


def _joined(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with these axes as one, the last."""
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    return np.reshape(moved, (*moved.shape[: x.ndim - len(axes)], -1))


def logsumexp(x: Any, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Any:
    """log(sum of exp(x)) along axes (by default all), without overflow; -inf where all of x is -inf.

    Raises ArgumentError for an axis that x does not have.

    >>> from funcgrad import grad, nn
    >>> float(nn.logsumexp([1000.0, 1000.0]))
    1000.6931471805599
    >>> import numpy as np
    >>> grad(nn.logsumexp)(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    x = _float("logsumexp", x)
    axes = tuple(range(-x.ndim, 0)) if axis is None else axes_of("funcgrad.nn.logsumexp", axis, x.ndim)
    return LOGSUMEXP(x, axis=axes, keepdims=keepdims)


def one_hot(indices: Any, classes: int, *, dtype: Any = np.float64) -> Any:
    """Rows of zeros with a one at the index: integers (...) give (..., classes); zeros if out of range.

    Raises ArgumentError for indices that are no integers.

    >>> from funcgrad import nn
    >>> nn.one_hot([0, 2], 3)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    indices = integers("funcgrad.nn.one_hot", "indices", indices)
    return (indices[..., None] == np.arange(classes)).astype(dtype)
