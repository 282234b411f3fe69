"""torch.testing: assert_close and make_tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad.torch.random.functions import default_generator
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.data import new_shape
from funcgrad.torch.tensors.tensor import Tensor, plain
from funcgrad.torch.tensors.tensor import make_tensor as tensor_of

# PyTorch's tolerances: relative and absolute, by dtype.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere; in sequences
    and mappings too.

    Without tolerances those of the dtype count (float32: 1.3e-6 and 1e-5); `check_dtype` compares dtypes as
    well.

    >>> import funcgrad.torch as torch
    >>> torch.testing.assert_close(torch.ones(2), torch.tensor([1.0, 1.1]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    ...
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "rtol and atol must both be specified or both be unspecified, but got no value for "
            f"{'rtol' if rtol is None else 'atol'}"
        )
    problem = _difference(actual, expected, rtol, atol, equal_nan, check_dtype, "")
    if problem is not None:
        raise AssertionError(problem if msg is None else msg(problem) if callable(msg) else msg)


def _difference(
    x: Any, y: Any, rtol: Any, atol: Any, equal_nan: bool, check_dtype: bool, where: str
) -> str | None:
    options = (rtol, atol, equal_nan, check_dtype)
    at = f"\n\nThe failure occurred for item {where}" if where else ""
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        if set(x) != set(y):
            missing = sorted(set(y) - set(x), key=str)
            return (
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}{at}"
            )
        found = (_difference(x[k], y[k], *options, f"{where}[{k!r}]") for k in x)
        return next((f for f in found if f is not None), None)
    if _is_sequence(x) and _is_sequence(y):
        if len(x) != len(y):
            return f"The length of the sequences mismatch: {len(x)} != {len(y)}{at}"
        found = (
            _difference(a, b, *options, f"{where}[{k}]") for k, (a, b) in enumerate(zip(x, y, strict=True))
        )
        return next((f for f in found if f is not None), None)
    if x is None or y is None or isinstance(x, str):
        return None if x is y or x == y else f"Object comparison failed: {x!r} != {y!r}{at}"
    text = _numbers(x, y, *options)
    return None if text is None else text + at


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str)


def _numbers(x: Any, y: Any, rtol: Any, atol: Any, equal_nan: bool, check_dtype: bool) -> str | None:
    """What is wrong with two tensors, arrays or numbers; None if they are close."""
    scalars = not any(isinstance(v, (Tensor, np.ndarray)) for v in (x, y))
    a, b = (np.asarray(plain(v) if isinstance(v, Tensor) else v) for v in (x, y))
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {_size(a)} != {_size(b)}."
    if check_dtype and not scalars and a.dtype != b.dtype:
        return f"The values for attribute 'dtype' do not match: {dtypes.of(a.dtype)} != {dtypes.of(b.dtype)}."
    if rtol is None:
        pairs = [_TOLERANCES.get(v.dtype.name, (0.0, 0.0)) for v in (a, b)]
        rtol, atol = (max(p[k] for p in pairs) for k in (0, 1))
    with np.errstate(all="ignore"):
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return None
    return _report(a, b, close, rtol, atol, scalars)


def _size(x: np.ndarray) -> str:
    return f"torch.Size({list(x.shape)})"


def _report(a: np.ndarray, b: np.ndarray, close: np.ndarray, rtol: float, atol: float, scalars: bool) -> str:
    with np.errstate(all="ignore"):
        gap = np.where(
            close,
            0,
            np.abs(a.astype(complex) - b.astype(complex))
            if a.dtype.kind == "c"
            else np.abs(a * 1.0 - b * 1.0),
        )
        relative = gap / np.abs(b)
    if scalars or a.ndim == 0:
        kind = "Scalars" if scalars else "Tensor-likes"
        return (
            f"{kind} are not close!\n\nExpected {b} but got {a}.\nAbsolute difference: {gap} (up to {atol} allowed)\n"
            f"Relative difference: {relative} (up to {rtol} allowed)"
        )
    worst, most = (
        np.unravel_index(int(np.nanargmax(v)) if not np.isnan(v).all() else 0, v.shape)
        for v in (gap, relative)
    )
    wrong = int(np.count_nonzero(~close))
    return (
        f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {a.size} ({100 * wrong / a.size:.1f}%)\n"
        f"Greatest absolute difference: {gap[worst]} at index {tuple(map(int, worst))} (up to {atol} allowed)\n"
        f"Greatest relative difference: {relative[most]} at index {tuple(map(int, most))} (up to {rtol} allowed)"
    )


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Random numbers in [low, high) (without them in [-9, 9), integers from 0 or -9 to 9) of a dtype."""
    size, wanted = new_shape("make_tensor", shape), dtypes.to_numpy(dtype)
    low = (0 if wanted.kind in "bu" else -9) if low is None else low
    high = (2 if wanted.kind == "b" else 10 if wanted.kind in "iu" else 9) if high is None else high
    if low >= high:
        raise ValueError(f"make_tensor: low must be below high, but got {low} >= {high}")
    x = _drawn(math.prod(size), wanted, low, high).reshape(size)
    if exclude_zero:
        x[x == 0] = 1 if wanted.kind in "biu" else np.finfo(wanted).tiny
    made = tensor_of(np.repeat(x, 2, -1)[..., ::2] if noncontiguous and x.ndim else x)
    return made.requires_grad_(requires_grad)


def _drawn(count: int, wanted: np.dtype[Any], low: float, high: float) -> np.ndarray:
    """Numbers in [low, high), from PyTorch's stream."""
    if wanted.kind in "biu":
        return default_generator.integers(count, math.ceil(low), math.ceil(high)).astype(wanted)
    real = np.dtype(np.float64 if wanted in (np.float64, np.complex128) else np.float32)
    u = default_generator.uniform(count * (1 + (wanted.kind == "c")), real) * real.type(
        high - low
    ) + real.type(low)
    return u.view(wanted) if wanted.kind == "c" else u.astype(wanted)
