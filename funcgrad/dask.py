"""What one writes each time with Dask: compute value and gradient in one pass, as numbers and NumPy arrays; walk
through data chunk by chunk.

The functions of funcgrad itself take Dask arrays and stay lazy (docs/larger_than_memory.md); nothing here is needed
for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from funcgrad.core.memory import chunks

__all__ = ["chunks_of", "computed"]


def computed(fun: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """`fun`, with all lazy arrays in its result computed together: in one pass over the data.

    Numbers come as Python floats (as complex numbers and integers where they are such), arrays as NumPy arrays: what
    solvers take. SciPy's need it only for functions that do more than to return a derivative, which are computed for
    them as it is.

    Args:
        fun: any function whose result is a pytree, some of whose leaves may be Dask arrays, such as
            ``value_and_grad(loss)``.
        options: those of ``dask.compute``, such as ``scheduler="threads"``. By default the current client computes.

    Returns:
        A function of the same arguments. An error in a chunk is the error that the chunk raised, with a note that says
        where the result was asked for.

    Examples:
        >>> import dask.array as da  # doctest: +SKIP
        >>> from funcgrad import value_and_grad  # doctest: +SKIP
        >>> from funcgrad.dask import computed  # doctest: +SKIP
        >>> x = da.arange(4.0, chunks=2)  # doctest: +SKIP
        >>> computed(value_and_grad(lambda w: np.sum((x - w) ** 2)))(1.0)  # doctest: +SKIP
        (6.0, -4.0)
    """

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return chunks.computed(fun(*args, **kwargs), **options)

    return call


def chunks_of(*arrays: Any, rng: np.random.Generator | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of several Dask arrays, chunk by chunk: minibatches that need nothing but one chunk in memory.

    Args:
        arrays: Dask arrays of the same length, cut at the same rows along axis 0.
        rng: if it is given, the chunks come in random order, another in each epoch.

    Yields:
        A tuple with one lazy array for each of `arrays`: the rows of one chunk.

    Raises:
        ValueError: if the arrays are not cut at the same rows; ``x.rechunk`` repairs that.

    Examples:
        >>> import dask.array as da  # doctest: +SKIP
        >>> from funcgrad.dask import chunks_of  # doctest: +SKIP
        >>> X, y = da.ones((5, 2), chunks=(2, 2)), da.arange(5, chunks=2)  # doctest: +SKIP
        >>> [len(batch) for batch, _ in chunks_of(X, y)]  # doctest: +SKIP
        [2, 2, 1]
    """
    first, *others = arrays
    for x in others:
        if x.chunks[0] != first.chunks[0]:
            raise ValueError(
                f"chunks_of: the arrays are cut at different rows, {first.chunks[0]} and {x.chunks[0]}. "
                "Write y.rechunk({0: X.chunks[0]})."
            )
    ends = np.cumsum(first.chunks[0])
    sequence = range(len(ends)) if rng is None else rng.permutation(len(ends))
    for k in sequence:
        rows = slice(int(ends[k]) - first.chunks[0][k], int(ends[k]))
        yield tuple(x[rows] for x in arrays)
