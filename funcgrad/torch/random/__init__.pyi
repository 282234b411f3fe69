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
from funcgrad.torch.random.functions import fork_rng as fork_rng
from funcgrad.torch.random.functions import get_rng_state as get_rng_state
from funcgrad.torch.random.functions import initial_seed as initial_seed
from funcgrad.torch.random.functions import manual_seed as manual_seed
from funcgrad.torch.random.functions import rand_like as rand_like
from funcgrad.torch.random.functions import randint_like as randint_like
from funcgrad.torch.random.functions import randn_like as randn_like
from funcgrad.torch.random.functions import seed as seed
from funcgrad.torch.random.functions import set_rng_state as set_rng_state
default_generator: Generator

def rand(*size: Any, generator: Generator | None=None, dtype: _dtype | _type | str | None=None, device: _device | str | None=None, requires_grad: _bool=False, out: Any=None, layout: Any=None, pin_memory: _bool=False, memory_format: Any=None, **named: Any) -> Tensor: ...

def randint(low: _int, high: Any=None, size: Any=None, *, generator: Generator | None=None, dtype: _dtype | _type | str | None=None, device: _device | str | None=None, requires_grad: _bool=False, out: Any=None, layout: Any=None, pin_memory: _bool=False, memory_format: Any=None) -> Tensor: ...

def randn(*size: Any, generator: Generator | None=None, dtype: _dtype | _type | str | None=None, device: _device | str | None=None, requires_grad: _bool=False, out: Any=None, layout: Any=None, pin_memory: _bool=False, memory_format: Any=None, **named: Any) -> Tensor: ...

def randperm(n: _int, *, generator: Generator | None=None, dtype: _dtype | _type | str | None=None, device: _device | str | None=None, requires_grad: _bool=False, out: Any=None, layout: Any=None, pin_memory: _bool=False, memory_format: Any=None) -> Tensor: ...
