"""funcgrad.numpy beside the array API standard, as array-api-strict has it: names, calls, results.

The standard's own suite is run by `make array-api SUITE=path`. Each call here is made three times: in
array-api-strict, in funcgrad.numpy, and in funcgrad.numpy while a transform runs, where new arrays are blank.
"""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.numpy as fnp
from funcgrad import grad
from funcgrad.core.memory.blank import plain

strict = pytest.importorskip("array_api_strict")
pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="NumPy has the whole standard since 2.3"
)

EXTENSIONS = {"": (strict, fnp), "linalg": (strict.linalg, fnp.linalg), "fft": (strict.fft, fnp.fft)}
# What the standard has and NumPy has not.
NUMPYS = {"sort": {"descending"}, "argsort": {"descending"}, "fftfreq": {"dtype"}, "rfftfreq": {"dtype"}}
OWN = {
    "set_array_api_strict_flags",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "ArrayAPIStrictFlags",
    "Device",
}


def functions() -> list[Any]:
    found = []
    for extension, (standard, ours) in EXTENSIONS.items():
        for name in sorted(set(standard.__all__) - OWN):
            function = getattr(standard, name)
            if inspect.isfunction(function) and not name.startswith("__"):
                found.append(pytest.param(function, ours, name, id=f"{extension}.{name}".lstrip(".")))
    return found


def test_every_name_of_the_standard_is_there() -> None:
    for standard, ours in EXTENSIONS.values():
        missing = [
            name for name in standard.__all__ if name not in OWN | {"__version__"} and not hasattr(ours, name)
        ]
        assert missing == []
    assert fnp.__array_api_version__ >= "2024.12"


@pytest.mark.parametrize(("function", "ours", "name"), functions())
def test_signatures_take_what_the_standard_gives(function: Callable[..., Any], ours: Any, name: str) -> None:
    standard, numpys = (
        inspect.signature(function).parameters,
        inspect.signature(getattr(ours, name)).parameters,
    )
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    by_position = [p for p in standard.values() if p.kind in positional]
    if not any(p.kind is p.VAR_POSITIONAL for p in numpys.values()):
        assert len([p for p in numpys.values() if p.kind in positional]) >= len(by_position)
    if any(p.kind is p.VAR_KEYWORD for p in numpys.values()):
        return
    named = {p.name for p in standard.values() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    assert named - set(numpys) == NUMPYS.get(name, set())


# ---- results ---------------------------------------------------------------------------------------------------------
NUMBERS = [[0.5, -1.25, 2.0], [3.0, 0.75, -0.5]]
INSIDE = [[0.5, 0.25, 0.75], [0.125, 0.3, 0.9]]
INTEGERS = [[3, 1, 2], [5, 0, 4]]
UNARY = (
    "abs asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log1p log2 log10 negative positive "
    "reciprocal round sign signbit sin sinh square sqrt tan tanh trunc acos"
)
BINARY = (
    "add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp maximum minimum multiply "
    "nextafter not_equal pow remainder subtract"
)
BITWISE = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor"
REDUCTIONS = "sum prod mean max min std var all any argmax argmin count_nonzero"
CALLS: dict[str, Callable[..., Any]] = {
    **{name: lambda xp, x, y, n=name: getattr(xp, n)(y) for name in UNARY.split()},
    "acosh": lambda xp, x, y: xp.acosh(xp.asarray([1.5, 2.0])),
    **{name: lambda xp, x, y, n=name: getattr(xp, n)(y, xp.asarray([2.0, 0.5, 0.5])) for name in BINARY.split()},
    **{name: lambda xp, x, y, n=name: getattr(xp, n)(xp.asarray(INTEGERS), xp.asarray([1, 2, 0])) for name in BITWISE.split()},
    **{name: lambda xp, x, y, n=name: getattr(xp, n)(x, axis=-1, keepdims=True) for name in REDUCTIONS.split()},
    **{f"{name} of all": lambda xp, x, y, n=name: getattr(xp, n)(x) for name in REDUCTIONS.split()},
    "logical": lambda xp, x, y: [
        xp.logical_and(xp.asarray([True, False]), xp.asarray(True)), xp.logical_or(xp.asarray([True, False]), xp.asarray(False)),
        xp.logical_xor(xp.asarray([True, False]), xp.asarray(True)), xp.logical_not(xp.asarray([True, False])),
    ],
    "complex": lambda xp, x, y: [
        xp.real(xp.asarray([1 + 2j])), xp.imag(xp.asarray([1 + 2j])), xp.conj(xp.asarray([1 + 2j])), xp.abs(xp.asarray([3 + 4j])),
    ],
    "creation": lambda xp, x, y: [
        xp.zeros((2, 3)), xp.ones(3, dtype=xp.float32), xp.full((2,), 5), xp.full((2,), 2.5), xp.full((2,), True), xp.arange(4),
        xp.arange(1.0, 3.0, 0.5), xp.eye(3, 2, k=1), xp.linspace(0.0, 1.0, num=5), xp.linspace(0, 1, num=4, endpoint=False),
        xp.zeros_like(x), xp.ones_like(xp.asarray(INTEGERS)), xp.full_like(x, 3),
        xp.tril(x, k=-1), xp.triu(x, k=1), xp.asarray(NUMBERS, dtype=xp.float32),
        xp.meshgrid(xp.asarray([1.0, 2.0]), xp.asarray([3.0]), indexing="ij"),
    ],
    "empty": lambda xp, x, y: [xp.zeros_like(xp.empty((2, 0))), xp.zeros_like(xp.empty_like(x))],
    "dtypes": lambda xp, x, y: [
        xp.astype(x, xp.int64), xp.isdtype(xp.float64, "real floating"), xp.can_cast(xp.int32, xp.int64),
        xp.asarray(0.0, dtype=xp.result_type(xp.float32, xp.float64)), float(xp.finfo(xp.float64).eps), xp.iinfo(xp.int8).max,
    ],
    "shapes": lambda xp, x, y: [
        xp.broadcast_to(xp.asarray([1.0, 2.0]), (3, 2)), xp.broadcast_arrays(xp.asarray([1.0]), x),
        xp.concat([x, y], axis=1), xp.concat([x] * 2, axis=None),
        xp.stack([xp.asarray([1.0, 2.0])] * 2, axis=-1), xp.unstack(x, axis=1), xp.tile(xp.asarray([1.0, 2.0]), (2, 2)),
        xp.expand_dims(x, axis=1), xp.squeeze(xp.asarray([[1.0]]), axis=0), xp.flip(x, axis=-1),
        xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1), xp.permute_dims(x, (1, 0)), xp.reshape(x, (3, 2)),
        xp.roll(x, 1, axis=1), xp.repeat(x, 2, axis=0), xp.matrix_transpose(x),
    ],
    "choices": lambda xp, x, y: [
        xp.where(xp.asarray([[True], [False]]), x, y), xp.clip(x, 0.0, 1.0),
        xp.take(x, xp.asarray([2, 0]), axis=1), xp.nonzero(xp.asarray([1.0, 0.0, 2.0])),
        xp.take_along_axis(x, xp.asarray([[0], [2]]), axis=1),
        xp.searchsorted(xp.asarray([1.0, 2.0, 3.0]), xp.asarray([2.5, 0.0]), side="right"),
    ],
    "order": lambda xp, x, y: [
        xp.sort(x, axis=0), xp.argsort(x, stable=True),
        *xp.unique_all(xp.asarray([2.0, 1.0, 2.0])), *xp.unique_counts(xp.asarray([2.0, 1.0, 2.0])),
        *xp.unique_inverse(xp.asarray([2.0, 1.0, 2.0])), xp.unique_values(xp.asarray([2.0, 1.0, 2.0])),
    ],
    "accumulations": lambda xp, x, y: [
        xp.cumulative_sum(x, axis=1, include_initial=True), xp.cumulative_prod(x, axis=0),
        xp.diff(x, axis=1),
    ],
    "products": lambda xp, x, y: [
        xp.matmul(x, xp.matrix_transpose(y)), xp.vecdot(x, y),
        xp.tensordot(x, y, axes=((1,), (1,))), x @ xp.asarray([1.0, 2.0, 3.0]),
    ],
    "linalg": lambda xp, x, y: [
        xp.linalg.det(m(xp)), xp.linalg.inv(m(xp)), xp.linalg.solve(m(xp), xp.asarray([1.0, 2.0])),
        xp.linalg.cholesky(m(xp)), xp.linalg.eigvalsh(m(xp)), xp.linalg.svdvals(m(xp)), *xp.linalg.slogdet(m(xp)),
        xp.linalg.matrix_norm(m(xp)), xp.linalg.vector_norm(m(xp), axis=0), xp.linalg.matrix_power(m(xp), 3),
        xp.linalg.matrix_rank(m(xp)), xp.linalg.trace(m(xp)), xp.linalg.diagonal(m(xp)), xp.linalg.pinv(m(xp)),
        xp.linalg.outer(xp.asarray([1.0, 2.0]), xp.asarray([3.0])), xp.linalg.cross(x, y),
    ],
    "fft": lambda xp, x, y: [
        xp.fft.fft(xp.asarray([1 + 0j, 2j, 3])), xp.fft.ifft(xp.asarray([1 + 0j, 2j, 3]), norm="ortho"), xp.fft.rfft(x),
        xp.fft.irfft(xp.asarray([1 + 0j, 2j])), xp.fft.fftn(x + 0j), xp.fft.hfft(xp.asarray([1 + 0j, 2j])),
        xp.fft.fftshift(x), xp.fft.fftfreq(4, d=0.5), xp.fft.rfftfreq(5),
    ],
    "operators": lambda xp, x, y: [
        x[0, ...], x[:, ::-1], x[x > 0], -x,
        2.0 - x, x / 2, 2.0 ** x, x % 1.5, abs(x),
        xp.asarray(INTEGERS) << 1, x.T, x.mT, float(xp.asarray(1.5)), len(x.shape),
    ],
    "assignment": lambda xp, x, y: assigned(xp),
}  # fmt: skip


def m(xp: Any) -> Any:
    return xp.asarray([[2.0, 0.5], [0.5, 1.0]])


def assigned(xp: Any) -> Any:
    x = xp.zeros((2, 3))
    x[0, 1] = 5.0
    x[1, :] = xp.asarray([1.0, 2.0, 3.0])
    x += 1.0
    x[x > 3] = 0.0
    return x


def shown(x: Any) -> list[Any]:
    """The results in `x`, as NumPy arrays."""
    if isinstance(x, (list, tuple)):
        return [array for item in x for array in shown(item)]
    return [
        np.from_dlpack(x)
        if hasattr(x, "__array_namespace__") and type(x).__module__.startswith("array_api")
        else np.asarray(plain(x))
    ]


def called(name: str, xp: Any) -> list[Any]:
    return shown(CALLS[name](xp, xp.asarray(NUMBERS), xp.asarray(INSIDE)))


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_the_standard(name: str) -> None:
    seen: list[Any] = []
    with np.errstate(all="ignore"):
        expected, outside = called(name, strict), called(name, fnp)
        grad(lambda t: (seen.append(called(name, fnp)), t)[1])(1.0)
    for came in (outside, seen[0]):
        for c, e in zip(came, expected, strict=True):
            assert (c.shape, c.dtype) == (e.shape, e.dtype)
            np.testing.assert_allclose(c, e, rtol=1e-12)


# ---- what NumPy does in another way ----------------------------------------------------------------------------------
def test_what_the_file_of_expected_failures_says() -> None:
    entries = (pathlib.Path(__file__).parent / "xfails.txt").read_text(encoding="utf-8").split("\n\n")
    assert all(block.startswith("#") for block in entries)
    assert isinstance(np.finfo(np.float32).eps, np.float32)
    assert isinstance(np.finfo(np.float64).eps, np.float64)
    assert isinstance(fnp.meshgrid(np.ones(2), np.ones(2)), tuple)
    assert isinstance(fnp.broadcast_arrays(np.ones(2), np.ones(1)), tuple)
    assert [*inspect.signature(fnp.clip).parameters][1:3] == ["a_min", "a_max"]
    with pytest.raises(TypeError, match="safe"):
        fnp.repeat(np.ones(2), np.array([1, 2], np.uint64))
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.floor_divide(np.inf, 2.0))
        assert np.isnan(np.expm1(complex(np.inf, 0.0)).imag)
    assert np.floor_divide(1.0, -np.inf) == -1
    for name in ("sort", "argsort", "fftfreq", "rfftfreq"):
        assert any(name in block for block in entries)
