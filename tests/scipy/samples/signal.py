"""Samples of scipy.signal: convolutions, filters, resampling, spectra, designs, systems."""

import numpy as np

from funcgrad.scipy import signal as ours
from tests.rules.samples import A, C, S
from tests.scipy.samples import Present

signal = Present(ours)

B, R = np.array([0.5, 0.3, 0.2]), np.array([1.0, -0.4, 0.1])
X5 = A(5)
SOS = np.array([[0.2, 0.4, 0.2, 1.0, -0.3, 0.2], [1.0, 0.5, 0.1, 1.0, 0.2, 0.1]])


def of(name, function, *args):
    """A sample of the function of that name through another one."""
    return S(function, *args).but(covers=getattr(signal, name), label=name)


UNIT = np.array([1.0, 0.2, 0.1])  # whose first coefficient SciPy leaves alone

SAMPLES = [
    *(S(signal.convolve, A(6), A(3), mode=mode) for mode in ("full", "same", "valid")),
    S(signal.convolve, A(3, 4), A(2, 3), mode="same", method="direct"), S(signal.convolve, C(6), A(3), method="fft"),
    S(signal.correlate, A(3, 5), A(2, 3), mode="valid", method="fft"),
    S(signal.correlate, A(5), A(3), mode="same"), S(signal.correlate, C(4), C(3)),
    S(signal.fftconvolve, A(2, 5), A(2, 3), axes=1), S(signal.oaconvolve, A(7), A(3)),
    S(signal.convolve2d, A(4, 5), A(2, 3), mode="same", boundary="symm"), S(signal.correlate2d, A(4, 5), A(3, 2), boundary="wrap"),
    of("lfilter", lambda b, a, x: signal.lfilter(b, np.concatenate([[1.5], a]), x), B, R[1:], A(6)),
    of("lfilter", lambda b, x, z: signal.lfilter(b, R, x, zi=z), B, A(2, 5), A(2, 2)),
    S(signal.lfilter, B, 2.0, A(4, 2), axis=0).but(wrt=(0, 2)),
    of("sosfilt", lambda x, z: signal.sosfilt(SOS, x, zi=z), A(5), A(2, 2)), of("sosfilt", lambda b: signal.sosfilt(np.concatenate([b, SOS[:, 3:]], axis=1), X5), SOS[:, :3]),
    of("filtfilt", lambda b, x: signal.filtfilt(b, R, x, padlen=4), B, A(9)),
    of("filtfilt in a", lambda b, a, x: signal.filtfilt(b, a, x, padlen=4), B, UNIT, A(9)),
    of("lfilter_zi", signal.lfilter_zi, B, UNIT), of("lfilter_zi of more", signal.lfilter_zi, B, np.array([1.3, 0.2])),
    of("lfiltic", signal.lfiltic, B, UNIT, A(2), A(3)), of("lfiltic of no input", signal.lfiltic, B, 2 * UNIT, A(2)),
    of("lp2hp", signal.lp2hp, B, UNIT, 1.0), of("lp2hp of more", signal.lp2hp, A(2), UNIT, 1.3),
    of("sosfiltfilt", lambda x: signal.sosfiltfilt(SOS, x, padlen=3), A(8)),
    *(
        of(f"upfirdn {mode}", lambda h, x, mode=mode: signal.upfirdn(h, x, 3, 2, mode=mode), A(7), A(2, 3))
        for mode in ("symmetric", "reflect", "edge", "wrap", "smooth", "line", "antisymmetric", "antireflect")
    ),
    of("upfirdn beyond", lambda x, c: signal.upfirdn(B, x, axis=0, cval=c), A(4, 2), 0.3),
    of("medfilt2d", lambda x: signal.medfilt2d(x, 3), A(4, 5)),
    of("bilinear", signal.bilinear, B, UNIT), of("bilinear of few", lambda b, a: signal.bilinear(b, a, 2.0), A(1), UNIT),
    of("residue", lambda b, a: signal.residue(b, a)[:2], A(2), np.array([1.0, 3.0, 1.2])),
    of("residue with a quotient", lambda b, a: signal.residue(b, a), A(4), np.array([2.0, 3.0, 0.4])),
    of("residuez", lambda b, a: signal.residuez(b, a)[:2], A(2), np.array([1.0, 0.9, 0.1])),
    of("step", lambda a: signal.lti([1.0, 0.5], a).step(T=np.arange(4.0))[1], UNIT),
    of("lsim of a plain system", lambda u, x: signal.lsim(([1.0, 0.5], UNIT), u, np.arange(4.0), x)[1], A(4), A(2)),
    of("freqresp", lambda w: signal.freqresp(([1.0, 0.5], UNIT), w)[1], A(3)),
    of("upfirdn", lambda h, x: signal.upfirdn(h, x, 3, 2), A(4), A(2, 5)), of("resample_poly", lambda x: signal.resample_poly(x, 3, 2), A(8)),
    S(signal.resample, A(6), 9).but(wrt=(0,)), S(signal.decimate, A(30), 2).but(wrt=(0,)), S(signal.savgol_filter, A(9), 5, 2).but(wrt=(0,)),
    S(signal.detrend, A(3, 5), axis=0), S(signal.hilbert, A(6)), S(signal.envelope, A(8), (1, None)).but(wrt=(0,)),
    S(signal.medfilt, A(7), 3).but(wrt=(0,), float32=False), S(signal.wiener, A(7), 3).but(wrt=(0,)),
    *(of(name, lambda x, name=name: getattr(signal, name)(x, nperseg=6)[-1], A(12)) for name in ("welch", "stft", "spectrogram")),
    of("csd", lambda x, y: signal.csd(x, y, nperseg=6)[1], A(12), A(12)), of("periodogram", lambda x: signal.periodogram(x)[1], A(8)),
    of("istft", lambda z: signal.istft(z, nperseg=4)[1], C(3, 5)), S(signal.czt, A(5), 4, 0.9 - 0.2j).but(wrt=(0,)),
    of("lombscargle", lambda x: signal.lombscargle(np.linspace(0, 3, 6), x, [0.7, 1.9]), A(6)),
    of("freqz", lambda b, a: signal.freqz(b, np.concatenate([[1.0], a]), worN=4)[1], B, R[1:]),
    of("butter", lambda w: signal.butter(3, w), 0.35), of("cheby1", lambda r, w: signal.cheby1(2, r, w), 0.8, 0.4),
    of("ellip", lambda w: signal.ellip(2, 1.0, 30.0, w), 0.4), of("bessel", lambda w: signal.bessel(2, w), 0.4),
    of("firwin", lambda w: signal.firwin(5, w), 0.4), of("iirnotch", lambda w, q: signal.iirnotch(w, q), 0.4, 3.0),
    of("get_window", lambda s: signal.windows.gaussian(6, s), 1.4), of("get_window", lambda s: signal.windows.kaiser(6, s), 2.4),
    of("find_peaks", lambda x: signal.find_peaks(x, prominence=0.0, width=0.0)[1]["widths"], np.array([0.0, 1.0, 0.3, 0.9, 0.1, 2.0, 0.4])).but(
        vmap=False
    ),
    of("cspline1d", lambda c: signal.cspline1d_eval(signal.cspline1d(c), np.array([1.3, 2.6])), A(6)),
    of("symiirorder1", lambda x: signal.symiirorder1(x, 0.7, 0.1), A(20)), of("symiirorder2", lambda x: signal.symiirorder2(x, 0.3, 0.5), A(40)),
    of("lsim", lambda a, u: signal.lsim((a, np.ones((2, 1)), np.ones((1, 2)), 0.0), u, np.arange(5.0))[1], -np.eye(2) + 0.1 * A(2, 2), A(5)),
    of("cont2discrete", lambda a: signal.cont2discrete((a, np.ones((2, 1)), np.ones((1, 2)), np.zeros((1, 1))), 0.3)[0], A(2, 2)),
    of("tf2ss", lambda b, a: signal.tf2ss(b, np.concatenate([[1.0], a])), B[:2], R[1:]),
]  # fmt: skip
