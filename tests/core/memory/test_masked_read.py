"""y[mask] under vmap with masks that differ between examples: updates in place work, the rest is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, vmap
from funcgrad.errors import BatchedControlFlowError

X, Y = np.random.default_rng(0).uniform(-1, 1, (2, 4, 5))
SAME_COUNT = np.array([[1.0, -1.0, 2.0], [-1.0, 3.0, 4.0]])

UPDATES = """
y[y > 0] *= 2 | y[y > 0] += z[0] | y[z > 0] **= 2 | y[y > 0] **= 0.5 | y[y > 0] = z[y > 0] | y[y > 0] -= z[y > 0]
y[1:][y[1:] > 0] /= z[1] | mask = y > 0; part = y[mask]; y += 1; part *= 3; y[mask] = part
mask = z > 0; part = y[mask]; mask[...] = False; part += 1; y[z > 0] = part | y[y > 0] //= 0.3; y[y < 0] %= 0.7
"""
REFUSED = """
y[0] = y[y > 0].sum() | y[y > 0] += np.sin(z[y > 0]) | y[y > 0] = 2 * z[y > 0] | y[y > 0] += z[z > 0] | y[z > 0] = z[y > 0]
len(y[y > 0]) | y[y > 0][0] = 1 | y[0] = y[y > 0][0] | y @= y[y > 0] | y[y > 0] *= z | np.sum(y[y > 0]) | y[0] = float(y[y > 0])
y[:3] = y[y > 0] | y[y > 0].flat = 1 | y[y > 0].real = z[0]
"""


def programs(table: str) -> list[tuple[str, Callable[[Any, Any], Any]]]:
    found = []
    for text in [text for line in table.strip().splitlines() for text in line.split(" | ")]:
        space: dict[str, Any] = {"np": np}
        exec(
            "def program(y, z):\n    y = y.copy()\n    " + text.replace("; ", "\n    ") + "\n    return y",
            space,
        )
        found.append((text, space["program"]))
    return found


@pytest.mark.filterwarnings("ignore:invalid value")
def test_updates_in_place() -> None:
    for text, program in programs(UPDATES):

        def loss(y: Any, z: Any, f: Any = program) -> Any:
            return np.sum(np.sin(f(y, z)))

        for x, y in ((X, Y), (SAME_COUNT, SAME_COUNT[:, ::-1])):
            expected = [program(*example) for example in zip(x, y)]
            np.testing.assert_allclose(vmap(program)(x, y), expected, rtol=1e-15, err_msg=text)
            slopes = [
                np.stack(parts) for parts in zip(*[grad(loss, (0, 1))(*example) for example in zip(x, y)])
            ]
            for found in (
                vmap(grad(loss, (0, 1)))(x, y),
                grad(lambda x, y: np.sum(vmap(loss)(x, y)), (0, 1))(x, y),
            ):
                np.testing.assert_allclose(found, slopes, rtol=1e-13, err_msg=text)


def test_all_else_is_refused() -> None:
    for _, program in programs(REFUSED):
        with pytest.raises(BatchedControlFlowError, match="different shapes"):
            vmap(program)(X, Y)


def test_casts_are_refused_as_in_numpy() -> None:
    def f(y: Any) -> Any:
        y[y > 0] *= 1j
        return y

    with pytest.raises(TypeError, match="Cannot cast"):
        vmap(f)(X)
