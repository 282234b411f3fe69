"""Fourier transforms of every length, norm and axis, against the sums that define them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jvp, vjp, vmap
from funcgrad.errors import TracerWriteError
from tests.rules.linear import assert_multilinear, numbers

fft = np.fft
norms = st.sampled_from([None, "backward", "ortho", "forward"])
lengths = st.integers(1, 6)

COMPLEX_IN = {"fft": fft.fft, "ifft": fft.ifft, "irfft": fft.irfft, "hfft": fft.hfft}
REAL_IN = {"rfft": fft.rfft, "ihfft": fft.ihfft}
OF_MANY = {
    f"{kind}{many}": getattr(fft, f"{kind}{many}")
    for kind in ("fft", "ifft", "rfft", "irfft")
    for many in ("2", "n")
}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*COMPLEX_IN.values(), *REAL_IN.values()]),
    lengths,
    st.none() | lengths,
    norms,
    st.sampled_from([0, 1, -1]),
)
def test_along_one_axis(transform: Any, length: int, n: Any, norm: Any, axis: int) -> None:
    if n is None and transform in (fft.irfft, fft.hfft):
        length = max(length, 2)
    shape = (length, 2) if axis == 0 else (2, length)
    function = lambda x: transform(x, n=n, axis=axis, norm=norm)
    assert_multilinear(function, numbers(shape))
    if transform in COMPLEX_IN.values():
        assert_multilinear(function, numbers(shape, complex))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(list(OF_MANY.values())),
    st.lists(st.sampled_from([0, 1, 2, -1, -2]), min_size=1, max_size=3),
    st.lists(st.sampled_from([-1, 2, 3, 4]), min_size=3, max_size=3),
    st.booleans(),
    norms,
)
def test_along_several_axes(transform: Any, axes: Any, sizes: Any, with_sizes: bool, norm: Any) -> None:
    s = sizes[: len(axes)] if with_sizes else None
    function = lambda x: transform(x, s=s, axes=axes, norm=norm)
    x = numbers((2, 3, 2))
    assert_multilinear(function, x)
    if transform not in (fft.rfftn, fft.rfft2):
        assert_multilinear(function, x + 1j * numbers(x.shape))


@pytest.mark.parametrize("transform", OF_MANY.values(), ids=OF_MANY)
def test_all_axes_by_default(transform: Any) -> None:
    assert_multilinear(transform, numbers((2, 3, 4)))


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 2), [1]], ids=str)
def test_shifts(axes: Any) -> None:
    assert_multilinear(lambda x: fft.fftshift(x, axes), numbers((2, 3, 5)))
    assert_multilinear(lambda x: fft.ifftshift(x, axes=axes), numbers((2, 3, 5)))


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [4, 5])
def test_gradients_are_those_of_the_defining_sums(n: int, norm: Any) -> None:
    """The same functions by matrices of exponentials, written out."""
    k = np.arange(n)
    scale = {None: 1, "ortho": n**-0.5, "forward": 1 / n}[norm]
    matrix = scale * np.exp(-2j * np.pi * np.outer(k, k) / n)
    inverse = np.exp(2j * np.pi * np.outer(k, k) / n) / (scale * n)
    half = n // 2 + 1
    x = numbers((n,))
    z = numbers((half,), complex)
    weights = k + 1.0
    power = lambda f: lambda x: np.sum(np.abs(f(x)) ** 2 * weights[: len(f(np.zeros(len(x))))])
    for transform, by_matrix in [
        (lambda x: fft.fft(x, norm=norm), lambda x: matrix @ x),
        (lambda x: fft.ifft(x, norm=norm), lambda x: inverse @ x),
        (lambda x: fft.rfft(x, norm=norm), lambda x: matrix[:half] @ x),
        (lambda x: fft.ihfft(x, norm=norm), lambda x: (matrix[:half] / (scale**2 * n)).conj() @ x),
    ]:
        np.testing.assert_allclose(grad(power(transform))(x), grad(power(by_matrix))(x), rtol=1e-9)
        np.testing.assert_allclose(
            hessian(power(transform))(x), hessian(power(by_matrix))(x), rtol=1e-9, atol=1e-9
        )

    def whole(z: Any) -> Any:
        """The spectrum of a real signal, of which z is one half: its ends are real."""
        middle = z[1 : (n + 1) // 2]
        last = [z[-1:].real] if n % 2 == 0 else []
        return np.concatenate([z[:1].real, middle, *last, np.conj(middle[::-1])])

    cubes = lambda f: lambda z: np.sum(f(z) ** 3 * weights)
    gradient = grad(cubes(lambda z: fft.irfft(z, n, norm=norm)))(z)
    np.testing.assert_allclose(
        gradient, grad(cubes(lambda z: (inverse @ whole(z)).real))(z), rtol=1e-9, atol=1e-12
    )
    gradient = grad(cubes(lambda z: fft.hfft(z, n, norm=norm)))(z)
    np.testing.assert_allclose(
        gradient, grad(cubes(lambda z: (matrix @ whole(z)).real))(z), rtol=1e-9, atol=1e-12
    )


def test_what_is_cut_off_gets_zero_and_what_is_filled_up_changes_nothing() -> None:
    energy = lambda n: lambda x: np.sum(np.abs(fft.fft(x, n)) ** 2)
    np.testing.assert_allclose(grad(energy(3))(np.arange(1.0, 6)), [6, 12, 18, 0, 0], atol=1e-12)
    np.testing.assert_allclose(grad(energy(8))(np.arange(1.0, 4)), 16 * np.arange(1.0, 4), rtol=1e-12)


def test_a_real_signal_in_a_complex_transform_has_a_real_gradient() -> None:
    x = np.array([1.0, 2.0, -1.0, 0.5])
    gradient = grad(lambda x: np.sum(np.abs(fft.fft(1j * x) * np.array([1, 1, 0, 0])) ** 2))(x)
    assert gradient.dtype == np.float64
    mask = np.diag([1.0, 1, 0, 0])
    matrix = fft.fft(np.eye(4))
    np.testing.assert_allclose(gradient, 2 * (matrix.conj().T @ mask @ matrix @ x).real, rtol=1e-12)


def test_nothing_is_conjugated() -> None:
    z, ct = numbers((3,), complex), numbers((3,), complex)
    matrix = fft.fft(np.eye(3))
    np.testing.assert_allclose(vjp(fft.fft, z)[1](ct)[0], matrix.T @ ct, rtol=1e-12)


def test_single_precision_is_kept() -> None:
    x = np.arange(5, dtype=np.float32)
    for transform in (fft.fft, fft.rfft, fft.ihfft, fft.irfft, fft.hfft, fft.fftn):
        out, t = jvp(transform, (x,), (x,))
        assert t.dtype == out.dtype == transform(x).dtype
        assert grad(lambda x, f=transform: np.sum(np.abs(f(x)) ** 2))(x).dtype == np.float32


def test_vmap_over_columns() -> None:
    x = np.arange(6.0).reshape(3, 2)
    came = vmap(lambda row: np.abs(fft.rfft(row, n=4)) ** 2, in_axes=1)(x)
    np.testing.assert_allclose(came, np.abs(fft.rfft(x.T, n=4)) ** 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: fft.fft(x, out=np.ones(3, complex)), TracerWriteError, r"np\.fft\.fft"),
        (lambda x: fft.fftn(x, out=np.ones(3, complex)), TracerWriteError, r"np\.fft\.fft"),
        (lambda x: fft.fft(x, norm="unit"), ValueError, "norm"),
        (lambda x: fft.rfft(1j * x), TypeError, "rfft"),
        (lambda x: fft.fft(x, 0), ValueError, "0"),
        (lambda x: fft.fft(x, axis=1), np.exceptions.AxisError, "axis 1"),
        (lambda x: fft.fftn(x, s=(2, 2), axes=(0,)), ValueError, "different lengths"),
        (lambda x: fft.fft(x, size=3), TypeError, "size"),
    ],
)
def test_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vjp(call, np.ones(3))
