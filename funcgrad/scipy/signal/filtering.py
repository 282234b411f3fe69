"""Linear filters along an axis: lfilter, sosfilt, upfirdn, and what SciPy's own code makes of them.

Three functions serve all of it, and are each other's transposes. `fir` is a causal convolution, `lags` the
correlation with delayed copies, `recursive` the filter 1/a. Backwards in time a filter is its own transpose,
and the sensitivity in a coefficient of 1/a is the filtered, delayed output (J. Makhoul, "Linear prediction",
Proceedings of the IEEE 63 (1975), 561).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal as theirs

from funcgrad.core.arrays.ufunc import as_array
from funcgrad.core.engine.batch import one_by_one
from funcgrad.core.engine.declare import custom, multilinear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.trace import bind
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.rerun import rerun

signal = Chapter("signal")


def _rows(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A batch of signals is signals with one leading axis more; coefficients that differ take one run each."""
    signals = [b for b, (name, _) in zip(batched, call.layout) if name in ("x", "ct", "y")]
    others = [b for b, (name, _) in zip(batched, call.layout) if name not in ("x", "ct", "y")]
    if any(others) or not all(signals) or call.params.get("count") is not None:
        return one_by_one(primitive, call, batched, size)
    return bind(primitive, call)


# ---- along the last axis ---------------------------------------------------------------------------------------------
def _fir(b, x):
    """sum over k of b[k] x[n - k]."""
    if b.shape[0] == 1:
        return b[0] * x
    return (
        theirs.oaconvolve(x, b.reshape((1,) * (x.ndim - 1) + (-1,)), axes=-1)[..., : x.shape[-1]]
        if _long(b, x)
        else _taps(b, x)
    )


def _long(b: Any, x: Any) -> bool:
    return b.shape[0] > 500 and x.shape[-1] > 500


def _taps(b: Any, x: Any) -> Any:
    return theirs.lfilter(b, np.ones(1, b.dtype), x)


def _lags(y, x, count):
    """For each k < count the sum over n of y[n] x[n - k], over all signals."""
    n = x.shape[-1]
    parts = [np.sum(y[..., k:] * x[..., : n - k]) if k < n else 0.0 for k in range(count)]
    return np.array(parts, np.result_type(y.dtype, x.dtype))


def _recursive(a, x):
    """The y with sum over k of a[k] y[n - k] = x[n]."""
    return theirs.lfilter(np.ones(1, a.dtype), a, x)


def _back(x: Any) -> Any:
    return x[..., ::-1]


FIR = multilinear(
    _fir,
    lambda ct, b, x: LAGS(ct, x, b.shape[0]),
    lambda ct, x, b: _back(FIR(b, _back(ct))),
    operands="b x",
    batch=_rows,
    name="scipy.signal.lfilter",
)
LAGS = multilinear(
    _lags,
    lambda ct, x: FIR(ct, x),
    lambda ct, y: _back(FIR(ct, _back(y))),
    operands="y x",
    name="scipy.signal.lfilter",
)
RECURSIVE = custom(
    _recursive,
    {
        "a": lambda ct, a, out: -LAGS(_back(RECURSIVE(a, _back(ct))), out, a.shape[0]),
        "x": lambda ct, a: _back(RECURSIVE(a, _back(ct))),
    },
    push=lambda t, a, out: _pushed(t, a, out),
    operands="a x",
    batch=_rows,
    name="scipy.signal.lfilter",
)


def _pushed(t: Any, a: Any, out: Any) -> Any:
    moved = 0 if t["a"] is None else -FIR(t["a"], out)
    return RECURSIVE(a, moved if t["x"] is None else t["x"] + moved)


# ---- lfilter and sosfilt ---------------------------------------------------------------------------------------------
def filtered(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """The output of the filter b/a, and with `zi` its final state, too."""
    b, a, x = as_array(b), as_array(a), as_array(x)
    dtype = np.result_type(
        *(v.dtype for v in (b, a, x)), *([] if zi is None else [as_array(zi).dtype]), np.float32
    )
    b, a = b.astype(dtype) / a[0], a.astype(dtype) / a[0]
    x = np.moveaxis(x.astype(dtype), axis, -1)
    u = FIR(b, x)
    if zi is None:
        y = u if a.shape[0] == 1 else RECURSIVE(a, u)
        return np.moveaxis(y, -1, axis)
    order = max(a.shape[0], b.shape[0]) - 1
    zi = np.moveaxis(as_array(zi).astype(dtype), axis, -1)
    zi = np.broadcast_to(zi, (*x.shape[:-1], order))
    n, head = x.shape[-1], min(order, x.shape[-1])
    u = np.concatenate([u[..., :head] + zi[..., :head], u[..., head:]], axis=-1)
    y = u if a.shape[0] == 1 else RECURSIVE(a, u)
    state = _state(b, a, x, y, order)
    late = (
        np.zeros_like(state)
        if order <= n
        else np.concatenate([zi[..., n:], np.zeros_like(zi[..., :n])], axis=-1)
    )
    return np.moveaxis(y, -1, axis), np.moveaxis(state + late, -1, axis)


def _state(b: Any, a: Any, x: Any, y: Any, order: int) -> Any:
    """What the last inputs and outputs will still add to the next `order` sums."""
    parts = []
    for k in range(order):
        total = np.zeros_like(x[..., 0])
        for values, coefficients, sign in ((x, b, 1), (y, a, -1)):
            for j in range(k + 1, coefficients.shape[0]):
                if j - k <= values.shape[-1]:
                    total = total + sign * coefficients[j] * values[..., k - j]
        parts.append(total)
    return np.stack(parts, axis=-1) if parts else np.zeros_like(x[..., :0])


@signal.composite("lfilter")
def _lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    b, a, x = np.atleast_1d(as_array(b)), np.atleast_1d(as_array(a)), as_array(x)
    if b.ndim != 1 or a.ndim != 1 or not x.ndim:
        raise ValueError(
            f"lfilter: b {b.shape} and a {a.shape} must have one axis, and x {x.shape} at least one"
        )
    return filtered(b, a, x, axis, zi)


@signal.composite("sosfilt")
def _sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    sos, x = np.atleast_2d(as_array(sos)), as_array(x)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError(f"sosfilt: sos must be of shape (sections, 6), not {sos.shape}")
    if not np.all(sos[:, 3] == 1):
        raise ValueError("sos[:, 3] should be all ones")
    states = []
    for k, section in enumerate(sos):
        if zi is None:
            x = filtered(section[:3], section[3:], x, axis)
        else:
            x, state = filtered(section[:3], section[3:], x, axis, as_array(zi)[k])
            states.append(state)
    return x if zi is None else (x, np.stack(states))


signal.rerun("filtfilt sosfiltfilt sosfilt_zi deconvolve savgol_filter savgol_coeffs decimate")

# SciPy divides by a[0] only if that is not 1, which would hide the derivative there.
_initial, _step_response = rerun(theirs.lfiltic), rerun(theirs.lfilter_zi)


def _normalized(b: Any, a: Any) -> tuple[Any, Any]:
    a, b = np.atleast_1d(as_array(a)), np.atleast_1d(as_array(b))
    while a.shape[0] > 1 and a[0] == 0:
        a = a[1:]
    return b / a[0], a / a[0]


@signal.composite("lfilter_zi")
def lfilter_zi(b, a):
    return _step_response(*_normalized(b, a))


@signal.composite("lfiltic")
def lfiltic(b, a, y, x=None):
    if np.atleast_1d(as_array(a))[0] == 0:
        raise ValueError("First `a` filter coefficient must be non-zero.")
    return _initial(*_normalized(b, a), y, x)


# ---- upsampling, a filter, downsampling ------------------------------------------------------------------------------
def _up_fir_down(h, x, up=1, down=1):
    return theirs.upfirdn(h, x, up, down)


def _fitted(x: Any, n: int) -> Any:
    """The first n elements along the last axis, zeros where there are less."""
    missing = n - x.shape[-1]
    if missing <= 0:
        return x[..., :n]
    return np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1)


def _to_signal(ct, x, h, up=1, down=1):
    """ct filtered backwards: the factors change places, and h begins where the first input stood."""
    shift = h.shape[0] - 1
    pad = -shift % up
    turned = np.concatenate([np.zeros(pad, h.dtype), h[::-1]])
    whole = UP_FIR_DOWN(turned, ct, down, up)
    return _fitted(whole[..., (shift + pad) // up :], x.shape[-1])


def _to_filter(ct, h, x, up=1, down=1):
    """For each coefficient the sum of the products that it was in."""
    rows_ct, rows_x = (v.reshape(-1, v.shape[-1]) for v in (ct, x))
    total = 0
    for c, v in zip(rows_ct, rows_x):
        spread = UP_FIR_DOWN(np.ones(1, v.dtype), v[::-1], up, 1)
        total = total + _fitted(UP_FIR_DOWN(spread, c, down, 1)[spread.shape[0] - 1 :], h.shape[0])
    return total


UP_FIR_DOWN = multilinear(
    _up_fir_down, _to_filter, _to_signal, operands="h x", batch=_rows, name="scipy.signal.upfirdn"
)


# What np.pad says for these extensions of a signal.
_EXTENSIONS: dict[str, dict[str, Any]] = {
    "symmetric": {"mode": "symmetric"},
    "reflect": {"mode": "reflect"},
    "edge": {"mode": "edge"},
    "wrap": {"mode": "wrap"},
    "antireflect": {"mode": "reflect", "reflect_type": "odd"},
}


def _extended(x: Any, n: int, mode: str, cval: Any) -> Any:
    """A signal with n elements more at either end of its last axis."""
    width = [(0, 0)] * (x.ndim - 1) + [(n, n)]
    if mode == "constant":
        ends = (np.zeros((*x.shape[:-1], n)) + cval).astype(x.dtype)
        return np.concatenate([ends, x, ends], axis=-1)
    if mode in _EXTENSIONS:
        return np.pad(x, width, **_EXTENSIONS[mode])
    if mode == "antisymmetric":
        m = x.shape[-1]
        place = np.arange(-n, m + n)
        odd = place // m % 2 == 1
        return np.where(odd, -x[..., ::-1][..., place % m], x[..., place % m])
    if mode not in ("smooth", "line"):
        raise ValueError(f"Unknown mode: {mode}")
    first, last = x[..., :1], x[..., -1:]
    line = (last - first) / max(1, x.shape[-1] - 1)
    slopes = (line, line) if mode == "line" else (x[..., 1:2] - first, last - x[..., -2:-1])
    steps = np.arange(1, n + 1).astype(x.dtype)
    return np.concatenate([first - steps[::-1] * slopes[0], x, last + steps * slopes[1]], axis=-1)


@signal.composite("upfirdn")
def _upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0
) -> Any:
    h, x = as_array(h), as_array(x)
    if h.ndim != 1 or h.shape[0] == 0:
        raise ValueError("h must be 1-D with non-zero length")
    if int(up) < 1 or int(down) < 1:
        raise ValueError("Both up and down must be >= 1")
    dtype, up, down = np.result_type(h.dtype, x.dtype, np.float32), int(up), int(down)
    h, x = h.astype(dtype), np.moveaxis(x.astype(dtype), axis, -1)
    # as far as the filter reaches, and a whole number of steps
    beyond = -(-(h.shape[0] - 1) // up)
    beyond = -(-beyond // down) * down
    if beyond == 0 or mode == "constant" and isinstance(cval, (int, float)) and cval == 0:
        return np.moveaxis(UP_FIR_DOWN(h, x, up, down), -1, axis)
    size = ((x.shape[-1] - 1) * up + h.shape[0] - 1) // down + 1
    out = UP_FIR_DOWN(h, _extended(x, beyond, mode.lower(), cval), up, down)
    first = beyond * up // down
    return np.moveaxis(out[..., first : first + size], -1, axis)


signal.rerun("resample resample_poly")
