"""Transforms of vectors and matrices: onto simplexes, factors and correlations; side by side; in other shapes."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import finfo, sum_rightmost
from funcgrad.torch.distributions.transforms import SigmoidTransform, Transform, softplus
from funcgrad.torch.functions.creation import arange, eye, zeros
from funcgrad.torch.functions.linalg import LINALG
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.tensors.size import Size

_cat, _stack = FUNCTIONS["cat"], FUNCTIONS["stack"]


class IndependentTransform(Transform):
    """`base_transform`, of whose batch axes the last `reinterpreted_batch_ndims` belong to the event."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self.event_dim = base_transform.event_dim + reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        """Does it turn the order around?"""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Events of `in_shape` as events of `out_shape`, which has as many elements."""

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        self.event_dim = max(len(self.in_shape), len(self.out_shape))
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|: zeros."""
        return zeros(*x.shape[: x.dim() - len(self.in_shape)], dtype=x.dtype)

    def forward_shape(self, shape: Any) -> Any:
        return Size((*shape[: len(shape) - len(self.in_shape)], *self.out_shape))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*shape[: len(shape) - len(self.out_shape)], *self.in_shape))


class SoftmaxTransform(Transform):
    """exp(x), divided by its sum: onto the simplex, but not one to one. Its inverse is log(y)."""

    bijective = False
    event_dim = 1
    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class _OfVectors(Transform):
    """A transform of vectors, which have no order that it could keep."""

    event_dim = 1
    domain: Any = constraints.real_vector

    @property
    def sign(self) -> Any:
        """There is none: NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} has no sign: vectors have no order, and no cdf")


class StickBreakingTransform(_OfVectors):
    """n numbers to n + 1 on the simplex: each says which part of what is left of a stick is broken off.

    x = 0 gives equal parts.
    """

    codomain: Any = constraints.simplex

    @staticmethod
    def _offsets(n: int, like: Any) -> Any:
        return arange(n, 0, -1, dtype=like.dtype).log()

    def _call(self, x: Any) -> Any:
        z = SigmoidTransform()(x - self._offsets(x.shape[-1], x))
        one = z[..., :1] * 0 + 1
        return _cat([z, one], -1) * _cat([one, (1 - z).cumprod(-1)], -1)

    def _inverse(self, y: Any) -> Any:
        first = y[..., :-1]
        left = (1 - first.cumsum(-1)).clamp(min=float(finfo(y).tiny))
        return first.log() - left.log() + self._offsets(first.shape[-1], y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        x = x - self._offsets(x.shape[-1], x)
        return (-x - softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(Transform):
    """Matrices to lower triangular ones with a positive diagonal, the exponential of theirs."""

    event_dim = 2
    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices to positive definite ones: L L^T, with the L of LowerCholeskyTransform."""

    event_dim = 2
    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        L = LowerCholeskyTransform()(x)
        return L @ L.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform()._inv_call(LINALG["cholesky"](y))


class CorrCholeskyTransform(_OfVectors):
    """n (n - 1) / 2 numbers to the Cholesky factor of an n x n correlation matrix.

    Their tanh are partial correlations, which fill the factor row by row (Lewandowski, Kurowicka and Joe, 2009).
    """

    codomain: Any = constraints.corr_cholesky

    @staticmethod
    def _below(n: int, offset: int = -1) -> Any:
        rows, columns = FUNCTIONS["tril_indices"](n, n, offset)
        return (..., rows, columns)

    def _call(self, x: Any) -> Any:
        margin = float(finfo(x).eps)
        x = x.tanh().clamp(min=-1 + margin, max=1 - margin)
        n = self.forward_shape(x.shape)[-1]
        r = zeros(*x.shape[:-1], n, n, dtype=x.dtype)
        r[self._below(n)] = x
        left = (1 - r.square()).sqrt().cumprod(-1)
        return (r + eye(n, dtype=x.dtype)) * _cat([left[..., :1] * 0 + 1, left[..., :-1]], -1)

    def _inverse(self, y: Any) -> Any:
        left = 1 - y.square().cumsum(-1)
        left = _cat([left[..., :1] * 0 + 1, left[..., :-1]], -1)
        below = self._below(y.shape[-1])
        return (y[below] / left[below].sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|, of the elements below the diagonal."""
        left = (1 - y.square().cumsum(-1))[self._below(y.shape[-1], -2)]
        return left.log().sum(-1) / 2 - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of `distribution`, onto (0, 1)."""

    codomain: Any = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """Where the values of the distribution are."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|: the density."""
        return self.distribution.log_prob(x)


class _Parts(Transform):
    """Transforms for the parts of an axis."""

    def __init__(self, transforms: Any, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(transforms), dim
        self.bijective = all(t.bijective for t in self.transforms)
        self.event_dim = max(t.event_dim for t in self.transforms)

    def _split(self, x: Any) -> list[Any]:
        raise NotImplementedError

    def _joined(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _each(self, name: str, *xs: Any) -> Any:
        parts = zip(self.transforms, *map(self._split, xs), strict=True)
        return self._joined([getattr(t, name)(*x) for t, *x in parts])

    def _call(self, x: Any) -> Any:
        return self._each("__call__", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("_inv_call", y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|, along the same axis."""
        return self._each("log_abs_det_jacobian", x, y)


class StackTransform(_Parts):
    """Transform i for the elements at place i of the axis `dim`."""

    def _split(self, x: Any) -> list[Any]:
        return list(x.unbind(self.dim))

    def _joined(self, parts: list[Any]) -> Any:
        return _stack(parts, self.dim)


class CatTransform(_Parts):
    """Transform i for part i of the axis `dim`, whose parts have these `lengths` (1 each)."""

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    def _split(self, x: Any) -> list[Any]:
        return list(x.split(self.lengths, self.dim))

    def _joined(self, parts: list[Any]) -> Any:
        return _cat(parts, self.dim)
