"""Samples whose distribution depends on a tensor, and the methods that fill a tensor with random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions.creation import finished
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import function
from funcgrad.torch.random import generator as draws
from funcgrad.torch.random import randomness
from funcgrad.torch.random.functions import check_range, default_generator, rand
from funcgrad.torch.random.generator import Generator, filled, floating
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import new_shape
from funcgrad.torch.tensors.inplace import adopt, check_writable
from funcgrad.torch.tensors.tensor import Tensor, make_tensor, plain

_FORGET = Op("bernoulli", lambda input, drawn: np.where(True, drawn, input), "BernoulliBackward0")


def _scaled(mean: Any, std: Any, drawn: Any) -> Any:
    """drawn * std + mean, with zero gradients: the distribution is differentiable, a number drawn is not."""
    mean, std = (dtypes.cast(x, drawn.dtype) for x in (mean, std))
    return np.where(True, drawn * concrete(std) + concrete(mean), mean + std)


def _scaled_node(mean: Any, std: Any, _: Any) -> str:
    return f"NormalBackward{isinstance(mean, Tensor) + 2 * isinstance(std, Tensor)}"


_SCALED = Op("normal", _scaled, _scaled_node)


def _trials(p: Any, shape: Any, generator: Generator | None) -> np.ndarray:
    """Where a trial of probability `p` (a number, or an array) succeeds."""
    stream = generator or default_generator
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false: a probability is outside [0, 1]"
        )
    single = isinstance(p, np.ndarray) and p.dtype != np.float64
    wanted = np.dtype(np.float32 if single else np.float64)
    return (
        randomness.drawn(
            lambda full: stream.uniform(int(np.prod(full, dtype=int)), wanted).reshape(full), tuple(shape)
        )
        < p
    )


def _probabilities(t: Tensor) -> np.ndarray:
    """The probabilities that a tensor holds; not inside a vmap, where they differ between the examples."""
    if is_batched(t.value):
        raise RuntimeError(
            "vmap: probabilities that differ between the examples. Write (torch.rand(p.shape) < p).to(p.dtype) instead"
        )
    return np.asarray(plain(t))


@function("fm", out=True)
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that `input` holds (or with probability `p`), else 0."""
    if p is None and input.value.dtype.kind != "f":
        raise NotImplementedError(
            f'"bernoulli_tensor_cpu_p_" not implemented for {input.dtype}: give floating-point numbers'
        )
    found = _trials(_probabilities(input) if p is None else p, input.shape, generator)
    return _FORGET(input, make_tensor(found.astype(input.value.dtype)))


@function("fm", out=True)
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices per row of `input`, drawn with the row's (unnormalised) probabilities."""
    randomness.same_for_all("multinomial")
    p = _probabilities(input)
    if p.dtype.kind != "f" or p.ndim not in (1, 2):
        raise RuntimeError(
            f"multinomial expects 1 or 2 axes of floating-point numbers, got {input.dtype} of shape {p.shape}"
        )
    if not replacement and num_samples > p.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not np.all(np.isfinite(p) & (p >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if np.any(p.sum(-1) <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    generator = generator or default_generator
    # the first of independent clocks whose rates are the probabilities
    if not replacement or num_samples == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            clocks = p / generator.exponential(p.size).astype(p.dtype).reshape(p.shape)
        return make_tensor(np.argsort(-clocks, -1, kind="stable")[..., :num_samples].copy())
    below = np.cumsum(p, -1, dtype=p.dtype)
    rows = np.atleast_2d(below / below[..., -1:])
    found = [np.searchsorted(row, generator.doubles(num_samples)) for row in rows]
    return make_tensor(np.stack(found).reshape(*p.shape[:-1], num_samples))


@function()
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, **options: Any
) -> Tensor:
    """Normal numbers with these means and standard deviations: tensors, or numbers and a size."""
    if size is not None:
        _check_std(std)
        wanted = floating("normal_kernel_cpu", options.pop("dtype", None))
        shape = new_shape("normal", size, sequence=True)
        found = randomness.drawn(
            lambda full: filled(generator or default_generator, full, wanted, draws.normal(mean, std)), shape
        )
        return finished(found, None, **{"requires_grad": False, **options})
    given = [x for x in (mean, std) if isinstance(x, Tensor)]
    if not given:
        raise TypeError("normal() needs a tensor as mean or std, or a size")
    _check_std(std)
    shape = np.broadcast_shapes(*[x.shape for x in given])
    found = randomness.drawn(
        lambda full: filled(generator or default_generator, full, given[0].value.dtype, draws.normal()), shape
    )
    return _SCALED(mean, std, make_tensor(found))


def _check_std(std: Any) -> None:
    smallest = np.min(plain(std), initial=0) if isinstance(std, Tensor) else std
    if smallest < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {smallest:g}")


def _few_events(rate: float, generator: Generator) -> int:
    """Events of a Poisson process in one unit of time: products of uniform numbers until e**-rate (Knuth)."""
    events, product, limit = 0, generator.doubles(1)[0], np.exp(-rate)
    while product > limit:
        events, product = events + 1, product * generator.doubles(1)[0]
    return events


def _many_events(rate: float, generator: Generator) -> int:
    """The same for rates of 10 and more: transformed rejection (W. Hörmann, 1993, algorithm PTRS)."""
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = generator.doubles(2)
        u -= 0.5
        us = 0.5 - abs(u)
        k = int(np.floor((2 * a / us + b) * u + rate + 0.43))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if np.log(v * inverse_alpha / (a / us**2 + b)) <= k * np.log(rate) - rate - math.lgamma(k + 1.0):
            return k


@function()
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of the Poisson distributions whose rates `input` holds."""
    chosen, rates = generator or default_generator, np.asarray(plain(input))
    if np.any(rates < 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    events = [
        (_few_events if r < 10 else _many_events)(r, chosen) if r else 0 for r in rates.ravel().tolist()
    ]
    return _FORGET(input, make_tensor(np.array(events, rates.dtype).reshape(rates.shape)))


# ---- in place --------------------------------------------------------------------------------------------------------
def _overwrite(t: Tensor, value: np.ndarray, node: str) -> Tensor:
    """`t`, filled with random numbers (under vmap the same for all examples): its gradient ends here."""
    check_writable(t)
    if node != "Bernoulli":  # whose trials were drawn for each example
        randomness.same_for_all(f"{node.lower()}_")
    op = Op(node.lower(), _FORGET.body, f"{node}Backward{2 if node == 'Bernoulli' else 0}")
    return adopt(t, op(t, make_tensor(value.astype(t.value.dtype))))


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with uniform numbers in [from_, to)."""
    if from_ > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    wanted = floating("check_uniform_bounds", self.dtype)
    u = filled(
        generator or default_generator,
        self.shape,
        np.float32 if wanted == np.float16 else wanted,
        draws.uniform,
    )
    low, high = u.dtype.type(from_), u.dtype.type(to)
    made = draws.scaled_once(u, high - low, low).astype(wanted)
    return _overwrite(self, np.where(made == wanted.type(to), wanted.type(from_), made), "Uniform")


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normal numbers."""
    _check_std(std)
    wanted = floating("normal_kernel_cpu", self.dtype)
    std = std * math.sqrt(0.5) if wanted.kind == "c" else std
    return _overwrite(
        self, filled(generator or default_generator, self.shape, wanted, draws.normal(mean, std)), "Normal"
    )


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability `p` (a number, or a tensor), else with 0."""
    return _overwrite(
        self,
        _trials(np.asarray(plain(p)) if isinstance(p, Tensor) else p, self.shape, generator),
        "Bernoulli",
    )


def _exact_integers(wanted: np.dtype[Any]) -> int:
    """How many integers 0, 1, ... a dtype holds exactly."""
    if wanted.kind in "iu":
        return np.iinfo(wanted).max + 1
    return 2 if wanted.kind == "b" else 2 ** (np.finfo(wanted).nmant + 1) + 1


def random_(self: Tensor, low: Any = None, high: Any = None, *, generator: Generator | None = None) -> Tensor:
    """Fill with integers in [low, high), [0, low), or with any that the dtype holds exactly."""
    wanted, count = self.value.dtype, self.numel()
    generator = generator or default_generator
    if low is None:
        words = generator.long_words(count) if wanted.itemsize == 8 else generator.words(count)
        drawn = words % np.uint64(_exact_integers(wanted))
    else:
        low, high = (0, int(low)) if high is None else (int(low), int(high))
        check_range(low, high, wanted)
        drawn = generator.integers(count, low, high)
    return _overwrite(self, drawn.reshape(self.shape), "Random")


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of the exponential distribution of rate `lambd`."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    drawn = (generator or default_generator).exponential(self.numel()) / lambd
    return _overwrite(self, drawn.reshape(self.shape), "Exponential")


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials up to the first success of probability `p`."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    drawn = np.ceil(np.log((generator or default_generator).doubles(self.numel())) / np.log1p(-p))
    return _overwrite(self, drawn.reshape(self.shape), "Geometric")


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers of the Cauchy distribution."""
    drawn = median + sigma * np.tan(np.pi * ((generator or default_generator).doubles(self.numel()) - 0.5))
    return _overwrite(self, drawn.reshape(self.shape), "Cauchy")


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with e to the power of normal numbers."""
    drawn = filled(generator or default_generator, self.shape, np.float64, lambda g, n, _: _in_pairs(g, n))
    return _overwrite(self, np.exp(drawn * std + mean), "LogNormal")


def _in_pairs(generator: Generator, n: int) -> np.ndarray:
    """Normal numbers as small tensors get them, however many."""
    return np.concatenate(
        [generator.normal(min(15, n - k), np.dtype(np.float64)) for k in range(0, n, 15)] or [np.zeros(0)]
    )


for _method in (uniform_, normal_, bernoulli_, random_, exponential_, geometric_, cauchy_, log_normal_):
    setattr(Tensor, _method.__name__, _method)


@function()
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """Numbers drawn from binomial distributions: sums of Bernoulli draws."""
    n, p = np.broadcast_arrays(np.asarray(concrete(count.value)), np.asarray(concrete(prob.value)))
    draws = rand((int(n.max(initial=0)), *n.shape), generator=generator, dtype=dtypes.of(np.float64))
    hits = (np.asarray(draws.value) < p) & (np.arange(len(draws)).reshape((-1,) + (1,) * n.ndim) < n)
    return make_tensor(hits.sum(0).astype(p.dtype))
