"""Activations as functions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np

from funcgrad.nn.kernels import activations as kernels
from funcgrad.nn.kernels.basic import SIGMOID
from funcgrad.torch.functions import creation
from funcgrad.torch.functions.generated import generated
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import FUNCTIONS, with_out
from funcgrad.torch.random import default_generator
from funcgrad.torch.tensors.inplace import inplace as inplace_variant
from funcgrad.torch.tensors.inplace import kind_name
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain

tanh, sigmoid = FUNCTIONS["tanh"], FUNCTIONS["sigmoid"]
_ANY = Parameter.POSITIONAL_OR_KEYWORD
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


def _activation(
    name: str,
    kernel: Callable[..., Any],
    node: str,
    text: str,
    *,
    inplace: bool = True,
    second: int = 0,
    **settings: float,
) -> Callable[..., Tensor]:
    """A function of torch.nn.functional, as a row: its name, what it runs, the name of its node, what it computes,
    and its settings with their defaults. `inplace`: it takes inplace=True; `second`: the number of that node.
    """
    run = _Activation(re.sub("(?<=[a-z])(?=[A-Z])", "_", node).lower(), kernel, node, second)
    parameters = [Parameter(s, _ANY, default=x, annotation=type(x).__name__) for s, x in settings.items()]
    parameters.insert(0, Parameter("input", _ANY, annotation="Tensor"))
    called = f"({', '.join(p.name for p in parameters)})"
    if inplace:
        parameters.append(Parameter("inplace", _ANY, default=False, annotation="bool"))
    line = f"return (changed if inplace else op){called}" if inplace else f"return op{called}"
    made = generated(name, parameters, [line], {"op": run.op, "changed": run.changed}, like=_activation)
    made.__annotations__["return"], made.__doc__ = "Tensor", text
    return made


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function under its name in place: relu_(x) is relu(x, inplace=True)."""
    name = function.__name__
    parameters = [p for p in signature(function).parameters.values() if p.name != "inplace"]
    called = f"function({', '.join(p.name for p in parameters)}, inplace=True)"
    made = generated(f"{name}_", parameters, [f"return {called}"], {"function": function}, like=function)
    made.__doc__ = f"{name}, in place."
    return made


# ---- with flat parts -------------------------------------------------------------------------------------------------
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); the slope at 0 is 0."""
    return input.relu_() if inplace else _relu(input)


def _hardtanh(x: Any, min_val: float, max_val: float) -> Any:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return kernels.HARDTANH(x, min_val, max_val)


def _softshrink(x: Any, lambd: float) -> Any:
    if lambd < 0:
        top, kind = np.finfo(x.dtype).max, kind_name(x.dtype)
        raise RuntimeError(
            f"lambda must be in range [0, {top:g}] for input dtype {kind}, but found {lambd:g}"
        )
    return kernels.SOFTSHRINK(x, lambd)


relu6 = _activation("relu6", lambda x: kernels.HARDTANH(x, 0.0, 6.0), "Hardtanh", "min(max(x, 0), 6).")
hardtanh = _activation(
    "hardtanh", _hardtanh, "Hardtanh", "x limited to [min_val, max_val]; the slope at the limits is 0.",
    min_val=-1.0, max_val=1.0,
)  # fmt: skip
hardsigmoid = _activation(
    "hardsigmoid", kernels.HARDSIGMOID, "Hardsigmoid", "x / 6 + 1 / 2, limited to [0, 1]."
)
hardswish = _activation("hardswish", kernels.HARDSWISH, "Hardswish", "x * hardsigmoid(x).")
hardshrink = _activation(
    "hardshrink",
    kernels.HARDSHRINK,
    "Hardshrink",
    "0 where |x| <= lambd, x elsewhere.",
    inplace=False,
    lambd=0.5,
)
softshrink = _activation(
    "softshrink", _softshrink, "Softshrink", "0 where |x| <= lambd, x nearer to 0 by lambd elsewhere.",
    inplace=False, lambd=0.5,
)  # fmt: skip
_THRESHOLD = _Activation("threshold", kernels.THRESHOLD, "Threshold", 1)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, `value` elsewhere."""
    return _THRESHOLD(inplace, input, threshold, value)


# ---- of two pieces ---------------------------------------------------------------------------------------------------
def _celu(x: Any, alpha: float) -> Any:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return kernels.ELU(x, alpha, 1.0, 1 / alpha)


leaky_relu = _activation(
    "leaky_relu", kernels.LEAKY_RELU, "LeakyRelu", "x where positive, negative_slope * x elsewhere.",
    second=1, negative_slope=0.01,
)  # fmt: skip
elu = _activation(
    "elu", lambda x, alpha: kernels.ELU(x, alpha, 1.0, 1.0), "Elu",
    "x where positive, alpha * (exp(x) - 1) elsewhere.", second=1, alpha=1.0,
)  # fmt: skip
selu = _activation(
    "selu", lambda x: kernels.ELU(x, kernels.SELU_ALPHA, kernels.SELU_SCALE, 1.0), "Elu",
    "elu with the alpha and scale that keep mean 0 and variance 1 (Klambauer and others, 2017).", second=1,
)  # fmt: skip
celu = _activation(
    "celu", _celu, "Celu", "x where positive, alpha * (exp(x / alpha) - 1) elsewhere.", second=1, alpha=1.0
)
softplus = _activation(
    "softplus", kernels.SOFTPLUS, "Softplus", "log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.",
    inplace=False, beta=1.0, threshold=20.0,
)  # fmt: skip


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


_RRELU = _Activation("rrelu", kernels.LEAKY_RELU, "RreluWithNoise", 1)


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
_GELU = _Activation("gelu", kernels.GELU, "Gelu")
_GELU_TANH = _Activation("gelu", kernels.GELU_TANH, "Gelu")


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's cumulative probability; approximate="tanh" computes that by tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return (_GELU_TANH if approximate == "tanh" else _GELU)(False, input)


silu = _activation("silu", kernels.SILU, "Silu", "x * sigmoid(x).")
mish = _activation("mish", kernels.MISH, "Mish", "x * tanh(softplus(x)).")
logsigmoid = _activation(
    "logsigmoid", kernels.LOG_SIGMOID, "LogSigmoid", "log(sigmoid(x)), without underflow.", inplace=False
)


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
relu_, hardtanh_, threshold_ = map(_in_place, (relu, hardtanh, threshold))
leaky_relu_, rrelu_, elu_, selu_, celu_ = map(_in_place, (leaky_relu, rrelu, elu, selu, celu))


hardshrink, softshrink, softplus, logsigmoid = map(with_out, (hardshrink, softshrink, softplus, logsigmoid))
threshold, gelu = with_out(threshold), with_out(gelu)
