# ruff: noqa: F401 (these are the public names)
"""torch.nn.functional: layers and losses as functions, one file for each subject.

A file declares the kernels to the engine (one node each, under PyTorch's name) and the functions on tensors that call them; the
modules of the same subject are in the file of the same name beside this package.
"""

from funcgrad.torch.nn.functional.activations import log_softmax, relu, sigmoid, softmax, tanh
from funcgrad.torch.nn.functional.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    fold,
    unfold,
)
from funcgrad.torch.nn.functional.embedding import embedding, embedding_bag
from funcgrad.torch.nn.functional.linear import bilinear, linear
from funcgrad.torch.nn.functional.losses import mse_loss
from funcgrad.torch.nn.functional.padding import pad
from funcgrad.torch.nn.functional.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
