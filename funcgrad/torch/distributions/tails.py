"""Distributions with one tail or heavy ones: Cauchy, HalfCauchy, HalfNormal, Gumbel, Pareto, Weibull, InverseGamma,
Kumaraswamy, Chi2, FisherSnedecor. Those that are functions of others say how they are made of them.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.compound import TransformedDistribution
from funcgrad.torch.distributions.distribution import Distribution, broadcast_all, finfo
from funcgrad.torch.distributions.normal import Normal, Uniform
from funcgrad.torch.distributions.positive import Exponential, Gamma
from funcgrad.torch.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
)
from funcgrad.torch.functions.creation import empty, full_like, ones_like, zeros_like
from funcgrad.torch.functions.registry import FUNCTIONS

EULER = 0.57721566490153286061
where = FUNCTIONS["where"]


class Cauchy(Distribution):
    """The Cauchy distribution (Lorentz's) around `loc`: it has no mean."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """NaN: there is none."""
        return full_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        """Infinite."""
        return full_like(self.loc, math.inf)

    @property
    def mode(self) -> Any:
        return self.loc

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in both parameters."""
        drawn = empty(*self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class _Half(TransformedDistribution):
    """|x| of a distribution around 0."""

    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    base: Any = None

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        whole = self.base(0, scale, validate_args=False)
        super().__init__(whole, AbsTransform(), validate_args=validate_args)
        if self._validate_args:
            self._check_parameter("scale", constraints.positive)

    @property
    def scale(self) -> Any:
        """The scale of the distribution around 0."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        """The most probable value: 0."""
        return zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfCauchy(_Half):
    """|x|, where x has the Cauchy distribution around 0."""

    base = Cauchy

    @property
    def mean(self) -> Any:
        """Infinite."""
        return full_like(self.scale, math.inf)

    variance = mean


class HalfNormal(_Half):
    """|x|, where x is normal around 0 with the standard deviation `scale`."""

    base = Normal

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class Gumbel(TransformedDistribution):
    """loc - scale * log(-log(u)), where u is uniform: the largest of many."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits, log = finfo(self.loc), ExpTransform().inv
        low, high = (full_like(self.loc, float(x)) for x in (limits.tiny, 1 - limits.eps))
        turned = AffineTransform(0, -ones_like(self.scale))
        steps = [log, turned, log, AffineTransform(self.loc, -self.scale)]
        super().__init__(Uniform(low, high, validate_args=False), steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        return Gumbel(self.loc.expand(*batch_shape), self.scale.expand(*batch_shape), validate_args=False)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)


class Pareto(TransformedDistribution):
    """scale * exp(x), where x has the exponential distribution of rate `alpha`."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "alpha": constraints.positive,
        "scale": constraints.positive,
    }

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        steps = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        return Pareto(self.scale.expand(*batch_shape), self.alpha.expand(*batch_shape), validate_args=False)

    @constraints.dependent_property
    def support(self) -> Any:
        """From `scale` on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        """The mean; infinite for alpha <= 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        """The variance; infinite for alpha <= 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """scale * x ** (1 / concentration), where x has the exponential distribution of rate 1."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support: Any = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        steps = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(0, self.scale),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        parameters = (x.expand(*batch_shape) for x in (self.scale, self.concentration))
        return Weibull(*parameters, validate_args=False)

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        c = self.concentration
        return self.scale * ((c - 1) / c) ** c.reciprocal()

    @property
    def variance(self) -> Any:
        first, second = ((1 + n * self.concentration_reciprocal).lgamma() for n in (1, 2))
        return self.scale.pow(2) * (second.exp() - (2 * first).exp())

    def entropy(self) -> Any:
        less = self.concentration_reciprocal
        return EULER * (1 - less) + (self.scale * less).log() + 1


class InverseGamma(TransformedDistribution):
    """1 / x, where x has the gamma distribution."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support: Any = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        inverse = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, inverse, validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The concentration of 1 / x."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of 1 / x."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        """The mean; infinite for concentrations up to 1."""
        return where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """The variance; infinite for concentrations up to 2."""
        c = self.concentration
        return where(c > 2, self.rate.square() / ((c - 1).square() * (c - 2)), math.inf)

    def entropy(self) -> Any:
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()


class Kumaraswamy(TransformedDistribution):
    """(1 - u ** (1/b)) ** (1/a) on [0, 1], where u is uniform, a = concentration1 and b = concentration0."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support: Any = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(zeros_like(self.concentration0), ones_like(self.concentration0), validate_args=False)
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1, scale=-1),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        parameters = (x.expand(*batch_shape) for x in (self.concentration1, self.concentration0))
        return Kumaraswamy(*parameters, validate_args=False)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        moment = 1 + n / a
        return b * (moment.lgamma() + b.lgamma() - (moment + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        """The most probable value inside; NaN where the density has its largest values at an end."""
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1)
        return where(inside, ((a - 1) / (a * b - 1)) ** a.reciprocal(), math.nan)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class Chi2(Gamma):
    """The sum of squares of `df` normal numbers."""

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = broadcast_all(df)
        super().__init__(0.5 * df, full_like(df, 0.5), validate_args=False)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameter("df", constraints.positive)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        return Chi2(self.df.expand(*batch_shape), validate_args=False)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class FisherSnedecor(Distribution):
    """The ratio of two numbers with chi-square distributions, each divided by its degrees of freedom."""

    arg_constraints: ClassVar[dict[str, Any]] = {"df1": constraints.positive, "df2": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean; NaN for df2 <= 2."""
        return where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Any:
        """The most probable value; NaN for df1 <= 2."""
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where(self.df1 > 2, found, math.nan)

    @property
    def variance(self) -> Any:
        """The variance; NaN for df2 <= 4."""
        m, n = self.df1, self.df2
        found = 2 * n.pow(2) * (m + n - 2) / (m * (n - 2).pow(2) * (n - 4))
        return where(n > 4, found, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in both parameters, once."""
        above, below = (
            Gamma(n * 0.5, n * 0.5, validate_args=False).rsample(sample_shape) for n in (self.df1, self.df2)
        )
        tiny = float(finfo(below).tiny)
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        m, n, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        scale = (m + n).lgamma() - m.lgamma() - n.lgamma()
        return scale + m * ratio.log() + (m - 1) * value.log() - (m + n) * (ratio * value).log1p()
