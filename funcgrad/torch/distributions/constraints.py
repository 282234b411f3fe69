"""torch.distributions.constraints: what values must be; `constraint.check(value)` tells where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.tensors.tensor import make_tensor, plain

_TOLERANCE = 1e-6  # of sums of probabilities, and of symmetry


class Constraint:
    """Base: `check(value)` is true where the value (or, with event_dim axes, the event) fulfills it."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Where it holds, as a tensor of truth values."""
        raise NotImplementedError(f"{type(self).__name__}.check: a constraint has to say where it holds")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.__dict__.items())
        return f"{type(self).__name__.lstrip('_')}({shown})"


class _Dependent(Constraint):
    """A constraint that depends on other parameters: it is not checked by itself."""

    def __init__(self, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim


def is_dependent(constraint: Any) -> bool:
    """Does it depend on other parameters?"""
    return isinstance(constraint, (_Dependent, property))


class dependent_property(property):
    """A property that gives a constraint; on the class it stands for one that depends on parameters."""

    def __init__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> dependent_property:
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class IndependentConstraint(Constraint):
    """`base_constraint`, holding in all elements of the last axes."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        """Are the values numbers that can be counted?"""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """How many axes an event has."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        """Where it holds."""
        found = self.base_constraint.check(value)
        if found.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return found.reshape(*found.shape[: found.dim() - self.reinterpreted_batch_ndims], -1).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What all components of a mixture, which are the last batch axis, fulfill."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def event_dim(self) -> int:
        """That of the components."""
        return self.base_constraint.event_dim

    @property
    def is_discrete(self) -> bool:
        """Are the components discrete?"""
        return self.base_constraint.is_discrete

    def check(self, value: Any) -> Any:
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Integers(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & self._within(value)

    def _within(self, value: Any) -> Any:
        raise NotImplementedError


class _IntegerInterval(_Integers):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def _within(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Integers):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def _within(self, value: Any) -> Any:
        return value >= self.lower_bound


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value  # NaN is no number


class _GreaterThan(Constraint):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(Constraint):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < _TOLERANCE)


class _Multinomial(_Integers):
    event_dim = 1

    def __init__(self, total: int) -> None:
        self.total = total

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.total)

    def __repr__(self) -> str:
        return "Multinomial()"


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.tril() == value).reshape(*value.shape[:-2], -1).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Any:
        lengths = value.square().sum(-1)
        tolerance = np.finfo(plain(value).dtype).eps * value.shape[-1] * 10
        return super().check(value) & ((lengths - 1).abs() <= float(tolerance)).all(-1)


class _Symmetric(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        near = (value - value.mT).abs() <= _TOLERANCE * (1 + value.abs())
        return near.reshape(*value.shape[:-2], -1).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        x = np.asarray(plain(value))
        with np.errstate(all="ignore"):
            positive = np.linalg.eigvalsh(np.where(np.isfinite(x), x, 0)).min(-1) > 0
        return super().check(value) & make_tensor(np.asarray(positive))


real, boolean, simplex, one_hot = _Real(), _Boolean(), _Simplex(), _OneHot()
positive, nonnegative = _GreaterThan(0.0), _GreaterThanEq(0.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
unit_interval = _Interval(0.0, 1.0)
real_vector = IndependentConstraint(real, 1)
lower_triangular, lower_cholesky = _LowerTriangular(), _LowerCholesky()
corr_cholesky = _CorrCholesky()
symmetric, positive_definite = _Symmetric(), _PositiveDefinite()
dependent = _Dependent()
multinomial = _Multinomial
integer_interval, interval, half_open_interval = _IntegerInterval, _Interval, _HalfOpenInterval
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
independent = IndependentConstraint
