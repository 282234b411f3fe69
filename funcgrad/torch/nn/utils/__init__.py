"""torch.nn.utils: clipping gradients, parameters as one vector, computed weights; `rnn` for sequences."""

from typing import Any

from funcgrad.torch.nn.utils import parametrizations, parametrize, prune, rnn, stateless
from funcgrad.torch.nn.utils.clip_grad import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from funcgrad.torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from funcgrad.torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from funcgrad.torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from funcgrad.torch.nn.utils.weight_norm import remove_weight_norm, weight_norm
from funcgrad.torch.random import fork_rng


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters may hold anything: no random number is taken for them."""
    with fork_rng():
        return module_cls(*args, **kwargs)


__all__ = [
    "Any",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fork_rng",
    "fuse_conv_bn_eval",
    "fuse_linear_bn_eval",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]
