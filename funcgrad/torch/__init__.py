# ruff: noqa: F401 (these are the public names)
"""`import funcgrad.torch as torch`: PyTorch's eager autograd on funcgrad's engine.

>>> import funcgrad.torch as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x ** 2).sum().backward()
>>> x.grad
tensor([2., 4.])

    tensors/        what a tensor is: a cell over the engine's values     nn/              modules and their functions
    graph/          the tape, the sweep over it, and what watches them    optim/           optimizers and schedules
    functions/      the functions of `torch`, by subject                  utils/           data, checkpoints, TensorBoard
    random/         streams of random numbers                             distributions/   distributions
    serialization/  save and load                                         autograd/        the public names of the graph
    names.py        names that are only there to be imported, or refused
"""

from math import e, inf, nan, pi

import funcgrad.rules
from funcgrad.torch import autograd, fft, func, linalg, special
from funcgrad.torch.functions import creation as _creation
from funcgrad.torch.functions import subjects as _subjects
from funcgrad.torch.functions.creation import (
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    eye,
    from_numpy,
    frombuffer,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    scalar_tensor,
    tensor,
    zeros,
    zeros_like,
)
from funcgrad.torch.functions.registry import FUNCTIONS as _FUNCTIONS
from funcgrad.torch.graph.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from funcgrad.torch.random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)
from funcgrad.torch.random.generator import Generator
from funcgrad.torch.serialization import load, save
from funcgrad.torch.tensors import dtypes as _dtypes
from funcgrad.torch.tensors.dtypes import (
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    set_default_dtype,
)
from funcgrad.torch.tensors.legacy import TYPES as _LEGACY_TYPES
from funcgrad.torch.tensors.printing import get_printoptions, set_printoptions
from funcgrad.torch.tensors.size import (
    Size,
    channels_last,
    contiguous_format,
    device,
    preserve_format,
    strided,
)
from funcgrad.torch.tensors.tensor import Tensor

for _numpy, _dtype in _dtypes.DTYPES.items():
    globals()[_dtype.name] = _dtype
globals().update(_dtypes.MENTIONED)
for _alias, _name in (_dtypes.ALIASES | _dtypes.ALIASES_OF_MENTIONED).items():
    globals()[_alias] = globals()[_name]
newaxis = None
globals().update(_LEGACY_TYPES)
globals().update({name: made for name, made in _FUNCTIONS.items() if name not in globals()})


from funcgrad.torch import (  # noqa: E402  (they use the functions)
    amp,
    distributions,
    multiprocessing,
    names,
    nn,
    optim,
    sparse,
    testing,
    utils,
)
from funcgrad.torch.advice import lacking as _lacking  # noqa: E402
from funcgrad.torch.amp import GradScaler, autocast, is_autocast_enabled  # noqa: E402
from funcgrad.torch.compiling import compile  # noqa: E402
from funcgrad.torch.sparse import sparse_coo_tensor  # noqa: E402

Tensor.to_sparse = Tensor.to_sparse_coo = sparse.to_sparse  # type: ignore[attr-defined]
names.enter()
OutOfMemoryError = names.OutOfMemoryError
sym_int, sym_float, sym_max, sym_min = int, float, max, min

__version__ = "2.13.0+funcgrad"  # the PyTorch whose behaviour this follows


vmap = func.vmap
# What torch has of torch.nn.functional, with the same arguments.
_OF_FUNCTIONAL = (
    "adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear celu channel_shuffle "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity "
    "dropout feature_alpha_dropout group_norm hardshrink layer_norm max_pool1d max_pool2d max_pool3d "
    "pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm rrelu selu threshold"
)


def __getattr__(name: str):
    if name in _OF_FUNCTIONAL.split() and hasattr(nn.functional, name):
        return getattr(nn.functional, name)
    raise _lacking("", name)
