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
from funcgrad.torch.nn.normalization import BatchNorm1d as BatchNorm1d
from funcgrad.torch.nn.normalization import BatchNorm2d as BatchNorm2d
from funcgrad.torch.nn.normalization import BatchNorm3d as BatchNorm3d
from funcgrad.torch.nn.linear import Bilinear as Bilinear
from funcgrad.torch.nn.parameter import Buffer as Buffer
from funcgrad.torch.nn.convolution import Conv1d as Conv1d
from funcgrad.torch.nn.convolution import Conv2d as Conv2d
from funcgrad.torch.nn.convolution import Conv3d as Conv3d
from funcgrad.torch.nn.convolution import ConvTranspose1d as ConvTranspose1d
from funcgrad.torch.nn.convolution import ConvTranspose2d as ConvTranspose2d
from funcgrad.torch.nn.convolution import ConvTranspose3d as ConvTranspose3d
from funcgrad.torch.nn.data_parallel import DataParallel as DataParallel
from funcgrad.torch.nn.embedding import Embedding as Embedding
from funcgrad.torch.nn.embedding import EmbeddingBag as EmbeddingBag
from funcgrad.torch.nn.shape import Flatten as Flatten
from funcgrad.torch.nn.recurrent import GRU as GRU
from funcgrad.torch.nn.recurrent_cells import GRUCell as GRUCell
from funcgrad.torch.nn.normalization import GroupNorm as GroupNorm
from funcgrad.torch.nn.linear import Identity as Identity
from funcgrad.torch.nn.normalization import InstanceNorm1d as InstanceNorm1d
from funcgrad.torch.nn.normalization import InstanceNorm2d as InstanceNorm2d
from funcgrad.torch.nn.normalization import InstanceNorm3d as InstanceNorm3d
from funcgrad.torch.nn.pooling import LPPool1d as LPPool1d
from funcgrad.torch.nn.pooling import LPPool2d as LPPool2d
from funcgrad.torch.nn.pooling import LPPool3d as LPPool3d
from funcgrad.torch.nn.recurrent import LSTM as LSTM
from funcgrad.torch.nn.recurrent_cells import LSTMCell as LSTMCell
from funcgrad.torch.nn.normalization import LayerNorm as LayerNorm
from funcgrad.torch.nn.linear import LazyLinear as LazyLinear
from funcgrad.torch.nn.linear import Linear as Linear
from funcgrad.torch.nn.pooling import MaxUnpool1d as MaxUnpool1d
from funcgrad.torch.nn.pooling import MaxUnpool2d as MaxUnpool2d
from funcgrad.torch.nn.pooling import MaxUnpool3d as MaxUnpool3d
from funcgrad.torch.nn.module import Module as Module
from funcgrad.torch.nn.containers import ModuleDict as ModuleDict
from funcgrad.torch.nn.containers import ModuleList as ModuleList
from funcgrad.torch.nn.attention import MultiheadAttention as MultiheadAttention
from funcgrad.torch.nn.activations import PReLU as PReLU
from funcgrad.torch.nn.distances import PairwiseDistance as PairwiseDistance
from funcgrad.torch.nn.parameter import Parameter as Parameter
from funcgrad.torch.nn.parameter_containers import ParameterDict as ParameterDict
from funcgrad.torch.nn.parameter_containers import ParameterList as ParameterList
from funcgrad.torch.nn.normalization import RMSNorm as RMSNorm
from funcgrad.torch.nn.recurrent import RNN as RNN
from funcgrad.torch.nn.recurrent import RNNBase as RNNBase
from funcgrad.torch.nn.recurrent_cells import RNNCell as RNNCell
from funcgrad.torch.nn.recurrent_cells import RNNCellBase as RNNCellBase
from funcgrad.torch.nn.activations import ReLU6 as ReLU6
from funcgrad.torch.nn.containers import Sequential as Sequential
from funcgrad.torch.nn.activations import Softmax2d as Softmax2d
from funcgrad.torch.nn.transformer import Transformer as Transformer
from funcgrad.torch.nn.transformer import TransformerDecoder as TransformerDecoder
from funcgrad.torch.nn.transformer_layers import TransformerDecoderLayer as TransformerDecoderLayer
from funcgrad.torch.nn.transformer import TransformerEncoder as TransformerEncoder
from funcgrad.torch.nn.transformer_layers import TransformerEncoderLayer as TransformerEncoderLayer
from funcgrad.torch.nn.shape import Unflatten as Unflatten
from funcgrad.torch.nn.parameter import UninitializedParameter as UninitializedParameter
from funcgrad.torch.nn.shape import Upsample as Upsample
from funcgrad.torch.nn.shape import UpsamplingBilinear2d as UpsamplingBilinear2d
from funcgrad.torch.nn.shape import UpsamplingNearest2d as UpsamplingNearest2d
from funcgrad.torch.nn import functional as functional
from funcgrad.torch.nn import init as init
from funcgrad.torch.nn import utils as utils

class AdaptiveAvgPool1d(Module):
    output_size: Any

    def __init__(self, output_size: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool2d(Module):
    output_size: Any

    def __init__(self, output_size: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool3d(Module):
    output_size: Any

    def __init__(self, output_size: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveMaxPool1d(Module):
    output_size: Any
    return_indices: _bool

    def __init__(self, output_size: Any, return_indices: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Any: ...

class AdaptiveMaxPool2d(Module):
    output_size: Any
    return_indices: _bool

    def __init__(self, output_size: Any, return_indices: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Any: ...

class AdaptiveMaxPool3d(Module):
    output_size: Any
    return_indices: _bool

    def __init__(self, output_size: Any, return_indices: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Any: ...

class AlphaDropout(Module):
    p: _float
    inplace: _bool

    def __init__(self, p: _float=0.5, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class AvgPool1d(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: _bool
    count_include_pad: _bool
    divisor_override: _int | None

    def __init__(self, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: _int | None=None) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class AvgPool2d(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: _bool
    count_include_pad: _bool
    divisor_override: _int | None

    def __init__(self, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: _int | None=None) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class AvgPool3d(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: _bool
    count_include_pad: _bool
    divisor_override: _int | None

    def __init__(self, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: _int | None=None) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class BCELoss(Module):
    weight: Tensor | None
    reduction: str

    def __init__(self, weight: Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class BCEWithLogitsLoss(Module):
    weight: Tensor | None
    reduction: str
    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean', pos_weight: Tensor | None=None) -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class CELU(Module):
    alpha: _float
    inplace: _bool

    def __init__(self, alpha: _float=1.0, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class CTCLoss(Module):
    blank: _int
    reduction: str
    zero_infinity: _bool

    def __init__(self, blank: _int=0, reduction: str='mean', zero_infinity: _bool=False) -> None: ...

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor: ...

class ChannelShuffle(Module):
    groups: _int

    def __init__(self, groups: _int) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class CircularPad1d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class CircularPad2d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class CircularPad3d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ConstantPad1d(Module):
    padding: Any
    value: _float

    def __init__(self, padding: Any, value: _float) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ConstantPad2d(Module):
    padding: Any
    value: _float

    def __init__(self, padding: Any, value: _float) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ConstantPad3d(Module):
    padding: Any
    value: _float

    def __init__(self, padding: Any, value: _float) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class CosineEmbeddingLoss(Module):
    margin: _float
    reduction: str

    def __init__(self, margin: _float=0.0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class CosineSimilarity(Module):
    dim: _int
    eps: _float

    def __init__(self, dim: _int=1, eps: _float=1e-08) -> None: ...

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class CrossEntropyLoss(Module):
    weight: Tensor | None
    ignore_index: _int
    reduction: str
    label_smoothing: _float

    def __init__(self, weight: Tensor | None=None, size_average: Any=None, ignore_index: _int=-100, reduce: Any=None, reduction: str='mean', label_smoothing: _float=0.0) -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class Dropout(Module):
    p: _float
    inplace: _bool

    def __init__(self, p: _float=0.5, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Dropout1d(Module):
    p: _float
    inplace: _bool

    def __init__(self, p: _float=0.5, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Dropout2d(Module):
    p: _float
    inplace: _bool

    def __init__(self, p: _float=0.5, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Dropout3d(Module):
    p: _float
    inplace: _bool

    def __init__(self, p: _float=0.5, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ELU(Module):
    alpha: _float
    inplace: _bool

    def __init__(self, alpha: _float=1.0, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class FeatureAlphaDropout(Module):
    p: _float
    inplace: _bool

    def __init__(self, p: _float=0.5, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Fold(Module):
    output_size: Any
    kernel_size: Any
    dilation: Any
    padding: Any
    stride: Any

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any=1, padding: Any=0, stride: Any=1) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class GELU(Module):
    approximate: str

    def __init__(self, approximate: str='none') -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class GLU(Module):
    dim: _int

    def __init__(self, dim: _int=-1) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class GaussianNLLLoss(Module):
    full: _bool
    eps: _float
    reduction: str

    def __init__(self, *, full: _bool=False, eps: _float=1e-06, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor: ...

class Hardshrink(Module):
    lambd: _float

    def __init__(self, lambd: _float=0.5) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Hardsigmoid(Module):
    inplace: _bool

    def __init__(self, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Hardswish(Module):
    inplace: _bool

    def __init__(self, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Hardtanh(Module):
    min_val: _float
    max_val: _float
    inplace: _bool

    def __init__(self, min_val: _float=-1.0, max_val: _float=1.0, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class HingeEmbeddingLoss(Module):
    margin: _float
    reduction: str

    def __init__(self, margin: _float=1.0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class HuberLoss(Module):
    reduction: str
    delta: _float

    def __init__(self, reduction: str='mean', delta: _float=1.0) -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class KLDivLoss(Module):
    reduction: str
    log_target: _bool

    def __init__(self, size_average: Any=None, reduce: Any=None, reduction: str='mean', log_target: _bool=False) -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class L1Loss(Module):
    reduction: str

    def __init__(self, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class LazyBatchNorm1d(BatchNorm1d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm2d(BatchNorm2d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyBatchNorm3d(BatchNorm3d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyConv1d(Conv1d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyConv2d(Conv2d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyConv3d(Conv3d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyConvTranspose1d(ConvTranspose1d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor, output_size: Sequence[_int] | None=None) -> Tensor: ...

class LazyConvTranspose2d(ConvTranspose2d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor, output_size: Sequence[_int] | None=None) -> Tensor: ...

class LazyConvTranspose3d(ConvTranspose3d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor, output_size: Sequence[_int] | None=None) -> Tensor: ...

class LazyInstanceNorm1d(InstanceNorm1d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyInstanceNorm2d(InstanceNorm2d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LazyInstanceNorm3d(InstanceNorm3d):
    args: Any
    kwargs: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LeakyReLU(Module):
    negative_slope: _float
    inplace: _bool

    def __init__(self, negative_slope: _float=0.01, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LocalResponseNorm(Module):
    size: _int
    alpha: _float
    beta: _float
    k: _float

    def __init__(self, size: _int, alpha: _float=0.0001, beta: _float=0.75, k: _float=1.0) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LogSigmoid(Module):

    def __init__(self) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class LogSoftmax(Module):
    dim: _int | None

    def __init__(self, dim: _int | None=None) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class MSELoss(Module):
    reduction: str

    def __init__(self, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class MarginRankingLoss(Module):
    margin: _float
    reduction: str

    def __init__(self, margin: _float=0.0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class MaxPool1d(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    dilation: Any
    return_indices: _bool
    ceil_mode: _bool

    def __init__(self, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, return_indices: _bool=False, ceil_mode: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Any: ...

class MaxPool2d(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    dilation: Any
    return_indices: _bool
    ceil_mode: _bool

    def __init__(self, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, return_indices: _bool=False, ceil_mode: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Any: ...

class MaxPool3d(Module):
    kernel_size: Any
    stride: Any
    padding: Any
    dilation: Any
    return_indices: _bool
    ceil_mode: _bool

    def __init__(self, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, return_indices: _bool=False, ceil_mode: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Any: ...

class Mish(Module):
    inplace: _bool

    def __init__(self, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class MultiLabelMarginLoss(Module):
    reduction: str

    def __init__(self, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiLabelSoftMarginLoss(Module):
    weight: Tensor | None
    reduction: str

    def __init__(self, weight: Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class MultiMarginLoss(Module):
    p: _int
    margin: _float
    weight: Tensor | None
    reduction: str

    def __init__(self, p: _int=1, margin: _float=1.0, weight: Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class NLLLoss(Module):
    weight: Tensor | None
    ignore_index: _int
    reduction: str

    def __init__(self, weight: Tensor | None=None, size_average: Any=None, ignore_index: _int=-100, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class PixelShuffle(Module):
    upscale_factor: _int

    def __init__(self, upscale_factor: _int) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class PixelUnshuffle(Module):
    downscale_factor: _int

    def __init__(self, downscale_factor: _int) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class PoissonNLLLoss(Module):
    log_input: _bool
    full: _bool
    eps: _float
    reduction: str

    def __init__(self, log_input: _bool=True, full: _bool=False, size_average: Any=None, eps: _float=1e-08, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor: ...

class RReLU(Module):
    lower: _float
    upper: _float
    inplace: _bool

    def __init__(self, lower: _float=0.125, upper: _float=0.3333333333333333, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReLU(Module):
    inplace: _bool

    def __init__(self, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReflectionPad1d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReflectionPad2d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReflectionPad3d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReplicationPad1d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReplicationPad2d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ReplicationPad3d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class SELU(Module):
    inplace: _bool

    def __init__(self, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class SiLU(Module):
    inplace: _bool

    def __init__(self, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Sigmoid(Module):

    def __init__(self) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class SmoothL1Loss(Module):
    reduction: str
    beta: _float

    def __init__(self, size_average: Any=None, reduce: Any=None, reduction: str='mean', beta: _float=1.0) -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class SoftMarginLoss(Module):
    reduction: str

    def __init__(self, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class Softmax(Module):
    dim: _int | None

    def __init__(self, dim: _int | None=None) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Softmin(Module):
    dim: _int | None

    def __init__(self, dim: _int | None=None) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Softplus(Module):
    beta: _float
    threshold: _float

    def __init__(self, beta: _float=1.0, threshold: _float=20.0) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Softshrink(Module):
    lambd: _float

    def __init__(self, lambd: _float=0.5) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Softsign(Module):

    def __init__(self) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Tanh(Module):

    def __init__(self) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Tanhshrink(Module):

    def __init__(self) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class Threshold(Module):
    threshold: _float
    value: _float
    inplace: _bool

    def __init__(self, threshold: _float, value: _float, inplace: _bool=False) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class TripletMarginLoss(Module):
    margin: _float
    p: _float
    eps: _float
    swap: _bool
    reduction: str

    def __init__(self, margin: _float=1.0, p: _float=2.0, eps: _float=1e-06, swap: _bool=False, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> None: ...

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class TripletMarginWithDistanceLoss(Module):
    distance_function: Callable[[Tensor, Tensor], Tensor] | None
    margin: _float
    swap: _bool
    reduction: str

    def __init__(self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None=None, margin: _float=1.0, swap: _bool=False, reduction: str='mean') -> None: ...

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class Unfold(Module):
    kernel_size: Any
    dilation: Any
    padding: Any
    stride: Any

    def __init__(self, kernel_size: Any, dilation: Any=1, padding: Any=0, stride: Any=1) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ZeroPad1d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ZeroPad2d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...

class ZeroPad3d(Module):
    padding: Any

    def __init__(self, padding: Any) -> None: ...

    def forward(self, input: Tensor) -> Tensor: ...
