"""torch.nn: modules, one file for each subject; the functions beneath them are in functional/, in files of
the same names. from_functions.py makes the modules that keep settings and call a function.
"""

from funcgrad.torch.nn import (
    activations,
    attention,
    containers,
    convolution,
    data_parallel,
    distances,
    dropout,
    embedding,
    functional,
    init,
    lazy_layers,
    linear,
    losses,
    module,
    normalization,
    padding,
    parameter,
    parameter_containers,
    pooling,
    recurrent,
    recurrent_cells,
    shape,
    transformer,
    transformer_layers,
    utils,
)
from funcgrad.torch.public import gather

_NAMES = {
    activations: (
        "CELU ELU GELU GLU SELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU "
        "LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 RReLU Sigmoid SiLU Softmax Softmax2d "
        "Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold"
    ),
    attention: "MultiheadAttention",
    containers: "ModuleDict ModuleList Sequential",
    convolution: "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Fold Unfold",
    data_parallel: "DataParallel",
    distances: "CosineSimilarity PairwiseDistance",
    dropout: "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    embedding: "Embedding EmbeddingBag",
    lazy_layers: (
        "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d "
        "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d "
        "LazyInstanceNorm2d LazyInstanceNorm3d"
    ),
    linear: "Bilinear Identity LazyLinear Linear",
    losses: (
        "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss CTCLoss "
        "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MarginRankingLoss "
        "MSELoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss "
        "PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss "
        "TripletMarginWithDistanceLoss"
    ),
    module: "Module",
    normalization: (
        "BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d "
        "InstanceNorm3d LayerNorm LocalResponseNorm RMSNorm"
    ),
    padding: (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
        "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
        "ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"
    ),
    parameter: "Buffer Parameter UninitializedParameter",
    parameter_containers: "ParameterDict ParameterList",
    pooling: (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d "
        "LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"
    ),
    recurrent: "GRU LSTM RNN RNNBase",
    recurrent_cells: "GRUCell LSTMCell RNNCell RNNCellBase",
    shape: (
        "ChannelShuffle Flatten PixelShuffle PixelUnshuffle Unflatten Upsample "
        "UpsamplingBilinear2d UpsamplingNearest2d"
    ),
    transformer: "Transformer TransformerDecoder TransformerEncoder",
    transformer_layers: "TransformerDecoderLayer TransformerEncoderLayer",
}
gather(globals(), _NAMES, functional, init, utils)
# Bases that programs name, as nn.modules.batchnorm._BatchNorm.
_BatchNorm, _InstanceNorm = normalization._BatchNorm, normalization._InstanceNorm
_ConvNd, _ConvTransposeNd = convolution._Convolution, convolution._Transposed
_Loss, _WeightedLoss = losses._Loss, losses._WeightedLoss
_get_clones, _get_activation_fn = containers.copies, transformer_layers._activation
