"""Distributions on counts, and mixtures: Geometric, NegativeBinomial, Multinomial, MixtureSameFamily,
RelaxedBernoulli.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.compound import TransformedDistribution
from funcgrad.torch.distributions.discrete import (
    Binomial,
    Categorical,
    OfCategories,
    Parametrized,
    bce_with_logits,
)
from funcgrad.torch.distributions.distribution import (
    Distribution,
    broadcast_all,
    clamp_probs,
    finfo,
)
from funcgrad.torch.distributions.positive import Gamma
from funcgrad.torch.distributions.transforms import SigmoidTransform
from funcgrad.torch.functions.creation import ones_like, zeros
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.random import rand
from funcgrad.torch.random.sampling import poisson

where = FUNCTIONS["where"]


class Geometric(Parametrized):
    """How many trials of probability `probs` fail before one succeeds."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (self.__dict__[self._name],) = broadcast_all(self._put(probs, logits))
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None:
            self._check_parameter("probs", constraints.positive)

    @property
    def mean(self) -> Any:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        """The most probable value: 0."""
        return self.probs.detach() * 0

    @property
    def variance(self) -> Any:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        """Whole numbers."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            drawn = rand(*shape, dtype=self.probs.dtype).clamp(min=float(finfo(self.probs).tiny))
            return (drawn.log() / (-self.probs.expand(shape)).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failures = where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-failures).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return bce_with_logits(self.logits, self.probs) / self.probs


class NegativeBinomial(Parametrized):
    """How many trials of probability `probs` succeed before `total_count` fail."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support: Any = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._put(probs, logits)
        count, value = broadcast_all(
            float(total_count) if isinstance(total_count, int) else total_count, given
        )
        self.total_count, self.__dict__[self._name] = count.to(value.dtype), value
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Whole numbers: Poisson's, of rates that are drawn."""
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False)
            return poisson(rates.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        log_sigmoid = FUNCTIONS["logaddexp"]
        zero = logits * 0
        chosen = -n * log_sigmoid(zero, logits) - value * log_sigmoid(zero, -logits)
        ways = (n + value).lgamma() - (1.0 + value).lgamma() - n.lgamma()
        return chosen + where(n + value == 0, 0.0, ways)


class Multinomial(OfCategories):
    """How often each category comes in `total_count` draws.

    >>> import funcgrad.torch as torch
    >>> coins = torch.distributions.Multinomial(2, torch.tensor([0.5, 0.5]))
    >>> coins.log_prob(torch.tensor([1.0, 1.0])).exp()
    tensor(0.5000)
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(
                "Multinomial: all distributions of a batch have one total_count, an int"
            )
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args
        )

    @constraints.dependent_property
    def support(self) -> Any:
        """Counts that sum to total_count."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Counts, as floats."""
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *sample_shape))
            drawn = drawn.permute(*range(1, drawn.dim()), 0)
            counts = zeros(*self._extended_shape(sample_shape), dtype=self.probs.dtype)
            return counts.scatter_add(-1, drawn, ones_like(drawn).to(counts.dtype))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = where((value == 0) & (logits == -math.inf), 0.0, logits)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Any:
        """By the expected logarithms of factorials, each of a binomial distribution."""
        n = self.total_count
        each = Binomial(n, self.probs, validate_args=False)
        support = each.enumerate_support(expand=False)[1:]
        expected = (each.log_prob(support).exp() * (support + 1).lgamma()).sum([0, -1])
        return n * self._categorical.entropy() - math.lgamma(n + 1) + expected


class MixtureSameFamily(Distribution):
    """A mixture of distributions of one class, which are the last batch axis of `component_distribution`; their
    weights are `mixture_distribution`, a Categorical.
    """

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        inner = component_distribution.batch_shape
        if mixture_distribution.probs.shape[-1] != inner[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({mixture_distribution.probs.shape[-1]}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({inner[-1]})"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(inner[:-1], event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        parts = self.component_distribution
        components = parts.expand((*batch_shape, parts.batch_shape[-1]))
        weights = self.mixture_distribution.expand(batch_shape)
        return MixtureSameFamily(weights, components, validate_args=False)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the components."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    def _weighted(self, of_components: Any) -> Any:
        probs = self.mixture_distribution.probs
        probs = probs.reshape(*probs.shape, *[1] * self._event_ndims)
        return (probs * of_components).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The mean variance, and the variance of the means."""
        means = self.component_distribution.mean
        apart = (means - self.mean.unsqueeze(-1 - self._event_ndims)).pow(2)
        return self._weighted(self.component_distribution.variance) + self._weighted(apart)

    def cdf(self, value: Any) -> Any:
        found = self.component_distribution.cdf(value.unsqueeze(-1 - self._event_ndims))
        return (found * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        found = self.component_distribution.log_prob(value.unsqueeze(-1 - self._event_ndims))
        return (found + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values of the components, each chosen by the weights."""
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            lead = chosen.shape
            index = chosen.reshape(*lead, 1, *[1] * self._event_ndims)
            index = index.expand(*lead, 1, *self._event_shape)
            return drawn.gather(len(lead), index).squeeze(len(lead))


class LogitRelaxedBernoulli(Parametrized):
    """The logit of a number in (0, 1) that is nearly 0 or 1 for small temperatures (Maddison and others, 2017)."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        (self.__dict__[self._name],) = broadcast_all(self._put(probs, logits))
        super().__init__(self._param.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in the parameters."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        drawn = clamp_probs(rand(*shape, dtype=probs.dtype))
        return (drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        gap = logits - value * self.temperature
        return FUNCTIONS["log"](self.temperature) + gap - 2 * gap.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """A number in (0, 1) that is nearly 0 or 1 for small temperatures, differentiable in `probs`."""

    arg_constraints: ClassVar[dict[str, Any]] = LogitRelaxedBernoulli.arg_constraints
    support: Any = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from 0 and 1 the values are."""
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        """The probability of values near 1."""
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        """The logarithm of the odds."""
        return self.base_dist.logits
