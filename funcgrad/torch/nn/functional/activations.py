"""Activations as functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.nn.kernels import activations as kernels
from funcgrad.nn.kernels.basic import SIGMOID
from funcgrad.torch.functions import creation
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.random import default_generator
from funcgrad.torch.tensors.inplace import inplace as inplace_variant
from funcgrad.torch.tensors.inplace import kind_name
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain

tanh, sigmoid = FUNCTIONS["tanh"], FUNCTIONS["sigmoid"]
_relu, _softmax, _log_softmax = FUNCTIONS["relu"], FUNCTIONS["softmax"], FUNCTIONS["log_softmax"]


def _floating(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, for floating-point numbers only."""

    def body(input: Any, *settings: Any) -> Any:
        if input.dtype.kind != "f":
            raise NotImplementedError(
                f'"{name}_cpu" not implemented for {input.dtype}: give floating-point numbers'
            )
        return run(input, *settings)

    return body


class _Activation:
    """An Op and its in-place variant: `run(inplace, tensor, settings)` chooses. `second` is the number of the
    latter's node.
    """

    def __init__(self, name: str, kernel: Callable[..., Any], node: str, second: int = 0) -> None:
        body = _floating(name, kernel)
        self.op = Op(name, body, f"{node}Backward0")
        self.changed = inplace_variant(Op(name, body, f"{node}Backward{second}"), name + "_")

    def __call__(self, inplace: bool, input: Tensor, *settings: Any) -> Tensor:
        return (self.changed if inplace else self.op)(input, *settings)


_LEAKY = _Activation("leaky_relu", kernels.LEAKY_RELU, "LeakyRelu", 1)
_ELU = _Activation("elu", kernels.ELU, "Elu", 1)
_CELU = _Activation("celu", lambda x, alpha: kernels.ELU(x, alpha, 1.0, 1 / alpha), "Celu", 1)
_HARDTANH = _Activation("hardtanh", kernels.HARDTANH, "Hardtanh")
_HARDSIGMOID = _Activation("hardsigmoid", kernels.HARDSIGMOID, "Hardsigmoid")
_HARDSWISH = _Activation("hardswish", kernels.HARDSWISH, "Hardswish")
_HARDSHRINK = _Activation("hardshrink", kernels.HARDSHRINK, "Hardshrink")
_SOFTSHRINK = _Activation("softshrink", kernels.SOFTSHRINK, "Softshrink")
_THRESHOLD = _Activation("threshold", kernels.THRESHOLD, "Threshold", 1)
_SOFTPLUS = _Activation("softplus", kernels.SOFTPLUS, "Softplus")
_LOG_SIGMOID = _Activation("log_sigmoid", kernels.LOG_SIGMOID, "LogSigmoid")
_GELU = _Activation("gelu", kernels.GELU, "Gelu")
_GELU_TANH = _Activation("gelu", kernels.GELU_TANH, "Gelu")
_SILU = _Activation("silu", kernels.SILU, "Silu")
_MISH = _Activation("mish", kernels.MISH, "Mish")
_RRELU = _Activation("rrelu", kernels.LEAKY_RELU, "RreluWithNoise", 1)


# ---- with flat parts -------------------------------------------------------------------------------------------------
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); the slope at 0 is 0."""
    return input.relu_() if inplace else _relu(input)


def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
    return input.relu_()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return _HARDTANH(inplace, input, 0.0, 6.0)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x limited to [min_val, max_val]; the slope at the limits is 0."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _HARDTANH(inplace, input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1 / 2, limited to [0, 1]."""
    return _HARDSIGMOID(inplace, input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return _HARDSWISH(inplace, input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where |x| <= lambd, x elsewhere."""
    return _HARDSHRINK(False, input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where |x| <= lambd, x nearer to 0 by lambd elsewhere."""
    if lambd < 0:
        top = np.finfo(input.value.dtype).max
        raise RuntimeError(
            f"lambda must be in range [0, {top:g}] for input dtype {kind_name(input.value.dtype)}, but found {lambd:g}"
        )
    return _SOFTSHRINK(False, input, lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, `value` elsewhere."""
    return _THRESHOLD(inplace, input, threshold, value)


# ---- of two pieces ---------------------------------------------------------------------------------------------------
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, negative_slope * x elsewhere."""
    return _LEAKY(inplace, input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return _ELU(inplace, input, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the alpha and scale that keep mean 0 and variance 1 (Klambauer and others, 2017)."""
    return _ELU(inplace, input, kernels.SELU_ALPHA, kernels.SELU_SCALE, 1.0)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _CELU(inplace, input, alpha)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return _SOFTPLUS(False, input, beta, threshold)


def _prelu(input: Any, weight: Any) -> Any:
    if weight.ndim > 1 or (weight.size != 1 and (input.ndim < 2 or weight.size != input.shape[1])):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.size} and channel size = "
            f"{input.shape[1] if input.ndim > 1 else 1}."
        )
    return kernels.PRELU(
        input, weight.reshape((-1,) + (1,) * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(())
    )


_PRELU = Op("prelu", _prelu, "PreluKernelBackward0")


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where positive, weight * x elsewhere; `weight` has one element, or one for each channel (axis 1)."""
    return _PRELU(input, weight)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x where positive, r * x elsewhere: in training r is drawn from [lower, upper], else it is the middle."""
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, but got {lower} and {upper}"
        )
    if not training:
        return _RRELU(inplace, input, (lower + upper) / 2)
    value = np.asarray(plain(input))
    slopes = np.ones_like(value)
    drawn = value <= 0
    slopes[drawn] = default_generator.doubles(int(drawn.sum())) * (upper - lower) + lower
    return _RRELU(inplace, input, make_tensor(slopes))


# ---- smooth ----------------------------------------------------------------------------------------------------------
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's cumulative probability; approximate="tanh" computes that by tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return (_GELU_TANH if approximate == "tanh" else _GELU)(False, input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _SILU(inplace, input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _MISH(inplace, input)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without underflow."""
    return _LOG_SIGMOID(False, input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - tanh(input)


def _glu(input: Any, dim: int = -1) -> Any:
    size = input.shape[dim] if input.ndim else 1
    if size % 2 or not input.ndim:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % max(input.ndim, 1)} is size {size}"
        )
    x, gate = np.split(input, 2, dim)
    return x * SIGMOID(gate)


_GLU = Op("glu", _glu, "GluBackward0")


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim`, times the sigmoid of the second."""
    return _GLU(input, dim)


# ---- along an axis ---------------------------------------------------------------------------------------------------
def _implicit(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum of exp(x) along `dim`; `dtype` is that of the result.

    >>> import funcgrad.torch as torch
    >>> torch.nn.functional.softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _softmax(input, _implicit("softmax", input.ndim, _stacklevel) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x)) along `dim`, without underflow."""
    return _log_softmax(
        input, _implicit("log_softmax", input.ndim, _stacklevel) if dim is None else dim, dtype=dtype
    )


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x) along `dim`."""
    return _softmax(
        input.neg(), _implicit("softmin", input.ndim, _stacklevel) if dim is None else dim, dtype=dtype
    )


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """softmax((logits + Gumbel noise) / tau): a differentiable sample of the categorical distribution.

    hard=True gives one-hot vectors, with the gradients of the soft ones (Jang and others, 2016).
    """
    noise = -creation.empty_like(logits).exponential_().log()
    soft = _softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    chosen = soft.detach().max(dim, keepdim=True)[1]
    return creation.zeros_like(logits).scatter_(dim, chosen, 1.0).detach() - soft.detach() + soft


# ---- in place, by name -----------------------------------------------------------------------------------------------
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu, in place."""
    return elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    """selu, in place."""
    return selu(input, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu, in place."""
    return celu(input, alpha, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu, in place."""
    return leaky_relu(input, negative_slope, inplace=True)


def rrelu_(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Tensor:
    """rrelu, in place."""
    return rrelu(input, lower, upper, training, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh, in place."""
    return hardtanh(input, min_val, max_val, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold, in place."""
    return _THRESHOLD(True, input, threshold, value)
