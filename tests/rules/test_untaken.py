"""Elements that are not taken contribute nothing, also where their own derivative is infinite: sqrt at 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from funcgrad import at, grad, hessian, jvp, vmap

# The root of the first element has an infinite derivative, and no function here takes it.
VECTOR = np.array([0.0, 4.0, 9.0, 16.0])
MATRIX = np.arange(12.0).reshape(3, 4)
MASK = np.array([False, True, True, True])


def written(z: Any, index: Any, v: Any) -> Any:
    z[index] = v
    return z


def added(z: Any, index: Any, v: Any) -> Any:
    np.add.at(z, index, v)
    return z


TAKING = {
    "slice": lambda s: s[1:],
    "ellipsis": lambda s: s[..., 1:],
    "one": lambda s: s[-1],
    "list": lambda s: s[[1, 2]],
    "mask": lambda s: s[MASK],
    "flip": lambda s: np.flip(s)[:2],
    "ravel": lambda s: s.ravel()[1:],
    "reshape": lambda s: s.reshape(2, 2)[1:],
    "new axis": lambda s: s[:, None][1:],
    "squeeze": lambda s: np.squeeze(s[:, None])[1:],
    "broadcast_to": lambda s: np.broadcast_to(s, (2, 4))[:, 1:],
    "take": lambda s: np.take(s, [1, 2]),
    "compress": lambda s: np.compress([0, 1, 1, 0], s),
    "extract": lambda s: np.extract([0, 1, 1, 0], s),
    "choose": lambda s: np.choose([1, 0, 0, 0], [s, np.ones(4)]),
    "delete": lambda s: np.delete(s, 0),
    "insert": lambda s: np.insert(s, 1, 5.0)[1:],
    "append": lambda s: np.append(s, 1.0)[1:],
    "split": lambda s: np.split(s, 2)[1],
    "unstack": lambda s: np.stack([s, s], 1)[1],
    "block": lambda s: np.block([s, s])[1:4],
    "roll": lambda s: np.roll(s, 1)[2:],
    "repeat": lambda s: np.repeat(s, [0, 1, 1, 1]),
    "tile": lambda s: np.tile(s, 2)[1:4],
    "resize": lambda s: np.resize(s, 6)[1:4],
    "pad": lambda s: np.pad(s, 1)[2:],
    "sort": lambda s: np.sort(s)[1:],
    "partition": lambda s: np.partition(s, 2)[2],
    "max": np.max,
    "median": lambda s: np.median(s[:3]),
    "quantile": lambda s: np.quantile(s, 0.9),
    "where": lambda s: np.where(MASK, s, 0),
    "select": lambda s: np.select([MASK], [s], 0.0),
    "piecewise": lambda s: np.piecewise(s, [MASK], [lambda v: v, 0.0]),
    "sum where": lambda s: np.sum(s, where=MASK),
    "mean where": lambda s: np.mean(s, where=MASK),
    "std where": lambda s: np.std(s, where=MASK),
    "prod where": lambda s: np.prod(s, where=MASK),
    "max where": lambda s: np.max(s, where=MASK, initial=-1.0),
    "cumsum": lambda s: np.cumsum(s[::-1])[:3],
    "diff": lambda s: np.diff(s)[1:],
    "ediff1d": lambda s: np.ediff1d(s)[1:],
    "gradient": lambda s: np.gradient(s)[2:],
    "interp": lambda s: np.interp(3.5, [1, 2, 3, 4], s),
    "reduceat": lambda s: np.add.reduceat(s, [1, 2]),
    "add.at": lambda s: added(np.zeros_like(s), [0, 1], s[2:]),
    "ufunc where": lambda s: np.multiply(s, 2.0, where=MASK, out=np.ones_like(s)),
    "assignment": lambda s: written(s * 1, 0, 7.0),
    "at": lambda s: at(s)[0].set(1.0),
    "maximum": lambda s: np.maximum(s, 1.5),
    "fmax": lambda s: np.fmax(s, 1.5),
    "clip": lambda s: np.clip(s, 1.5, 9.0),
    "nansum": lambda s: np.nansum(np.where(MASK, s, np.nan)),
    "sliding_window_view": lambda s: np.lib.stride_tricks.sliding_window_view(s, 2)[1:],
    "unique": lambda s: np.unique(s)[1:],
    "trim_zeros": np.trim_zeros,
    "atleast_2d": lambda s: np.atleast_2d(s)[:, 1:],
    "meshgrid": lambda s: np.meshgrid(s, s)[0][:, 1:],
    "fftshift": lambda s: np.fft.fftshift(s)[:2],
    "diagflat": lambda s: np.diagflat(s)[1:, 1:],
    "diag of a vector": lambda s: np.diag(s)[1:],
}
OF_MATRICES = {
    "diagonal": lambda s: np.diagonal(s, 1),
    "diag": lambda s: np.diag(s, 1),
    "trace": lambda s: np.trace(s, 1),
    "linalg.diagonal": lambda s: s[None].diagonal(1, 1, 2),
    "diagonal below": lambda s: np.diagonal(s, -1, 1, 0),
    "transpose": lambda s: s.T[1:],
    "swapaxes": lambda s: np.swapaxes(s, 0, 1)[1:],
    "moveaxis": lambda s: np.moveaxis(s, 0, 1)[1:],
    "tril": lambda s: np.tril(s, -1),
    "triu": lambda s: np.triu(s, 1),
    "rot90": lambda s: np.rot90(s)[0],
    "take_along_axis": lambda s: np.take_along_axis(s, np.array([[1], [2], [3]]), 1),
    "ix_": lambda s: s[np.ix_([1, 2], [1, 2])],
    "flat": lambda s: s.flat[1:],
    "triu_indices": lambda s: s[np.triu_indices(3, 1)],
    "hsplit": lambda s: np.hsplit(s, 2)[1],
    "max of rows": lambda s: np.max(s, axis=1),
    "matrix_transpose": lambda s: s.mT[1:],
}
CASES = [pytest.param(f, VECTOR, id=n) for n, f in TAKING.items()] + [
    pytest.param(f, MATRIX, id=n) for n, f in OF_MATRICES.items()
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("taking", "x"), CASES)
def test_what_is_not_taken_contributes_nothing(taking: Any, x: Any) -> None:
    f = lambda x: np.sum(taking(np.sqrt(x)))
    gradient = grad(f)(x)
    assert gradient.flat[0] == 0
    assert np.isfinite(gradient).all()
    assert np.isfinite(jvp(f, (x,), (np.ones_like(x),))[1])
    assert np.isfinite(hessian(f)(x)).all()
    if taking not in (TAKING[n] for n in ("unique", "trim_zeros")):
        np.testing.assert_allclose(vmap(grad(f))(np.stack([x, x])), [gradient, gradient])
