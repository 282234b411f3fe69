"""What must hold of a function that only moves and copies elements, whatever it does in detail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import grad, jvp, vjp, vmap

Function = Callable[[Any], Any]


def scattered(positions: Any, ct: Any, shape: tuple[int, ...]) -> Any:
    """What each position collects of `ct`: the gradient of a function that takes the elements at `positions`."""
    sums = np.bincount(positions.ravel(), ct.ravel(), minlength=int(np.prod(shape)))
    return sums.reshape(shape)


def assert_moves(function: Function, *shape: int) -> None:
    """`function` of one array (of this shape) to one: both modes, vmap, zeros by structure.

    Plain NumPy tells, by moving an array of positions, where each element comes from.
    """
    positions = function(np.arange(int(np.prod(shape))).reshape(shape))
    rng = np.random.default_rng(0)
    x, t, ct = rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=positions.shape)

    out, pull = vjp(function, x)
    np.testing.assert_array_equal(out, x.ravel()[positions])
    np.testing.assert_allclose(pull(ct)[0], scattered(positions, ct, shape), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(jvp(function, (x,), (t,))[1], t.ravel()[positions])

    single = grad(lambda v: np.sum(function(v) * ct.astype(np.float32)))(x.astype(np.float32))
    assert (single.dtype, single.shape) == (np.float32, shape)
    rotated, pull = vjp(function, x + 1j * t)
    assert rotated.dtype == np.complex128
    np.testing.assert_allclose(pull(1j * ct)[0], 1j * scattered(positions, ct, shape), rtol=1e-13, atol=1e-13)

    batch = np.stack([x, t, x - t])
    np.testing.assert_array_equal(vmap(function)(batch), np.stack([v.ravel()[positions] for v in batch]))
    cts = np.stack([ct, -2 * ct])
    (pulled,) = vmap(vjp(function, x)[1])(cts)
    np.testing.assert_allclose(pulled, [scattered(positions, c, shape) for c in cts], rtol=1e-13, atol=1e-13)
    assert_zeros_follow(function, positions, shape)


def assert_zeros_follow(function: Function, positions: Any, shape: tuple[int, ...]) -> None:
    """Elements that nobody takes have a gradient of 0, although the derivative of sqrt is infinite there."""
    x = np.where(np.arange(int(np.prod(shape))) % 2 == 0, 4.0, 0.0).reshape(shape)
    taken = x.ravel()[positions] > 0
    masked = lambda v: np.sum(np.where(taken, function(np.sqrt(v)), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_array_equal(grad(masked)(x), scattered(positions, taken / 4.0, shape))
        assert jvp(masked, (x,), (np.ones(shape),))[1] == np.sum(taken) / 4


def raises_as_numpy(function: Function, x: Any) -> None:
    """On a tracer, `function` refuses with the type of error with which NumPy refuses on `x`."""
    expected = _error_of(lambda: function(x))
    came = _error_of(lambda: vjp(function, x))
    assert expected is not None, "NumPy accepts this call"
    assert came is not None, "no error on a tracer"
    assert isinstance(came, _base(expected)), f"{came!r}, but NumPy raises {expected!r}"


def _error_of(run: Callable[[], Any]) -> Exception | None:
    try:
        run()
    except (ValueError, TypeError, IndexError, NotImplementedError) as error:
        return error
    return None


def _base(error: Exception) -> type[Exception]:
    """The built-in type of an error (NumPy's AxisError is a ValueError and an IndexError)."""
    return next(t for t in (ValueError, TypeError, IndexError, NotImplementedError) if isinstance(error, t))
