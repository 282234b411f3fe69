"""torch.compile: the function itself. Operations run one by one, as NumPy's do."""

from __future__ import annotations

from typing import Any


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: Any = "inductor",
    mode: str | None = None, options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """`model` (a function or a module) as it is: the same numbers, and no time to compile. For functions of
    plain arrays, see `funcgrad.jit`.

    Raises RuntimeError for both a mode and options, as in PyTorch.

    >>> import funcgrad.torch as torch
    >>> @torch.compile
    ... def f(x):
    ...     return x * 2
    >>> f(torch.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if model is None:
        options = {"fullgraph": fullgraph, "dynamic": dynamic, "backend": backend}
        return lambda f: compile(f, **options)
    if not callable(model):
        raise TypeError(f"torch.compile takes a function or a module, not {type(model).__name__}")
    return model
