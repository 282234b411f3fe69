"""Distributions on numbers that can be counted: Bernoulli, Binomial, Categorical, OneHotCategorical, Poisson."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import (
    Distribution,
    broadcast_all,
    finfo,
    largest_one,
    lazy,
    logits_to_probs,
    probs_to_logits,
)
from funcgrad.torch.functions.creation import arange, eye
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.functions.special import SPECIAL
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.random.sampling import multinomial, poisson


class Parametrized(Distribution):
    """Distributions given by probs or by logits; the other one is computed when it is asked for."""

    is_binary = True

    def _put(self, probs: Any, logits: Any) -> Any:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._name, given = ("probs", probs) if logits is None else ("logits", logits)
        return given

    @lazy
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, self.is_binary)

    @lazy
    def logits(self) -> Any:
        """The logarithms of the odds (or of the probabilities, up to a constant)."""
        return probs_to_logits(self.probs, self.is_binary)

    @property
    def _param(self) -> Any:
        return self.__dict__[self._name]


def bce_with_logits(logits: Any, value: Any) -> Any:
    """-log of the probability of 1 (where value is 1) or of 0, from the logits."""
    return logits.clamp(min=0) - logits * value + (-logits.abs()).exp().log1p()


class Bernoulli(Parametrized):
    """1 with the probability `probs`, else 0; or given by the logarithm of the odds.

    >>> import funcgrad.torch as torch
    >>> torch.distributions.Bernoulli(0.25).log_prob(torch.tensor([0.0, 1.0])).exp()
    tensor([0.7500, 0.2500])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (self.__dict__[self._name],) = broadcast_all(self._put(probs, logits))
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean: probs."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The more probable value; NaN if both are."""
        return (self.probs >= 0.5).to(self.probs.dtype).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values 0 and 1."""
        with no_grad():
            return self.probs.expand(self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -bce_with_logits(*broadcast_all(self.logits, value))

    def entropy(self) -> Any:
        return bce_with_logits(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1."""
        return _enumerated(arange(2, dtype=self._param.dtype), self._batch_shape, expand)


def _enumerated(values: Any, batch_shape: Any, expand: bool) -> Any:
    found = values.view(-1, *[1] * len(batch_shape))
    return found.expand(-1, *batch_shape) if expand else found


class Binomial(Parametrized):
    """How many of `total_count` trials of probability `probs` succeed."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._put(probs, logits)
        count, value = broadcast_all(
            total_count if not isinstance(total_count, int) else float(total_count), given
        )
        self.total_count, self.__dict__[self._name] = count.to(value.dtype), value
        super().__init__(value.size(), validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        """0, ..., total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values: sums of trials."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            most = int(self.total_count.max())
            trials = self.probs.expand(most, *shape).bernoulli()
            counted = arange(most).view(-1, *[1] * len(shape)) < self.total_count.expand(shape)
            return (trials * counted).sum(0)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        failing = n * (self.logits.clamp(min=0) + (-self.logits.abs()).exp().log1p())
        return value * self.logits - failing + ways

    def entropy(self) -> Any:
        """The entropy, by summation; all total_count must be the same."""
        if int(self.total_count.min()) != int(self.total_count.max()):
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0, ..., total_count, which must be the same in the whole batch."""
        most = int(self.total_count.max())
        if int(self.total_count.min()) != most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return _enumerated(arange(1 + most, dtype=self._param.dtype), self._batch_shape, expand)


class Categorical(Parametrized):
    """0, ..., k - 1 with the (not normalised) probabilities along the last axis of `probs`, or with their
    logarithms.

    >>> import funcgrad.torch as torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True
    is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = self._put(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{self._name}` parameter must be at least one-dimensional.")
        normalised = given / given.sum(-1, True) if logits is None else given - given.logsumexp(-1, True)
        self.__dict__[self._name], self._num_events = normalised, given.size(-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> Any:
        """0, ..., k - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def mean(self) -> Any:
        """NaN: the values are names."""
        return FUNCTIONS["sum"](self.probs.detach(), -1) * math.nan

    variance = mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values, int64."""
        count = math.prod(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return multinomial(rows, count, True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = FUNCTIONS["broadcast_tensors"](value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        held = self.logits.clamp(min=float(finfo(self.logits).min))
        return -(held * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0, ..., k - 1."""
        return _enumerated(arange(self._num_events), self._batch_shape, expand)


class OfCategories(Distribution):
    """A distribution of vectors, with a number for each category of a Categorical, whose parameters it has."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    _categorical: Categorical

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        made: Any = super().expand(batch_shape)
        made._categorical = self._categorical.expand(batch_shape)
        return made

    @property
    def probs(self) -> Any:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape


class OneHotCategorical(OfCategories):
    """Vectors with one 1, at the place that a Categorical gives."""

    support: Any = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        batch_shape, k = self._categorical.batch_shape, self._categorical._num_events
        super().__init__(batch_shape, (k,), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean: probs."""
        return self.probs

    @property
    def mode(self) -> Any:
        return largest_one(self.probs)

    @property
    def variance(self) -> Any:
        """The variances."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values, in the dtype of probs."""
        places = self._categorical.sample(sample_shape)
        corners: Any = eye(self._event_shape[0], dtype=self.probs.dtype)
        return corners[places]

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """All vectors with one 1."""
        n = self._event_shape[0]
        values = eye(n, dtype=self.probs.dtype).view(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples have probs' gradient (Bengio et al., arXiv:1308.3432), biased."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values whose gradient is that of probs."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Poisson(Distribution):
    """How many events there are in one unit of time, at `rate`."""

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.nonnegative}
    support: Any = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean: rate."""
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        """The variance: rate."""
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values, in the dtype of rate."""
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return SPECIAL["xlogy"](*broadcast_all(value, self.rate)) - self.rate - (value + 1).lgamma()
