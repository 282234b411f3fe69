"""torch.distributions.transforms: invertible functions, with the logarithm of |dy/dx|."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.distribution import broadcast_all, finfo, sum_rightmost
from funcgrad.torch.functions.creation import full_like, zeros_like
from funcgrad.torch.tensors.tensor import Tensor


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), without overflow."""
    return x.clamp(min=0) + (-x.abs()).exp().log1p()


def _settings(transform: Transform) -> dict[str, Any]:
    """What makes a transform what it is, comparable: tensors as nested lists."""
    held = {name: x for name, x in transform.__dict__.items() if name not in ("_cache_size", "_last")}
    return {name: x.tolist() if isinstance(x, Tensor) else x for name, x in held.items()}


class Transform:
    """Base: `_call(x)`, `_inverse(y)`, `log_abs_det_jacobian(x, y)`; `domain` and `codomain` are constraints."""

    bijective = True
    domain: Any = constraints.real
    codomain: Any = constraints.real
    sign = 1
    event_dim = 0

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: Any = (None, None)

    def __call__(self, x: Any) -> Any:
        """y of x."""
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        return self._remember(x, self._call(x))[1]

    def _inv_call(self, y: Any) -> Any:
        """x of y; with a cache the very x that y was made of."""
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        return self._remember(self._inverse(y), y)[0]

    def _remember(self, x: Any, y: Any) -> tuple[Any, Any]:
        if self._cache_size:
            self._last = (x, y)
        return x, y

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _Inverse(self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Transform) and type(self) is type(other) and _settings(self) == _settings(other)
        )

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how it transforms")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Any) -> Any:
        """The shape of y for an x of this shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for a y of this shape."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv, self.event_dim = transform, transform.event_dim
        self.domain, self.codomain = transform.codomain, transform.domain

    @property
    def sign(self) -> Any:
        """Does it turn the order around?"""
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        """The transform it is the inverse of."""
        return self._inv

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ExpTransform(Transform):
    """y = exp(x)."""

    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        return x


class AbsTransform(Transform):
    """y = |x|, whose inverse is y itself."""

    bijective = False
    codomain: Any = constraints.nonnegative

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    """y = x ** exponent, for x > 0."""

    domain: Any = constraints.positive
    codomain: Any = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        """-1 where it turns the order around."""
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    codomain: Any = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        limits = finfo(x)
        return x.sigmoid().clamp(min=float(limits.tiny), max=1.0 - float(limits.eps))

    def _inverse(self, y: Any) -> Any:
        limits = finfo(y)
        y = y.clamp(min=float(limits.tiny), max=1.0 - float(limits.eps))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + exp(x))."""

    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    codomain: Any = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|: log(1 - y^2), which would lose all digits in the tails."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AffineTransform(Transform):
    """y = loc + scale * x."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        """Does it turn the order around?"""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        scale = self.scale if isinstance(self.scale, Tensor) else full_like(x, self.scale)
        return sum_rightmost(scale.abs().log().expand(x.shape), self.event_dim)


class ComposeTransform(Transform):
    """One after another."""

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        self.event_dim = max((part.event_dim for part in parts), default=0)
        if parts:
            self.domain, self.codomain = parts[0].domain, parts[-1].codomain

    @property
    def sign(self) -> Any:
        """Does it turn the order around?"""
        return math.prod(part.sign for part in self.parts)

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx|."""
        total: Any = zeros_like(sum_rightmost(x, self.event_dim))
        for part in self.parts:
            after = part(x)
            total = total + sum_rightmost(
                part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim
            )
            x = after
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])
