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
from funcgrad.torch.optim.one_by_one import Adafactor as Adafactor
from funcgrad.torch.optim.lbfgs import LBFGS as LBFGS
from funcgrad.torch.optim.one_by_one import Muon as Muon
from funcgrad.torch.optim.optimizer import Optimizer as Optimizer
from funcgrad.torch.optim.one_by_one import SparseAdam as SparseAdam
from funcgrad.torch.optim import lr_scheduler as lr_scheduler
from funcgrad.torch.optim import swa_utils as swa_utils

class ASGD(Optimizer):

    def __init__(self, params: Any, lr: Any=0.01, lambd: Any=0.0001, alpha: Number=0.75, t0: Any=1000000.0, weight_decay: Any=0, foreach: _bool | None=None, maximize: _bool=False, differentiable: _bool=False, capturable: _bool=False) -> None: ...

class Adadelta(Optimizer):

    def __init__(self, params: Any, lr: Any=1.0, rho: Any=0.9, eps: Any=1e-06, weight_decay: Any=0, foreach: _bool | None=None, *, capturable: _bool=False, maximize: _bool=False, differentiable: _bool=False) -> None: ...

class Adagrad(Optimizer):

    def __init__(self, params: Any, lr: Any=0.01, lr_decay: Any=0, weight_decay: Any=0, initial_accumulator_value: _float=0, eps: Any=1e-10, foreach: _bool | None=None, *, maximize: _bool=False, differentiable: _bool=False, fused: _bool | None=None) -> None: ...

class Adam(Optimizer):

    def __init__(self, params: Any, lr: Any=0.001, betas: tuple[Any, Any]=..., eps: Any=1e-08, weight_decay: Any=0, amsgrad: _bool=False, *, foreach: _bool | None=None, maximize: _bool=False, capturable: _bool=False, differentiable: _bool=False, fused: _bool | None=None, decoupled_weight_decay: _bool=False) -> None: ...

class AdamW(Adam):

    def __init__(self, params: Any, lr: Any=0.001, betas: tuple[Any, Any]=..., eps: Any=1e-08, weight_decay: Any=0.01, amsgrad: _bool=False, *, maximize: _bool=False, foreach: _bool | None=None, capturable: _bool=False, differentiable: _bool=False, fused: _bool | None=None) -> None: ...

class Adamax(Optimizer):

    def __init__(self, params: Any, lr: Any=0.002, betas: tuple[Any, Any]=..., eps: Any=1e-08, weight_decay: Any=0, foreach: _bool | None=None, *, maximize: _bool=False, differentiable: _bool=False, capturable: _bool=False) -> None: ...

class NAdam(Optimizer):

    def __init__(self, params: Any, lr: Any=0.002, betas: tuple[Any, Any]=..., eps: Any=1e-08, weight_decay: Any=0, momentum_decay: Any=0.004, decoupled_weight_decay: _bool=False, *, foreach: _bool | None=None, maximize: _bool=False, capturable: _bool=False, differentiable: _bool=False) -> None: ...

class RAdam(Optimizer):

    def __init__(self, params: Any, lr: Any=0.001, betas: tuple[Any, Any]=..., eps: Any=1e-08, weight_decay: Any=0, decoupled_weight_decay: _bool=False, *, foreach: _bool | None=None, maximize: _bool=False, capturable: _bool=False, differentiable: _bool=False) -> None: ...

class RMSprop(Optimizer):

    def __init__(self, params: Any, lr: Any=0.01, alpha: Number=0.99, eps: Any=1e-08, weight_decay: Any=0, momentum: Any=0, centered: _bool=False, capturable: _bool=False, foreach: _bool | None=None, maximize: _bool=False, differentiable: _bool=False) -> None: ...

class Rprop(Optimizer):

    def __init__(self, params: Any, lr: Any=0.01, etas: tuple[Any, Any]=..., step_sizes: tuple[Any, Any]=..., *, capturable: _bool=False, foreach: _bool | None=None, maximize: _bool=False, differentiable: _bool=False) -> None: ...

class SGD(Optimizer):

    def __init__(self, params: Any, lr: Any=0.001, momentum: Any=0, dampening: Any=0, weight_decay: Any=0, nesterov: _bool=False, *, maximize: _bool=False, foreach: _bool | None=None, differentiable: _bool=False, fused: _bool | None=None) -> None: ...
