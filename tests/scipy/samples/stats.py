"""Samples of statistics (distributions are swept in test_distributions.py)."""

import numpy as np

from funcgrad.scipy import stats as ours
from tests.rules.samples import A, S, spd
from tests.scipy.samples import Present

stats = Present(ours)

X6, S2 = A(6), spd(2)
P = A(5, low=0.5, high=2.0)


def of(name, function, *args):
    """A sample of the function of that name through another one."""
    return S(function, *args).but(covers=getattr(stats, name), label=name)


SAMPLES = [
    *(S(f, A(4, 3), axis=1) for f in (stats.zscore, stats.skew, stats.kurtosis, stats.sem, stats.moment)),
    S(stats.gmean, P), S(stats.hmean, P), S(stats.pmean, P, 1.7).but(wrt=(0,)), S(stats.gstd, P), S(stats.variation, P), S(stats.kstat, A(6), 3).but(wrt=(0,)),
    S(stats.lmoment, A(6)), S(stats.trim_mean, A(7), 0.2).but(wrt=(0,)), S(stats.iqr, A(7)), S(stats.quantile, A(7), 0.3),
    S(stats.boxcox, P, 0.7).but(wrt=(0,)), S(stats.yeojohnson, A(5), 0.7).but(wrt=(0,)), S(stats.boxcox_llf, 0.4, P), S(stats.circmean, A(5)),
    *(of(f"shapiro of {n}", stats.shapiro, A(n)).but(float32=False, vmap=False) for n in (3, 8, 14)),
    of("mstats", lambda x: stats.mstats.skew(x) + stats.mstats.sem(x), A(6)).but(float32=False),
    *(of("yeojohnson", stats.yeojohnson, A(5), power) for power in (0.0, 2.0)), of("boxcox_llf", stats.boxcox_llf, 0.0, P).but(tol=1e-4, order=1),
    S(lambda x, a: (stats.skewnorm.logpdf(x, a), stats.skewnorm.cdf(x, a)), A(3), 0.0).but(label="skewnorm", covers=stats.zscore, order=1, float32=False),
    S(stats.differential_entropy, A(8)), of("entropy", lambda p, q: stats.entropy(p, q), P, P[::-1].copy()),
    of("pearsonr", lambda x, y: stats.pearsonr(x, y).statistic, A(6), A(6)), of("pearsonr", lambda x, y: stats.pearsonr(x, y).pvalue, A(6), A(6)),
    of("linregress", lambda x, y: tuple(stats.linregress(x, y)), A(6), A(6)),
    of("ttest_ind", lambda x, y: stats.ttest_ind(x, y).statistic, A(6), A(5)), of("ttest_1samp", lambda x: stats.ttest_1samp(x, 0.2).pvalue, A(6)),
    of("f_oneway", lambda x, y, z: stats.f_oneway(x, y, z).statistic, A(4), A(5), A(4)), of("jarque_bera", lambda x: stats.jarque_bera(x).statistic, A(8)),
    of("wasserstein_distance", lambda x, y: stats.wasserstein_distance(x, y), A(5), A(4)), of("theilslopes", lambda x, y: stats.theilslopes(y, x)[0], A(6), A(6)),
    of("binned_statistic", lambda v: stats.binned_statistic(X6, v, "mean", bins=3)[0], A(6)),
    of("gaussian_kde", lambda x, q: stats.gaussian_kde(x)(q), A(6), A(3)).but(order=1), of("gaussian_kde", lambda x, q: stats.gaussian_kde(x).logpdf(q), A(6), A(3)).but(order=1),
    of("Normal", lambda m, s, x: stats.Normal(mu=m, sigma=s).logpdf(x), 0.3, 1.2, A(3)).but(float32=False),
    *(
        S(f, *args).but(label=str(k), covers=stats.zscore)
        for k, (f, args) in enumerate([
            (lambda x, m, c: stats.multivariate_normal.logpdf(x, m, c @ c.T + np.eye(2)), (A(3, 2), A(2), A(2, 2))),
            (lambda x, c: stats.multivariate_normal.cdf(x, cov=c @ c.T + np.eye(2)), (A(2), A(2, 2))),
            (lambda x, c, n: stats.multivariate_t.logpdf(x, shape=c @ c.T + np.eye(2), df=n), (A(2), A(2, 2), 4.3)),
            (lambda w, a: stats.dirichlet.logpdf(w / np.sum(w), a), (P[:3], P[:3])),
            (lambda c: stats.wishart.logpdf(S2, 3.6, c @ c.T + np.eye(2)), (A(2, 2),)),
            (lambda x, c: stats.matrix_normal.logpdf(x, rowcov=c @ c.T + np.eye(2), colcov=np.eye(3)), (A(2, 3), A(2, 2))),
            (lambda w: stats.multinomial.logpmf([1, 2, 2], 5, w / np.sum(w)), (P[:3],)),
        ])
    ),
]  # fmt: skip
