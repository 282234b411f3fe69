"""New arrays lie in memory as NumPy has them, which decides what is a view: programs can tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from funcgrad import vjp, vmap
from funcgrad.core.memory import views
from funcgrad.core.memory.layout import spread_like

windows = np.lib.stride_tricks.sliding_window_view
rng = np.random.default_rng(0)
X, Y = rng.uniform(0.5, 1.5, (2, 3, 4)), rng.uniform(0.5, 1.5, (2, 3, 4))
SQUARE, OTHER = rng.uniform(0.5, 1.5, (3, 3)), rng.uniform(0.5, 1.5, (3, 3))


def _turned(axes: Any) -> Callable[[Any], Any]:
    """The layout in which the axes stand in memory in this order."""
    return lambda x: x.transpose(axes).copy("C").transpose(np.argsort(axes))


def _with_gaps(axis: int) -> Callable[[Any], Any]:
    def lay(x: Any) -> Any:
        wide = np.repeat(x, 2, axis)
        return wide[(slice(None),) * axis + (slice(None, None, 2),)]

    return lay


LAYOUTS = {str(axes): _turned(axes) for axes in permutations(range(3))} | {
    "turned, with gaps": lambda x: _with_gaps(1)(x.copy("F")), "reversed": lambda x: x[::-1, :, ::-1].copy("F")[::-1, :, ::-1],
}  # fmt: skip
FLAT = {"C": lambda x: x.copy("C"), "F": lambda x: x.copy("F"), "gaps": _with_gaps(1)}

# `np` is NumPy; each makes a new array of x, (2, 3, 4) or (3, 3), in one of these layouts.
OF_ANY = """
np.sin(x) | -x | 2 * x | x ** 2 | x.conj() | np.round(x, 1) | x.round() | np.clip(x, 0.6, 1.2) | np.nan_to_num(x) | np.sinc(x)
np.modf(x)[0] | np.exp(x, order='C') | np.exp(x, order='F') | np.add(x, x, order='A')
np.add(x, 1, where=x > 0, out=np.zeros_like(x)) | x.astype(complex) | x.astype(float, order='C') | x.astype(float, order='F')
x.copy() | x.copy('F') | x.copy('K') | x.copy('A') | np.copy(x) | np.copy(x, 'A') | np.array(x, like=x)
np.array(x, like=x, order='C') | np.array(x, like=x, order='F') | np.array([x, x], like=x) | np.array([x, x], like=x, order='F')
np.ascontiguousarray(x, like=x) | np.asfortranarray(x, like=x) | np.zeros_like(x) | np.full_like(x, 2.0)
np.zeros_like(x, order='C') | np.zeros_like(x, order='F') | np.ones_like(x, order='A')
np.zeros_like(x, shape=(5, 2, 3)[:x.ndim]) | np.ones_like(x, shape=(4, 4), order='F') | np.zeros((2, 3), order='F', like=x)
np.sort(x) | np.sort(x, 0) | np.partition(x, 1) | np.sort_complex(x) | np.take(x, [1, 0], 0) | np.take(x, [1, 0], 1)
np.take(x, [[1, 0]], -1) | np.take(x, 1, 0) | np.take(x, [[0, 3], [2, 1]]) | np.compress([1, 0, 1], x, 1) | np.delete(x, 0, 0)
np.delete(x, [0, 1], 1) | np.delete(x, slice(0, 2), 1) | np.insert(x, 0, 1.0, 0) | np.insert(x, [0, 1], x[:, :2], 1)
np.append(x, x, 0) | np.repeat(x, 2, 1) | np.repeat(x, [1] * len(x), 0) | np.tile(x, 2) | np.tile(x, (1, 1))
np.tile(x, (1, 1, 1, 1)) | np.roll(x, 1) | np.roll(x, 1, 0) | np.rot90(x) | np.flip(x, 0) * 1 | np.pad(x, 1) | np.pad(x, 0)
np.pad(x, 1, 'edge') | np.pad(x, 1, 'mean') | np.resize(x, (3, 5)) | np.cumsum(x, 0) | np.cumprod(x, 1) | np.nancumsum(x, 1)
np.diff(x) | np.diff(x, axis=0) | np.diff(x, prepend=0.0) | np.gradient(x)[0] | np.gradient(x, axis=1) | np.add.accumulate(x, 1)
np.maximum.accumulate(x, 0) | np.add.reduceat(x, [0, 1], 1) | np.sum(x, 0) | np.sum(x, 1, keepdims=True) | np.mean(x, -1)
np.max(x, 1) | np.prod(x, 0) | np.std(x, 0) | np.median(x, 0) | np.median(x, 1, keepdims=True) | np.quantile(x, [0.2, 0.5], 1)
np.percentile(x, 30, axis=0) | np.average(x, 0) | np.ptp(x, 1) | np.nanmax(x, 0) | np.nanmedian(x, 1)
np.linalg.norm(x, axis=0) | np.max(x, ()) | np.logaddexp.reduce(x, 0) | np.logaddexp.reduce(x[:1], 0)
np.logaddexp.reduce(x, 1) | np.einsum('ij...->ji...', x) * 1 | np.einsum('ij...->j...', x) | np.fft.fft(x, axis=0)
np.fft.rfft(x) | np.fft.irfft(x, axis=0) | np.fft.fft2(x, axes=(0, 1)) | np.fft.fftshift(x) | np.tril(x) | np.triu(x, 1)
np.apply_along_axis(np.sin, 0, x) | np.apply_along_axis(np.cumsum, 1, x) | np.diagflat(x) | np.diagonal(x).copy()
np.polyval([1.0, 2.0, 3.0], x) | np.split(x * 1, [1], 1)[1] | np.swapaxes(x, 0, 1) * 1 | np.squeeze(x[:1] * 1, 0)
np.unique(x, axis=0) | np.unique(x, axis=1) | x[[1, 0]] | x[:, [1, 0]] | x[[[1, 0], [0, 1]]] | x[[0, 1], [1, 2]]
x[np.ix_([0, 1], [0, 2])] | x[[0, 1], 1:] | x[1:, [0, 1]] | x[::-1, [0, 1]] | x[..., [0, 1]] | x[[0, 1], None]
x[[0, 1], ..., [0, 1]] | x[np.array(1), 1:] | x.reshape(x.shape[::-1]) * 1 | x.reshape(x.shape[::-1], order='F') * 1
x.flatten()[None] | x[::-1] * 1 | x[:, ::2].copy('K') | x[:, None] * 1 | np.broadcast_to(x, (2, *x.shape)).copy('K')
np.broadcast_to(x, (2, *x.shape)) * 1 | np.broadcast_to(x[:1], x.shape).copy('K') | np.broadcast_to(x[:, :1], x.shape) * 1
np.broadcast_to(x[:1], x.shape) + x | windows(x, 2, axis=1).copy() | windows(x, 2, axis=1).copy('K') | windows(x, 2, axis=0) * 1
windows(x, (2, 2), axis=(0, 1))[0] * 1 | np.sin(windows(x, 1, axis=1)) | windows(x, 2, axis=1).swapaxes(-1, -2) * 1
windows(x, 2, axis=1).sum(0) | windows(x, 2, axis=1)[::-1] * 1 | np.cumulative_sum(x, axis=1, include_initial=True)
x @ np.ones((x.shape[-1], 2)) | np.ones((2, x.shape[-2])) @ x | np.tensordot(x, np.ones((x.shape[0], 2)), (0, 0))
np.outer(x, x[0]) | np.tensordot(np.ones((x.shape[0], 2)), x, (0, 0)) | np.meshgrid(x[0].ravel(), x[1].ravel())[0]
np.meshgrid(x[0].ravel(), x[1].ravel(), indexing='ij')[1]
"""
OF_TWO = """
x + y | np.where(x > 1, x, y) | np.where(x > 1, 2.0, y) | np.hypot(x, y) | x * y[:1] | x[:, :1] * y[:1]
np.concatenate([x, y], 1) | np.stack([x, y], 1) | np.vstack([x, y]) | np.dstack([x, y]) | np.append(x, y, 0)
np.choose(np.ones(x.shape, int), [x, y]) | np.select([x > 1, y > 1], [x, y]) | np.select([x > 1], [x], y) | np.block([[x], [y]])
np.insert(x, 1, y[0], 0) | np.clip(x, y, 2.0) | np.arctan2(x, y) | np.add(x, y, order='F')
np.take_along_axis(x, np.argsort(y, 1), 1) | x @ np.swapaxes(y, -1, -2) | np.tensordot(x, y, (0, 0))
np.einsum('ij...,ij...->ji...', x, y) | np.broadcast_arrays(x, y[:1])[1] * 1 | np.divmod(x, y)[1]
np.multiply.outer(x[0], y[0])
"""
OF_SQUARES = """
np.linalg.inv(x) | np.linalg.solve(x, y) | np.linalg.cholesky(x @ x.T + 3 * np.eye(3)) | np.linalg.eigh(x + x.T)[1]
np.linalg.matrix_power(x, 0) | np.linalg.matrix_power(x, 1) * 1 | np.linalg.matrix_power(x, 3) | np.linalg.pinv(x)
np.linalg.qr(x)[1] | np.linalg.svd(x)[2] | np.linalg.lstsq(x, y)[0] | np.linalg.multi_dot([x, y, x]) | (x @ y).T
np.cross(x, y) | np.cross(x, y, axis=0) | np.einsum('ij,jk->ki', x, y) | np.einsum('ij,jk->ikj', x, y)
np.einsum('i,j->ji', x[0], y[0]) | np.dot(x, y) | np.inner(x, y) | np.kron(x, y) | np.diag(x[0], 1) | np.outer(x[0], y[0])
np.vander(x[0]) | np.cov(x) | np.interp(x, np.arange(3.0), y[0])
"""


def looks(z: Any) -> list[Any]:
    """What is a view of `z` or a copy, as it lies in memory; and of what is computed of it."""
    found = [
        z.reshape(-1),
        z.ravel("F"),
        z.ravel("K"),
        z.ravel("A"),
        z.T.reshape(-1),
        z.copy("K").ravel("K"),
        (z + 1).ravel("K"),
    ]
    found += [z[:, ::2].reshape(-1)] if z.ndim > 1 else []
    found += (
        [z.reshape(z.shape[0], -1), z.swapaxes(0, 1).reshape(-1), z.swapaxes(1, 2).reshape(-1)]
        if z.ndim > 2
        else []
    )
    return found


def looked_at(make: Callable[..., Any]) -> Callable[..., Any]:
    """The program that looks at a new array, writes into it and returns what it sees; and non-arrays."""

    def program(*args: Any) -> Any:
        z = make(*args)
        seen = looks(z)
        z[...] = 7.0
        return [z, *seen, *args]

    return program


def entries(table: str) -> list[str]:
    entries = [entry for line in table.strip().splitlines() for entry in line.split(" | ")]
    # NumPy 2.1 has it first
    return [e for e in entries if hasattr(np, "cumulative_sum") or "cumulative_sum" not in e]


def batch_of(x: Any) -> Any:
    """Two examples, each of which lies in memory as `x`."""
    out = spread_like(x, (2,))
    out[...] = x
    return out


def check(text: str, args: list[Any], layout: str, of: Callable[[Any], Any]) -> None:
    """Compare with NumPy, in reverse mode and under vmap."""
    names = "x, y" if len(args) > 1 else "x"
    program = looked_at(of(eval(f"lambda {names}: {text}", {"np": np, "windows": windows})))
    expected = program(*(spread_copy(x) for x in args))
    runs = {"vjp": vjp(program, *args)[0]}
    if "unique" not in text:
        runs["vmap"] = vmap(program)(*map(batch_of, args))
    for mode, found in runs.items():
        for k, (x, y) in enumerate(zip(found, expected, strict=True)):
            x = x if mode == "vjp" else x[1]
            is_same = x.shape == y.shape and np.all(np.abs(x - y) < 1e-9)
            assert is_same, f"{text}, {layout}, {mode}, look {k}: {x} instead of {y}"


def spread_copy(x: Any) -> Any:
    out = spread_like(x)
    out[...] = x
    return out


@pytest.mark.parametrize("layout", ["(0, 2, 1)", "(1, 2, 0)", "turned, with gaps", "reversed"])
def test_of_three_axes(layout: str) -> None:
    _check_all(OF_ANY, [LAYOUTS[layout](X)], layout)


@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
def test_of_two_axes(layout: str) -> None:
    _check_all(OF_ANY, [FLAT[layout](SQUARE)], layout)


@pytest.mark.parametrize("layout", ["(0, 1, 2)", "(2, 1, 0)", "(1, 0, 2)"])
def test_of_two_arrays(layout: str) -> None:
    for other in ("(0, 1, 2)", "(1, 2, 0)"):
        _check_all(OF_TWO, [LAYOUTS[layout](X), LAYOUTS[other](Y)], f"{layout} and {other}")


@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
def test_of_two_squares(layout: str) -> None:
    for other in ("C", "F"):
        _check_all(OF_SQUARES, [FLAT[layout](SQUARE), FLAT[other](OTHER)], f"{layout} and {other}")


def test_of_large_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views of large arrays are looked at anew, where those of small ones are copied."""
    monkeypatch.setattr(views, "FEW", -1)
    _check_all(OF_ANY, [FLAT["F"](SQUARE)], "F")


def anew(make: Callable[..., Any]) -> Callable[..., Any]:
    """`make` of the transposed views of arrays that are written after the views were taken."""

    def of_views(*args: Any) -> Any:
        transposed = [x.T for x in args]
        for x in args:
            x *= 1.0
        return make(*transposed)

    return of_views


@pytest.mark.parametrize(
    ("lay", "x"), [(LAYOUTS["reversed"], X), (FLAT["gaps"], SQUARE)], ids=["reversed", "gaps"]
)
def test_of_views_that_are_looked_at_anew(lay: Callable[[Any], Any], x: Any) -> None:
    _check_all(OF_ANY, [lay(x).T], "a view that is looked at anew", anew)


def _check_all(table: str, args: list[Any], layout: str, of: Any = lambda make: make) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in entries(table):
            check(text, args, layout, of)
