"""Functions of many float32 elements by blocks, against NumPy's of the same elements: bit for bit where exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch

torch: Any = funcgrad.torch
COUNT = 20_000  # more than two blocks
_EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, 1.0, -1.0], np.float32)


def _normal(drawn: np.random.Generator) -> np.ndarray:
    return (3 * drawn.standard_normal(COUNT)).astype(np.float32)


def _whole(drawn: np.random.Generator) -> np.ndarray:
    return drawn.integers(-50, 50, COUNT).astype(np.float32)


def _odd(drawn: np.random.Generator) -> np.ndarray:
    """Of 24 bits: the quotients that come nearest to integers."""
    return (drawn.integers(1 << 23, 1 << 24, COUNT) * drawn.choice([-1, 1], COUNT)).astype(np.float32)


def _scattered(drawn: np.random.Generator) -> np.ndarray:
    return (drawn.standard_normal(COUNT) * np.exp2(drawn.integers(-13, 13, COUNT))).astype(np.float32)


def _subnormal(drawn: np.random.Generator) -> np.ndarray:
    return drawn.integers(1, 1 << 20, COUNT, dtype=np.uint32).view(np.float32)


def _any_bits(drawn: np.random.Generator) -> np.ndarray:
    return drawn.integers(0, 1 << 32, COUNT, dtype=np.uint32).view(np.float32)


def _with_edges(drawn: np.random.Generator) -> np.ndarray:
    """Special values in the middle block, which NumPy's function takes; none in the others."""
    x = _normal(drawn)
    x[10_000:11_000] = drawn.choice(_EDGES, 1000)
    return x


def _rising(drawn: np.random.Generator) -> np.ndarray:
    return np.sort(_normal(drawn))


def _same_bits(found: Any, wanted: np.ndarray) -> None:
    found = found.numpy()
    assert found.dtype == np.float32
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found)[wanted == 0], np.signbit(wanted)[wanted == 0])


@pytest.mark.parametrize("operands", [_normal, _whole, _odd, _scattered, _subnormal, _any_bits, _with_edges])
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rests_and_quotients(name: str, operands: Callable[..., np.ndarray]) -> None:
    drawn = np.random.default_rng(7)
    x, y = operands(drawn), operands(drawn)
    ours, numpys = getattr(torch, name), getattr(np, name)
    _same_bits(ours(torch.from_numpy(x), torch.from_numpy(y)), numpys(x, y))
    for number in (3.0, -0.1, 0.0, float("inf")):
        _same_bits(ours(torch.from_numpy(x), number), numpys(x, np.float32(number)))
    pair = np.stack([x, y])[:, ::2].T  # not contiguous, and with an operand to broadcast
    _same_bits(ours(torch.from_numpy(pair), torch.from_numpy(y[:2])), numpys(pair, y[:2]))


@pytest.mark.parametrize("operands", [_normal, _whole, _scattered, _with_edges])
def test_logaddexp(operands: Callable[..., np.ndarray]) -> None:
    drawn = np.random.default_rng(7)
    x, y = operands(drawn), operands(drawn)
    found = torch.logaddexp(torch.from_numpy(x), torch.from_numpy(y)).numpy()
    with np.errstate(invalid="ignore"):
        wanted = np.logaddexp(x.astype(np.float64), y.astype(np.float64))
    # The sum of max(x, y) and a number up to log(2), each rounded: their sizes bound the error.
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    np.testing.assert_array_equal(found[~np.isfinite(wanted)], wanted[~np.isfinite(wanted)])
    ok = np.isfinite(wanted)
    bound = 4 * np.finfo(np.float32).eps * (1 + np.abs(np.maximum(x, y)[ok]))
    assert np.all(np.abs(found[ok] - wanted[ok]) <= bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_product(dtype: Any) -> None:
    drawn = np.random.default_rng(7)
    x = np.exp(drawn.standard_normal(COUNT) / 10).astype(dtype) * drawn.choice([-1, 1], COUNT).astype(dtype)
    wanted = np.prod(x.astype(np.longdouble))
    eps = float(np.finfo(dtype).eps)
    assert float(torch.from_numpy(x).prod()) == pytest.approx(float(wanted), rel=COUNT**0.5 * eps)
    assert torch.from_numpy(x.reshape(4, -1)).prod(dim=None, keepdim=True).shape == (1, 1)
    whole = torch.from_numpy(x).requires_grad_()
    whole.prod().backward()
    np.testing.assert_allclose(whole.grad.numpy(), float(wanted) / x, rtol=4 * COUNT**0.5 * eps)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("special", [0.0, np.inf, np.nan, 1e-30])
def test_product_that_leaves_the_range(special: float) -> None:
    x = np.full(COUNT, 1.01, np.float32)
    x[::2] = np.float32(1) / x[::2]
    x[:: COUNT // 2] = special
    np.testing.assert_array_equal(torch.from_numpy(x).prod().numpy(), np.prod(x))


@pytest.mark.parametrize("operands", [_normal, _whole, _with_edges, _rising])
@pytest.mark.parametrize("largest", [True, False])
def test_running_extremes(operands: Callable[..., np.ndarray], largest: bool) -> None:
    drawn = np.random.default_rng(7)
    x = operands(drawn)
    running, extreme = (torch.cummax, np.maximum) if largest else (torch.cummin, np.minimum)
    for shape, dim in (((COUNT,), 0), ((COUNT,), -1), ((40, -1), 1), ((4, 5, -1), 2), ((-1, 40), 0)):
        y = x.reshape(shape)
        values, index = (part.numpy() for part in running(torch.from_numpy(y), dim))
        np.testing.assert_array_equal(values, extreme.accumulate(y, axis=dim))
        np.testing.assert_array_equal(np.take_along_axis(y, index, dim), values)
        place = np.moveaxis(np.broadcast_to(np.arange(y.shape[dim]), np.moveaxis(y, dim, -1).shape), -1, dim)
        assert np.all(index <= place)
        met = (y == values) | np.isnan(y)
        np.testing.assert_array_equal(index[met], place[met])  # the last of those that are equal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [3, 3.0, -2, 4, 7, 16])
def test_whole_powers(dtype, exponent):
    """Within 2 units in the last place; of float32 beyond the cube, within 1; edges are NumPy's."""
    x = (np.random.default_rng(5).standard_normal(COUNT) * 3).astype(dtype)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        true = np.power(x.astype(np.longdouble), exponent)
        at_edges = np.power(edges, exponent)
    out = (torch.tensor(x) ** exponent).numpy()
    assert out.dtype == dtype
    bound = 1 if dtype == np.float32 and exponent > 3 else 2
    assert np.max(np.abs(out - true) / np.spacing(np.abs(true.astype(dtype)))) <= bound
    np.testing.assert_array_equal((torch.tensor(edges) ** exponent).numpy(), at_edges)
    np.testing.assert_array_equal((torch.tensor(x, requires_grad=True) ** exponent).detach().numpy(), out)
    np.testing.assert_array_equal(torch.pow(torch.tensor(x), exponent).numpy(), out)
