"""Distributions on intervals, circles, simplexes and correlations that are seldom asked for."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from funcgrad.torch.distributions import constraints
from funcgrad.torch.distributions.compound import TransformedDistribution
from funcgrad.torch.distributions.discrete import Categorical, OfCategories, Parametrized, bce_with_logits
from funcgrad.torch.distributions.distribution import (
    Distribution,
    broadcast_all,
    clamp_probs,
    finfo,
)
from funcgrad.torch.distributions.matrix_transforms import StickBreakingTransform
from funcgrad.torch.distributions.multivariate import log_diagonal, solved
from funcgrad.torch.distributions.normal import Normal
from funcgrad.torch.distributions.positive import Beta
from funcgrad.torch.distributions.transforms import ExpTransform
from funcgrad.torch.functions.creation import arange, empty, eye, zeros
from funcgrad.torch.functions.linalg import LINALG
from funcgrad.torch.functions.registry import FUNCTIONS
from funcgrad.torch.functions.special import SPECIAL
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.random import rand, randn

where, _cat = FUNCTIONS["where"], FUNCTIONS["cat"]


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors (n) with covariance W W^T + diag(D): `cov_factor` W (n, r), `cov_diag` D (n).

    Only r x r matrices are factorised (Woodbury's identity).
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        n = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != n or cov_diag.shape[-1:] != (n,):
            raise ValueError(
                f"loc {tuple(loc.shape)} needs a cov_factor (..., {n}, r) and a cov_diag (..., {n}), found "
                f"{tuple(cov_factor.shape)} and {tuple(cov_diag.shape)}"
            )
        batch = FUNCTIONS["broadcast_shapes"](loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(*batch, n), cov_diag.expand(*batch, n)
        self.cov_factor = cov_factor.expand(*batch, *cov_factor.shape[-2:])
        super().__init__(batch, (n,), validate_args=validate_args)

    @property
    def _capacitance_tril(self) -> Any:
        """The Cholesky factor of 1 + W^T D^-1 W."""
        W = self.cov_factor
        return LINALG["cholesky"](W.mT @ (W / self.cov_diag.unsqueeze(-1)) + eye(W.shape[-1], dtype=W.dtype))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variances."""
        return self.cov_factor.square().sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        """The covariance (n, n)."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        A = solved(self._capacitance_tril, scaled)
        return self.cov_diag.reciprocal().diag_embed() - A.mT @ A

    @property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance."""
        return LINALG["cholesky"](self.covariance_matrix)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in all parameters."""
        shape, dtype = self._extended_shape(sample_shape), self.loc.dtype
        of_factor = empty(*shape[:-1], self.cov_factor.shape[-1], dtype=dtype).normal_()
        of_diagonal = empty(*shape, dtype=dtype).normal_()
        moved = (self.cov_factor @ of_factor.unsqueeze(-1)).squeeze(-1)
        return self.loc + moved + self.cov_diag.sqrt() * of_diagonal

    def _log_det(self, L: Any) -> Any:
        return 2 * log_diagonal(L) + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        L, gap = self._capacitance_tril, value - self.loc
        scaled = gap / self.cov_diag
        inner = solved(L, self.cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        distance = (gap * scaled).sum(-1) - inner.square().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det(L) + distance)

    def entropy(self) -> Any:
        constant = self._event_shape[0] * (1 + math.log(2 * math.pi))
        return 0.5 * (constant + self._log_det(self._capacitance_tril))


class ExpRelaxedCategorical(OfCategories):
    """The logarithm of a RelaxedOneHotCategorical (Maddison and others, 2017, equation 10)."""

    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical, self.temperature = Categorical(probs, logits, validate_args), temperature
        batch, k = self._categorical.batch_shape, self._categorical._num_events
        super().__init__(batch, (k,), validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in the parameters."""
        logits = self.logits
        drawn = clamp_probs(rand(*self._extended_shape(sample_shape), dtype=logits.dtype))
        scores = (logits - (-drawn.log()).log()) / self.temperature
        return scores.log_softmax(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        scores = (logits - value * self.temperature).log_softmax(-1).sum(-1)
        return scores + math.lgamma(k) + (k - 1) * FUNCTIONS["log"](self.temperature)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of a simplex that are nearly one-hot for small temperatures, differentiable in `probs`."""

    arg_constraints: ClassVar[dict[str, Any]] = ExpRelaxedCategorical.arg_constraints
    support: Any = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from the corners the values are."""
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        """The probabilities of the categories."""
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self.base_dist.logits


class LogisticNormal(TransformedDistribution):
    """Points of a simplex with n + 1 corners, by breaking a stick at n normal numbers."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal numbers."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """Their standard deviations."""
        return self.base_dist.scale


class ContinuousBernoulli(Parametrized):
    """Numbers in [0, 1] with a density proportional to p^x (1 - p)^(1 - x) (Loaiza-Ganem and Cunningham, 2019)."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        (self.__dict__[self._name],) = broadcast_all(self._put(probs, logits))
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def _parts(self) -> tuple[Any, Any, Any]:
        """Where p is far from 1/2, p there (a constant elsewhere), and p - 1/2: near it series take over."""
        p = clamp_probs(self.probs)
        far = (p <= self._lims[0]) | (p > self._lims[1])
        return far, where(far, p, self._lims[0]), p - 0.5

    def _log_norm(self) -> Any:
        far, p, x = self._parts()
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        return where(far, exact, math.log(2) + (4 / 3 + 104 / 45 * x.square()) * x.square())

    @property
    def mean(self) -> Any:
        far, p, x = self._parts()
        exact = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        return where(far, exact, 0.5 + (1 / 3 + 16 / 45 * x.square()) * x)

    @property
    def variance(self) -> Any:
        """The variances."""
        far, p, x = self._parts()
        exact = p * (p - 1) / (1 - 2 * p).square() + 1 / ((-p).log1p() - p.log()).square()
        square = x.square()
        return where(far, exact, 1 / 12 - (1 / 15 - 128 / 945 * square) * square)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in the parameter."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(rand(*shape, dtype=self._param.dtype))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -bce_with_logits(logits, value) + self._log_norm()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        far, p, _ = self._parts()
        exact = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        inside = where(far, exact, value)
        return where(value <= 0, inside * 0, where(value >= 1, inside * 0 + 1, inside))

    def icdf(self, value: Any) -> Any:
        far, p, _ = self._parts()
        exact = ((-p + value * (2 * p - 1)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return where(far, exact, value)

    def entropy(self) -> Any:
        p = clamp_probs(self.probs)
        odds, other = p.log(), (-p).log1p()
        return self.mean * (other - odds) - self._log_norm() - other


class GeneralizedPareto(Distribution):
    """What exceeds a threshold `loc`, with `scale` and a tail x^(-1 / concentration) (exponential for 0)."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        """Where the values are: from loc on, up to loc - scale / concentration where that is negative."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, where(self.concentration < 0, end, math.inf))

    def _bent(self) -> tuple[Any, Any]:
        """Where concentration is not 0, and it there (1 elsewhere)."""
        bent = self.concentration != 0
        return bent, where(bent, self.concentration, 1.0)

    @property
    def mean(self) -> Any:
        found = self.loc + self.scale / (1 - self.concentration)
        return where(self.concentration < 1, found, math.inf)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The variances."""
        c = self.concentration
        found = self.scale.square() / ((1 - c).square() * (1 - 2 * c))
        return where(c < 0.5, found, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values that are differentiable in the parameters."""
        return self.icdf(rand(*self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        bent, c = self._bent()
        z = (value - self.loc) / self.scale
        return where(bent, -(1 + 1 / c) * (c * z).log1p(), -z) - self.scale.log()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        bent, c = self._bent()
        z = (value - self.loc) / self.scale
        return -where(bent, -(c * z).log1p() / c, -z).expm1()

    def icdf(self, value: Any) -> Any:
        bent, c = self._bent()
        e = -(-value).log1p()
        return self.loc + self.scale * where(bent, (c * e).expm1() / c, e)

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1


class VonMises(Distribution):
    """Angles near `loc`, the more so the greater `concentration`."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support: Any = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The circular variances."""
        return 1 - SPECIAL["i1e"](self.concentration) / SPECIAL["i0e"](self.concentration)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        k = self.concentration
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - SPECIAL["i0e"](k).log()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without a gradient, by rejection (Best and Fisher, 1979), in double precision."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc, k = self.loc.double(), self.concentration.double()
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho)).expand(shape)
            angle, done = zeros(*shape, dtype=loc.dtype), zeros(*shape).bool()
            while not done.all():
                u, v, side = rand(3, *shape, dtype=loc.dtype).unbind()
                z = (math.pi * u).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = (c * (2 - c) - v > 0) | ((c / v).log() + 1 - c >= 0)
                angle = where(accepted, (side - 0.5).sign() * f.clamp(-1, 1).acos(), angle)
                done = done | accepted
            return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices (dim, dim) with density det^(concentration - 1).

    Sampled by the onion method of Lewandowski, Kurowicka and Joe (2009).
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive}
    support: Any = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.size(), (dim, dim), validate_args=validate_args)
        self._beta = self._radii()

    def _radii(self) -> Beta:
        """The squared lengths of the rows without the diagonal."""
        below = arange(self.dim - 1, dtype=self.concentration.dtype)
        below = _cat([below.new_zeros(1), below])
        marginal = self.concentration + 0.5 * (self.dim - 2)
        return Beta(below + 0.5, marginal.unsqueeze(-1) - 0.5 * below)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to `batch_shape`."""
        made: Any = super().expand(batch_shape)
        made._beta = made._radii()
        return made

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without a gradient."""
        with no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            direction = randn(*self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0
            w = y.sqrt() * direction
            rest = (1 - w.square().sum(-1)).clamp(min=float(finfo(w).tiny)).sqrt()
            return w + rest.diag_embed()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self.dim - 1
        order = arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalised = (order * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        alpha = self.concentration + 0.5 * n
        norm = FUNCTIONS["mvlgamma"](alpha - 0.5, n) - alpha.lgamma() * n
        return unnormalised - norm - 0.5 * n * math.log(math.pi)
