"""How much a derivative holds: copies of the largest operand at the peak of `value_and_grad`, past plain SciPy's peak.

Four are allowed. What holds more is listed with its bound, so that it can't grow unseen.
"""

from __future__ import annotations

import importlib
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

N = 200
_random = np.random.default_rng(0)
MATRIX = _random.normal(size=(N, N)) / N**0.5 + 2 * np.eye(N)
OTHER = _random.normal(size=(N, N))
POSITIVE = MATRIX @ MATRIX.T
SERIES = _random.normal(size=N * N)
SLACK = 0.3  # Python's own objects, and vectors beside matrices

# the module, what is called, the operand, the bound
CALLS: dict[str, tuple[str, Callable[[Any, Any], Any], Any, float]] = {
    "expm": ("linalg", lambda m, a: m.expm(a), MATRIX, 7),
    "sqrtm": ("linalg", lambda m, a: m.sqrtm(a), POSITIVE, 4),
    "qr": ("linalg", lambda m, a: m.qr(a, mode="economic")[1], MATRIX, 7),
    "lu": ("linalg", lambda m, a: m.lu(a)[2], MATRIX, 5),
    "cho_solve": ("linalg", lambda m, a: m.cho_solve(m.cho_factor(a), OTHER), POSITIVE, 7),
    "cho_solve of a vector": ("linalg", lambda m, a: m.cho_solve(m.cho_factor(a), OTHER[0]), POSITIVE, 3),
    "inv": ("linalg", lambda m, a: m.inv(a), MATRIX, 4),
    "det": ("linalg", lambda m, a: m.det(a), MATRIX, 4),
    "solve": ("linalg", lambda m, a: m.solve(a, OTHER), MATRIX, 4),
    "cholesky": ("linalg", lambda m, a: m.cholesky(a), POSITIVE, 2),
    "eigh": ("linalg", lambda m, a: m.eigh(a)[0], POSITIVE, 4),
    "svdvals": ("linalg", lambda m, a: m.svdvals(a), MATRIX, 4),
    "pinv": ("linalg", lambda m, a: m.pinv(a), MATRIX, 4),
    "lstsq": ("linalg", lambda m, a: m.lstsq(a, OTHER[0])[0], MATRIX, 4),
    "polar": ("linalg", lambda m, a: m.polar(a)[0], MATRIX, 4),
    "median_filter": ("ndimage", lambda m, a: m.median_filter(a, 3), OTHER, 4),
    "gaussian_filter": ("ndimage", lambda m, a: m.gaussian_filter(a, 2.0), OTHER, 4),
    "convolve of images": ("ndimage", lambda m, a: m.convolve(a, MATRIX[:3, :3]), OTHER, 4),
    "zscore": ("stats", lambda m, a: m.zscore(a), SERIES, 4),
    "gmean": ("stats", lambda m, a: m.gmean(a**2), SERIES, 4),
    "skew": ("stats", lambda m, a: m.skew(a), SERIES, 4),
    "kurtosis": ("stats", lambda m, a: m.kurtosis(a), SERIES, 4),
    "logpdf": ("stats", lambda m, a: m.norm.logpdf(a, 0.1, 2.0), SERIES, 4),
    "convolve": ("signal", lambda m, a: m.convolve(a, SERIES[:100], mode="same"), SERIES, 4),
    "fftconvolve": ("signal", lambda m, a: m.fftconvolve(a, SERIES, mode="same"), SERIES, 4),
    "lfilter": ("signal", lambda m, a: m.lfilter([0.1, 0.2], [1, -0.5], a), SERIES, 4),
    "filtfilt": ("signal", lambda m, a: m.filtfilt([0.1, 0.2], [1, -0.5], a), SERIES, 4),
    "savgol_filter": ("signal", lambda m, a: m.savgol_filter(a, 7, 2), SERIES, 4),
    "hilbert": ("signal", lambda m, a: m.hilbert(a).real, SERIES, 4),
}


def peak(call: Callable[[], Any]) -> int:
    """How many bytes are held at most while it runs."""
    call()  # what is imported, and remembered, at the first call
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CALLS)
def test_copies(name):
    module, call, x, bound = CALLS[name]
    ours, plain = (importlib.import_module(f"{top}.{module}") for top in ("funcgrad.scipy", "scipy"))
    value_and_grad = fg.value_and_grad(lambda a: call(ours, a).sum())
    extra = peak(lambda: value_and_grad(x)) - peak(lambda: call(plain, x).sum())
    assert extra / x.nbytes <= bound + SLACK
