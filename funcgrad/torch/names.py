"""Names that are there to be imported: modules under PyTorch's other names, questions about machines that are
not there, and what is refused. One table says for each module what its names are.

    Same("nn")          the module has the names of another one
    Gives(False)        a function that gives this, whatever it is asked
    Is(False)           this very thing
    Refuses("why")      calling it (or making one) raises NotImplementedError, which says why and what to write instead
"""

from __future__ import annotations

import importlib
import sys
from contextlib import ContextDecorator, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from funcgrad.torch.advice import enter as enter_advice
from funcgrad.torch.advice import lacking
from funcgrad.torch.nn.functional.sizes import repeated

ROOT = "funcgrad.torch"


class Same(NamedTuple):
    """The names of another module; or, with a name, one thing of it."""

    module: str
    name: str = ""


class Gives(NamedTuple):
    """A function that always gives this."""

    value: Any


class Is(NamedTuple):
    """This very thing."""

    value: Any


class Refuses(NamedTuple):
    """What raises NotImplementedError when it is called."""

    why: str


NO_GPU = "there is the CPU only: leave the call out, or ask torch.cuda.is_available() first"
NO_GRAPH = "there is no exporter of graphs here: save the state_dict(), or draw the graph with funcgrad.draw"
NO_PROCESSES = (
    "there is one process only: write torch.nn.DataParallel(net), which runs net here, or use net itself"
)
NO_QUANTIZED = "NumPy has no quantized numbers: keep the module in float32"
NO_DOWNLOADS = (
    "nothing is downloaded: torch.load the file, and load its state_dict() into a module of your own"
)
KERNELS = "kernels are not compiled here: write the function with torch operations"

_PARTS = (
    "activation batchnorm channelshuffle container conv distance dropout flatten fold instancenorm linear loss module "
    "lazy normalization padding pixelshuffle pooling rnn sparse transformer upsampling"
)


def _each(names: str, entry: Any) -> dict[str, Any]:
    """The same entry for several names."""
    return dict.fromkeys(names.split(), entry)


class OutOfMemoryError(RuntimeError):
    """What PyTorch raises where a device has no memory left. NumPy raises MemoryError."""


class Stance(ContextDecorator):
    """How torch.compile is to go on: here as it always does."""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        self.stance = stance

    def __enter__(self) -> Stance:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


TABLE: dict[str, dict[str, Any] | Same] = {
    # ---- modules under their other names
    "nn.modules": Same("nn"),
    **{f"nn.modules.{part}": Same("nn") for part in _PARTS.split()},
    "nn.modules.utils": {
        "_single": Is(lambda x: repeated(x, 1)),
        "_pair": Is(lambda x: repeated(x, 2)),
        "_triple": Is(lambda x: repeated(x, 3)),
    },
    "nn.parallel": {
        "DataParallel": Same("nn.data_parallel", "DataParallel"),
        "data_parallel": Same("nn.data_parallel", "data_parallel"),
        "DistributedDataParallel": Refuses(NO_PROCESSES),
    },
    "utils.data.dataloader": {
        **{name: Same("utils.data", name) for name in ("DataLoader", "default_collate", "get_worker_info")},
        "_SingleProcessDataLoaderIter": Refuses("write iter(DataLoader(...))"),
    },
    "utils.data.sampler": Same("utils.data.samplers"),
    "utils.data.dataset": Same("utils.data.datasets"),
    "utils.data.distributed": {"DistributedSampler": Refuses(NO_PROCESSES)},
    "utils.dlpack": {"from_dlpack": Same("", "from_dlpack"), "to_dlpack": Is(lambda t: t.__dlpack__())},
    "utils.hooks": {"RemovableHandle": Same("graph.hooks", "RemovableHandle")},
    "autograd.grad_mode": Same("graph.modes"),
    "autograd.anomaly_mode": Same("graph.anomaly"),
    "functional": Same(""),
    "functorch.experimental": {
        name: Same("func", name) for name in ("functionalize", "replace_all_batch_norm_modules_")
    },
    "_functorch": {},
    "_functorch.make_functional": Same("functorch"),
    "types": {"Device": Is(Any), "Number": Is(float), "Tensor": Same("", "Tensor"), "_size": Is(tuple)},
    "version": {
        "__version__": Is("2.13.0+funcgrad"),
        "cuda": Is(None),
        "hip": Is(None),
        "git_version": Is(""),
        "debug": Is(False),
    },
    "optim.sgd": {"SGD": Same("optim", "SGD")},
    "optim.adam": {"Adam": Same("optim", "Adam")},
    "optim.adamw": {"AdamW": Same("optim", "AdamW")},
    "distributions.categorical": {"Categorical": Same("distributions", "Categorical")},
    "distributions.multivariate_normal": {"MultivariateNormal": Same("distributions", "MultivariateNormal")},
    "distributions.bernoulli": {"Bernoulli": Same("distributions", "Bernoulli")},
    # ---- machines that are not there
    "accelerator": {
        "is_available": Gives(False),
        "device_count": Gives(0),
        "current_accelerator": Gives(None),
        "current_device_index": Refuses(NO_GPU),
        "synchronize": Gives(None),
        "empty_cache": Gives(None),
        "memory_allocated": Gives(0),
        "max_memory_allocated": Gives(0),
        "memory_reserved": Gives(0),
        "set_device_index": Refuses(NO_GPU),
    },
    "cuda": {
        "is_available": Gives(False),
        "device_count": Gives(0),
        "is_initialized": Gives(False),
        "is_bf16_supported": Gives(False),
        **_each("manual_seed manual_seed_all synchronize empty_cache ipc_collect", Gives(None)),
        **_each("reset_peak_memory_stats reset_max_memory_allocated seed seed_all", Gives(None)),
        **_each("memory_allocated max_memory_allocated memory_reserved max_memory_reserved", Gives(0)),
        "memory_summary": Gives(""),
        "OutOfMemoryError": Same("names", "OutOfMemoryError"),
        **_each("current_device set_device get_device_name get_device_properties", Refuses(NO_GPU)),
        **_each("get_device_capability mem_get_info device Stream Event stream", Refuses(NO_GPU)),
        **_each("current_stream default_stream CUDAGraph graph get_rng_state set_rng_state", Refuses(NO_GPU)),
    },
    "cuda.nvtx": _each("range_push range_pop mark range", Is(lambda *args: nullcontext())),
    "cpu.amp": {"autocast": Same("amp", "autocast")},
    "cuda.amp": {
        "autocast": Same("amp", "autocast"),
        "GradScaler": Same("amp", "GradScaler"),
        "custom_fwd": Same("amp", "custom_fwd"),
        "custom_bwd": Same("amp", "custom_bwd"),
    },
    "mps": {
        "is_available": Gives(False),
        "device_count": Gives(0),
        "manual_seed": Gives(None),
        "synchronize": Gives(None),
        "empty_cache": Gives(None),
        "current_allocated_memory": Gives(0),
    },
    "xpu": {
        "is_available": Gives(False),
        "device_count": Gives(0),
        "manual_seed": Gives(None),
        "empty_cache": Gives(None),
    },
    "cpu": {
        "is_available": Gives(True),
        "device_count": Gives(1),
        "synchronize": Gives(None),
        "current_device": Gives("cpu"),
    },
    "backends": {"quantized": Is(None), "disable_global_flags": Gives(None)},
    "backends.cuda.matmul": {"allow_tf32": Is(False)},
    "backends.cuda": {
        "is_built": Gives(False),
        "flash_sdp_enabled": Gives(False),
        "mem_efficient_sdp_enabled": Gives(False),
        "math_sdp_enabled": Gives(True),
        **_each("enable_flash_sdp enable_mem_efficient_sdp enable_math_sdp", Gives(None)),
    },
    "backends.cudnn": {
        "is_available": Gives(False),
        "version": Gives(None),
        **_each("enabled benchmark deterministic allow_tf32", Is(False)),
    },
    "backends.mps": {"is_available": Gives(False), "is_built": Gives(False)},
    "backends.mkl": {"is_available": Gives(False)},
    "backends.mkldnn": {"is_available": Gives(False), "enabled": Is(False)},
    "backends.openmp": {"is_available": Gives(False)},
    "backends.opt_einsum": {"is_available": Gives(False), "enabled": Is(False), "strategy": Is(None)},
    "nn.attention": {
        "SDPBackend": Same("nn.attention_backends", "SDPBackend"),
        "sdpa_kernel": Same("nn.attention_backends", "sdpa_kernel"),
    },
    "nn.attention.flex_attention": _each("flex_attention create_block_mask", Refuses(KERNELS)),
    # ---- what there is none of
    "onnx": _each("export dynamo_export ONNXProgram", Refuses(NO_GRAPH)),
    "export": _each("export save load Dim ExportedProgram", Refuses(NO_GRAPH)),
    "fx": _each("symbolic_trace Tracer GraphModule Graph Interpreter", Refuses(NO_GRAPH)),
    "package": _each("PackageExporter PackageImporter", Refuses(NO_GRAPH)),
    "hub": _each("load list help load_state_dict_from_url download_url_to_file", Refuses(NO_DOWNLOADS)),
    "utils.model_zoo": {"load_url": Refuses(NO_DOWNLOADS)},
    "distributed": {
        **_each("is_available is_initialized is_nccl_available is_torchelastic_launched", Gives(False)),
        **_each(
            "init_process_group destroy_process_group all_reduce broadcast barrier", Refuses(NO_PROCESSES)
        ),
        **_each("get_rank get_world_size all_gather reduce send recv new_group", Refuses(NO_PROCESSES)),
    },
    **{
        f"{name}quantization": _each(
            "quantize_dynamic prepare convert QuantStub DeQuantStub", Refuses(NO_QUANTIZED)
        )
        for name in ("", "ao.")
    },
    "ao": {},
    **{
        space: {}
        for space in (
            "masked",
            "nested",
            "monitor",
            "futures",
            "quasirandom",
            "storage",
            "overrides",
            "signal",
        )
    },
    "signal.windows": {},
    "distributions.utils": {},
    "distributions.constraint_registry": {},
    "nn.common_types": {f"_{kind}_{n}_t": Is(Any) for kind in ("size", "ratio") for n in "123456"},
    "utils.cpp_extension": _each("load load_inline CppExtension BuildExtension", Refuses(KERNELS)),
    "utils.mobile_optimizer": {"optimize_for_mobile": Refuses(NO_GRAPH)},
    "library": _each("Library custom_op register_autograd", Refuses("write a torch.autograd.Function")),
    "_dynamo": {
        "reset": Gives(None),
        "config": Is(SimpleNamespace()),
        "optimize": Refuses("write torch.compile(f)"),
        "disable": Is(lambda f: f),
    },
    # ---- here they are what they say
    "compiler": {
        "is_compiling": Gives(False),
        "is_dynamo_compiling": Gives(False),
        "reset": Gives(None),
        "disable": Is(lambda fn=None, recursive=True: fn if fn is not None else (lambda f: f)),
        "allow_in_graph": Is(lambda fn: fn),
        "set_stance": Is(Stance),
        "cudagraph_mark_step_begin": Gives(None),
    },
    "jit": {
        "script": Is(lambda obj=None, *args, **kwargs: obj if obj is not None else (lambda f: f)),
        "trace": Is(lambda func, example_inputs=None, *args, **kwargs: func),
        "ignore": Is(lambda fn=None, **kwargs: fn if fn is not None else (lambda f: f)),
        "unused": Is(lambda fn: fn),
        "export": Is(lambda fn: fn),
        "is_scripting": Gives(False),
        "is_tracing": Gives(False),
        "annotate": Is(lambda the_type, the_value: the_value),
        "Final": Is(Any),
        "ScriptModule": Same("nn", "Module"),
        "save": Refuses(NO_GRAPH),
        "load": Refuses(NO_GRAPH),
    },
    "profiler": {
        "profile": Same("autograd.profiler", "profile"),
        "record_function": Same("autograd.profiler", "record_function"),
        "ProfilerActivity": Is(SimpleNamespace(CPU="CPU", CUDA="CUDA", XPU="XPU", MTIA="MTIA")),
        "schedule": Gives(None),
        "tensorboard_trace_handler": Gives(None),
    },
}


class NamedModule(ModuleType):
    """A module of the table: what it names is found when it is asked for."""

    def __init__(self, path: str, names: dict[str, Any] | Same) -> None:
        super().__init__(f"{ROOT}.{path}", f"torch.{path}: see funcgrad/torch/names.py.")
        self.__path__: list[str] = []
        self.__dict__["_names"], self.__dict__["_short"] = names, path

    def __getattr__(self, name: str) -> Any:
        names = self.__dict__["_names"]
        if isinstance(names, Same) and not (name.startswith("__") and name.endswith("__")):
            return getattr(_module(names.module), name)
        if name not in names or isinstance(names, Same):
            raise lacking(self._short, name)
        found = self.__dict__[name] = made(f"torch.{self._short}.{name}", names[name])
        return found

    def __dir__(self) -> list[str]:
        names = self.__dict__["_names"]
        return sorted(dir(_module(names.module)) if isinstance(names, Same) else [*names, *self.__dict__])


def _module(path: str) -> Any:
    return importlib.import_module(f"{ROOT}.{path}" if path else ROOT)


def made(full: str, entry: Any) -> Any:
    """What an entry of the table stands for."""
    if isinstance(entry, Same):
        return getattr(_module(entry.module), entry.name)
    if isinstance(entry, Is):
        return entry.value
    if isinstance(entry, Gives):
        return _giving(full, entry.value)
    return _refusing(full, entry.why)


def _giving(full: str, value: Any) -> Any:
    def give(*args: Any, **kwargs: Any) -> Any:
        return value

    give.__name__ = give.__qualname__ = full.rpartition(".")[2]
    give.__doc__ = f"{value}, always."
    return give


def _refusing(full: str, why: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{full}: {why}")

    refuse.__name__ = refuse.__qualname__ = full.rpartition(".")[2]
    refuse.__doc__ = f"Raises NotImplementedError: {why}."
    return refuse


def enter() -> None:
    """Make the modules of the table importable, each as an attribute of the one above it."""
    for path in sorted(TABLE, key=lambda path: path.count(".")):
        full = f"{ROOT}.{path}"
        above, _, name = full.rpartition(".")
        importlib.import_module(above)
        names, there = TABLE[path], sys.modules.get(full)
        if there is not None:  # one of ours: it gets the names that it lacks
            if isinstance(names, dict):
                there.__dict__.update(
                    {n: made(f"torch.{path}.{n}", e) for n, e in names.items() if n not in there.__dict__}
                )
            continue
        sys.modules[full] = module = NamedModule(path, names)
        setattr(sys.modules[above], name, module)
        if not hasattr(sys.modules[above], "__path__"):  # what has modules in it is a package
            sys.modules[above].__path__ = []
    enter_advice()
