"""Streams of random numbers: PyTorch's CPU generator (the Mersenne twister of 32 bits), and what it makes of the twister's words.

The same seed gives the same numbers as PyTorch: each distribution takes its words from the twister in PyTorch's order.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.size import device as device_of

DEFAULT_SEED = 67280421310721
LONG_RANGE = 2**28  # from this range on, an integer takes two words
# The bytes of a state: seed, words left of the block, seeded?, position, the block, three floats (the second is a spare
# normal number), is it valid?, the same in single precision.
_STATE = struct.Struct("<QiiQ624Q3di4xf?3x")
_BLOCK = 624


Draw: TypeAlias = "Callable[[Generator, int, np.dtype[Any]], np.ndarray]"


class Generator:
    """A stream of random numbers.

    >>> import funcgrad.torch as torch
    >>> torch.rand(2, generator=torch.Generator().manual_seed(0))
    tensor([0.4963, 0.7682])
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device_of(device)
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream that belongs to `seed`; a negative one counts from 2**64 down."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long: a seed has at most 64 bits")
        self._seed = seed % 2**64
        self._twister = np.random.RandomState(self._seed % 2**32)
        self._spare: float | None = None  # the second of a pair of normal numbers, for the next call
        return self

    def initial_seed(self) -> int:
        """The seed."""
        return self._seed

    def seed(self) -> int:
        """Begin a stream of a seed that nobody knows beforehand, and return that seed."""
        found = np.random.SeedSequence().generate_state(1, np.uint64)[0]
        return self.manual_seed(int(found)).initial_seed()

    def state_bytes(self) -> bytes:
        """Where the stream is, in PyTorch's format."""
        where: Any = self._twister.get_state(legacy=True)
        _, block, position, *_ = where
        fresh = position == _BLOCK and self._untouched()
        left, after = (1, 0) if fresh else (_BLOCK + 1 - position, position)
        spare = 0.0 if self._spare is None else self._spare
        return _STATE.pack(self._seed, left, 1, after, *block.tolist(), 0.0, spare, 0.0, self._spare is not None, 0.0, False)

    def _untouched(self) -> bool:
        fresh: Any = np.random.RandomState(self._seed % 2**32).get_state(legacy=True)
        now: Any = self._twister.get_state(legacy=True)
        return bool(np.array_equal(fresh[1], now[1]))

    def set_state_bytes(self, state: bytes) -> None:
        """Continue from where a stream was."""
        if len(state) != _STATE.size:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.size} but found the input RNG state size {len(state)}"
            )
        self._seed, left, _, after, *block_and_rest = _STATE.unpack(state)
        block, (_, spare, _, valid, *_) = block_and_rest[:_BLOCK], block_and_rest[_BLOCK:]
        position = _BLOCK if left == 1 else after
        state_of_twister: Any = ("MT19937", np.array(block, np.uint32), position)
        self._twister.set_state(state_of_twister)
        self._spare = spare if valid else None

    # ---- what is made of the words -----------------------------------------------------------------------------------
    def words(self, n: int) -> np.ndarray:
        """The next `n` words of 32 bits, as uint64."""
        return self._twister.randint(0, 2**32, n, dtype=np.uint32).astype(np.uint64)

    def long_words(self, n: int) -> np.ndarray:
        """The next `n` words of 64 bits; the first half of each is the high one."""
        pairs = self.words(2 * n).reshape(n, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def doubles(self, n: int) -> np.ndarray:
        """The next `n` numbers in [0, 1) of 53 bits."""
        return (self.long_words(n) & np.uint64(2**53 - 1)).astype(np.float64) / 2**53

    def uniform(self, n: int, wanted: np.dtype[Any]) -> np.ndarray:
        """`n` numbers in [0, 1): of 53 bits for float64, of 24 for the others."""
        if wanted == np.float64:
            return self.doubles(n)
        return (self.words(n) & np.uint64(2**24 - 1)).astype(np.float32) / np.float32(2**24)

    def integers(self, n: int, low: int, high: int) -> np.ndarray:
        """`n` integers in [low, high), int64."""
        size = high - low
        words = self.long_words(n) if size >= LONG_RANGE else self.words(n)
        return (words % np.uint64(size)).astype(np.int64) + low

    def permutation(self, n: int) -> np.ndarray:
        """0, ..., n - 1, shuffled from the front."""
        found = list(range(n))
        for i, word in enumerate(self.words(max(n - 1, 0)).tolist()):
            k = i + word % (n - i)
            found[i], found[k] = found[k], found[i]
        return np.array(found, np.int64)

    def normal(self, n: int, wanted: np.dtype[Any], mean: float = 0.0, std: float = 1.0) -> np.ndarray:
        """`n` normal numbers (Box and Muller's polar form); few are computed in float64, many in their dtype."""
        if n < 16:
            return self._few_normal(n) * std + mean
        whole = n - n % 16
        u = np.empty(n, np.float64 if wanted == np.float64 else np.float32)
        u[:whole] = _polar(self.uniform(whole, wanted))
        if n % 16 and wanted != np.float16:  # words that PyTorch takes and does not use
            self.words((n % 16) * (2 if wanted == np.float64 else 1))
        if n % 16:
            u[-16:] = _polar(self.uniform(16, wanted))
        return u * u.dtype.type(std) + u.dtype.type(mean)

    def _few_normal(self, n: int) -> np.ndarray:
        spare = [] if self._spare is None else [self._spare]
        missing = n - len(spare)
        pairs = self.doubles(max(missing + missing % 2, 0)).reshape(-1, 2)
        r, angle = np.sqrt(-2 * np.log1p(-pairs[:, 1])), 2 * np.pi * pairs[:, 0]
        made = np.concatenate([spare, np.stack([r * np.cos(angle), r * np.sin(angle)], 1).reshape(-1)])
        if n:
            self._spare = made[n] if len(made) > n else None
        return made[:n]

    def exponential(self, n: int) -> np.ndarray:
        """`n` numbers of the exponential distribution with mean 1."""
        return -np.log1p(-self.doubles(n))


def _polar(u: np.ndarray) -> np.ndarray:
    """Normal numbers from uniform ones, in blocks of 16: the first 8 give radii, the last 8 angles."""
    first, second = np.moveaxis(u.reshape(-1, 2, 8), 1, 0)
    r, angle = np.sqrt(-2 * np.log(1 - first)), (2 * np.pi) * second
    return np.stack([r * np.cos(angle), r * np.sin(angle)], 1).reshape(-1).astype(u.dtype)


def uniform(generator: Generator, n: int, wanted: Any) -> np.ndarray:
    """`n` numbers in [0, 1); what rounds up to 1 in half precision is 0."""
    made = generator.uniform(n, wanted).astype(wanted)
    return np.where(made == 1, np.zeros((), wanted), made)


def normal(mean: float = 0.0, std: float = 1.0) -> Draw:
    """A draw of normal numbers."""
    return lambda generator, n, wanted: generator.normal(n, wanted, mean, std)


def filled(generator: Generator, shape: tuple[int, ...], wanted: Any, draw: Draw) -> np.ndarray:
    """An array of this shape and dtype from draw(generator, how many, real dtype); complex numbers take two draws each."""
    wanted = np.dtype(wanted)
    count = int(np.prod(shape, dtype=int))
    if wanted.kind == "c":
        real = np.dtype(np.float64 if wanted == np.complex128 else np.float32)
        return draw(generator, 2 * count, real).astype(real).view(wanted).reshape(shape)
    return draw(generator, count, wanted).astype(wanted).reshape(shape)


def floating(name: str, wanted: Any) -> np.dtype[Any]:
    """The dtype for real or complex random numbers; integers are refused."""
    found = dtypes.default() if wanted is None else dtypes.to_numpy(wanted)
    if found.kind not in "fc":
        raise NotImplementedError(f'"{name}" not implemented for {dtypes.of(found)}: give a floating-point dtype')
    return found
