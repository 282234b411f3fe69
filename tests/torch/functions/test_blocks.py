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
