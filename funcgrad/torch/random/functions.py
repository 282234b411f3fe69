"""Random tensors: rand, randn, randint, ..., and methods that fill; PyTorch's numbers by seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad.torch.functions.creation import makes, shape_of
from funcgrad.torch.random.generator import Draw, Generator, filled, floating, normal, uniform
from funcgrad.torch.random.randomness import drawn
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import new_shape
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain

default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Begin the stream that belongs to `seed`."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begin a stream of a seed that nobody knows beforehand, and return that seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the stream."""
    return default_generator.initial_seed()


def _get_state(self: Generator) -> Tensor:
    """Where the stream is, as a tensor of bytes in PyTorch's format."""
    return make_tensor(np.frombuffer(self.state_bytes(), np.uint8).copy())


def _set_state(self: Generator, new_state: Tensor) -> None:
    """Continue from where a stream was."""
    if not isinstance(new_state, Tensor) or new_state.value.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    self.set_state_bytes(np.asarray(plain(new_state)).tobytes())


def _clone_state(self: Generator) -> Generator:
    """Another generator at the same place."""
    made = Generator(self.device)
    made.set_state_bytes(self.state_bytes())
    return made


Generator.get_state, Generator.set_state, Generator.clone_state = _get_state, _set_state, _clone_state  # type: ignore[attr-defined]


def get_rng_state() -> Tensor:
    """Where the stream is, as a tensor of bytes."""
    return _get_state(default_generator)


def set_rng_state(new_state: Tensor) -> None:
    """Continue from where the stream was."""
    _set_state(default_generator, new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """A with block after which the stream is where it was before."""
    before = default_generator.state_bytes()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state_bytes(before)


# ---- new tensors -----------------------------------------------------------------------------------------------------
def _maker(name: str, draw: Callable[[bool], Draw], refused: str, text: str) -> Callable[..., Tensor]:
    def make(*size: Any, generator: Generator | None = None, dtype: Any = None, **named: Any) -> Any:
        wanted, stream = floating(refused, dtype), generator or default_generator
        shape = shape_of(name, size, named)
        return drawn(lambda full: filled(stream, full, wanted, draw(wanted.kind == "c")), shape)

    make.__name__, make.__doc__ = name, text
    return makes(make)


_UNIFORM = """Uniform numbers in [0, 1), of a shape given as numbers or a tuple; float32 without dtype=.

>>> import funcgrad.torch as torch
>>> _ = torch.manual_seed(0)
>>> torch.rand(2, 2)
tensor([[0.4963, 0.7682],
        [0.0885, 0.1320]])
"""
_NORMAL = """Numbers of the standard normal distribution, of a shape given as numbers or a tuple; float32 without dtype=.

>>> import funcgrad.torch as torch
>>> _ = torch.manual_seed(0)
>>> torch.randn(3)
tensor([ 1.5410, -0.2934, -2.1788])
"""
rand = _maker("rand", lambda _: uniform, "check_uniform_bounds", _UNIFORM)
randn = _maker(
    "randn", lambda pairs: normal(0.0, math.sqrt(0.5) if pairs else 1.0), "normal_kernel_cpu", _NORMAL
)


@makes
def randint(
    low: int, high: Any = None, size: Any = None, *, generator: Generator | None = None, dtype: Any = None
) -> Any:
    """Integers in [low, high), int64 without dtype=; `randint(high, size)` begins at 0.

    >>> import funcgrad.torch as torch
    >>> _ = torch.manual_seed(42)
    >>> torch.randint(0, 10, (6,))
    tensor([2, 7, 6, 4, 6, 5])
    """
    if size is None and isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low, high, shape = int(low), int(high), new_shape("randint", size, sequence=True)
    wanted = np.dtype(np.int64) if dtype is None else dtypes.to_numpy(dtype)
    check_range(low, high, wanted)
    stream = generator or default_generator
    found = drawn(lambda full: stream.integers(int(np.prod(full, dtype=int)), low, high).reshape(full), shape)
    return dtypes.cast(found, wanted)


def check_range(low: int, high: int, wanted: np.dtype[Any]) -> None:
    """Refuse an empty range, or one that the dtype does not hold."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if wanted.kind in "iu":
        for word, n in (("from", low), ("to - 1", high - 1)):
            if not np.iinfo(wanted).min <= n <= np.iinfo(wanted).max:
                raise RuntimeError(f"{word} is out of bounds for {dtypes.of(wanted)}")


@makes
def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None) -> Any:
    """A random permutation of 0, ..., n - 1."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    stream = generator or default_generator
    found = drawn(lambda full: _permutations(stream, full), (n,))
    return found if dtype is None else dtypes.cast(found, dtypes.to_numpy(dtype))


def _permutations(stream: Generator, shape: tuple[int, ...]) -> np.ndarray:
    rows = [stream.permutation(shape[-1]) for _ in range(math.prod(shape[:-1]))]
    return np.stack(rows).reshape(shape) if rows else np.empty(shape, int)


def rand_like(input: Tensor, **options: Any) -> Tensor:
    """rand with the shape and dtype of `input`."""
    return rand(input.shape, **{"dtype": input.dtype, **options})


def randn_like(input: Tensor, **options: Any) -> Tensor:
    """randn with the shape and dtype of `input`."""
    return randn(input.shape, **{"dtype": input.dtype, **options})


def randint_like(input: Tensor, low: int, high: Any = None, **options: Any) -> Tensor:
    """randint with the shape and dtype of `input`."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), **{"dtype": input.dtype, **options})
