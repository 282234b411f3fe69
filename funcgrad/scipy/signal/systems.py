"""Linear systems in time, and waveforms: SciPy's own code."""

from __future__ import annotations

from funcgrad.scipy.declare import Chapter

signal = Chapter("signal")
signal.rerun(
    "lsim impulse step bode freqresp dlsim dimpulse dstep dbode dfreqresp cont2discrete abcd_normalize place_poles"
)
signal.classes("lti dlti StateSpace TransferFunction ZerosPolesGain")
signal.rerun("chirp gausspulse sweep_poly sawtooth square wiener order_filter medfilt medfilt2d")
