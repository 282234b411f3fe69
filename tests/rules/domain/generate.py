"""Write `truths.json`: derivatives of orders 1 to 4 by mpmath. Run as `python -m tests.rules.domain.generate`.

A truth is a central difference with more and more digits until two agree to 20 digits. What does not settle or
overflows is left out; what vanishes (or underflows) is 0. Names on the command line renew these functions alone.
"""

from __future__ import annotations

import json
import math
import signal
import sys
from pathlib import Path
from typing import Any

import mpmath as mp
from mpmath.libmp import NoConvergence

from tests.rules.domain.functions import FUNCTIONS, Function

TRUTHS = Path(__file__).with_name("truths.json")
ORDERS = 4  # of the last one only the condition of the third is taken
SECONDS = 4  # for one point
HUGE, TINY = mp.mpf(2) ** 1024, mp.mpf(2) ** -1076


def differences(f: Function, at: float, digits: int) -> list[Any]:
    """Central differences of orders 1 to 4; None where rounding may have eaten more than half the digits."""
    with mp.workdps(digits):
        x = mp.mpf(at)
        step = min(abs(x), mp.mpf(1)) * mp.mpf(10) ** -(24 + digits // 100)
        grid = [f(x + step * k / 2) for k in range(-ORDERS, ORDERS + 1)]
        size, out = max(map(abs, grid)), []
        for n in range(1, ORDERS + 1):
            terms = [(-1) ** (n - i) * mp.binomial(n, i) * grid[ORDERS - n + 2 * i] for i in range(n + 1)]
            total = mp.fsum(terms)
            floor = size * mp.mpf(10) ** (10 - digits)
            vanishes = abs(total) < floor and floor / step**n < TINY
            out.append(mp.mpf(0) if vanishes else total / step**n if abs(total) > floor else None)
        return out


def settled(a: Any, b: Any) -> float | None:
    """The derivative in double precision where two agree, else None."""
    if a is None or b is None or not (mp.isfinite(a) and mp.isfinite(b)) or abs(mp.im(b)) > 0:
        return None
    if max(abs(a), abs(b)) < TINY:
        return 0.0
    agree = abs(a - b) <= mp.mpf(10) ** -20 * abs(b) and abs(b) < HUGE
    return float(f"{float(mp.re(b)):.13g}") if agree else None


def truths_at(f: Function, at: float) -> list[float | None]:
    """The derivatives at a point, with digits doubled until all are settled or time is up."""
    depth = math.ceil(abs(math.log10(abs(at))))
    out: list[float | None] = [None] * ORDERS
    last, digits = None, 200 + 3 * depth
    signal.alarm(SECONDS)
    try:
        while digits < 6000 and None in out:
            now = differences(f, at, digits)
            if last is not None:
                out = [settled(a, b) for a, b in zip(last, now)]
            last, digits = now, 2 * digits
    except (TimeoutError, ArithmeticError, ValueError, NoConvergence):
        pass
    finally:
        signal.alarm(0)
    return out


def late(*_: Any) -> None:
    raise TimeoutError


def main(names: list[str]) -> None:
    """Renew these functions, or all."""
    signal.signal(signal.SIGALRM, late)
    table = json.loads(TRUTHS.read_text()) if TRUTHS.exists() else {}
    for name in names or FUNCTIONS:
        entry = FUNCTIONS[name]
        rows = [[x, *truths_at(entry.truth, x)] for x in entry.points]
        table[name] = [row for row in rows if any(t is not None for t in row[1:ORDERS])]
        lost = sum(t is None for row in rows for t in row[1:ORDERS])
        print(f"{name}: {lost} of {(ORDERS - 1) * len(rows)} truths left out", flush=True)  # noqa: T201
    lines = (
        f"{json.dumps(name)}: {json.dumps(table[name], separators=(',', ':'))}"
        for name in FUNCTIONS
        if table.get(name)
    )
    TRUTHS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
