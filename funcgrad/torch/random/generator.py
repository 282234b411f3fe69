"""Streams of random numbers: PyTorch's CPU generator (the Mersenne twister of 32 bits), and what it makes of
the twister's words.

The same seed gives the same numbers as PyTorch: each distribution takes its words from the twister in
PyTorch's order.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.size import device as device_of

DEFAULT_SEED = 67280421310721
LONG_RANGE = 2**28  # from this range on, an integer takes two words
# The bytes of a state: seed, words left of the block, seeded?, position, the block, three floats (the second
# is a spare normal number), is it valid?, the same in single precision.
_STATE = struct.Struct("<QiiQ624Q3di4xf?3x")
_BLOCK = 624
_FEW = 500  # words, or places, for which NumPy's calls take more time than they save
_BLOCKS = 4096


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
        self._raw = self._twister._bit_generator.random_raw
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
        return _STATE.pack(
            self._seed, left, 1, after, *block.tolist(), 0.0, spare, 0.0, self._spare is not None, 0.0, False
        )

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
        """The next `n` words of 32 bits, uint32."""
        if n < _FEW:
            return self._raw(n).astype(np.uint32)
        return self._twister.randint(0, 2**32, n, dtype=np.uint32)

    def long_words(self, n: int) -> np.ndarray:
        """The next `n` words of 64 bits; the first half of each is the high one."""
        pairs = self.words(2 * n).reshape(n, 2).astype(np.uint64)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def doubles(self, n: int) -> np.ndarray:
        """The next `n` numbers in [0, 1) of 53 bits."""
        words = self.long_words(n)
        words &= np.uint64(2**53 - 1)
        found = words.view(np.int64).astype(np.float64)
        found *= 2.0**-53
        return found

    def uniform(self, n: int, wanted: np.dtype[Any]) -> np.ndarray:
        """`n` numbers in [0, 1): of 53 bits for float64, of 24 for the others."""
        if wanted == np.float64:
            return self.doubles(n)
        words = self.words(n)
        words &= np.uint32(2**24 - 1)
        found = words.view(np.int32).astype(np.float32)
        found *= np.float32(2.0**-24)
        return found

    def integers(self, n: int, low: int, high: int) -> np.ndarray:
        """`n` integers in [low, high), int64."""
        size = high - low
        words = self.long_words(n) if size >= LONG_RANGE else self.words(n)
        times = words // words.dtype.type(size)  # NumPy divides faster than it takes remainders
        times *= words.dtype.type(size)
        words -= times
        found = words.astype(np.int64)
        if low:
            found += low
        return found

    def permutation(self, n: int) -> np.ndarray:
        """0, ..., n - 1, shuffled from the front: each place changes with itself or one behind it."""
        places = self.words(max(n - 1, 0))
        places %= np.arange(n, 1, -1, dtype=np.uint32)
        partners = places.astype(np.int64)
        partners += np.arange(len(partners))
        return swapped(n, partners)

    def normal(self, n: int, wanted: np.dtype[Any], mean: float = 0.0, std: float = 1.0) -> np.ndarray:
        """`n` normal numbers (Box and Muller's polar form); few are computed in float64, many in their dtype."""
        if n < 16:
            return self._few_normal(n) * std + mean
        whole = n - n % 16
        u = _polar(self.uniform(whole, wanted), n)
        if n % 16 and wanted != np.float16:  # words that PyTorch takes and does not use
            self.words((n % 16) * (2 if wanted == np.float64 else 1))
        if n % 16:
            u[-16:] = _polar(self.uniform(16, wanted), 16)
        return u if std == 1 and not mean else scaled_once(u, u.dtype.type(std), u.dtype.type(mean))

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


def scaled_once(u: np.ndarray, factor: Any, term: Any) -> np.ndarray:
    """u * factor + term; in float32 rounded once, as a processor's fused multiply-add does and PyTorch's kernels do."""
    if u.dtype != np.float32:
        return u * factor + term
    wide = u.astype(np.float64)
    wide *= float(factor)
    wide += float(term)
    return wide.astype(np.float32)


def _polar(u: np.ndarray, size: int) -> np.ndarray:
    """`size` normal numbers; the first by blocks of 16 uniform ones: 8 give radii, 8 give angles."""
    out = np.empty(size, u.dtype)
    eight = f"V{8 * u.itemsize}"  # eight numbers as one: copies that take less time
    given, made = (x.view(eight).reshape(-1, 2) for x in (u, out[: u.size]))
    for start in range(0, len(made), _BLOCKS):  # few at a time: what is between stays in the cache
        r, angle = (given[start : start + _BLOCKS, k].copy().view(u.dtype) for k in (0, 1))
        np.subtract(1, r, r)
        np.log(r, r)
        r *= -2
        np.sqrt(r, r)
        angle *= u.dtype.type(2 * np.pi)
        other = np.cos(angle)
        other *= r
        made[start : start + _BLOCKS, 0] = other.view(eight)
        np.sin(angle, angle)
        angle *= r
        made[start : start + _BLOCKS, 1] = angle.view(eight)
    return out


def swapped(n: int, partners: np.ndarray) -> np.ndarray:
    """0, ..., n - 1 with i and partners[i] >= i exchanged in turn, i = 0, 1, ...; by LAPACK if there."""
    if n < _FEW:
        found = list(range(n))
        for i, k in enumerate(partners.tolist()):
            found[i], found[k] = found[k], found[i]
        return np.array(found, np.int64)
    laswp = _laswp()
    if laswp is None or n >= 2**31:
        return _swapped_at_once(n, partners)
    rows = np.arange(n, dtype=np.float64).reshape(n, 1, order="F")
    return laswp(rows, partners.astype(np.int32), overwrite_a=True).ravel().astype(np.int64)


@cache
def _laswp() -> Any:
    try:
        from scipy.linalg import lapack
    except ImportError:
        return None
    return lapack.dlaswp  # type: ignore[attr-defined]


def _swapped_at_once(n: int, partners: np.ndarray) -> np.ndarray:
    """The same without a loop over the exchanges.

    What step i gives to its place for good is what its partner's place holds then: what the last step before
    it with that partner has put there, or the place's own number. A step puts there what its own place held.
    """
    steps = np.flatnonzero(partners != np.arange(n - 1))
    at = partners[steps]
    put = np.arange(n)
    put[at] = steps  # the last step that put something at a place
    latest, earlier = put.copy(), np.full(n, -1)  # for a step: the one before it with the same partner
    while len(steps):
        last = latest[at] == steps
        done, places = steps[last], at[last]
        steps, at = steps[~last], at[~last]
        latest[at] = steps
        before = latest[places]
        earlier[done] = np.where(before == done, -1, before)
    held = put  # where the number that a place holds at its own step was at first
    while not np.array_equal(further := held[held], held):
        held = further
    out = np.empty(n, np.int64)
    before = earlier[:-1]
    out[:-1] = np.where(before >= 0, held[before], partners)
    own = partners == np.arange(n - 1)
    out[:-1][own] = held[:-1][own]
    out[-1] = held[-1]
    return out


def uniform(generator: Generator, n: int, wanted: Any) -> np.ndarray:
    """`n` numbers in [0, 1); what rounds up to 1 in half precision is 0."""
    made = generator.uniform(n, wanted)
    if wanted == made.dtype:
        return made
    made = made.astype(wanted)
    return np.where(made == 1, np.zeros((), wanted), made)


def normal(mean: float = 0.0, std: float = 1.0) -> Draw:
    """A draw of normal numbers."""
    return lambda generator, n, wanted: generator.normal(n, wanted, mean, std)


def filled(generator: Generator, shape: tuple[int, ...], wanted: Any, draw: Draw) -> np.ndarray:
    """An array of this shape and dtype by draw(generator, count, real dtype); complex draws twice."""
    wanted = np.dtype(wanted)
    count = math.prod(shape)
    if wanted.kind == "c":
        real = np.dtype(np.float64 if wanted == np.complex128 else np.float32)
        return draw(generator, 2 * count, real).astype(real).view(wanted).reshape(shape)
    return draw(generator, count, wanted).astype(wanted, copy=False).reshape(shape)


def floating(name: str, wanted: Any) -> np.dtype[Any]:
    """The dtype for real or complex random numbers; integers are refused."""
    found = dtypes.default() if wanted is None else dtypes.to_numpy(wanted)
    if found.kind not in "fc":
        raise NotImplementedError(
            f'"{name}" not implemented for {dtypes.of(found)}: give a floating-point dtype'
        )
    return found
