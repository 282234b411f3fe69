"""Convolutions, filters and image filters against SciPy's own values, with every mode and size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import ndimage as their_ndimage
from scipy import signal as theirs

from funcgrad import jacrev, vjp, vmap
from funcgrad.scipy import ndimage, signal

rng = np.random.default_rng(5)
MODES = ("full", "same", "valid")


def agrees(name: str, *args, **kwargs) -> None:
    """The values on tracers are SciPy's."""
    found = vjp(lambda x: getattr(signal, name)(x, *args[1:], **kwargs), args[0])[0]
    np.testing.assert_allclose(found, getattr(theirs, name)(*args, **kwargs), atol=1e-12)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_every_mode_of_a_convolution(name: str) -> None:
    for n, m, mode, method in itertools.product((3, 4, 5), (2, 3, 7), MODES, ("direct", "fft")):
        agrees(name, rng.normal(size=n), rng.normal(size=m), mode, method)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_every_mode_and_edge_of_images(name: str) -> None:
    for shape, window in [((5, 6), (2, 3)), ((5, 6), (3, 2)), ((2, 3), (4, 5)), ((4, 4), (4, 4))]:
        for mode, (edge, fill) in itertools.product(
            MODES, [("fill", 0), ("fill", 0.7), ("wrap", 0), ("symm", 0)]
        ):
            agrees(name, rng.normal(size=shape), rng.normal(size=window), mode, edge, fill)


def test_the_final_state_of_a_filter_is_scipys() -> None:
    for nb, na, n in itertools.product((1, 3), (2, 3, 5), (1, 2, 8)):
        b, a, x = rng.normal(size=nb), np.r_[2.0, 0.3 * rng.normal(size=na - 1)], rng.normal(size=(3, n))
        zi = rng.normal(size=(3, max(na, nb) - 1))
        found = vjp(lambda x: signal.lfilter(b, a, x, zi=zi), x)[0]
        for ours, expected in zip(found, theirs.lfilter(b, a, x, zi=zi), strict=True):
            np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_upfirdn_is_transposed_for_every_ratio() -> None:
    for h, n, up, down in itertools.product((1, 2, 5), (1, 4), (1, 2, 3), (1, 2, 5)):
        window, x = rng.normal(size=h), rng.normal(size=n)
        by_signal = np.stack([theirs.upfirdn(window, e, up, down) for e in np.eye(n)], -1)
        by_window = np.stack([theirs.upfirdn(e, x, up, down) for e in np.eye(h)], -1)
        np.testing.assert_allclose(
            jacrev(lambda x: signal.upfirdn(window, x, up, down))(x), by_signal, atol=1e-12
        )
        np.testing.assert_allclose(
            jacrev(lambda w: signal.upfirdn(w, x, up, down))(window), by_window, atol=1e-12
        )


@pytest.mark.parametrize("mode", ["reflect", "mirror", "grid-wrap", "nearest", "constant"])
def test_spline_filters_are_transposed_to_the_last_digit(mode: str) -> None:
    for order, n in itertools.product((2, 3, 4, 5), (1, 2, 5)):
        matrix = np.stack([their_ndimage.spline_filter1d(e, order, mode=mode) for e in np.eye(n)], -1)
        found = jacrev(lambda x: ndimage.spline_filter1d(x, order, mode=mode))(np.ones(n))
        np.testing.assert_allclose(found, matrix, atol=1e-13)


def test_code_that_asks_for_values_is_run_example_by_example() -> None:
    xs = rng.normal(size=(3, 9))
    found = vmap(lambda x: signal.medfilt(x, 3))(xs)
    np.testing.assert_array_equal(found, [theirs.medfilt(x, 3) for x in xs])
    rows = vmap(lambda x: ndimage.grey_closing(x, size=(3, 3)))(xs.reshape(3, 3, 3))
    np.testing.assert_array_equal(
        rows, [their_ndimage.grey_closing(x.reshape(3, 3), size=(3, 3)) for x in xs]
    )
