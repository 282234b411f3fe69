"""MultivariateNormal: by covariance, precision, or the lower triangular factor of the covariance."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import Distribution, lazy
from funcgrad.torch.functions.creation import empty, eye
from funcgrad.torch.functions.linalg import LINALG
from funcgrad.torch.functions.registry import FUNCTIONS


def log_diagonal(L: Any) -> Any:
    """The sum of the logarithms of the diagonal: half of log det(L L^T)."""
    return L.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def solved(L: Any, b: Any) -> Any:
    """L^-1 b, for lower triangular L and matrices b."""
    return LINALG["solve_triangular"](L, b, upper=False)


def factor_of_inverse(P: Any) -> Any:
    """The lower triangular L with L L^T = P^-1."""
    flipped = LINALG["cholesky"](FUNCTIONS["flip"](P, (-2, -1)))
    upper = FUNCTIONS["flip"](flipped, (-2, -1))  # P = upper upper^T, so P^-1 = (upper^-1)^T upper^-1
    return solved(upper.mT, eye(P.shape[-1], dtype=P.dtype).expand(P.shape))


class MultivariateNormal(Distribution):
    """The normal distribution of vectors: mean `loc` and one of covariance, precision or scale_tril."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        named = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: x for name, x in named.items() if x is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = FUNCTIONS["broadcast_shapes"](matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(*batch_shape, loc.shape[-1])
        self.__dict__[name] = matrix.expand(*batch_shape, *matrix.shape[-2:])
        super().__init__(batch_shape, loc.shape[-1:], validate_args=validate_args)

    @lazy
    def _unbroadcasted_scale_tril(self) -> Any:
        if "scale_tril" in self.__dict__:
            return self.scale_tril
        if "covariance_matrix" in self.__dict__:
            return LINALG["cholesky"](self.covariance_matrix)
        return factor_of_inverse(self.precision_matrix)

    @lazy
    def scale_tril(self) -> Any:
        """The lower triangular L with L L^T = covariance."""
        return self._unbroadcasted_scale_tril

    @lazy
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT

    @lazy
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return FUNCTIONS["cholesky_inverse"](self._unbroadcasted_scale_tril)

    @property
    def mean(self) -> Any:
        """The mean: loc."""
        return self.loc

    @property
    def mode(self) -> Any:
        """The most probable value: loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The variances: the diagonal of the covariance."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in loc and the matrix."""
        eps = empty(*self._extended_shape(sample_shape), dtype=self.loc.dtype).normal_()
        return self.loc + (self._unbroadcasted_scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - log_diagonal(
            self._unbroadcasted_scale_tril
        )

    def entropy(self) -> Any:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_diagonal(
            self._unbroadcasted_scale_tril
        )


def mahalanobis(L: Any, x: Any) -> Any:
    """x^T (L L^T)^-1 x, for vectors along the last axis."""
    shape = FUNCTIONS["broadcast_shapes"](L.shape[:-2], x.shape[:-1])
    y = solved(L.expand(*shape, *L.shape[-2:]), x.expand(*shape, x.shape[-1]).unsqueeze(-1))
    return y.squeeze(-1).pow(2).sum(-1)
