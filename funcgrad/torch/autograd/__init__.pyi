# ruff: noqa
# Written by `python -m funcgrad.torch.stubs`: edit that, or the functions themselves.
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload
from funcgrad.torch.random.generator import Generator as Generator
from funcgrad.torch.tensors.dtypes import dtype as dtype
from funcgrad.torch.tensors.size import Size as Size
from funcgrad.torch.tensors.size import device as device
from funcgrad.torch.tensors.tensor import Number, Selected
from funcgrad.torch.tensors.tensor import Tensor as Tensor
from builtins import bool as _bool
from builtins import int as _int
from builtins import float as _float
from builtins import complex as _complex
from builtins import type as _type
from typing_extensions import TypeIs as _TypeIs
from funcgrad.torch.tensors.dtypes import dtype as _dtype
from funcgrad.torch.tensors.size import device as _device
from funcgrad.torch.autograd.function import Function as Function
from funcgrad.torch.autograd.gradcheck import GradcheckError as GradcheckError
from funcgrad.torch.autograd.variable import Variable as Variable
from funcgrad.torch.graph.backward import backward as backward
from funcgrad.torch.graph.anomaly import detect_anomaly as detect_anomaly
from funcgrad.torch.graph.modes import enable_grad as enable_grad
from funcgrad.torch.autograd import forward_ad as forward_ad
from funcgrad.torch.autograd import function as function
from funcgrad.torch.autograd import functional as functional
from funcgrad.torch.graph.backward import grad as grad
from funcgrad.torch.autograd.gradcheck import gradcheck as gradcheck
from funcgrad.torch.autograd.gradcheck import gradgradcheck as gradgradcheck
from funcgrad.torch.autograd import graph as graph
from funcgrad.torch.graph.modes import inference_mode as inference_mode
from funcgrad.torch.graph.modes import no_grad as no_grad
from funcgrad.torch.autograd import profiler as profiler
from funcgrad.torch.graph.anomaly import set_detect_anomaly as set_detect_anomaly
from funcgrad.torch.graph.modes import set_grad_enabled as set_grad_enabled
from funcgrad.torch.graph.modes import set_multithreading_enabled as set_multithreading_enabled
