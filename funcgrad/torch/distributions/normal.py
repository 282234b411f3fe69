"""Distributions on the real line: Normal, Laplace, StudentT, Uniform."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import Distribution, broadcast_all, finfo
from funcgrad.torch.distributions.gamma_samples import standard_gamma
from funcgrad.torch.functions.creation import empty
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.random.sampling import normal

INF = math.inf


class _LocationScale(Distribution):
    """What distributions with `loc` and `scale` have in common."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True
    loc: Any
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean: loc."""
        return self.loc

    @property
    def mode(self) -> Any:
        """The most probable value: loc."""
        return self.loc


class Normal(_LocationScale):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    >>> import funcgrad.torch as torch
    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.4189)
    """

    @property
    def stddev(self) -> Any:
        """The standard deviation: scale."""
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale**2

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without a gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in loc and scale."""
        eps = empty(*self._extended_shape(sample_shape), dtype=self.loc.dtype).normal_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return (
            -((value - self.loc) ** 2) / (2 * self.scale**2)
            - self.scale.log()
            - math.log(math.sqrt(2 * math.pi))
        )

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Laplace(_LocationScale):
    """The Laplace distribution: exp(-|x - loc| / scale) / (2 scale)."""

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in loc and scale."""
        limits = finfo(self.loc)
        u = empty(*self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(
            float(limits.eps) - 1, 1
        )
        return self.loc - self.scale * u.sign() * (-u.abs().clamp(min=float(limits.tiny))).log1p()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * (-(value - self.loc).abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class StudentT(Distribution):
    """Student's t-distribution with `df` degrees of freedom, moved to `loc` and stretched by `scale`."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean; NaN up to one degree of freedom."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        """The most probable value: loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The variance: infinite up to two degrees of freedom, NaN up to one."""
        held = self.df.masked_fill(self.df <= 2, 3.0)
        found = (self.scale**2 * held / (held - 2)).masked_fill(self.df <= 2, INF)
        return found.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in all three parameters."""
        shape = self._extended_shape(sample_shape)
        x = empty(*shape, dtype=self.df.dtype).normal_()
        chi2 = 2 * standard_gamma((self.df / 2).expand(shape))
        return self.loc + self.scale * x * (chi2 / self.df).rsqrt()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        constant = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        constant = constant + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1)).lgamma()
        return -0.5 * (self.df + 1) * (y**2 / self.df).log1p() - constant

    def entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + beta


class Uniform(Distribution):
    """The uniform distribution on [low, high)."""

    has_rsample = True
    low: Any
    high: Any

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)
        if self._validate_args:
            self._check_parameter("low", constraints.less_than(self.high.detach()))

    arg_constraints: ClassVar[dict[str, Any]] = {"low": constraints.dependent, "high": constraints.dependent}

    @constraints.dependent_property
    def support(self) -> Any:
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """NaN: all values are equally probable."""
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in low and high."""
        u = empty(*self._extended_shape(sample_shape), dtype=self.low.dtype).uniform_()
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density; -inf outside of [low, high)."""
        self._validate_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()
