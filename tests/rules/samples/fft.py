"""Samples of fft.py."""

import numpy as np

from tests.rules.samples import A, C, S

fft = np.fft

SAMPLES = [
    S(fft.fft, A(4)),
    S(fft.fft, C(5), norm="ortho"),
    S(fft.fft, A(2, 4), n=3),
    S(fft.fft, C(4, 2), n=6, axis=0, norm="forward"),
    S(fft.ifft, A(5)),
    S(fft.ifft, C(2, 4), 3, -1, "ortho"),
    S(fft.ifft, C(3, 2), n=5, axis=-2, norm="forward"),
    S(fft.rfft, A(4)),
    S(fft.rfft, A(5), norm="ortho"),
    S(fft.rfft, A(4, 2), n=7, axis=0, norm="forward"),
    S(fft.rfft, A(2, 6), n=3),
    S(fft.rfft, A(1)),
    S(fft.irfft, C(3)),
    S(fft.irfft, C(3), n=5, norm="ortho"),
    S(fft.irfft, C(5, 2), n=4, axis=0, norm="forward"),
    S(fft.irfft, C(2), n=7),
    S(fft.irfft, A(4)),
    S(fft.hfft, C(3)),
    S(fft.hfft, C(4), n=5, norm="ortho"),
    S(fft.hfft, C(2, 3), n=8, axis=-1, norm="forward"),
    S(fft.ihfft, A(4)),
    S(fft.ihfft, A(5), norm="ortho"),
    S(fft.ihfft, A(4, 2), n=3, axis=0, norm="forward"),
    S(fft.ihfft, A(3), n=6),
    S(fft.fft2, A(2, 3)),
    S(fft.fft2, C(2, 3), s=(3, 2), norm="ortho"),
    S(fft.ifft2, C(2, 3, 2), axes=(0, -1)),
    S(fft.fftn, A(2, 3, 2)),
    S(fft.fftn, C(2, 3), s=(4, -1), axes=(1, 0), norm="forward"),
    S(fft.fftn, C(3), axes=(0, 0)),
    S(fft.ifftn, C(2, 3), axes=(1,)),
    S(fft.ifftn, A(2, 3), s=(3, 2), axes=(0, 1), norm="ortho"),
    S(fft.rfft2, A(2, 3, 4), s=(2, 5), axes=(2, 0)),
    S(fft.rfftn, A(2, 3)),
    S(fft.rfftn, A(3, 4), s=(5,), axes=(0,), norm="ortho"),
    S(fft.irfft2, C(2, 3)),
    S(fft.irfftn, C(2, 3), s=(2, 3), axes=(0, 1)),
    S(fft.irfftn, C(3, 2, 2), axes=(2, 0), norm="forward"),
    S(fft.fftshift, A(2, 3)),
    S(fft.fftshift, C(5), 0),
    S(fft.ifftshift, A(2, 5), axes=(-1,)),
    S(fft.ifftshift, A(3)),
]
