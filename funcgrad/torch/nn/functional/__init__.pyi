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
from funcgrad.torch.tensors.dtypes import dtype as _dtype
from funcgrad.torch.tensors.size import device as _device
from funcgrad.torch.nn.functional.grids import affine_grid as affine_grid
from funcgrad.torch.nn.functional.dropout import alpha_dropout as alpha_dropout
from funcgrad.torch.nn.functional.normalization import batch_norm as batch_norm
from funcgrad.torch.nn.functional.linear import bilinear as bilinear
from funcgrad.torch.nn.functional.losses import binary_cross_entropy as binary_cross_entropy
from funcgrad.torch.nn.functional.losses import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from funcgrad.torch.nn.functional.activations import celu as celu
from funcgrad.torch.nn.functional.activations import celu_ as celu_
from funcgrad.torch.nn.functional.resampling import channel_shuffle as channel_shuffle
from funcgrad.torch.nn.functional.losses_margins import cosine_embedding_loss as cosine_embedding_loss
from funcgrad.torch.nn.functional.distances import cosine_similarity as cosine_similarity
from funcgrad.torch.nn.functional.losses_classes import cross_entropy as cross_entropy
from funcgrad.torch.nn.functional.ctc import ctc_loss as ctc_loss
from funcgrad.torch.nn.functional.dropout import dropout as dropout
from funcgrad.torch.nn.functional.dropout import dropout1d as dropout1d
from funcgrad.torch.nn.functional.dropout import dropout2d as dropout2d
from funcgrad.torch.nn.functional.dropout import dropout3d as dropout3d
from funcgrad.torch.nn.functional.activations import elu as elu
from funcgrad.torch.nn.functional.activations import elu_ as elu_
from funcgrad.torch.nn.functional.embedding import embedding as embedding
from funcgrad.torch.nn.functional.embedding import embedding_bag as embedding_bag
from funcgrad.torch.nn.functional.dropout import feature_alpha_dropout as feature_alpha_dropout
from funcgrad.torch.nn.functional.convolution import fold as fold
from funcgrad.torch.nn.functional.losses import gaussian_nll_loss as gaussian_nll_loss
from funcgrad.torch.nn.functional.activations import gelu as gelu
from funcgrad.torch.nn.functional.activations import glu as glu
from funcgrad.torch.nn.functional.grids import grid_sample as grid_sample
from funcgrad.torch.nn.functional.normalization import group_norm as group_norm
from funcgrad.torch.nn.functional.activations import gumbel_softmax as gumbel_softmax
from funcgrad.torch.nn.functional.activations import hardshrink as hardshrink
from funcgrad.torch.nn.functional.activations import hardsigmoid as hardsigmoid
from funcgrad.torch.nn.functional.activations import hardswish as hardswish
from funcgrad.torch.nn.functional.activations import hardtanh as hardtanh
from funcgrad.torch.nn.functional.activations import hardtanh_ as hardtanh_
from funcgrad.torch.nn.functional.losses_margins import hinge_embedding_loss as hinge_embedding_loss
from funcgrad.torch.nn.functional.losses import huber_loss as huber_loss
from funcgrad.torch.nn.functional.normalization import instance_norm as instance_norm
from funcgrad.torch.nn.functional.resampling import interpolate as interpolate
from funcgrad.torch.nn.functional.losses import kl_div as kl_div
from funcgrad.torch.nn.functional.losses import l1_loss as l1_loss
from funcgrad.torch.nn.functional.normalization import layer_norm as layer_norm
from funcgrad.torch.nn.functional.activations import leaky_relu as leaky_relu
from funcgrad.torch.nn.functional.activations import leaky_relu_ as leaky_relu_
from funcgrad.torch.nn.functional.linear import linear as linear
from funcgrad.torch.nn.functional.normalization import local_response_norm as local_response_norm
from funcgrad.torch.nn.functional.activations import log_softmax as log_softmax
from funcgrad.torch.nn.functional.activations import logsigmoid as logsigmoid
from funcgrad.torch.nn.functional.losses_margins import margin_ranking_loss as margin_ranking_loss
from funcgrad.torch.nn.functional.activations import mish as mish
from funcgrad.torch.nn.functional.losses import mse_loss as mse_loss
from funcgrad.torch.nn.functional.losses_margins import multi_margin_loss as multi_margin_loss
from funcgrad.torch.nn.functional.losses_margins import multilabel_margin_loss as multilabel_margin_loss
from funcgrad.torch.nn.functional.losses_margins import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from funcgrad.torch.nn.functional.losses_classes import nll_loss as nll_loss
from funcgrad.torch.nn.functional.distances import normalize as normalize
from funcgrad.torch.nn.functional.losses_classes import one_hot as one_hot
from funcgrad.torch.nn.functional.padding import pad as pad
from funcgrad.torch.nn.functional.distances import pairwise_distance as pairwise_distance
from funcgrad.torch.nn.functional.distances import pdist as pdist
from funcgrad.torch.nn.functional.resampling import pixel_shuffle as pixel_shuffle
from funcgrad.torch.nn.functional.resampling import pixel_unshuffle as pixel_unshuffle
from funcgrad.torch.nn.functional.losses import poisson_nll_loss as poisson_nll_loss
from funcgrad.torch.nn.functional.activations import prelu as prelu
from funcgrad.torch.nn.functional.activations import relu as relu
from funcgrad.torch.nn.functional.activations import relu6 as relu6
from funcgrad.torch.nn.functional.activations import relu_ as relu_
from funcgrad.torch.nn.functional.normalization import rms_norm as rms_norm
from funcgrad.torch.nn.functional.activations import rrelu as rrelu
from funcgrad.torch.nn.functional.activations import rrelu_ as rrelu_
from funcgrad.torch.nn.functional.attention import scaled_dot_product_attention as scaled_dot_product_attention
from funcgrad.torch.nn.functional.activations import selu as selu
from funcgrad.torch.nn.functional.activations import selu_ as selu_
from funcgrad.torch.nn.functional.activations import silu as silu
from funcgrad.torch.nn.functional.losses import smooth_l1_loss as smooth_l1_loss
from funcgrad.torch.nn.functional.losses_margins import soft_margin_loss as soft_margin_loss
from funcgrad.torch.nn.functional.activations import softmax as softmax
from funcgrad.torch.nn.functional.activations import softmin as softmin
from funcgrad.torch.nn.functional.activations import softplus as softplus
from funcgrad.torch.nn.functional.activations import softshrink as softshrink
from funcgrad.torch.nn.functional.activations import softsign as softsign
from funcgrad.torch.nn.functional.activations import tanhshrink as tanhshrink
from funcgrad.torch.nn.functional.activations import threshold as threshold
from funcgrad.torch.nn.functional.activations import threshold_ as threshold_
from funcgrad.torch.nn.functional.losses_margins import triplet_margin_loss as triplet_margin_loss
from funcgrad.torch.nn.functional.losses_margins import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from funcgrad.torch.nn.functional.convolution import unfold as unfold
from funcgrad.torch.nn.functional.resampling import upsample as upsample

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor: ...

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor: ...

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor: ...

def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: _bool=False) -> Any: ...

def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: _bool=False) -> Any: ...

def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: _bool=False) -> Any: ...

def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: _int | None=None) -> Tensor: ...

def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: _int | None=None) -> Tensor: ...

def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: _int | None=None) -> Tensor: ...

def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> Tensor: ...

def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> Tensor: ...

def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> Tensor: ...

def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> Tensor: ...

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> Tensor: ...

def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> Tensor: ...

def lp_pool1d(input: Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> Tensor: ...

def lp_pool2d(input: Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> Tensor: ...

def lp_pool3d(input: Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> Tensor: ...

def max_pool1d(input: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> Any: ...

def max_pool1d_with_indices(*args: Any, pool: Any=..., **options: Any) -> Any: ...

def max_pool2d(input: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> Any: ...

def max_pool2d_with_indices(*args: Any, pool: Any=..., **options: Any) -> Any: ...

def max_pool3d(input: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> Any: ...

def max_pool3d_with_indices(*args: Any, pool: Any=..., **options: Any) -> Any: ...

def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> Tensor: ...

def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> Tensor: ...

def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> Tensor: ...

def sigmoid(input: Tensor, *, out: Any=None) -> Tensor: ...

def tanh(input: Tensor, *, out: Any=None) -> Tensor: ...
