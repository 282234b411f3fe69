"""Samples of sorting.py."""

import numpy as np

from tests.rules.samples import A, C, S
from tests.rules.samples.nan_reductions import hole

METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip
CONTINUOUS = ("interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased")

SAMPLES = [
    S(np.sort, A(4)),
    S(np.sort, A(3, 2), axis=0),
    S(np.sort, A(2, 3), axis=None, kind="mergesort"),
    S(np.sort, A(2, 3), stable=True),
    S(np.sort, C(4)),
    S(np.sort, A(0)),
    S(np.partition, A(5), 2),
    S(np.partition, A(2, 5), (1, -1), axis=-1),
    S(np.partition, A(2, 3), 3, axis=None),
    S(np.sort_complex, C(4)),
    S(np.sort_complex, A(4)),
    S(np.median, A(3)),
    S(np.median, A(4)),
    S(np.median, A()),
    S(np.median, A(3, 4), axis=-1, keepdims=True),
    S(np.median, A(2, 3, 4), axis=(-1, 0)),
    S(np.median, C(3)),
    S(hole(np.nanmedian), A(2, 3)).but(covers=np.nanmedian, label="flattened"),
    S(hole(np.nanmedian, axis=1), A(2, 3)).but(covers=np.nanmedian, label="axis"),
    S(hole(np.nanmedian, axis=(1, 0), keepdims=True), A(2, 3)).but(covers=np.nanmedian, label="keepdims"),
    *(S(np.quantile, A(6), 0.3, method=m).but(wrt=(0,)) for m in METHODS),
    *(S(np.quantile, A(2, 7), [0.23, 0.71], axis=1, method=m).but(wrt=(0,)) for m in METHODS),
    *(
        S(np.quantile, A(3, 6), A(2, low=0.22, high=0.68), axis=-1, method=m).but(vmap=False)
        for m in CONTINUOUS
    ),
    S(np.quantile, A(3, 4), np.array([[0.1, 0.5], [0.6, 0.9]]), axis=(0, 1), keepdims=True).but(wrt=(0,)),
    S(np.quantile, A(2, 6), 0.4, axis=1, method="inverted_cdf", weights=np.arange(1.0, 7.0)).but(wrt=(0,)),
    S(np.percentile, A(5), 30).but(wrt=(0,)),
    S(np.percentile, A(2, 5), [25, 75], axis=-1, keepdims=True, method="hazen").but(wrt=(0,)),
    S(np.percentile, A(5), A(2, low=30, high=70), method="weibull").but(tol=1e-5, vmap=False),
    S(hole(np.nanquantile, q=0.3), A(2, 3)).but(covers=np.nanquantile, label="flattened"),
    S(hole(np.nanquantile, q=[0.3, 0.6], axis=1, method="hazen"), A(2, 3)).but(
        covers=np.nanquantile, label="axis"
    ),
    S(hole(np.nanpercentile, q=30), A(2, 3)).but(covers=np.nanpercentile, label="flattened"),
    S(hole(np.nanpercentile, q=[30, 60], axis=0, keepdims=True), A(2, 3)).but(
        covers=np.nanpercentile, label="axis"
    ),
]
