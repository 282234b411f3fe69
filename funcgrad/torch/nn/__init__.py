# ruff: noqa: F401 (these are the public names)
"""torch.nn: modules, one file for each subject; the functions beneath them are in functional/, in files of the same names."""

from funcgrad.torch.nn import functional, init, utils
from funcgrad.torch.nn.activations import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from funcgrad.torch.nn.attention import MultiheadAttention
from funcgrad.torch.nn.containers import ModuleDict, ModuleList, Sequential
from funcgrad.torch.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    Fold,
    Unfold,
)
from funcgrad.torch.nn.distances import CosineSimilarity, PairwiseDistance
from funcgrad.torch.nn.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout
from funcgrad.torch.nn.embedding import Embedding, EmbeddingBag
from funcgrad.torch.nn.linear import Bilinear, Identity, LazyLinear, Linear
from funcgrad.torch.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    CTCLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)
from funcgrad.torch.nn.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from funcgrad.torch.nn.parameter import Buffer, Parameter, UninitializedParameter
from funcgrad.torch.nn.parameter_containers import ParameterDict, ParameterList
from funcgrad.torch.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from funcgrad.torch.nn.recurrent import GRU, LSTM, RNN, RNNBase
from funcgrad.torch.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from funcgrad.torch.nn.shape import (
    ChannelShuffle,
    Flatten,
    PixelShuffle,
    PixelUnshuffle,
    Unflatten,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from funcgrad.torch.nn.transformer import Transformer, TransformerDecoder, TransformerEncoder
from funcgrad.torch.nn.transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer
