"""The contexts that users enter."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad.core.engine.trace import WATCHED
from funcgrad.debug.holders import report
from funcgrad.debug.traces import Watch
from funcgrad.errors import EscapedTracerError


@contextmanager
def _watching(watch: Watch) -> Iterator[None]:
    token = WATCHED.set(watch)
    try:
        yield
    finally:
        WATCHED.reset(token)


@contextmanager
def nans(*, infs: bool = True) -> Iterator[None]:
    """Within this context, raise where a NaN (or inf) first appears, in values or in derivatives.

    Args:
        infs: look for inf as well. An inf that comes in from outside (an argument, a constant) is taken as
            meant.

    Raises:
        NumericalError: names the operation, the line that called it, its operands and the elements; for a
            derivative, the operation through which it was being pulled or pushed.

    Also a decorator: `@debug.nans()`.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import debug
    >>> with debug.nans(), np.errstate(all="ignore"):
    ...     fg.grad(lambda x: np.sum(np.sqrt(x)))(np.array([4.0, 0.0]))
    Traceback (most recent call last):
    funcgrad.errors.NumericalError: debug.nans: inf appeared where a cotangent was pulled back through np.sqrt, ...
    """
    with _watching(Watch(nans=True, infs=infs)):
        yield


@contextmanager
def lines() -> Iterator[None]:
    """Within this context, remember each operation's line: errors in the backward sweep name it.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import debug
    >>> with debug.lines():
    ...     slope = fg.grad(np.sin)(0.0)
    >>> float(slope)
    1.0
    """
    with _watching(Watch()):
        yield


@contextmanager
def leaks() -> Iterator[None]:
    """Note all tracers that are made within this context; at its end, raise if one outlived its transform.

    Raises:
        EscapedTracerError: lists them: where each was made, and what holds it.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import debug
    >>> kept = []
    >>> with debug.leaks():
    ...     slope = fg.grad(lambda x: kept.append(x * x) or x)(2.0)
    Traceback (most recent call last):
    funcgrad.errors.EscapedTracerError: debug.leaks: 1 tracer is alive, though its transform has returned. ...
    """
    watch = Watch(leaks=True)
    with _watching(watch):
        yield
    gc.collect()
    escaped = [(tracer, line) for tracer, line in watch.alive() if not tracer._trace.is_open]
    if escaped:
        raise EscapedTracerError(report(escaped))
