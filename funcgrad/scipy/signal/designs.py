"""Design of filters and their frequency responses: SciPy's own code, in closed form."""

from __future__ import annotations

import numpy as np
from scipy import signal as theirs

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves, on_values, private, rerun
from funcgrad.scipy.spatial import points  # noqa: F401  (trees of traced points, which group the poles)

signal = Chapter("signal")
signal.rerun(
    "butter cheby1 cheby2 ellip bessel iirfilter iirnotch iirpeak iircomb buttap cheb1ap cheb2ap ellipap besselap gammatone "
    "firwin firwin2 firwin_2d firls minimum_phase kaiser_atten kaiser_beta"
)
_designs = private("scipy.signal._filter_design")
leaves("scipy.signal._filter_design", _bessel_zeros=on_values(_designs._bessel_zeros))  # of a whole order
normalize = rerun(theirs.normalize)
signal.rerun("freqz freqz_zpk freqz_sos sosfreqz freqs freqs_zpk group_delay bilinear_zpk normalize")
signal.rerun("lp2lp lp2bp lp2bs lp2lp_zpk lp2hp_zpk lp2bp_zpk lp2bs_zpk")


@signal.composite("bilinear")
def bilinear(b, a, fs=1.0):
    """s -> 2 fs (z - 1) / (z + 1), the factor shared between the two sides as in SciPy."""
    b, a = (np.trim_zeros(np.atleast_1d(as_array(v)), "f") for v in (b, a))
    factor = np.sqrt(2 * as_array(fs).reshape(()))
    order = max(a.shape[0], b.shape[0]) - 1
    # the coefficients of (z - 1)^q (z + 1)^(order - q), the highest power first
    powers = np.stack([np.poly([1.0] * q + [-1.0] * (order - q)) for q in range(order + 1)])
    scales = factor ** (2.0 * np.arange(order + 1) - order)
    return normalize(
        *(np.sum((v[::-1] * scales[: v.shape[0]])[:, None] * powers[: v.shape[0]], axis=0) for v in (b, a))
    )


@signal.composite("lp2hp")
def lp2hp(b, a, wo=1.0):
    """s -> wo / s. (SciPy's code asks whether wo is 1.)"""
    dtype = np.result_type(as_array(b), as_array(a), np.float32)
    b, a = (np.atleast_1d(as_array(v)).astype(dtype) for v in (b, a))
    d, n = a.shape[0], b.shape[0]
    powers = (as_array(wo).reshape(-1)[0] ** np.arange(max(d, n))).astype(dtype)
    padded = lambda v: np.concatenate([v, np.zeros(max(d, n) - v.shape[0], dtype)])
    return normalize(padded(b[::-1] * powers[:n]), padded(a[::-1] * powers[:d]))


signal.rerun(
    "tf2zpk zpk2tf tf2sos zpk2sos sos2tf sos2zpk tf2ss ss2tf zpk2ss ss2zpk residue residuez invres invresz"
)
signal.unsupported(
    "remez iirdesign buttord cheb1ord cheb2ord ellipord kaiserord",
    "it searches for an order, or exchanges the extremal frequencies one by one",
    "Design the filter from plain numbers, or with butter, cheby1, firwin, ..., which have derivatives in their frequencies.",
)

windows = Chapter("signal.windows")
windows.rerun(
    "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop gaussian general_cosine "
    "general_gaussian general_hamming hamming hann kaiser kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey "
    "get_window"
)
signal.rerun("get_window")
