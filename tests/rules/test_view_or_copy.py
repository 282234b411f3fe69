"""A view in NumPy is one of tracers, a copy a copy: do they see each other's writes?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import vjp, vmap
from funcgrad.errors import TracerWriteError

SQUARE = np.array([[0.81, 0.29, 0.55], [0.43, 0.97, 0.33], [0.61, 0.75, 0.19]])
windows = np.lib.stride_tricks.sliding_window_view

# `np` is NumPy; each is read of a square matrix m.
READ = """
np.meshgrid(m[0], m[1], sparse=True, copy=False)[1] | np.meshgrid(m[0], m[1])[0] | np.broadcast_arrays(m, m)[0]
np.broadcast_arrays(m)[0] | np.real_if_close(m) | np.diag(m) | np.diag(m, 1) | np.linalg.diagonal(m)
np.linalg.matrix_transpose(m) | np.matrix_transpose(m) | np.permute_dims(m, (1, 0)) | np.einsum('ij->ji', m)
np.einsum('ii->i', m) | np.einsum('ij->i', m) | np.hsplit(m, 3)[1] | np.vsplit(m, 3)[1] | np.dsplit(m[None], 3)[1]
np.array_split(m, 2, axis=1)[0] | np.flipud(m) | np.roll(m, 1) | np.rollaxis(m, 1) | m.astype(float, copy=False)
np.array(m, copy=None, like=m) | np.asarray(m, like=m) | np.asanyarray(m, like=m) | np.require(m, like=m)
np.nan_to_num(m, copy=False) | m[None].squeeze(0) | np.squeeze(m[:, :1], 1) | np.atleast_3d(m) | np.atleast_1d(m, m)[1]
np.expand_dims(m, (0, 2)) | m.T.reshape(-1) | m.reshape(-1, order='A') | m.T.reshape(-1, order='F') | m[:, ::-1].reshape(-1)
m[::2].reshape(-1) | m[:2].reshape(3, 2) | m[:, 1].reshape(3, 1) | np.reshape(m, (3, 3)) | m.ravel('K') | m.T.ravel('K')
m.T.ravel('A') | m[:, :2].ravel() | m[1].ravel() | m.flatten() | m.conj() | np.conj(m) | m.imag | np.imag(m) | np.real(m)
(m * 1j).real | (m + 1j * m).imag | np.positive(m) | np.moveaxis(m, 0, 0) | np.flip(m, ()) | np.rot90(m, 2) | np.tile(m, 1)
np.repeat(m, 1, axis=0) | np.concatenate([m]) | np.stack([m])[0] | np.block(m) | np.block([m])
np.take(m, [0, 1, 2], axis=0) | np.compress([True] * 3, m, axis=0) | np.round(m, 17) | np.clip(m, -9, 9)
np.where(True, m, 0) | m[...] | m[()] | m[[0, 1, 2]] | m[0:3, [0, 1, 2]] | m[np.ones((3, 3), bool)] | m[True]
m[None, ..., None] | m[np.array(0)] | m[np.array(0), :] | m[slice(np.int64(0), np.int64(2))] | m[0, 0, ...]
np.array(m[0, 0], like=m) | np.resize(m, (3, 3)) | np.pad(m, 0) | np.delete(m, [], axis=0) | np.insert(m, [], 0, axis=0)
np.tril(m, 9) | np.broadcast_to(m, (3, 3)) | np.broadcast_to(m[0], (3, 3)) | np.diagonal(m, 1, 1, 0) | windows(m, 2, axis=0)
windows(m[0], 3)[0] | windows(m, (2, 2)).T[0] | np.split(m, 3)[1][0] | next(iter(m)) | list(m.T)[1] | [*zip(m, m)][0][1]
m.flat[0:3] | m.flat.copy() | m.sum(axis=()) | np.max(m, axis=()) | m[:1, :1].reshape(()) | np.atleast_1d(m[0, 0, ...])
np.ravel(m[0, 0, ...]) | m[0, 0, ...].T | np.cumsum(m[:1], axis=0) | np.diff(m, 0) | np.trim_zeros(m[0])
np.ascontiguousarray(m, like=m) | np.asfortranarray(m, like=m) | np.asfortranarray(m[0], like=m) | np.select([m > -9], [m])
"""
READS = [read for line in READ.strip().splitlines() for read in line.split(" | ")]


def program(read: Callable[[Any], Any], errors: list[str]) -> Callable[[Any], Any]:
    """Write into an array after it was read, and into what was read of it."""

    def run(m: Any) -> Any:
        part = read(m)
        m[0] *= 2
        m[1, 1] = 7 * m[2, 2]
        m.T[2] += 1
        seen = part * 1
        for index in (..., (0, ...)):
            try:
                part[index] = part[index] * 3 + m[2, 2]
            except (ValueError, IndexError) as error:
                errors.append(type(error).__name__)
        return [m * 1, seen, part * 1]

    return run


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_a_view(order: Any) -> None:
    for text in READS:
        read = eval(f"lambda m: {text}", {"np": np, "windows": windows})
        refused: list[str] = []
        expected = program(read, refused)(SQUARE.copy(order=order))
        for transform in ("vjp", "vmap"):
            if transform == "vmap" and "trim_zeros" in text:
                continue  # as long as the example has it
            errors: list[str] = []
            if transform == "vjp":
                found = vjp(program(read, errors), SQUARE.copy(order=order))[0]
            else:
                batch = (
                    np.stack([SQUARE.copy(order=order).T] * 2).transpose(0, 2, 1)
                    if order == "F"
                    else np.stack([SQUARE] * 2)
                )
                found = [x[1] for x in vmap(program(read, errors))(batch)]
            for x, y in zip(found, expected, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-15, err_msg=f"{text}, {transform}")
            assert errors == refused, f"{text}, {transform}"


# Each is made of a vector x, a square matrix m, the number s = x[0] and z = x[0, ...], an array without axes.
WITHOUT_AXES = """
np.tensordot(x, x, 1) | np.where(s > 0, s, 1.0) | s.copy() | z.copy() | np.select([s > 0], [s]) | np.choose(0, [s, s])
np.resize(x, ()) | np.piecewise(s, [s > 0], [lambda v: v, 1.0]) | np.full_like(s, 2.0) | np.array(s, like=x)
np.asarray(z, like=x) | x[:1].reshape(()) | np.squeeze(x[:1]) | x[..., 0] | x.sum() | np.max(x) | np.median(x)
np.quantile(x, 0.5) | x @ x | np.inner(x, x) | np.einsum('i,i->', x, x) | np.einsum('...->...', s) | np.trace(m)
np.linalg.det(m) | np.linalg.norm(x) | np.linalg.cond(m) | np.interp(z, np.arange(3.0), x) | np.polyval(x, z) | np.take(x, 0)
x[np.array(0)] | x[np.argmax(x)] | np.sin(z) | z * 2 | z.astype(complex) | z.real | (z * 1j).real | np.conj(z)
np.clip(z, 0, 1) | np.round(z) | np.nan_to_num(z) | np.flip(z) | z.T | np.ravel(z)[0] | np.broadcast_arrays(z, z)[0]
np.roll(z, 1) | np.i0(z) | np.sort(z, axis=None)[0] | np.std(x) | np.logaddexp.reduce(x) | np.modf(z)[0] | np.divmod(z, 2.0)[0]
np.block(z) | np.gradient(x)[0] | np.cov(x)
"""


def test_what_is_a_scalar() -> None:
    def tried(text: str, outcomes: list[Any]) -> Callable[[Any, Any], Any]:
        make = eval(f"lambda x, m, s, z: {text}", {"np": np})

        def run(x: Any, m: Any) -> Any:
            out = make(x, m, x[0], x[0, ...])
            try:
                out[...] = 5.0
                outcomes.append("written")
            except TypeError:
                outcomes.append("a scalar")
            return np.real(out) + np.sum(x)

        return run

    x, m = SQUARE[0], SQUARE + np.eye(3)
    batch = np.stack([x] * 2), np.stack([m] * 2)
    for text in [entry for line in WITHOUT_AXES.strip().splitlines() for entry in line.split(" | ")]:
        outcomes: list[Any] = []
        expected = tried(text, outcomes)(x.copy(), m)
        found = [vjp(tried(text, outcomes), x, m)[0], *vmap(tried(text, outcomes))(*batch)]
        found += [*vjp(lambda *args: vmap(tried(text, outcomes))(*args), *batch)[0]]
        found += [*vmap(lambda *args: vjp(tried(text, outcomes), *args)[0])(*batch)]
        assert len(set(outcomes)) == 1, f"{text}: {outcomes}"
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=text)


def test_of_two_results_in_one_array_the_first_one_stays() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        np.modf(x, out=(x, x))
        np.divmod(y, 0.7, out=(y, y))
        return x + y

    x = np.array([1.25, 2.5, -3.75])
    np.testing.assert_array_equal(vjp(f, x)[0], f(x.copy()))


def test_elements_written_over_the_memory_they_are_read_from_are_refused() -> None:
    def f(x: Any) -> Any:
        x.flat[1:] = x.flat
        return x

    with pytest.raises(TracerWriteError, match="copy"):
        vjp(f, np.arange(3.0))
