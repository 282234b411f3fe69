"""Random tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch import dtypes
from funcgrad.torch.creation import finished, shape_of
from funcgrad.torch.tensor import Tensor


class Generator:
    """A stream of random numbers."""

    def __init__(self, device: Any = "cpu") -> None:
        self.manual_seed(0)

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream that belongs to `seed`."""
        self.seed_, self.state = int(seed), np.random.RandomState(int(seed) % 2**32)
        self.spare: list[float] = []  # the second of a pair of normal numbers, for the next call
        return self

    def initial_seed(self) -> int:
        """The seed."""
        return self.seed_

    def words(self, n: int) -> np.ndarray:
        """The next `n` words of 32 bits."""
        return self.state.randint(0, 2**32, n, dtype=np.uint32).astype(np.uint64)

    def uniform(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Numbers in [0, 1)."""
        n = int(np.prod(shape))
        if dtype == np.float64:
            words = self.words(2 * n).reshape(n, 2)
            bits = ((words[:, 0] << np.uint64(32)) | words[:, 1]) & np.uint64(2**53 - 1)
            return (bits.astype(np.float64) / 2**53).reshape(shape)
        return ((self.words(n) & np.uint64(2**24 - 1)).astype(np.float32) / np.float32(2**24)).reshape(shape)

    def normal(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Numbers of the standard normal distribution."""
        n = int(np.prod(shape))
        if n < 16:
            missing = n - len(self.spare)
            u = self.uniform((missing + missing % 2,), np.float64)
            r, angle = np.sqrt(-2 * np.log1p(-u[1::2])), 2 * np.pi * u[::2]
            made = [*self.spare, *np.stack([r * np.cos(angle), r * np.sin(angle)], 1).reshape(-1)]
            self.spare = made[n:]
            return np.array(made[:n]).astype(dtype).reshape(shape)
        u = self.uniform((n,), dtype)
        for start in range(0, n - 15, 16):
            _polar(u[start : start + 16])
        if n % 16:
            u[n - 16 :] = self.uniform((16,), dtype)
            _polar(u[n - 16 :])
        return u.reshape(shape)


def _polar(block: np.ndarray) -> None:
    u1, u2 = 1 - block[:8], block[8:].copy()
    r, angle = np.sqrt(-2 * np.log(u1)), 2 * np.pi * u2
    block[:8], block[8:] = r * np.cos(angle), r * np.sin(angle)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Begin the stream that belongs to `seed`."""
    return default_generator.manual_seed(seed)


def _wanted(dtype: Any) -> Any:
    return dtypes.default() if dtype is None else dtypes.to_numpy(dtype)


def rand(
    *size: Any, generator: Generator | None = None, dtype: Any = None, requires_grad: bool = False, device: Any = None
) -> Tensor:
    """Uniform numbers in [0, 1)."""
    return finished((generator or default_generator).uniform(shape_of(size), _wanted(dtype)), None, requires_grad, device)


def randn(
    *size: Any, generator: Generator | None = None, dtype: Any = None, requires_grad: bool = False, device: Any = None
) -> Tensor:
    """Numbers of the standard normal distribution."""
    return finished((generator or default_generator).normal(shape_of(size), _wanted(dtype)), None, requires_grad, device)


def randint(low: int, high: Any = None, size: Any = None, *, generator: Generator | None = None, dtype: Any = None) -> Tensor:
    """Integers in [low, high)."""
    if size is None:
        low, high, size = 0, low, high
    shape = shape_of((size,))
    words = (generator or default_generator).words(int(np.prod(shape)))
    return finished((words % np.uint64(high - low)).astype(np.int64).reshape(shape) + low, dtype, False)


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None) -> Tensor:
    """A random permutation of 0, ..., n - 1."""
    found = np.arange(n)
    for i, z in enumerate((generator or default_generator).words(max(n - 1, 0))):
        k = i + int(z) % (n - i)
        found[i], found[k] = found[k], found[i]
    return finished(found, dtype, False)


def rand_like(input: Tensor, **options: Any) -> Tensor:
    """rand with the shape and dtype of `input`."""
    return rand(input.shape, **{"dtype": input.dtype, **options})


def randn_like(input: Tensor, **options: Any) -> Tensor:
    """randn with the shape and dtype of `input`."""
    return randn(input.shape, **{"dtype": input.dtype, **options})


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that `input` holds, else 0."""
    u = (generator or default_generator).uniform(input.shape, np.float32)
    return finished((u < input.value).astype(input.value.dtype), None, False)


def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers in [a, b)."""
    return self.copy_(rand(self.shape, dtype=self.dtype, generator=generator) * (b - a) + a)  # type: ignore[attr-defined]


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers."""
    return self.copy_(randn(self.shape, dtype=self.dtype, generator=generator) * std + mean)  # type: ignore[attr-defined]


Tensor.uniform_, Tensor.normal_ = uniform_, normal_  # type: ignore[attr-defined]
