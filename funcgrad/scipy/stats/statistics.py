"""Statistics, tests and transformations of samples: SciPy's own code, with a rule for what is compiled in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy import stats as theirs

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.trace import Tracer
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import HELPERS, leaves, on_values, private, rerun, values
from funcgrad.scipy.stats.integrals import Elementary

stats = Chapter("stats")

# ---- summaries ---------------------------------------------------------------------------------------------------------
stats.rerun(
    "describe gmean hmean pmean gstd gzscore zscore zmap skew kurtosis moment variation sem tmean tvar tstd tsem tmin tmax "
    "trim1 trim_mean trimboth sigmaclip kstat kstatvar lmoment expectile quantile iqr median_abs_deviation scoreatpercentile "
    "circmean circvar circstd directional_stats differential_entropy entropy mode cumfreq relfreq ecdf bayes_mvs mvsdist"
)
stats.rerun(
    "binned_statistic binned_statistic_2d binned_statistic_dd boxcox yeojohnson yeojohnson_llf obrientransform"
)


# ---- power transforms: SciPy's code has other branches at the powers 0 and 2, which know no slope in the power -------
def _yeojohnson_transform(x: Any, lmbda: Any, xp: Any = None) -> Any:
    right = x >= 0
    positive = special.boxcox1p(np.where(right, x, 0), lmbda)
    return np.where(right, positive, -special.boxcox1p(np.where(right, 0, -x), 2 - lmbda))


leaves("scipy.stats._morestats", _yeojohnson_transform=_yeojohnson_transform)
_boxcox_llf = rerun(theirs.boxcox_llf)


@stats.composite("boxcox_llf")
def boxcox_llf(lmb, data, axis=0, nan_policy="propagate", keepdims=False):
    given: dict[str, Any] = {} if nan_policy == "propagate" else {"nan_policy": nan_policy}
    given |= {"axis": axis} if axis != 0 else {}
    if given or keepdims or not isinstance(lmb, Tracer) or lmb != 0:
        if isinstance(lmb, Tracer) and lmb == 0:
            raise NotImplementedError(
                "scipy.stats.boxcox_llf at lmb=0 has a derivative for its default options only"
            )
        return _boxcox_llf(lmb, data, **given, **({"keepdims": True} if keepdims else {}))
    data = np.asarray(data) if not isinstance(data, Tracer) else data
    spread = np.log(np.var(special.boxcox(data, lmb), axis=0))
    return (lmb - 1) * np.sum(np.log(data), axis=0) - data.shape[0] / 2 * spread


stats.rerun("probplot percentileofscore rankdata tiecorrect")

# ---- correlation and distance ----------------------------------------------------------------------------------------
stats.rerun(
    "pearsonr spearmanr spearmanrho pointbiserialr kendalltau weightedtau somersd chatterjeexi linregress theilslopes "
    "siegelslopes wasserstein_distance energy_distance multiscale_graphcorr"
)

# ---- tests -----------------------------------------------------------------------------------------------------------
stats.rerun(
    "ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel f_oneway alexandergovern bartlett levene fligner kruskal "
    "friedmanchisquare mannwhitneyu ranksums wilcoxon brunnermunzel mood ansari median_test tukey_hsd chisquare "
    "power_divergence jarque_bera kurtosistest skewtest normaltest anderson anderson_ksamp cramervonmises "
    "cramervonmises_2samp epps_singleton_2samp ks_1samp ks_2samp kstest bws_test quantile_test page_trend_test logrank "
    "combine_pvalues false_discovery_control poisson_means_test"
)
stats.unsupported(
    "fit goodness_of_fit ppcc_max dunnett sobol_indices",
    "it optimises, draws at random, or both",
    "Write the likelihood and use funcgrad.scipy.optimize, whose solutions have derivatives.",
)


# ---- what is compiled ------------------------------------------------------------------------------------------------
def _siegel_slopes(y: Any, x: Any, method: str) -> Any:
    """The median, over the points, of the median slope to the others."""
    y, x = as_array(y), as_array(x)
    slopes = []
    for k in range(y.shape[0]):
        apart = np.flatnonzero(np.asarray(x != x[k]))
        if apart.size:
            slopes.append(np.median((y[apart] - y[k]) / (x[apart] - x[k])))
    slope = np.median(np.stack(slopes))
    if method == "separate":
        parts = []
        for k in range(y.shape[0]):
            apart = np.flatnonzero(np.asarray(x != x[k]))
            parts.append(np.median((y[k] * x[apart] - y[apart] * x[k]) / (x[apart] - x[k])))
        return slope, np.median(np.stack(parts))
    return slope, np.median(y - slope * x)


_counting = private("scipy.stats._stats")
leaves("scipy.stats._stats_pythran", siegelslopes=_siegel_slopes)
leaves(
    "scipy.stats._stats",
    **{
        name: on_values(getattr(_counting, name))
        for name in ("_kendall_dis", "_toint64", "_weightedrankedtau")
        if hasattr(_counting, name)
    },
)


# ---- triangular systems, as SciPy calls the BLAS -----------------------------------------------------------------------
def _trsm(alpha: Any, a: Any, b: Any, side: int = 0, lower: bool = False, **_: Any) -> Any:
    from funcgrad.scipy import linalg

    if side:
        return alpha * linalg.solve_triangular(a, as_array(b).T, lower=lower, trans=1).T
    return alpha * linalg.solve_triangular(a, b, lower=lower)


def _trmm(alpha: Any, a: Any, b: Any, side: int = 0, lower: bool = False, **_: Any) -> Any:
    half = np.tril(a) if lower else np.triu(a)
    return alpha * (as_array(b) @ half if side else half @ as_array(b))


def _blas(names: Any, arrays: Any = (), **_: Any) -> Any:
    known = {"trsm": _trsm, "trmm": _trmm}
    return known[names] if isinstance(names, str) else tuple(known[name] for name in names)


HELPERS["get_blas_funcs"] = _blas


# ---- kernel estimates: what stands for SciPy's loop over all pairs -----------------------------------------------------
def _log_kernels(points: Any, data: Any, x: Any, cho_cov: Any) -> tuple[Any, Any]:
    """log of the normal density of each point of x (axis 0) about each point; the weights beside it."""
    from funcgrad.scipy import linalg

    points, x, cho_cov = as_array(points), as_array(x), as_array(cho_cov)
    white = linalg.solve_triangular(cho_cov, points.T, lower=True).T
    white_x = linalg.solve_triangular(cho_cov, x.T, lower=True).T
    apart = np.sum((white_x[:, None, :] - white[None, :, :]) ** 2, axis=-1)
    norm = 0.5 * points.shape[1] * np.log(2 * np.pi) + np.sum(np.log(np.diagonal(cho_cov)))
    return -0.5 * apart - norm, as_array(data)


def _estimate(points: Any, data: Any, x: Any, cho_cov: Any, dtype: Any, *_: Any) -> Any:
    logs, weights = _log_kernels(points, data, x, cho_cov)
    return np.exp(logs) @ weights


def _log_estimate(points: Any, data: Any, x: Any, cho_cov: Any, dtype: Any, *_: Any) -> Any:
    logs, weights = _log_kernels(points, data, x, cho_cov)
    top = np.max(values(logs), axis=1, keepdims=True)
    return np.log(np.exp(logs - top) @ weights) + top


class _ByType:
    """A function that SciPy has once for each dtype."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __getitem__(self, spec: str) -> Any:
        return self.function


HELPERS["gaussian_kernel_estimate"] = _ByType(_estimate)
HELPERS["gaussian_kernel_estimate_log"] = _ByType(_log_estimate)


# ---- the normal distribution of two variables --------------------------------------------------------------------------
def _bvn_heart(h: Any, k: Any, r: Any) -> Any:
    theirs = private("scipy.stats._qmvnt")._bvnu
    return np.vectorize(theirs, otypes=[float])(h, k, r)


def _bvn_slope(h: Any, k: Any, r: Any, out: Any = None) -> Any:
    """Minus the density of the first variable at h times the probability that the second is above k."""
    return -np.exp(-0.5 * h**2) / np.sqrt(2 * np.pi) * special.ndtr(-(k - r * h) / np.sqrt((1 - r) * (1 + r)))


def _bvn_density(h: Any, k: Any, r: Any, out: Any = None) -> Any:
    """The derivative in the correlation is the density of both (R. L. Plackett, Biometrika 41 (1954), 351)."""
    left = (1 - r) * (1 + r)
    return np.exp(-0.5 * (h**2 - 2 * r * h * k + k**2) / left) / (2 * np.pi * np.sqrt(left))


BVN = Elementary("bvn", _bvn_heart, [_bvn_slope, lambda h, k, r, out: _bvn_slope(k, h, r), _bvn_density])
FAR = 39.0  # where no double tells the probability from that of the whole line


def _bvnu(h: Any, k: Any, r: Any) -> Any:
    h, k = (np.where(np.isinf(v), np.copysign(FAR, values(v)), v) for v in (as_array(h), as_array(k)))
    return BVN(h, k, r)


leaves("scipy.stats._qmvnt", _bvnu=_bvnu)
leaves("scipy.stats._qmvnt_cy", _bvnu=_bvnu)

stats.classes("gaussian_kde Covariance Normal Uniform Logistic Binomial Mixture")
stats.rerun("abs exp log truncate order_statistic chi2_contingency")
Chapter("stats.contingency").rerun("margins expected_freq chi2_contingency association")
Chapter("stats.qmc").rerun("scale")

# ---- of masked arrays, which a tracer is not: the same without a mask --------------------------------------------------
_masked = Chapter("stats.mstats")
_UNMASKED = (
    "skew kurtosis variation sem tmean tmin tmax tsem pearsonr ttest_1samp ttest_ind ttest_rel f_oneway kurtosistest skewtest "
    "normaltest theilslopes siegelslopes linregress kruskal kendalltau brunnermunzel"
)


def _without_a_mask(name: str) -> None:
    body = getattr(theirs, name)

    @_masked.composite(name)
    def of_plain(*args: Any, **given: Any) -> Any:
        from funcgrad.scipy import stats as ours

        return getattr(ours, name)(*args, **given)

    of_plain.__name__ = body.__name__


for _name in _UNMASKED.split():
    _without_a_mask(_name)
