"""Every linear transform of scipy.fft and scipy.fftpack is its own matrix; SciPy's take tracers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("scipy")

import scipy.fft
import scipy.fftpack

from funcgrad import grad, jacrev, jvp
from funcgrad.scipy import fft, fftpack

TRIGONOMETRIC = [
    (fft, scipy.fft, name, (), {"type": kind, "norm": norm, "orthogonalize": orth})
    for name, kind, norm, orth in itertools.product(
        ("dct", "idst", "dctn", "dst"), (1, 2, 3, 4), (None, "ortho", "forward"), (None, True, False)
    )
]
OPERATORS = [
    (fftpack, scipy.fftpack, name, args, options)
    for name, args, options in [
        ("diff", (1,), {}), ("diff", (2,), {}), ("diff", (-1,), {"period": 3.0}), ("hilbert", (), {}), ("ihilbert", (), {}),
        ("tilbert", (0.3,), {}), ("itilbert", (0.3,), {}), ("cs_diff", (0.2, 0.3), {}), ("sc_diff", (0.2, 0.3), {}),
        ("ss_diff", (0.2, 0.3), {}), ("cc_diff", (0.2, 0.3), {}), ("shift", (0.3,), {}), ("rfft", (), {}),
        ("irfft", (), {}), ("rfft", (), {"n": 4}), ("irfft", (), {"n": 9}), ("idct", (), {"norm": "ortho"}),
        ("dst", (), {"type": 1}),
    ]
]  # fmt: skip
HANKEL = [
    (fft, scipy.fft, name, (0.1, 0.4), {"offset": 0.2, "bias": bias})
    for name, bias in itertools.product(("fht", "ifht"), (0.0, 0.3))
]


@pytest.mark.parametrize(("ours", "theirs", "name", "args", "options"), TRIGONOMETRIC + OPERATORS + HANKEL)
def test_a_transform_is_its_matrix(ours, theirs, name, args, options) -> None:
    for n in (5, 6):
        x = np.cos(np.arange(n) ** 2)
        expected = np.stack([getattr(theirs, name)(e, *args, **options) for e in np.eye(n)], axis=-1)
        found = jacrev(lambda x: getattr(ours, name)(x, *args, **options))(x)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        _, t = jvp(lambda x: getattr(ours, name)(x, *args, **options), (x,), (x,))
        np.testing.assert_allclose(t, getattr(theirs, name)(x, *args, **options), atol=1e-12)


def test_plain_calls_of_scipy_take_tracers() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert np.allclose(grad(lambda x: np.sum(abs(scipy.fft.fft(x)) ** 2))(x), 2 * 3 * x)
    assert np.allclose(grad(lambda x: np.sum(scipy.fft.dct(x, norm="ortho") ** 2))(x), 2 * x)
    assert type(scipy.fft.rfft(x)) is np.ndarray


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid type 5"):
        grad(lambda x: fft.dct(x, type=5).sum())(np.ones(4))
    with pytest.raises(ValueError, match="Invalid norm value"):
        grad(lambda x: fft.dst(x, norm="nonsense").sum())(np.ones(4))
    with pytest.raises(TypeError, match="real sequence"):
        grad(lambda x: abs(fft.rfft(x + 1j)).sum())(np.ones(4))
