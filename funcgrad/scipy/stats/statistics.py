"""Statistics, tests and transformations of samples: SciPy's own code, with a rule for what is compiled in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, on_values, private

stats = Chapter("stats")

# ---- summaries ---------------------------------------------------------------------------------------------------------
stats.rerun(
    "describe gmean hmean pmean gstd gzscore zscore zmap skew kurtosis moment variation sem tmean tvar tstd tsem tmin tmax "
    "trim1 trim_mean trimboth sigmaclip kstat kstatvar lmoment expectile quantile iqr median_abs_deviation scoreatpercentile "
    "circmean circvar circstd directional_stats differential_entropy entropy mode cumfreq relfreq ecdf bayes_mvs mvsdist"
)
stats.rerun(
    "binned_statistic binned_statistic_2d binned_statistic_dd boxcox boxcox_llf yeojohnson yeojohnson_llf obrientransform"
)
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
    "power_divergence jarque_bera kurtosistest skewtest normaltest shapiro anderson anderson_ksamp cramervonmises "
    "cramervonmises_2samp epps_singleton_2samp ks_1samp ks_2samp kstest bws_test quantile_test page_trend_test logrank "
    "combine_pvalues false_discovery_control poisson_means_test"
)
stats.unsupported(
    "fit goodness_of_fit boxcox_normmax yeojohnson_normmax ppcc_max dunnett sobol_indices",
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
stats.classes("gaussian_kde Covariance")
