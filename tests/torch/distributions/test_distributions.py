"""torch.distributions: the original's values, streams, shapes and texts; densities of SciPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special, stats

import funcgrad.torch as ft
from funcgrad.errors import NonDifferentiableError


def table(M):
    """Distributions by name, made with `M`'s tensors, and values to ask about."""
    D = M.distributions

    def t(*x):
        return M.tensor(x, dtype=M.float64)

    matrix = M.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=M.float64)
    factor = M.tensor([[2.0, 0.0], [0.5, 1.0]], dtype=M.float64)
    flat = D.Normal(t(0.5, -1.0), t(1.0, 2.0))
    powers = D.ComposeTransform([D.ExpTransform(), D.PowerTransform(t(2.0)[0])])
    return {
        "normal": (flat, t(0.3, 4.0)),
        "lognormal": (D.LogNormal(t(0.5, -1.0), t(1.0, 0.7)), t(0.3, 4.0)),
        "laplace": (D.Laplace(t(0.5, -1.0), t(1.0, 2.0)), t(0.3, 4.0)),
        "student": (D.StudentT(t(3.5, 0.7, 1.5), t(0.5, -1.0, 0.0), t(1.0, 2.0, 3.0)), t(0.3, 4.0, 1.0)),
        "uniform": (D.Uniform(t(0.5, -1.0), t(1.0, 2.0)), t(0.6, 1.0)),
        "exponential": (D.Exponential(t(0.5, 3.0)), t(0.3, 4.0)),
        "gamma": (D.Gamma(t(0.5, 3.0), t(1.0, 2.0)), t(0.3, 4.0)),
        "beta": (D.Beta(t(0.5, 3.0), t(1.5, 2.0)), t(0.3, 0.6)),
        "dirichlet": (D.Dirichlet(t(0.5, 3.0, 1.5)), t(0.3, 0.6, 0.1)),
        "bernoulli": (D.Bernoulli(t(0.2, 0.9)), t(0.0, 1.0)),
        "bernoulli logits": (D.Bernoulli(logits=t(0.2, -3.0)), t(0.0, 1.0)),
        "binomial": (D.Binomial(5, t(0.2, 0.9)), t(3.0, 1.0)),
        "binomial logits": (D.Binomial(5, logits=t(0.2, -0.9)), t(3.0, 1.0)),
        "categorical": (D.Categorical(t(0.2, 0.3, 0.6, 1.0, 2.0, 3.0).view(2, 3)), M.tensor([1, 2])),
        "categorical logits": (D.Categorical(logits=t(0.2, -0.3, 0.6)), M.tensor([1, 2, 0, 1])),
        "one hot": (D.OneHotCategorical(t(0.2, 0.3, 0.6)), t(0.0, 1.0, 0.0)),
        "poisson": (D.Poisson(t(0.7, 3.0)), t(0.0, 4.0)),
        "covariance": (D.MultivariateNormal(t(0.5, -1.0), matrix), t(0.3, 4.0)),
        "precision": (D.MultivariateNormal(t(0.5, -1.0), precision_matrix=matrix), t(0.3, 4.0)),
        "scale_tril": (D.MultivariateNormal(M.zeros(3, 2, dtype=M.float64), scale_tril=factor), t(0.3, 4.0)),
        "independent": (D.Independent(D.Normal(M.zeros(3, 2, dtype=M.float64), 2.0), 1), t(0.3, 4.0)),
        "tanh": (
            D.TransformedDistribution(flat, [D.AffineTransform(t(0.1), -2.0), D.TanhTransform()]),
            t(0.3, -0.4),
        ),
        "sigmoid": (D.TransformedDistribution(flat, D.SigmoidTransform()), t(0.3, 0.4)),
        "composed": (D.TransformedDistribution(D.Independent(flat, 1), [powers]), t(0.3, 0.4)),
        "cauchy": (D.Cauchy(t(0.5, -1.0), t(1.0, 2.0)), t(0.3, 4.0)),
        "half cauchy": (D.HalfCauchy(t(1.0, 2.0)), t(0.3, 4.0)),
        "half normal": (D.HalfNormal(t(1.0, 2.0)), t(0.3, 4.0)),
        "gumbel": (D.Gumbel(t(0.5, -1.0), t(1.0, 2.0)), t(0.3, 4.0)),
        "pareto": (D.Pareto(t(0.5, 1.0), t(1.5, 3.0)), t(0.7, 4.0)),
        "weibull": (D.Weibull(t(0.5, 2.0), t(1.5, 3.0)), t(0.3, 4.0)),
        "inverse gamma": (D.InverseGamma(t(0.5, 3.0), t(1.0, 2.0)), t(0.3, 4.0)),
        "kumaraswamy": (D.Kumaraswamy(t(0.5, 3.0), t(1.5, 0.4)), t(0.3, 0.6)),
        "chi2": (D.Chi2(t(1.5, 4.0)), t(0.3, 4.0)),
        "fisher": (D.FisherSnedecor(t(1.5, 4.0), t(3.0, 6.0)), t(0.3, 4.0)),
        "geometric": (D.Geometric(t(0.2, 0.9)), t(3.0, 0.0)),
        "geometric logits": (D.Geometric(logits=t(0.2, -0.9)), t(3.0, 0.0)),
        "negative binomial": (D.NegativeBinomial(t(5.0, 2.5), t(0.2, 0.9)), t(3.0, 1.0)),
        "negative binomial logits": (D.NegativeBinomial(5, logits=t(0.2, -0.9)), t(3.0, 1.0)),
        "multinomial": (D.Multinomial(4, t(0.2, 0.3, 0.5)), t(1.0, 0.0, 3.0)),
        "relaxed": (D.RelaxedBernoulli(t(0.7), t(0.2, 0.9)), t(0.3, 0.8)),
        "relaxed one hot": (D.RelaxedOneHotCategorical(t(0.7), t(0.2, 0.3, 0.5)), t(0.3, 0.1, 0.6)),
        "logistic normal": (D.LogisticNormal(t(0.5, -1.0), t(1.0, 0.7)), t(0.3, 0.1, 0.6)),
        "low rank": (D.LowRankMultivariateNormal(t(0.5, -1.0), factor[:, :1], t(1.0, 0.7)), t(0.3, 4.0)),
        "continuous bernoulli": (D.ContinuousBernoulli(t(0.2, 0.5)), t(0.3, 0.6)),
        "lkj": (
            D.LKJCholesky(3, t(0.5, 2.0)),
            D.transform_to(D.constraints.corr_cholesky)(t(0.1, 0.5, -0.3)),
        ),
        "mixture": (D.MixtureSameFamily(D.Categorical(t(0.2, 0.8)), flat), t(0.3)[0]),
        "mixture of vectors": (
            D.MixtureSameFamily(
                D.Categorical(t(0.2, 0.8)),
                D.Independent(D.Normal(t(0.5, -1.0, 1.0, 0.0).view(2, 2), 1.0), 1),
            ),
            t(0.3, 4.0),
        ),
        "softplus": (D.TransformedDistribution(flat, [D.SoftplusTransform()]), t(0.3, 0.4)),
    }


NAMES = list(table(ft))
QUESTIONS = {
    **{name: lambda d, v, M, name=name: getattr(d, name)(v) for name in ("log_prob", "cdf")},
    **{
        name: lambda d, v, M, name=name: getattr(d, name)()
        for name in ("entropy", "perplexity", "enumerate_support")
    },
    **{name: lambda d, v, M, name=name: getattr(d, name) for name in ("mean", "mode", "variance", "stddev")},
    "icdf": lambda d, v, M: d.icdf(M.tensor([0.2, 0.7], dtype=M.float64)),
    "expand": lambda d, v, M: d.expand((4, *d.batch_shape)).log_prob(v),
    "shapes": lambda d, v, M: (
        tuple(d.batch_shape),
        tuple(d.event_shape),
        d.has_rsample,
        repr(d),
        repr(d.support),
    ),
}


@pytest.fixture(scope="module")
def original():
    return pytest.importorskip("torch", reason="the original is not installed")


def answer(function):
    """An array, or the kind of error."""
    try:
        found = function()
    except (NotImplementedError, ValueError) as error:
        return type(error)
    return found.detach().numpy() if hasattr(found, "detach") else found


def assert_same(found, expected):
    if isinstance(expected, np.ndarray):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    else:
        assert found == expected


# ---- against the original --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_the_original(original, name):
    (mine, value), (theirs, other) = table(ft)[name], table(original)[name]
    for what, question in QUESTIONS.items():
        if name == "multinomial" and what in ("entropy", "perplexity"):
            continue  # the original's has the logarithm of a factorial in single precision
        assert_same(
            answer(lambda: question(mine, value, ft)), answer(lambda: question(theirs, other, original))
        )


# Where PyTorch draws in ways of its own, only shapes are the same.
OWN_STREAMS = {"student", "gamma", "beta", "dirichlet", "binomial", "binomial logits"}
OWN_STREAMS |= {"inverse gamma", "chi2", "fisher", "negative binomial", "negative binomial logits", "lkj"}


@pytest.mark.parametrize("method", ["sample", "rsample"])
@pytest.mark.parametrize("name", NAMES)
def test_samples_are_those_of_the_original(original, name, method):
    found = []
    for M in (ft, original):
        M.manual_seed(1)
        found.append(answer(lambda: getattr(table(M)[name][0], method)((3, 2))))
    if name in OWN_STREAMS and isinstance(found[1], np.ndarray):
        assert (found[0].shape, found[0].dtype) == (found[1].shape, found[1].dtype)
    else:
        assert_same(*found)


# Divergences between two of a kind only, or none.
FEW_DIVERGENCES = {"cauchy", "half cauchy", "half normal", "gumbel", "pareto", "weibull", "inverse gamma"}
FEW_DIVERGENCES |= {"kumaraswamy", "chi2", "fisher", "geometric", "geometric logits", "negative binomial"}
FEW_DIVERGENCES |= {"negative binomial logits", "multinomial", "relaxed", "mixture", "mixture of vectors"}
FEW_DIVERGENCES |= {"relaxed one hot", "logistic normal", "low rank", "continuous bernoulli", "lkj"}


@pytest.mark.parametrize("kind", ["Cauchy", "HalfNormal", "Gumbel", "Pareto", "Geometric"])
def test_divergences_of_two_of_a_kind(original, kind):
    found = []
    for M in (ft, original):
        D, x, y = M.distributions, M.tensor([0.3, 0.8]), M.tensor([0.6, 0.5])
        pair = [(x,), (y,)] if kind in ("HalfNormal", "Geometric") else [(x, y), (y, x)]
        found.append(D.kl_divergence(*[getattr(D, kind)(*given) for given in pair]).numpy())
    np.testing.assert_allclose(*found, rtol=1e-5)


def kl_table(M):
    D = M.distributions

    def t(*x):
        return M.tensor(x, dtype=M.float64)

    matrix = M.tensor([[1.0, 0.0], [-0.5, 2.0]], dtype=M.float64)
    made = {name: d for name, (d, _) in table(M).items() if name not in FEW_DIVERGENCES}
    return made | {
        "normal2": D.Normal(t(1.5, -0.1), t(0.4, 1.0)),
        "lognormal2": D.LogNormal(t(0.1, -0.3), t(2.0, 0.9)),
        "laplace2": D.Laplace(t(1.0, -0.2), t(0.3, 1.0)),
        "uniform2": D.Uniform(t(0.4, -0.9), t(1.2, 3.0)),
        "exponential2": D.Exponential(t(0.7, 0.1)),
        "gamma2": D.Gamma(t(0.9, 2.0), t(0.2, 3.0)),
        "beta2": D.Beta(t(0.9, 2.0), t(0.2, 3.0)),
        "dirichlet2": D.Dirichlet(t(0.9, 2.0, 0.3)),
        "bernoulli2": D.Bernoulli(t(1.0, 0.0)),
        "binomial2": D.Binomial(5, t(0.4, 0.3)),
        "categorical2": D.Categorical(t(0.9, 0.0, 0.3)),
        "poisson2": D.Poisson(t(1.7, 0.3)),
        "scale_tril2": D.MultivariateNormal(t(0.1, -0.5), scale_tril=matrix),
    }


def test_divergences_are_those_of_the_original(original):
    mine, theirs, compared = kl_table(ft), kl_table(original), 0
    for p, q in itertools.product(mine, mine):
        expected = answer(lambda: original.distributions.kl_divergence(theirs[p], theirs[q]))
        found = answer(lambda: ft.distributions.kl_divergence(mine[p], mine[q]))
        if isinstance(expected, type):
            assert found is expected, (p, q)
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-8, err_msg=f"{p} {q}")
        compared += 1
    assert compared > 150


PROGRAMS = [
    "D.Normal(torch.tensor([0.0, 1.0]), torch.tensor([-1.0, 1.0]))",
    "D.Normal(0.0, -1.0)",
    "D.Normal(float('nan'), 1.0)",
    "D.Normal('a', 1.0)",
    "D.Normal(torch.zeros(2), torch.ones(3))",
    "D.Bernoulli()",
    "D.Bernoulli(1.5)",
    "D.Categorical(torch.tensor(1.0))",
    "D.Categorical(torch.tensor([-1.0, 2.0]))",
    "D.Categorical(torch.ones(3)).log_prob(torch.tensor(3))",
    "D.Normal(0.0, 1.0).log_prob(3.0)",
    "D.Bernoulli(0.5).log_prob(torch.tensor(0.5))",
    "D.Uniform(1.0, 0.0)",
    "D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))",
    "D.MultivariateNormal(torch.zeros(2))",
    "D.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 2.0], [2.0, 1.0]]))",
    "D.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(3))",
    "D.Dirichlet(torch.tensor(1.0))",
    "D.Dirichlet(torch.ones(2)).log_prob(torch.ones(2))",
    "D.Independent(D.Normal(0.0, 1.0), 1)",
    "print(D.Normal(torch.zeros(2), 1.0).expand([3, 2]), D.Normal(0.0, 1.0).sample((2, 3)).shape)",
    "print(D.Categorical(torch.ones(2, 3)).expand([4, 2]).sample((5,)).shape, D.Beta(1.0, 2.0).expand([3]))",
    "print(D.Binomial(torch.tensor([1.0, 2.0]), 0.5 * torch.ones(2)).sample((3,)).shape)",
    "print(D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.0, -1.0)]), D.ExpTransform().inv(torch.tensor(2.0)))",
    "x = torch.tensor(0.5, requires_grad=True)\nD.Normal(x, 1.0).log_prob(torch.tensor(1.0)).backward()\nprint(x.grad)",
    "p = torch.tensor([1.0, 3.0], requires_grad=True)\nD.Categorical(p).entropy().backward()\nprint(p.grad)",
    "x = torch.ones(2, requires_grad=True)\nd = D.Normal(x, x)\nprint(d.sample().requires_grad, d.rsample().requires_grad)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_original_prints_the_same(same, program):
    same(f"D = torch.distributions\ntorch.manual_seed(0)\n{program}")


# ---- against the definitions -----------------------------------------------------------------------------------------
def test_densities_of_scipy():
    D, x = ft.distributions, np.array([0.1, 0.4, 0.8])
    for mine, theirs in (
        (D.Gamma(2.5, 1.5), stats.gamma(2.5, scale=1 / 1.5)),
        (D.Beta(2.5, 1.5), stats.beta(2.5, 1.5)),
        (D.StudentT(2.5, 0.5, 2.0), stats.t(2.5, 0.5, 2.0)),
        (D.LogNormal(0.5, 2.0), stats.lognorm(2.0, scale=np.exp(0.5))),
        (D.Laplace(0.5, 2.0), stats.laplace(0.5, 2.0)),
        (D.Cauchy(0.5, 2.0), stats.cauchy(0.5, 2.0)),
        (D.HalfNormal(2.0), stats.halfnorm(scale=2.0)),
        (D.HalfCauchy(2.0), stats.halfcauchy(scale=2.0)),
        (D.Gumbel(0.5, 2.0), stats.gumbel_r(0.5, 2.0)),
        (D.Pareto(0.05, 1.5), stats.pareto(1.5, scale=0.05)),
        (D.Weibull(2.0, 1.5), stats.weibull_min(1.5, scale=2.0)),
        (D.InverseGamma(2.5, 1.5), stats.invgamma(2.5, scale=1.5)),
        (D.Chi2(3.0), stats.chi2(3.0)),
    ):
        np.testing.assert_allclose(
            mine.log_prob(ft.tensor(x)).numpy(), theirs.logpdf(x), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(mine.entropy().item(), theirs.entropy(), rtol=1e-5)


def test_what_is_not_validated_has_no_probability():
    D, value = ft.distributions, ft.tensor(2.0)
    with pytest.raises(ValueError, match="within the support"):
        D.Uniform(0.0, 1.0).log_prob(value)
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(value).item() == -np.inf


def test_tanh_keeps_its_digits_in_the_tails():
    found = ft.distributions.TanhTransform().log_abs_det_jacobian(ft.tensor(20.0, dtype=ft.float64), None)
    np.testing.assert_allclose(found.item(), np.log(4) - 40, rtol=1e-14)


# ---- samples ---------------------------------------------------------------------------------------------------------
CONTINUOUS = [
    (lambda D: D.Gamma(0.3, 2.0), stats.gamma(0.3, scale=0.5)),
    (lambda D: D.Gamma(5.0, 2.0), stats.gamma(5.0, scale=0.5)),
    (lambda D: D.Beta(0.5, 2.0), stats.beta(0.5, 2.0)),
    (lambda D: D.StudentT(2.5, 0.5, 2.0), stats.t(2.5, 0.5, 2.0)),
    (lambda D: D.Exponential(3.0), stats.expon(scale=1 / 3)),
    (lambda D: D.Laplace(1.0, 2.0), stats.laplace(1.0, 2.0)),
]


@pytest.mark.parametrize(("make", "expected"), CONTINUOUS)
def test_samples_have_their_distribution(make, expected):
    ft.manual_seed(0)
    drawn = make(ft.distributions).sample((4000,)).numpy()
    assert stats.kstest(drawn, expected.cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda D: D.Binomial(9, ft.tensor(0.3)), stats.binom(9, 0.3)),
        (lambda D: D.Poisson(12.0), stats.poisson(12.0)),
    ],
)
def test_counts_have_their_distribution(make, expected):
    ft.manual_seed(0)
    drawn = make(ft.distributions).sample((4000,)).numpy()
    values = np.arange(40)
    chances, seen = expected.pmf(values), np.bincount(drawn.astype(int), minlength=40)
    often = chances > 0.005
    assert (
        stats.chisquare(seen[often], chances[often] * seen[often].sum() / chances[often].sum()).pvalue > 0.01
    )


def test_dirichlet_and_multivariate_normal_moments():
    ft.manual_seed(0)
    a = np.array([0.5, 3.0, 1.5])
    drawn = ft.distributions.Dirichlet(ft.tensor(a)).sample((20000,)).numpy()
    np.testing.assert_allclose(drawn.sum(-1), 1)
    np.testing.assert_allclose(drawn.mean(0), a / a.sum(), atol=0.01)
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    drawn = (
        ft.distributions.MultivariateNormal(ft.zeros(2, dtype=ft.float64), ft.tensor(matrix))
        .sample((20000,))
        .numpy()
    )
    np.testing.assert_allclose(np.cov(drawn.T), matrix, atol=0.05)


# ---- gradients of samples --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("a", [0.05, 0.7, 1.0, 4.0, 60.0, 3000.0])
def test_a_gamma_sample_moves_along_its_quantile(a):
    """dz/da at a fixed probability u, against finite differences of the quantile function."""
    ft.manual_seed(0)
    given = ft.full((20,), a, dtype=ft.float64, requires_grad=True)
    z = ft.distributions.Gamma(given, 1.0).rsample()
    z.sum().backward()
    value, step = z.detach().numpy(), a * 1e-4
    kept = value > 1e-100  # below, the quantile function loses its digits
    u = special.gammainc(a, value[kept])
    upper, lower = (special.gammaincinv(a + s, u) for s in (step, -step))
    upper2, lower2 = (special.gammaincinv(a + s, u) for s in (2 * step, -2 * step))
    expected = (8 * (upper - lower) - (upper2 - lower2)) / (12 * step)
    np.testing.assert_allclose(given.grad.numpy()[kept], expected, rtol=1e-5)


def test_gradients_of_samples_are_those_of_means():
    ft.manual_seed(0)
    a, b = (ft.tensor(x, dtype=ft.float64, requires_grad=True) for x in (1.7, 0.6))
    ft.distributions.Beta(a, b).rsample((20000,)).mean().backward()
    np.testing.assert_allclose([a.grad.item(), b.grad.item()], [0.6 / 2.3**2, -1.7 / 2.3**2], rtol=0.03)
    c = ft.tensor([0.5, 1.0, 2.0], dtype=ft.float64, requires_grad=True)
    ft.distributions.Dirichlet(c).rsample((20000,))[:, 0].mean().backward()
    np.testing.assert_allclose(c.grad.numpy(), np.array([3.0, -0.5, -0.5]) / 3.5**2, rtol=0.05)


def test_a_gamma_sample_has_no_second_derivative():
    a = ft.tensor(2.0, requires_grad=True)
    (first,) = ft.autograd.grad(ft.distributions.Gamma(a, 1.0).rsample(), a, create_graph=True)
    with pytest.raises(NonDifferentiableError, match="Gamma"):
        first.backward()


def test_straight_through_samples_have_the_gradient_of_their_probabilities():
    p = ft.tensor([0.2, 0.8], dtype=ft.float64, requires_grad=True)
    weights = ft.tensor([3.0, 5.0], dtype=ft.float64)
    (ft.distributions.OneHotCategorical(p).probs * weights).sum().backward()
    expected, p.grad = p.grad, None
    drawn = ft.distributions.discrete.OneHotCategoricalStraightThrough(p).rsample()
    assert sorted(drawn.tolist()) == [0.0, 1.0]
    (drawn * weights).sum().backward()
    assert p.grad.tolist() == expected.tolist()


def test_a_policy_is_learned():
    ft.manual_seed(0)
    logits = ft.zeros(3, requires_grad=True)
    optimizer = ft.optim.Adam([logits], lr=0.1)
    rewards = ft.tensor([0.0, 1.0, 0.2])
    for _ in range(60):
        policy = ft.distributions.Categorical(logits=logits)
        actions = policy.sample((32,))
        gains = rewards[actions]
        optimizer.zero_grad()
        (-policy.log_prob(actions) * (gains - gains.mean())).mean().backward()
        optimizer.step()
    assert ft.distributions.Categorical(logits=logits).probs[1].item() > 0.9


def test_counts_of_scipy():
    D, k = ft.distributions, np.array([0.0, 1.0, 4.0])
    for mine, theirs in (
        (D.Geometric(ft.tensor(0.3, dtype=ft.float64)), stats.geom(0.3, loc=-1)),
        (D.NegativeBinomial(5.0, ft.tensor(0.3, dtype=ft.float64)), stats.nbinom(5, 0.7)),
    ):
        np.testing.assert_allclose(mine.log_prob(ft.tensor(k)).numpy(), theirs.logpmf(k), rtol=1e-10)
        np.testing.assert_allclose([mine.mean, mine.variance], theirs.stats("mv"), rtol=1e-10)
    probs = np.array([0.2, 0.3, 0.5])
    many = D.Multinomial(4, ft.tensor(probs))
    np.testing.assert_allclose(many.entropy().item(), stats.multinomial(4, probs).entropy(), rtol=1e-10)
    assert many.sample((50,)).sum(-1).eq(4).all()


def test_fisher_of_scipy():
    x = np.array([0.1, 0.4, 3.0])
    mine, theirs = ft.distributions.FisherSnedecor(3.0, 5.0), stats.f(3.0, 5.0)
    np.testing.assert_allclose(mine.log_prob(ft.tensor(x)).numpy(), theirs.logpdf(x), rtol=1e-5)


def test_modes_of_kumaraswamy():
    density = ft.distributions.Kumaraswamy(*(ft.tensor(x, dtype=ft.float64) for x in (3.0, 2.0)))
    x = density.mode.requires_grad_()
    density.log_prob(x).backward()
    assert abs(x.grad.item()) < 1e-12
    assert ft.distributions.Kumaraswamy(0.5, 2.0).mode.isnan()


def test_own_streams_have_their_moments():
    ft.manual_seed(5)
    D = ft.distributions
    for each in (
        D.Chi2(3.0),
        D.FisherSnedecor(4.0, 12.0),
        D.InverseGamma(5.0, 2.0),
        D.NegativeBinomial(5, 0.4),
    ):
        drawn = each.sample((20000,))
        np.testing.assert_allclose(drawn.mean().item(), float(each.mean), rtol=0.05)
        np.testing.assert_allclose(drawn.var().item(), float(each.variance), rtol=0.3)


def test_mixtures_know_where_their_components_are():
    D = ft.distributions
    mixture = D.MixtureSameFamily(D.Categorical(ft.ones(2)), D.Uniform(ft.zeros(2), ft.ones(2)))
    np.testing.assert_allclose(mixture.log_prob(ft.tensor([0.5, 0.2, 0.9])).numpy(), 0, atol=1e-6)
    with pytest.raises(ValueError, match="within the support"):
        mixture.log_prob(ft.tensor([0.5, 1.5]))


DOMAINS = {
    "positive": lambda c: c.positive,
    "greater_than": lambda c: c.greater_than(1.0),
    "less_than": lambda c: c.less_than(2.0),
    "interval": lambda c: c.interval(-1.0, 2.0),
    "unit_interval": lambda c: c.unit_interval,
    "simplex": lambda c: c.simplex,
    "corr_cholesky": lambda c: c.corr_cholesky,
    "lower_cholesky": lambda c: c.lower_cholesky,
    "positive_definite": lambda c: c.positive_definite,
    "independent": lambda c: c.independent(c.positive, 1),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_transforms_to_what_fulfills_a_constraint(name):
    def results(M):
        D = M.distributions
        constraint, found = DOMAINS[name](D.constraints), []
        shape = (2, 3, 3) if name in ("lower_cholesky", "positive_definite") else (2, 6)
        x = M.linspace(-1.0, 1.2, int(np.prod(shape)), dtype=M.float64).reshape(shape)
        for registry in (D.biject_to, D.transform_to) if len(shape) == 2 else (D.transform_to,):
            transform = registry(constraint)
            y = transform(x)
            assert bool(constraint.check(y).all())
            assert tuple(y.shape) == tuple(transform.forward_shape(x.shape))
            found += [y, transform.inv(y)]
            if len(shape) == 2 and not (name == "simplex" and registry is D.transform_to):
                found.append(transform.log_abs_det_jacobian(x, y))
        return [z.numpy() for z in found]

    torch = pytest.importorskip("torch", reason="the original is not installed")
    for x, expected in zip(results(ft), results(torch), strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)


def test_transforms_of_parts():
    def results(M):
        D, x = M.distributions, M.tensor([[0.1, 0.2, 0.7], [0.3, 0.4, 0.9]], dtype=M.float64)
        parts = [D.ExpTransform(), D.AffineTransform(1.0, 2.0)]
        each = [
            D.StackTransform(parts, dim=0),
            D.CatTransform(parts, dim=1, lengths=[1, 2]),
            D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)),
            D.IndependentTransform(D.ExpTransform(), 1),
            D.ReshapeTransform((3,), (3, 1)),
        ]
        return [z.numpy() for t in each for z in (t(x), t.inv(t(x)), t.log_abs_det_jacobian(x, t(x)))]

    torch = pytest.importorskip("torch", reason="the original is not installed")
    for x, expected in zip(results(ft), results(torch), strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-9)


def test_registries_refuse_what_they_do_not_know():
    D = ft.distributions
    with pytest.raises(NotImplementedError, match="register a factory"):
        D.biject_to(D.constraints.boolean)
    with pytest.raises(TypeError, match="Expected constraint"):
        D.biject_to.register(int, lambda _: None)


def test_tails_and_angles_have_the_densities_of_scipy():
    D, x = ft.distributions, np.array([0.3, 1.2, 2.5])

    def t(*x):
        return ft.tensor(x, dtype=ft.float64)

    cases = [
        (D.GeneralizedPareto(t(0.1), t(1.5), t(c)), stats.genpareto(c, 0.1, 1.5)) for c in (0.4, -0.2, 0.0)
    ]
    for mine, theirs in cases:
        np.testing.assert_allclose(mine.cdf(ft.tensor(x)), theirs.cdf(x), rtol=1e-12)
        np.testing.assert_allclose(mine.icdf(t(0.1, 0.9)), theirs.ppf([0.1, 0.9]), rtol=1e-12)
        np.testing.assert_allclose(mine.entropy(), theirs.entropy(), rtol=1e-12)
        np.testing.assert_allclose([mine.mean, mine.variance], np.reshape(theirs.stats(), (2, 1)), rtol=1e-12)
    cases += [(D.VonMises(t(0.4), t(k)), stats.vonmises(k, 0.4)) for k in (0.3, 5.0, 900.0)]
    for mine, theirs in cases:
        np.testing.assert_allclose(mine.log_prob(ft.tensor(x)), theirs.logpdf(x), rtol=1e-10)
    ft.manual_seed(0)
    drawn = D.VonMises(t(0.4), t(5.0)).sample((20000,)).numpy()
    assert stats.kstest(drawn[:, 0], stats.vonmises(5.0, 0.4).cdf).pvalue > 1e-3
