"""torch.distributions: probability distributions with samples, densities and their derivatives.

distribution.py  the base                                constraints.py   where parameters and values are
normal.py        Normal, Laplace, StudentT, Uniform      positive.py      Exponential, Gamma, Beta, Dirichlet
discrete.py      Bernoulli, Categorical, ...             multivariate.py  MultivariateNormal
compound.py      Independent, TransformedDistribution    transforms.py    what they transform with
tails.py         Cauchy, Gumbel, Pareto, Weibull, ...    counts.py        Geometric, Multinomial, mixtures
kl.py            divergences                             gamma_samples.py samples with implicit gradients
shapes.py        on circles, simplexes, correlations     matrix_transforms.py  of vectors and matrices
                                                         constraint_registry.py  biject_to, transform_to
"""

from funcgrad.torch.distributions import (
    compound,
    constraint_registry,
    constraints,
    counts,
    discrete,
    distribution,
    kl,
    matrix_transforms,
    multivariate,
    normal,
    positive,
    shapes,
    tails,
    transforms,
)
from funcgrad.torch.public import gather

_NAMES = {
    compound: "Independent LogNormal TransformedDistribution",
    constraint_registry: "biject_to transform_to",
    counts: (
        "Geometric LogitRelaxedBernoulli MixtureSameFamily Multinomial NegativeBinomial RelaxedBernoulli"
    ),
    discrete: ("Bernoulli Binomial Categorical OneHotCategorical OneHotCategoricalStraightThrough Poisson"),
    distribution: "Distribution",
    kl: "kl_divergence register_kl",
    matrix_transforms: (
        "CatTransform CorrCholeskyTransform CumulativeDistributionTransform IndependentTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform ReshapeTransform SoftmaxTransform StackTransform "
        "StickBreakingTransform"
    ),
    multivariate: "MultivariateNormal",
    normal: "Laplace Normal StudentT Uniform",
    positive: "Beta Dirichlet Exponential Gamma",
    shapes: (
        "ContinuousBernoulli GeneralizedPareto LKJCholesky LogisticNormal LowRankMultivariateNormal "
        "RelaxedOneHotCategorical VonMises"
    ),
    tails: (
        "Cauchy Chi2 FisherSnedecor Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy Pareto Weibull"
    ),
    transforms: (
        "AbsTransform AffineTransform ComposeTransform ExpTransform PowerTransform SigmoidTransform "
        "SoftplusTransform TanhTransform Transform identity_transform"
    ),
}
gather(globals(), _NAMES, constraints, kl, transforms)
