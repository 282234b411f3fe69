"""Linear systems in time, and waveforms: SciPy's own code."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.scipy import ndimage
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import leaves

signal = Chapter("signal")
signal.rerun(
    "lsim impulse step bode freqresp dlsim dimpulse dstep dbode dfreqresp cont2discrete abcd_normalize place_poles"
)
signal.classes("lti dlti StateSpace TransferFunction ZerosPolesGain")


def _medfilt2d(image: Any, kernel_size: Any) -> Any:
    return ndimage.rank_filter(image, int(np.prod(kernel_size)) // 2, size=kernel_size, mode="constant")


leaves("scipy.signal._sigtools", _medfilt2d=_medfilt2d)
signal.rerun("chirp gausspulse sweep_poly sawtooth square wiener order_filter medfilt medfilt2d")
