"""torch.distributions: probability distributions with samples, densities and their derivatives.

distribution.py  the base                                constraints.py   where parameters and values are
normal.py        Normal, Laplace, StudentT, Uniform      positive.py      Exponential, Gamma, Beta, Dirichlet
discrete.py      Bernoulli, Categorical, ...             multivariate.py  MultivariateNormal
compound.py      Independent, TransformedDistribution    transforms.py    what they transform with
kl.py            divergences                             gamma_samples.py samples with implicit gradients
"""

from funcgrad.torch.distributions import constraints, kl, transforms
from funcgrad.torch.distributions.compound import Independent, LogNormal, TransformedDistribution
from funcgrad.torch.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from funcgrad.torch.distributions.distribution import Distribution
from funcgrad.torch.distributions.kl import kl_divergence, register_kl
from funcgrad.torch.distributions.multivariate import MultivariateNormal
from funcgrad.torch.distributions.normal import Laplace, Normal, StudentT, Uniform
from funcgrad.torch.distributions.positive import Beta, Dirichlet, Exponential, Gamma
from funcgrad.torch.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Poisson",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "register_kl",
    "transforms",
]
