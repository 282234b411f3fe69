"""What to write instead of the names that funcgrad.torch lacks: for each namespace patterns of names, with the
advice. The AttributeError says it, and the documentation lists it.
"""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

ROOT = "funcgrad.torch"
NO_GRAPH = "there is no graph to export: save the state_dict(), or draw the graph with funcgrad.draw"
NO_GPU = "there is the CPU only: leave the call out, or ask torch.cuda.is_available() first"
NO_QUANTIZED = "NumPy has no quantized numbers: keep float32"
NO_STORAGE = "tensors lie in NumPy's arrays: write torch.empty(n, dtype=...), and x.numpy() for the memory"
NO_LAYOUT = "of sparse layouts there are coordinates: write torch.sparse_coo_tensor, or scipy.sparse with funcgrad.numpy"
NO_SYMBOLS = "shapes are Python's ints: write int, float, min, max, sum or math.sqrt"
KERNEL = "it names one of PyTorch's kernels: write the function of torch.nn.functional"
INTERNAL = "funcgrad.torch lacks it: PyTorch has no such name, or keeps it for its own compiler and bindings"
IN_PLACE = "write the function of torch.nn.functional, with inplace=True or its name with _"
DTYPE = "NumPy has no such dtype: use torch.float16, torch.float32 or torch.uint8"
SUBCLASS = "give a subclass of Tensor a __torch_function__: operations on it call that"
OTHER_CASE = "an old name: write it with its underscore at the end, as torch.nn.init.normal_"

ADVICE: dict[str, dict[str, str]] = {
    "": {
        r"\w*Storage(Base)?|from_file|get_file_path": NO_STORAGE,
        r"sparse_\w+|\w*s[pm]+mm?|hs[mp]+m|dsmm|ccol_\w+|crow_\w+|col_indices\w*|row_indices\w*|values_copy|indices_copy"
        r"|resize_as_sparse_|jagged": NO_LAYOUT,
        r"u?int[1-7]|bits\w*|float[48]_\w+|bit|quint\w+|qint\w+": DTYPE,
        r"cudnn_\w+|miopen_\w+|mkldnn_\w+|fbgemm_\w+|native_(?!dropout|layer|batch|group|norm)\w+|batch_norm_\w+|conv_tbc"
        r"|convolution|fused_\w+|hash_tensor|grid_sampler\w*|affine_grid_generator|constant_pad_nd|max_pool1d_with_indices"
        r"|native_\w+|segment_reduce|cudnn_is_acceptable|feature_dropout": KERNEL,
        r"(dropout|feature_\w*dropout|alpha_dropout|celu|rrelu|selu|threshold|embedding_renorm)_": IN_PLACE,
        r"embedding|embedding_bag|batch_norm|instance_norm|ctc_loss|kl_div|\w+_loss|binary_cross_entropy_with_logits": (
            "write torch.nn.functional.{name}"
        ),
        r"(lstm|gru|rnn_tanh|rnn_relu)(_cell)?": "write the module: torch.nn.LSTM, GRU, RNN, LSTMCell, GRUCell or RNNCell",
        r"q_\w+|qscheme|quantize\w*|dequantize|per_\w+|fake_quantize\w+|empty_quantized|int_repr|choose_qparams\w*"
        r"|QInt\w+|QUInt\w+": NO_QUANTIZED,
        r"sym_\w+|Sym\w+": NO_SYMBOLS,
        r"(get|set|is|clear|autocast)_?\w*autocast\w*|autocast_\w+": (
            "autocast keeps the dtypes of its operands on NumPy: leave the setting out"
        ),
        r"eig|symeig|lstsq|solve|matrix_rank": "write torch.linalg.{name} (torch.linalg.eigh for symeig)",
        r"pca_lowrank|svd_lowrank": "write torch.linalg.svd(x, full_matrices=False), and take the first columns",
        r"lobpcg": "write torch.linalg.eigh, or scipy.sparse.linalg.lobpcg",
        r"cond|while_loop": "write Python's if and while: branches on values are followed",
        r"fork|wait|Future|Await\w*": "write concurrent.futures: threads share all memory",
        r"Stream|Event|get_device_module|is_vulkan_available|OutOfMemoryError|AcceleratorError": NO_GPU,
        r"(Module|Parameter)Dict": "write torch.nn.{name}",
        r"\w*memory_format|channels_last_3d|layout": "tensors are contiguous or strided as NumPy's arrays: leave it out",
        r"(set|get|init)_num_\w*threads|has_\w+|compiled_with\w+": "ask numpy.show_config()",
        r"is_anomaly\w+|set_anomaly_enabled": "write with torch.autograd.detect_anomaly()",
        r"\w*deterministic\w*": "all is deterministic here: leave it out",
        r"as_strided_": "write x = torch.as_strided(x, size, stride)",
        r"BFloat16Tensor": DTYPE,
        r"thread_safe_generator": "write torch.Generator().manual_seed(n) for each thread",
        r".*": INTERNAL,
    },
    "nn": {
        "SyncBatchNorm": "there is one process: write torch.nn.BatchNorm1d, 2d or 3d",
        "CrossMapLRN2d": "write torch.nn.LocalResponseNorm",
        "LinearCrossEntropy.*": "write torch.nn.Linear and torch.nn.CrossEntropyLoss",
        "AdaptiveLogSoftmaxWithLoss": "write torch.nn.Linear and torch.nn.CrossEntropyLoss, which take all classes",
        "FractionalMaxPool.*": "write torch.nn.AdaptiveMaxPool2d or 3d",
        "Container": "write torch.nn.Sequential, ModuleList or ModuleDict",
        "NLLLoss2d": "write torch.nn.NLLLoss",
        "UninitializedBuffer": "register the buffer in the first forward",
        "factory_kwargs": "write device= and dtype= as arguments",
    },
    "nn.functional": {
        r"fractional_max_pool\w+": "write torch.nn.functional.adaptive_max_pool2d or 3d",
        r"adaptive_max_pool(\d)d_with_indices": "write adaptive_max_pool{1}d(x, size, return_indices=True)",
        r"upsample_\w+": "write torch.nn.functional.interpolate(x, mode='bilinear') or 'nearest'",
        r"multi_head_attention_forward": "write torch.nn.MultiheadAttention, or scaled_dot_product_attention",
        r"linear_cross_entropy": "write cross_entropy(linear(x, weight), target)",
        r"(handle|has)_torch_function\w*": SUBCLASS,
        r"(scaled_)?(grouped_)?mm|Scaling\w+|Swizzle\w+|scaled_\w+": "write torch.matmul",
        r".*": INTERNAL,
    },
    "nn.init": {r".*": OTHER_CASE},
    "nn.utils": {
        "clip_grad_norm": "write torch.nn.utils.clip_grad_norm_",
        "convert_conv.*": "arrays lie in memory as NumPy has them: leave it out",
        "fuse_(conv|linear)_bn_weights": "write torch.nn.utils.fuse_conv_bn_eval or fuse_linear_bn_eval",
    },
    "nn.utils.parametrizations": {
        "orthogonal": "register a parametrization of your own: torch.matrix_exp(a - a.mT)"
    },
    "nn.utils.parametrize": {".*": "copy the module with copy.deepcopy, parametrizations and all"},
    "nn.utils.prune": {"PruningContainer": "prune step by step: each method keeps what was pruned before"},
    "optim": {"swap_.*": "load the state_dict()"},
    "linalg": {".*": INTERNAL},
    "fft": {".*": INTERNAL},
    "func": {"rearrange": "write x.permute and x.reshape, or einops.rearrange"},
    "autograd": {".*": INTERNAL},
    "autograd.graph": {".*": NO_GPU},
    "autograd.profiler": {".*": "write torch.autograd.profiler.profile and record_function"},
    "sparse": {
        "(log_)?softmax": "write x.to_dense(), then torch.softmax",
        "check_sparse_tensor_invariants": "indices are always checked: leave it out",
        "as_sparse_gradcheck": "write torch.autograd.gradcheck of x.to_dense()",
        ".*": NO_LAYOUT,
    },
    "distributions": {
        "Wishart": "write a @ a.mT of MultivariateNormal samples, or funcgrad.scipy.stats.wishart for its density",
        "ExponentialFamily": "write a subclass of Distribution",
    },
    "distributions.transforms": {r"\w+Transform": "write a subclass of Transform"},
    "distributions.constraints": {r".*": "write a subclass of Constraint with check(value)"},
    "distributions.utils": {
        "probs_to_logits|clamp_probs": "write torch.logit(p, eps)",
        "logits_to_probs": "write torch.softmax or torch.sigmoid",
        "broadcast_all": "write torch.broadcast_tensors",
        ".*": "write functools.cached_property, torch.tril and torch.tril_indices",
    },
    "distributions.constraint_registry": {".*": "write the Transform that you need"},
    "utils": {".*": INTERNAL},
    "utils.data": {
        "DistributedSampler": "there is one process: write RandomSampler",
        ".*": "write a Dataset or an IterableDataset",
    },
    "utils.checkpoint": {".*": "write torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)"},
    "utils.tensorboard": {".*": "write SummaryWriter"},
    "cuda": {".*": NO_GPU},
    "backends.cuda": {".*": NO_GPU},
    "backends.mps": {".*": NO_GPU},
    "mps": {".*": NO_GPU},
    "xpu": {".*": NO_GPU},
    "cpu": {".*": "there are no streams: leave the call out"},
    "accelerator": {".*": NO_GPU},
    "random": {".*": "write torch.Generator().manual_seed(n)"},
    "overrides": {".*": SUBCLASS},
    "testing": {
        "assert_allclose": "write torch.testing.assert_close",
        ".*": INTERNAL,
    },
    "serialization": {".*": "write torch.save, torch.load and torch.serialization.add_safe_globals"},
    "library": {".*": "write a torch.autograd.Function"},
    "compiler": {".*": "write torch.compile(f): there are no backends to choose"},
    "profiler": {".*": "write torch.profiler.profile and record_function"},
    "jit": {".*": NO_GRAPH},
    "onnx": {".*": NO_GRAPH},
    "hub": {".*": "nothing is downloaded: torch.load the file"},
    "signal.windows": {
        "hann|hamming|blackman|bartlett|kaiser": "write torch.{name}_window(n, periodic=False)",
        ".*": "write torch.from_numpy(scipy.signal.windows.{name}(n))",
    },
    "nn.parameter": {".*": "write torch.nn.UninitializedParameter"},
    "nn.attention": {".*": "there is one kernel of attention: leave the choice out"},
    "nn.parallel": {".*": "there is one device: write net(x)"},
    "types": {".*": NO_STORAGE},
    "version": {".*": NO_GPU},
    "futures": {".*": "write concurrent.futures"},
    "nested": {".*": "pad: torch.nn.utils.rnn.pad_sequence and a mask"},
    "masked": {
        ".*": "write torch.where(mask, x, value), then the function; torch.nanmean and torch.nansum leave out NaN"
    },
    "quasirandom": {".*": "write torch.from_numpy(scipy.stats.qmc.Sobol(d).random(n))"},
    "storage": {".*": NO_STORAGE},
    "monitor": {".*": INTERNAL},
    "return_types": {".*": "results have names: torch.max(x, 0).values"},
    "Tensor": {
        r"as_strided_": "write x = torch.as_strided(x, size, stride)",
        r"(re)?size(_as)?|resize_as_sparse_": "write x.reshape(shape), or x.resize_(shape)",
        r"eig|symeig|lstsq|solve": "write torch.linalg.{name} (torch.linalg.eigh for symeig)",
        r"\w*quantize\w*|q_\w+|qscheme|int_repr": NO_QUANTIZED,
        r"\w*sparse\w*|coalesce|\w*indices|values|dense_dim|smm|sspaddmm": NO_LAYOUT,
        r"ipu|xpu|mtia|record_stream|to_mkldnn": NO_GPU,
        r"chalf": DTYPE,
        r"hardshrink|prelu": "write torch.nn.functional.{name}(x)",
        r"map2_": "write x.copy_(f(x, y, z))",
        r"polygamma_": "write x.copy_(torch.polygamma(n, x))",
        r"share_memory_": "threads share all memory: leave it out",
        r"index": "write x[index]",
        r"module_load|slice_inverse|hash_tensor": INTERNAL,
        r"reinforce": "write torch.distributions, and -log_prob(action) * reward for the loss",
        r"to_padded_tensor": "pad: torch.nn.utils.rnn.pad_sequence",
        r"refine_names|rename_?|align_\w+": "axes have no names: use their numbers",
    },
}


def advice(space: str, name: str) -> str | None:
    """What to write instead of a name of this namespace ("" for torch itself); None, if nothing is known."""
    if name.startswith("_"):
        return None
    for pattern, text in ADVICE.get(space, {}).items():
        found = re.fullmatch(pattern, name)
        if found is not None:
            return text.replace("{name}", name).replace(
                "{1}", found[1] if found.re.groups and found[1] else ""
            )
    return None


def lacking(space: str, name: str) -> AttributeError:
    """The error for a name that is not there."""
    full = f"torch.{space}" if space else "torch"
    return AttributeError(
        f"module '{full}' has no attribute '{name}': {advice(space, name) or 'funcgrad.torch lacks it'}"
    )


def enter() -> None:
    """Let the modules that have no say in it yet give the advice."""
    for space in ADVICE:
        module = sys.modules.get(f"{ROOT}.{space}" if space else ROOT)
        if module is not None and type(module) is ModuleType and "__getattr__" not in module.__dict__:
            module.__dict__["__getattr__"] = _asking(space)


def _asking(space: str) -> Any:
    def __getattr__(name: str) -> Any:
        raise lacking(space, name)

    return __getattr__
