"""Samples of nan_reductions.py."""

import numpy as np

from tests.rules.samples import A, C, S


def hole(function, **options):
    """`function` of an array with a NaN in it, which must not be differentiated in."""
    holes = np.array([[0, np.nan, 0], [0, 0, 0]])

    def call(x):
        return function(x + holes, **options)

    return call


MASK = np.array([[True, True, False], [True, True, True]])

SAMPLES = [
    *(
        sample
        for f in (np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.nanmax, np.nanmin)
        for sample in (
            S(hole(f), A(2, 3)).but(covers=f),
            S(hole(f, axis=-1), A(2, 3)).but(covers=f, label=f"{f.__name__}-axis"),
            S(hole(f, axis=(1, 0), keepdims=True), A(2, 3)).but(covers=f, label=f"{f.__name__}-keepdims"),
        )
    ),
    S(hole(np.nansum, axis=1, where=MASK, initial=0.5), A(2, 3)).but(covers=np.nansum, label="where"),
    S(hole(np.nansum), C(2, 3)).but(covers=np.nansum, label="complex"),
    S(hole(np.nanmean, axis=1, where=MASK), A(2, 3)).but(covers=np.nanmean, label="where"),
    S(hole(np.nanmax, axis=1, where=MASK, initial=-2.0), A(2, 3)).but(covers=np.nanmax, label="where"),
    S(hole(np.nanmin, initial=2.0), A(2, 3)).but(covers=np.nanmin, label="initial"),
    S(hole(np.nanvar, axis=1, ddof=0.5, where=MASK), A(2, 3)).but(covers=np.nanvar, label="where"),
    S(hole(np.nanvar, axis=1), C(2, 3)).but(covers=np.nanvar, label="complex"),
    S(hole(np.nanstd, axis=1, correction=0.5, keepdims=True), A(2, 3)).but(
        covers=np.nanstd, label="correction"
    ),
    S(hole(np.nancumsum), A(2, 3)).but(covers=np.nancumsum, label="flattened"),
    S(hole(np.nancumsum, axis=0), A(2, 3)).but(covers=np.nancumsum, label="axis"),
    S(hole(np.nancumprod), A(2, 3)).but(covers=np.nancumprod, label="flattened"),
    S(hole(np.nancumprod, axis=-1), A(2, 3)).but(covers=np.nancumprod, label="axis"),
    S(np.nansum, A(2, 3), 1),
    S(np.nanstd, A(2, 3), 1),
]
