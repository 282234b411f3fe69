"""Spectral analysis: SciPy's own code, in terms of Fourier transforms."""

from __future__ import annotations

from funcgrad.scipy.declare import Chapter

signal = Chapter("signal")
signal.rerun(
    "periodogram welch csd coherence spectrogram stft istft lombscargle hilbert hilbert2 envelope detrend czt zoom_fft czt_points"
)
signal.classes("CZT ZoomFFT ShortTimeFFT")
signal.rerun("closest_STFT_dual_window check_COLA check_NOLA")
