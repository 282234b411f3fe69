"""kl_divergence(p, q): the mean of log p(x)/q(x) over x from p, in closed form for registered pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad.torch.distributions.compound import Independent, LogNormal, TransformedDistribution
from funcgrad.torch.distributions.counts import Geometric
from funcgrad.torch.distributions.discrete import Bernoulli, Binomial, Categorical, OneHotCategorical, Poisson
from funcgrad.torch.distributions.distribution import Distribution, sum_rightmost
from funcgrad.torch.distributions.multivariate import MultivariateNormal, log_diagonal, mahalanobis, solved
from funcgrad.torch.distributions.normal import Laplace, Normal, Uniform
from funcgrad.torch.distributions.positive import Beta, Dirichlet, Exponential, Gamma
from funcgrad.torch.distributions.tails import EULER, Cauchy, Gumbel, HalfNormal, Pareto
from funcgrad.torch.functions.creation import full_like
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.functions.special import SPECIAL

_REGISTERED: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator that registers a function of (p, q) for these types and their subclasses."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type) or not issubclass(given, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def register(fun: Any) -> Any:
        _REGISTERED[type_p, type_q] = fun
        return fun

    return register


def kl_divergence(p: Any, q: Any) -> Any:
    """The Kullback-Leibler divergence of q from p, of the shape of their batches.

    Raises NotImplementedError for pairs that are not registered.

    >>> import funcgrad.torch as torch
    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            found = _REGISTERED.get((kind_p, kind_q))
            if found is not None:
                return found(p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}; write one with register_kl"
    )


def _log_ratio(p: Any, q: Any, log_ratio: Any) -> Any:
    """p * log_ratio, where log(p/q) is 0 for p = 0 and infinite for q = 0."""
    found = p * log_ratio
    return found.masked_fill((q == 0).expand(found.shape), math.inf).masked_fill(
        (p == 0).expand(found.shape), 0.0
    )


# ---- of one family ---------------------------------------------------------------------------------------------------
@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (_softplus(-q.logits) - _softplus(-p.logits))
    zero = (1 - p.probs) * (_softplus(q.logits) - _softplus(p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0.0)
    zero = zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0.0)
    return one + zero


def _softplus(x: Any) -> Any:
    return x.clamp(min=0) + (-x.abs()).exp().log1p()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    found = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return found.masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    return _log_ratio(p.probs, q.probs, p.logits - q.logits).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed: "
            f"{p.event_shape} and {q.event_shape}"
        )
    n = p.event_shape[0]
    shape = FUNCTIONS["broadcast_shapes"](p.batch_shape, q.batch_shape)
    inner = solved(q.scale_tril.expand(*shape, n, n), p.scale_tril.expand(*shape, n, n))
    trace = inner.pow(2).sum((-2, -1))
    distance = mahalanobis(q.scale_tril, q.loc - p.loc)
    return log_diagonal(q.scale_tril) - log_diagonal(p.scale_tril) + 0.5 * (trace + distance - n)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    found = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return found + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    constant = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return constant + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(Independent || Independent) needs as many reinterpreted axes in both")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    same = p.transforms == q.transforms
    if not same or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "KL of transformed distributions needs the same transforms and event shapes"
        )
    return sum_rightmost(
        kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape)
    )


# ---- of two families -------------------------------------------------------------------------------------------------
@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    b = q.concentration
    return -b * ratio.log() + ratio + b.lgamma() + b * EULER - (1 + EULER)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


def _from_mean_square(p: Any, q: Any) -> Any:
    """For any p with a mean and a variance, and q normal."""
    spread = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + (q.scale * math.sqrt(2 * math.pi)).log() + 0.5 * spread / q.scale.pow(2)


for _p in (Exponential, Gamma, Laplace, Uniform, Beta):
    register_kl(_p, Normal)(_from_mean_square)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    distance = (p.loc - q.loc) / p.scale
    mean = p.scale * (
        math.sqrt(2 / math.pi) * (-0.5 * distance.pow(2)).exp() + distance * (distance / math.sqrt(2)).erf()
    )
    return -p.entropy() + (2 * q.scale).log() + mean / q.scale


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    found = -p.entropy() + (q.high - q.low).log()
    return found.masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(Beta, Exponential)
def _beta_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return -p.entropy() - _gamma_log_density(q, p.mean, mean_log)


def _gamma_log_density(q: Any, mean: Any, mean_log: Any) -> Any:
    """The mean log density of a gamma distribution over values with this mean and mean logarithm."""
    a = q.concentration
    return a * q.rate.log() - a.lgamma() + (a - 1) * mean_log - q.rate * mean


def _mean_log(low: Any, high: Any) -> Any:
    """The mean of log(x) over [low, high]."""
    xlogx = SPECIAL["xlogy"]
    return (xlogx(high, high) - xlogx(low, low)) / (high - low) - 1


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return (-p.entropy() - q.rate.log() + q.rate * p.mean).masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    found = -p.entropy() - _gamma_log_density(q, p.mean, _mean_log(p.low, p.high))
    return found.masked_fill(p.low < 0, math.inf)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    powers = (a - 1) * _mean_log(p.low, p.high) + (b - 1) * _mean_log(1 - p.high, 1 - p.low)
    found = -p.entropy() - powers + a.lgamma() + b.lgamma() - (a + b).lgamma()
    return found.masked_fill((p.low < 0) | (p.high > 1), math.inf)


def _infinite(p: Any, q: Any) -> Any:
    """Where p has values that q has not."""
    return full_like(p.entropy().detach() if not isinstance(p, Poisson) else p.rate.detach(), math.inf)


for _p, _q in (
    (Normal, Exponential), (Normal, Gamma), (Normal, Uniform), (Normal, Beta), (Laplace, Exponential), (Laplace, Gamma),
    (Laplace, Uniform), (Laplace, Beta), (Exponential, Uniform), (Exponential, Beta), (Gamma, Uniform), (Gamma, Beta),
    (Poisson, Bernoulli), (Poisson, Binomial),
):  # fmt: skip
    register_kl(_p, _q)(_infinite)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Any:
    """Chyzak and Nielsen, 2019."""
    both = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return both.log() - (4 * p.scale * q.scale).log()


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Any:
    ratio, gap = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return -ratio.log() - gap + ratio * EULER + (gap + (1 + ratio).lgamma()).exp() - (1 + EULER)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits
