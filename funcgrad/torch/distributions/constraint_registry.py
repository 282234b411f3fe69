"""From all numbers to those that fulfill a constraint: `biject_to` one to one, `transform_to` by a simple way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.matrix_transforms import (
    CorrCholeskyTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from funcgrad.torch.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    identity_transform,
)

Factory = Callable[[Any], Any]


class ConstraintRegistry:
    """Calls for a constraint the factory that is registered for its class, which gives a Transform.

    >>> import funcgrad.torch as torch
    >>> D = torch.distributions
    >>> D.biject_to(D.constraints.positive)(torch.tensor(0.0))
    tensor(1.)
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Register a factory for a constraint's class; without one, a decorator. TypeError for what is no constraint."""
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform for a constraint; NotImplementedError where none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints: register a factory for it, "
                "biject_to.register(constraint, lambda constraint: transform)"
            )
        return factory(constraint)


def _above(constraint: Any) -> Any:
    if constraint.lower_bound == 0:
        return ExpTransform()
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Any:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if low == 0 and high == 1:
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()
for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda _: identity_transform)
    _registry.register(constraints.positive, _above)
    _registry.register(constraints.nonnegative, _above)
    _registry.register(constraints.less_than, _below)
    _registry.register(constraints.interval, _between)
    _registry.register(constraints.half_open_interval, _between)
    _registry.register(constraints.corr_cholesky, lambda _: CorrCholeskyTransform())
    _registry.register(
        constraints.independent,
        lambda c, each=_registry: IndependentTransform(each(c.base_constraint), c.reinterpreted_batch_ndims),
    )
biject_to.register(constraints.simplex, lambda _: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda _: PositiveDefiniteTransform())
