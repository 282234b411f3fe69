"""torch.nn.functional: layers and losses as functions, one file for each subject.

A file declares the kernels to the engine (one node each, under PyTorch's name) and the functions on tensors
that call them; the modules of the same subject are in the file of the same name beside this package.
"""

from funcgrad.torch.nn.functional import (
    activations,
    attention,
    convolution,
    ctc,
    distances,
    dropout,
    embedding,
    grids,
    linear,
    losses,
    losses_classes,
    losses_margins,
    normalization,
    padding,
    pooling,
    resampling,
)
from funcgrad.torch.public import gather

_NAMES = {
    activations: (
        "celu celu_ elu elu_ gelu glu gumbel_softmax hardshrink hardsigmoid hardswish "
        "hardtanh hardtanh_ leaky_relu leaky_relu_ log_softmax logsigmoid mish prelu relu "
        "relu6 relu_ rrelu rrelu_ selu selu_ sigmoid silu softmax softmin softplus softshrink "
        "softsign tanh tanhshrink threshold threshold_"
    ),
    attention: "scaled_dot_product_attention",
    convolution: "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d fold unfold",
    ctc: "ctc_loss",
    distances: "cosine_similarity normalize pairwise_distance pdist",
    dropout: "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
    embedding: "embedding embedding_bag",
    grids: "affine_grid grid_sample",
    linear: "bilinear linear",
    losses: (
        "binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss huber_loss "
        "kl_div l1_loss mse_loss poisson_nll_loss smooth_l1_loss"
    ),
    losses_classes: "cross_entropy nll_loss one_hot",
    losses_margins: (
        "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss "
        "multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss "
        "triplet_margin_loss triplet_margin_with_distance_loss"
    ),
    normalization: "batch_norm group_norm instance_norm layer_norm local_response_norm rms_norm",
    padding: "pad",
    pooling: (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
        "adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d lp_pool1d "
        "lp_pool2d lp_pool3d max_pool1d max_pool1d_with_indices max_pool2d "
        "max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d max_unpool2d "
        "max_unpool3d"
    ),
    resampling: "channel_shuffle interpolate pixel_shuffle pixel_unshuffle upsample",
}
gather(globals(), _NAMES)
