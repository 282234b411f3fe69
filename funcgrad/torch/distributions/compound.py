"""Distributions made of others: Independent, TransformedDistribution, LogNormal."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import Distribution, sum_rightmost
from funcgrad.torch.distributions.normal import Normal
from funcgrad.torch.distributions.transforms import ExpTransform, Transform
from funcgrad.torch.graph.modes import no_grad


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch axes as axes of one event: probabilities multiply."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch, n = base_distribution.batch_shape, reinterpreted_batch_ndims
        if n > len(batch):
            raise ValueError(
                f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {n} vs {len(batch)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        event = (*batch[len(batch) - n :], *base_distribution.event_shape)
        super().__init__(batch[: len(batch) - n], event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        inner = self._event_shape[: self.reinterpreted_batch_ndims]
        return Independent(
            self.base_dist.expand((*batch_shape, *inner)), self.reinterpreted_batch_ndims, validate_args=False
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"

    @property
    def has_rsample(self) -> bool:
        """Has the distribution beneath differentiable samples?"""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:
        """Can its values be listed?"""
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    @constraints.dependent_property
    def support(self) -> Any:
        """Where the values are."""
        inner = self.base_dist.support
        return (
            constraints.independent(inner, self.reinterpreted_batch_ndims)
            if self.reinterpreted_batch_ndims
            else inner
        )

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The variances."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without a gradient."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, if no axis was taken into the event."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)


class TransformedDistribution(Distribution):
    """The distribution of transforms(x), where x has the distribution `base_distribution`."""

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms: list[Any] = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.base_dist = base_distribution
        event_dim = max([len(base_distribution.event_shape), *(t.event_dim for t in self.transforms)])
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        cut = len(shape) - event_dim
        if cut < 0:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {event_dim}, but got {len(shape)}."
            )
        for transform in self.transforms:
            shape = transform.forward_shape(shape)
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        made: Any = super().expand(batch_shape)
        shape = (*batch_shape, *self._event_shape)
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        made.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return made

    @property
    def has_rsample(self) -> bool:
        """Has the distribution beneath differentiable samples?"""
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Any:
        """Where the values are."""
        if not self.transforms:
            return self.base_dist.support
        inner = self.transforms[-1].codomain
        missing = len(self._event_shape) - inner.event_dim
        return constraints.independent(inner, missing) if missing > 0 else inner

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without a gradient."""
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in the parameters."""
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        event_dim, total, y = len(self._event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            total = total - sum_rightmost(
                transform.log_abs_det_jacobian(x, y), event_dim - transform.event_dim
            )
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _turned(self, value: Any) -> Any:
        """A probability p, or 1 - p where the transforms turn the order around."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        """The probability of values up to `value`; the transforms must be monotone."""
        self._validate_sample(value)
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._forward(self.base_dist.icdf(self._turned(value)))


class LogNormal(TransformedDistribution):
    """exp(x), where x is normal with mean `loc` and standard deviation `scale`."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(
            Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args
        )

    @property
    def loc(self) -> Any:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc
