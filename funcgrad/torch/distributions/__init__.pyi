# ruff: noqa
# Written by `python -m funcgrad.torch.stubs`: edit that, or the functions themselves.
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload
from funcgrad.torch.random.generator import Generator as Generator
from funcgrad.torch.tensors.dtypes import dtype as dtype
from funcgrad.torch.tensors.size import Size as Size
from funcgrad.torch.tensors.size import device as device
from funcgrad.torch.tensors.tensor import Number, Selected
from funcgrad.torch.tensors.tensor import Tensor as Tensor
from builtins import bool as _bool
from builtins import int as _int
from builtins import float as _float
from builtins import complex as _complex
from builtins import type as _type
from typing_extensions import TypeIs as _TypeIs
from funcgrad.torch.tensors.dtypes import dtype as _dtype
from funcgrad.torch.tensors.size import device as _device
from funcgrad.torch.distributions.transforms import AbsTransform as AbsTransform
from funcgrad.torch.distributions.transforms import AffineTransform as AffineTransform
from funcgrad.torch.distributions.discrete import Bernoulli as Bernoulli
from funcgrad.torch.distributions.positive import Beta as Beta
from funcgrad.torch.distributions.discrete import Binomial as Binomial
from funcgrad.torch.distributions.matrix_transforms import CatTransform as CatTransform
from funcgrad.torch.distributions.discrete import Categorical as Categorical
from funcgrad.torch.distributions.tails import Cauchy as Cauchy
from funcgrad.torch.distributions.tails import Chi2 as Chi2
from funcgrad.torch.distributions.transforms import ComposeTransform as ComposeTransform
from funcgrad.torch.distributions.shapes import ContinuousBernoulli as ContinuousBernoulli
from funcgrad.torch.distributions.matrix_transforms import CorrCholeskyTransform as CorrCholeskyTransform
from funcgrad.torch.distributions.matrix_transforms import CumulativeDistributionTransform as CumulativeDistributionTransform
from funcgrad.torch.distributions.positive import Dirichlet as Dirichlet
from funcgrad.torch.distributions.distribution import Distribution as Distribution
from funcgrad.torch.distributions.transforms import ExpTransform as ExpTransform
from funcgrad.torch.distributions.positive import Exponential as Exponential
from funcgrad.torch.distributions.tails import FisherSnedecor as FisherSnedecor
from funcgrad.torch.distributions.positive import Gamma as Gamma
from funcgrad.torch.distributions.shapes import GeneralizedPareto as GeneralizedPareto
from funcgrad.torch.distributions.counts import Geometric as Geometric
from funcgrad.torch.distributions.tails import Gumbel as Gumbel
from funcgrad.torch.distributions.tails import HalfCauchy as HalfCauchy
from funcgrad.torch.distributions.tails import HalfNormal as HalfNormal
from funcgrad.torch.distributions.compound import Independent as Independent
from funcgrad.torch.distributions.matrix_transforms import IndependentTransform as IndependentTransform
from funcgrad.torch.distributions.tails import InverseGamma as InverseGamma
from funcgrad.torch.distributions.tails import Kumaraswamy as Kumaraswamy
from funcgrad.torch.distributions.shapes import LKJCholesky as LKJCholesky
from funcgrad.torch.distributions.normal import Laplace as Laplace
from funcgrad.torch.distributions.compound import LogNormal as LogNormal
from funcgrad.torch.distributions.shapes import LogisticNormal as LogisticNormal
from funcgrad.torch.distributions.counts import LogitRelaxedBernoulli as LogitRelaxedBernoulli
from funcgrad.torch.distributions.shapes import LowRankMultivariateNormal as LowRankMultivariateNormal
from funcgrad.torch.distributions.matrix_transforms import LowerCholeskyTransform as LowerCholeskyTransform
from funcgrad.torch.distributions.counts import MixtureSameFamily as MixtureSameFamily
from funcgrad.torch.distributions.counts import Multinomial as Multinomial
from funcgrad.torch.distributions.multivariate import MultivariateNormal as MultivariateNormal
from funcgrad.torch.distributions.counts import NegativeBinomial as NegativeBinomial
from funcgrad.torch.distributions.normal import Normal as Normal
from funcgrad.torch.distributions.discrete import OneHotCategorical as OneHotCategorical
from funcgrad.torch.distributions.discrete import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from funcgrad.torch.distributions.tails import Pareto as Pareto
from funcgrad.torch.distributions.discrete import Poisson as Poisson
from funcgrad.torch.distributions.matrix_transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
from funcgrad.torch.distributions.transforms import PowerTransform as PowerTransform
from funcgrad.torch.distributions.counts import RelaxedBernoulli as RelaxedBernoulli
from funcgrad.torch.distributions.shapes import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from funcgrad.torch.distributions.matrix_transforms import ReshapeTransform as ReshapeTransform
from funcgrad.torch.distributions.transforms import SigmoidTransform as SigmoidTransform
from funcgrad.torch.distributions.matrix_transforms import SoftmaxTransform as SoftmaxTransform
from funcgrad.torch.distributions.transforms import SoftplusTransform as SoftplusTransform
from funcgrad.torch.distributions.matrix_transforms import StackTransform as StackTransform
from funcgrad.torch.distributions.matrix_transforms import StickBreakingTransform as StickBreakingTransform
from funcgrad.torch.distributions.normal import StudentT as StudentT
from funcgrad.torch.distributions.transforms import TanhTransform as TanhTransform
from funcgrad.torch.distributions.transforms import Transform as Transform
from funcgrad.torch.distributions.compound import TransformedDistribution as TransformedDistribution
from funcgrad.torch.distributions.normal import Uniform as Uniform
from funcgrad.torch.distributions.shapes import VonMises as VonMises
from funcgrad.torch.distributions.tails import Weibull as Weibull
from funcgrad.torch.distributions.constraint_registry import ConstraintRegistry
from funcgrad.torch.distributions import constraints as constraints
from funcgrad.torch.distributions import kl as kl
from funcgrad.torch.distributions.kl import kl_divergence as kl_divergence
from funcgrad.torch.distributions.kl import register_kl as register_kl
from funcgrad.torch.distributions import transforms as transforms
biject_to: ConstraintRegistry
identity_transform: ComposeTransform
transform_to: ConstraintRegistry
