"""Ways to assign, each in a line: NumPy's values in every mode, one derivative by all ways to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from funcgrad import grad, jvp, vjp, vmap

X, T_X = np.array([0.37, 0.91, 0.52, 0.68]), np.array([0.3, -0.7, 0.2, 0.9])
M = np.array([[0.81, 0.29, 0.55], [0.43, 0.97, 0.33], [0.61, 0.75, 0.19]])
T_M = np.array([[0.1, -0.4, 0.8], [0.6, 0.2, -0.5], [-0.3, 0.7, 0.4]])

# Each is a function of a vector x and a square matrix m, whose last contents (also of the arguments
# themselves) are returned.
LINES = """
x[0], x[2] = x[2], x[0]; x[1], x[1] = x[1]*2, x[1]*3
m[0], m[2] = m[2], m[0]
m[0], m[2] = m[2].copy(), m[0].copy()
m[[0, 2]] = m[[2, 0]]
m[:, [0, 2]] = m[:, [2, 0]]
x[[0, 0, 1]] += x[1:]
x[[0, 0, 1]] *= x[[1, 2, 3]]
x[[0, 0, 1]] = x[1:]
m[np.ix_([0, 2], [1, 2])] = m[:2, :2] * x[0]
m[np.ix_([0, 2], [1, 2])] += x[:2]
m[np.ix_([True, False, True], [0, 1])] *= x[:2]
x[1:3] = sliding_window_view(x, 2).sum(axis=1)[:2]
y = sliding_window_view(x, 2); x[1] = 3 * x[0]; x[2:] = y[0] * 2; x[3] += y[1, 1]
r = m[1]; y = sliding_window_view(r, 2); m.T[1] = x[:3]; x[:2] = y.sum(axis=1)
y = sliding_window_view(m, (2, 2)).max(axis=(-1, -2)); m[:2, :2] = y
m[...] = m.T
m += m.T
x[:] = x[::-1]
x += x[::-1]
x[1:] = x[:-1]
x[1:] += x[:-1]
x[:-1] *= x[1:]
np.add(x[1:], x[:-1], out=x[1:])
np.multiply(x[:-1], x[1:], out=x[1:])
np.matmul(m, m, out=m.T)
np.sin(x, out=x[::-1])
np.cumsum(x, out=x)
np.cumsum(x[::-1], out=x)
np.sum(m, axis=0, out=m[1])
np.sum(m, axis=1, out=m[:, 0])
x[2:2] = 5.0; x[:0] += 1; x[[]] = 3.; x[np.zeros(4, bool)] = 2.
z = x[:0]; z += 1; z[...] = 3; y = np.concatenate([z, x]); y[0] = 2; x = y
z = np.array(x[0], like=x); z += 1; z[...] = z * 2; z[()] = z + x[1]; x[0] = z
z = x[0]; z += 1; x[1] = z
z = x[1, ...]; z += 1; z[...] = z * 2
z = x[1, ...]; z[None] = 3.0 * x[0]
x[True] = x * 2
x[np.True_] = 3 * x
x[False] = 9.0; x[np.False_] = 3.0
y = x[True]; y[0] = 5; x = np.concatenate([x, y.ravel()])
y = x[False]; x = np.concatenate([x, y.ravel()])
y = x[None]; y[0, 1] = 5 * x[0]
x[()] = x * 2
y = x[()]; y[0] = 2
m[1][2] = x[0]; m[1][:][0] = x[1]
m.flat[3] = x[0]; m.flat[[1, 2]] = x[:2]; m.flat[4:] = x
x[0] = m.flat[5]; x[1:] = m.flat[2:5]
x[0] = sum(v for v in m.flat)
m.T[0] = x[:3]; m.T[1, 2] = x[3]
m.T[0:2, 1] = x[:2]
m.reshape(-1)[4] = x[0]; m.reshape(9)[::2] *= 2
m.reshape(-1, order="F")[4:6] = x[:2]
r = m.ravel(); r += 1; r[2] = x[0]
r = m.T.ravel(); r += 1; r[2] = x[0]
r = m.flatten(); r += 1; m[0] = r[:3]
z = x * (1 + 2j); z.real[1] = x[0]; z.imag[2:] = x[:2]; z.real *= 2; x = z
z = x + 0j; z.real = x ** 2; z.imag = x; x = z
z = x * (1 + 2j); z.imag *= -1; z.imag[::2] = z.real[1::2]; x = z
y = x[::-1]; y[0] = 2 * x[0]; y[1:] += 1; y[::-1][0] = 4.0
y = m[::-1, ::-2]; y[0] *= 2; y[:, 1] = x[:3]; y += y[::-1]
z = np.array(m, order="F", like=m); z[0] = x[:3]; r = z.ravel(order="K"); r[1] = 7 * x[0]; m = z
z = m.copy(order="F"); z.ravel("F")[3] = x[1]; m = z
a = m[1:]; b = a[:, ::2]; c = b.T; c[0] += x[:2]; d = c[..., None]; d[1, 0] = 3 * x[2]
v = m[::2][::-1][:, 1:]; v -= x[0]; v[...] **= 2
for row in m: row -= row.mean(); row /= np.sqrt((row ** 2).sum() + 1)
for i, row in enumerate(m): m[i] = row * x[i]
for row in reversed(m): row += m[0]
for a, b in zip(m, m.T): a += b
for i in np.ndindex(3, 3): m[i] += m[i[::-1]]
for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)): x[i], x[j] = np.minimum(x[i], x[j]), np.maximum(x[i], x[j])
np.put(x, [0, -1], x[1:3]); np.put(m, [[0, 1], [2, 8]], x, mode="wrap")
np.putmask(x, x > 0.5, x[::-1]); np.putmask(m, m > 0.7, x[:2])
np.place(m, np.eye(3) > 0, x[:2])
np.copyto(m, x[:3], where=m > 0.6)
np.copyto(m, m.T)
np.fill_diagonal(m, x[:2]); np.fill_diagonal(m[:2], x[0])
np.fill_diagonal(m[:, ::-1], x[:3])
np.add.at(x, [0, 0, 3], m[0]); np.add.at(m, (slice(None), [0, 0]), x[:2])
np.subtract.at(m, ([0, 1, 0], [1, 1, 1]), x[:3])
np.multiply.at(x, [1, 1, 2], m[1])
np.maximum.at(x, [1, 1, 2], m[1]); np.minimum.at(x, [0, 3], m[2, :2])
np.add.at(x, [0, 1, 1], x[1:])
m.sort(axis=0); x.sort()
x[::-1].sort(); m[1].sort(); m.T[0].sort()
x.partition(2)
np.clip(x, 0.3, 0.8, out=x); m.clip(0.2, None, out=m)
x[np.argmax(x)] = 0.0; x[np.argsort(x)[:2]] = m[0, :2]
x[np.int32(1)] = 2 * x[0]; x[np.uint8(2):] = 1; m[np.intp(1), np.int8(2)] = x[0]
x[np.array(1)] = 2 * x[0]; m[np.array(0), 1:] += x[:2]; y = x[np.array(2)]; x[0] = y
m[[0, 1], [1, 2]] = x[:2]; m[[[0], [2]], [0, 1]] *= 2
m[[0, 2], :, None] += x[:2, None, None]; m[1:, [0, 1]] = x[:2]
m[(0, 1)] = x[0]; m[(slice(None), 2)] = x[:3]; m[(..., 0)] = 1.5 * x[1]
m[..., 1] += x[:3]; m[1, ...] *= 2; x[...] += 1; x[..., 0] = 3 * x[1]
m[:, None, 1] = x[:3, None]; x[None, 1:] = m[0]; x[:, None][1] = 2
x[-1] = x[-2] * 2; m[-1, -1] += x[-4]; m[-2:, :-1] = x[0]
m[[True, False, True]] = x[:3]; m[:, np.array([True, True, False])] += x[:2]
x[np.where(x > 0.4)] *= 3; x[np.nonzero(x > 1)[0]] = 0.5
y = x[1:]; del y; x += 1
y = x; y = y + 1; y[0] = 9; x[1] = y[0]
y = x; y += 1; y *= x; x[0] = y[1]
x **= 2; x **= x; m **= 0.5; x[1:] **= m[0]
x //= 0.3; m %= 0.4; m[0] %= x[:3] + 1
m @= m; m[:2, :2] @= m[1:, 1:]
x /= x[0]; m /= m.sum(axis=0); m[1] /= m[1, 1]
s = np.sum(x); s += x; x = s
n = np.zeros_like(x, dtype=int); n[0] = 3; n[1:] = x[1:] > 0.5; n += 1; x *= n
h = np.zeros_like(m[0]); np.add.at(h, [0, 1, 1, 2], x); m[0] = h
a = [x[:2], x[2:]]; a[0][0] = 5 * x[3]; a[1] += 1; a[1] = a[1] * 2; a[1][0] = 9
d = dict(u=m[0], v=m[:, 0]); d["u"] *= 2; d["v"] += d["u"]; d["u"][1] = x[0]
a, b = np.split(x, 2); a += b; b[0] = a[1]
a, b, c = np.hsplit(m, 3); b += a; c[...] = b * x[0]
a, b, c = m; a += b; c[0] = a[2]; b[...] = c
d = np.diagonal(m); x[:3] = d * 2; d2 = np.diag(m); x[3] = d2[1]
y = np.broadcast_to(x, (2, 4)); x[0] = y[1, 1] * 2; x[1] = y[0, 0]
y = np.expand_dims(x, 0); y[0, 1] = 2 * x[0]; np.atleast_2d(x)[0, 2] = 7 * x[1]
y = np.squeeze(m[:1]); y *= 2; y[0] = x[0]
y = np.moveaxis(m, 0, 1); y[0] += x[:3]; np.rollaxis(m, 1)[2] = 1.0
np.rot90(m)[0] = x[:3]; np.flip(x)[0] = 3 * x[1]; np.fliplr(m)[:, 0] += 1
a, b = np.broadcast_arrays(x[:3], m); m[0] = a[1] * 2
z = np.apply_along_axis(lambda r: r * 2, 0, np.ones((2, 2))); m[:2, :2] *= z
x[...] = np.roll(x, 1) + x
x[:] = np.concatenate([x[2:], x[:2]])
y = np.empty_like(x); y[0] = x[0]; y[1:] = x[:-1]; x = y
y = np.zeros(3, like=x); y[1:] = x[:2]; y[0] = y[1] * y[2]; x = y
y = np.ones_like(m); y[1] = x[:3]; y *= m; m = y
y = np.full_like(x, 2.0); y[::2] = x[::2]; x = y
y = np.array([1.0, 2.0], like=x); y[0] = x[0]; x = y
y = np.zeros((2, 3), like=x); y[:, 0] = x[:2]; y[:, 1:] = m[:2, 1:]; m = y @ m
z = np.zeros(4, complex, like=x); z[0] = x[0]; z[1:] = 1j * x[1:]; z[2] += x[2]; z *= 1 + 1j; x = z
y = x.copy(); y.fill(x[1]); x[:2] = y[:2]
x[1:3] = np.take(x, [3, 0]); x[0] = x.take(2)
x[:3] = np.choose([0, 1, 0], [x[:3], m[0]])
x[...] = np.select([x > 0.8, x > 0.4], [x * 2, x * 3], 1.0)
x[0] = sum(x[i] * m[i % 3, 0] for i in range(4))
np.divmod(x, 0.3, out=(x, np.zeros_like(x)))
np.divide(1.0, x, out=x, where=x > 0.4)
y = np.zeros_like(x); np.sqrt(x, out=y, where=x > 0.6); x = y
np.add.reduce(m, axis=1, out=x[:3]); np.maximum.reduce(m, axis=0, out=x[1:])
np.mean(m, axis=0, out=m[2]); np.std(m, axis=1, out=x[:3])
np.add.accumulate(x, out=x); np.multiply.accumulate(m, axis=1, out=m)
y = np.zeros_like(m); np.dot(m, m, out=y); m[...] = y; np.outer(x[:3], x[1:], out=m)
np.einsum("ij,j->i", m, x[:3], out=x[1:])
np.take(x, [1, 2, 3], out=m[0]); np.compress([True, False, True], x, out=x[:2])
np.round(x, 1, out=x); x *= x
np.negative(x, x); np.exp(m, m); np.add(x, 1, x)
""".strip().splitlines()


def program(line: str) -> Callable[[Any, Any], Any]:
    """The function of this line."""
    statements = [line] if line.startswith("for ") else line.split("; ")
    source = "\n    ".join(["def f(x, m):", "x0, m0 = x, m", *statements, "return [x, m, x0, m0]"])
    space: dict[str, Any] = {"np": np, "sliding_window_view": sliding_window_view}
    exec(source, space)
    return space["f"]


def loss(f: Callable[[Any, Any], Any], x: Any, m: Any) -> Any:
    """One number, to which every element of every result contributes."""
    total: Any = 0.0
    for out in f(x, m):
        weights = np.cos(np.arange(out.size)).reshape(out.shape) + 1.5
        total = total + np.sum((out * weights * (1 + out)).real)
    return total


@pytest.mark.parametrize("line", LINES)
def test_a_way_to_assign(line: str) -> None:
    f = program(line)
    expected = f(X.copy(), M.copy())
    for found in (vjp(f, X, M)[0], [x[1] for x in vmap(f)(np.stack([X, X]), np.stack([M, M]))]):
        for x, y in zip(found, expected, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-13)
    h = 1e-6
    slope = (loss(f, X + h * T_X, M + h * T_M) - loss(f, X - h * T_X, M - h * T_M)) / (2 * h)
    cts = grad(lambda x, m: loss(f, x, m), argnums=(0, 1))(X, M)
    along = np.sum(cts[0] * T_X) + np.sum(cts[1] * T_M)
    assert along == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert jvp(lambda x, m: loss(f, x, m), (X, M), (T_X, T_M))[1] == pytest.approx(along, rel=1e-12)
