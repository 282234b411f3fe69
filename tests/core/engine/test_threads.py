"""Threads and coroutines whose transforms interleave: no state is shared, so none is confused."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev, jvp, vmap


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def nested(x: Any, k: int, pause: Any) -> Any:
    """A derivative in a derivative, each with a closure over the outer variable, with pauses in between."""

    def outer(x: Any) -> Any:
        pause()

        def inner(y: Any) -> Any:
            pause()
            return np.sin(x * y) * k

        first = grad(inner)(x)
        pause()
        return first * x + jvp(inner, (x,), (1.0,))[1]

    return grad(outer)(x)


def exact(x: float, k: int) -> float:
    """d/dx of (x + 1) * k x cos x^2, the two inner derivatives being k x cos(x y) at y = x."""
    return k * ((2 * x + 1) * np.cos(x * x) - (x * x + x) * 2 * x * np.sin(x * x))


def test_threads_that_wait_for_each_other_at_every_step() -> None:
    n = 4
    barrier = threading.Barrier(n)
    with ThreadPoolExecutor(n) as pool:
        jobs = [pool.submit(nested, 0.3 + 0.2 * k, k, lambda: barrier.wait(timeout=30)) for k in range(n)]
        for k, job in enumerate(jobs):
            assert job.result() == pytest.approx(exact(0.3 + 0.2 * k, k))


def test_threads_that_run_freely() -> None:
    def work(k: int) -> bool:
        x = np.linspace(0.1, 1.0, 5) * (k + 1)
        f = lambda x: np.sum(np.sin(x) * x[::-1] ** 2)
        single = [
            nested(0.1 * k, k, lambda: None) == pytest.approx(exact(0.1 * k, k)),
            np.allclose(hessian(f)(x), jacrev(jacfwd(f))(x)),
            np.allclose(vmap(grad(f))(np.stack([x, 2 * x]))[1], grad(f)(2 * x)),
        ]
        return all(single)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


def test_coroutines_that_take_turns() -> None:
    """grad calls plain functions, so a coroutine hands over between transforms that are nested by generators."""
    order: list[str] = []

    async def job(name: str, x: float) -> float:
        from funcgrad.core.engine.reverse import ReverseTrace
        from funcgrad.core.engine.sweep import sweep

        with ReverseTrace() as outer:
            a = outer.leaf(np.float64(x))
            b = a * a
            order.append(name)
            await asyncio.sleep(0)
            with ReverseTrace() as inner:
                c = inner.leaf(b)
                d = c * a
                order.append(name)
                await asyncio.sleep(0)
            ct = sweep([(d._node, np.float64(1.0))])[c._node]  # d/dc (c a) = a, a tracer of the outer trace
            out = ct * b
            await asyncio.sleep(0)
        return float(sweep([(out._node, np.float64(1.0))])[a._node])

    async def main() -> list[float]:
        return await asyncio.gather(*[job(f"job {k}", float(k)) for k in range(1, 5)])

    assert asyncio.run(main()) == [3.0 * k * k for k in range(1, 5)]
    assert order[:4] == [f"job {k}" for k in range(1, 5)], "the jobs did not interleave"


def test_a_generator_inside_a_transform_may_run_another() -> None:
    def halves(x: Any) -> Iterator[Any]:
        while True:
            x = x / 2
            yield grad(lambda y: y * y * x)(x)  # 2 x^2

    def f(x: Any) -> Any:
        gen, other = halves(x), halves(3 * x)
        return next(gen) + next(other) + next(gen)

    # 2 (x/2)^2 + 2 (3x/2)^2 + 2 (x/4)^2
    assert grad(f)(2.0) == pytest.approx(2 * 2.0 * (0.5 + 4.5 + 0.125))


def test_asyncio_to_thread_inside_a_function() -> None:
    async def main() -> list[Any]:
        return await asyncio.gather(*[asyncio.to_thread(nested, 0.1 * k, k, lambda: None) for k in range(6)])

    np.testing.assert_allclose(asyncio.run(main()), [exact(0.1 * k, k) for k in range(6)])


def test_a_tracer_may_be_used_in_another_thread() -> None:
    """The function being differentiated may itself use a pool; a trace belongs to no thread."""

    def f(x: Any) -> Any:
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(lambda k: np.sin(x * k), range(1, 4)))

    assert grad(f)(0.5) == pytest.approx(sum(k * np.cos(0.5 * k) for k in range(1, 4)))


def test_a_fresh_context_changes_nothing() -> None:
    f = lambda x: contextvars.Context().run(lambda: grad(lambda y: x * y * y)(3.0))
    assert grad(f)(2.0) == 6.0
