"""jit: the same functions, without the tape, at compiled speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.compiler import composing
from funcgrad.compiler.compiling import Jit, static_names
from funcgrad.compiler.engines import Engine
from funcgrad.errors import ArgumentError

__all__ = ["Jit", "composing", "jit"]

ENGINES = ("numpy", "xla")


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    engine: str = "numpy",
    threads: int = 1,
) -> Any:
    """`fun`, compiled: recorded as it runs, and from then on run as straight-line NumPy.

    Args:
        fun: a function of pytrees of arrays and numbers; also value_and_grad(f), hessian(f), vmap(grad(f)), a
            training step.
        static_argnums, static_argnames: arguments that decide what is computed; there is a program for each
            of their values. What is no number and no array (strings, functions, None) is static by itself.
        engine: "numpy", or "xla", which hands the program to JAX's compiler.
        threads: how many threads share elementwise work on large arrays, block by block; the results are the
            same, bit for bit. (BLAS and XLA have settings of their own.)

    Returns:
        A function with the arguments and results of `fun`. For each signature (tree, shapes, dtypes, static
        values) the first call runs and records, the second records again and compares, later ones run the
        program. Branches on values (`if x > 0`, `while`, int(x), x[mask]) are followed: each way is recorded
        when it is first taken. What `fun` writes into its arguments is not seen by the caller.

    Raises:
        ImpureFunctionError: two recordings differ by something that is no argument: random numbers, the time,
            a counter.
        ArgumentError: an argument that is neither an array, nor a number, nor hashable; an engine or a number of
            threads that there is not.

    >>> import numpy as np, funcgrad as fg
    >>> @fg.jit
    ... def step(x):
    ...     return x - 0.1 * fg.grad(lambda x: np.sum(x**2))(x)
    >>> for _ in range(3):
    ...     x = step(np.array([1.0, 2.0]))
    >>> x
    array([0.8, 1.6])
    """
    if engine not in ENGINES:
        raise ArgumentError(f"jit: engine is {engine!r}; write one of {', '.join(map(repr, ENGINES))}")
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ArgumentError(f"jit: threads is {threads!r}; write how many threads work at once, at least 1")
    static, chosen = static_names(static_argnums, static_argnames), Engine(engine, threads)
    return (lambda f: Jit(f, static, chosen)) if fun is None else Jit(fun, static, chosen)
