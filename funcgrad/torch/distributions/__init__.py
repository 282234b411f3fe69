"""torch.distributions: probability distributions with samples, densities and their derivatives.

distribution.py  the base                                constraints.py   where parameters and values are
normal.py        Normal, Laplace, StudentT, Uniform      positive.py      Exponential, Gamma, Beta, Dirichlet
discrete.py      Bernoulli, Categorical, ...             multivariate.py  MultivariateNormal
compound.py      Independent, TransformedDistribution    transforms.py    what they transform with
kl.py            divergences                             gamma_samples.py samples with implicit gradients
"""

from funcgrad.torch.distributions import (
    compound,
    constraints,
    discrete,
    distribution,
    kl,
    multivariate,
    normal,
    positive,
    transforms,
)
from funcgrad.torch.public import gather

_NAMES = {
    compound: "Independent LogNormal TransformedDistribution",
    discrete: ("Bernoulli Binomial Categorical OneHotCategorical OneHotCategoricalStraightThrough Poisson"),
    distribution: "Distribution",
    kl: "kl_divergence register_kl",
    multivariate: "MultivariateNormal",
    normal: "Laplace Normal StudentT Uniform",
    positive: "Beta Dirichlet Exponential Gamma",
    transforms: (
        "AffineTransform ComposeTransform ExpTransform PowerTransform SigmoidTransform "
        "SoftplusTransform TanhTransform Transform identity_transform"
    ),
}
gather(globals(), _NAMES, constraints, kl, transforms)
