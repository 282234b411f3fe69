"""numpy.random, whose samples are blank arrays while a transform runs, and whose parameters may be tracers.

Where a sample is a smooth function of a parameter and of numbers that do not depend on it, as loc + scale * z
is, the derivative is that of the function at these numbers: that of the program as it ran. Other
distributions refuse tracers by name.

>>> import funcgrad.numpy as np
>>> from funcgrad import grad
>>> def shifted(x):
...     sample = np.random.default_rng(0).normal(x, 2.0, size=3)
...     sample[0] = 5.0 * x
...     return np.sum(sample)
>>> grad(shifted)(1.0)
np.float64(7.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import random as _theirs

from funcgrad.numpy.dispatch import during_transforms
from funcgrad.numpy.sources import aware, sampled

if TYPE_CHECKING:  # made when they are asked for
    from numpy.random import Generator as Generator
    from numpy.random import RandomState as RandomState

__all__ = ["Generator", "RandomState", "default_rng"]


def default_rng(seed: Any = None) -> Any:
    """A Generator; as numpy.random.default_rng."""
    generator = aware(_theirs.Generator)
    return seed if isinstance(seed, generator) else generator(_theirs.default_rng(seed).bit_generator)


def __getattr__(name: str) -> Any:
    value = getattr(_theirs, name)
    if name in ("Generator", "RandomState"):
        value = aware(value)
    source = getattr(value, "__self__", None)
    if (
        isinstance(source, _theirs.RandomState)
        and callable(value)
        and name not in ("seed", "get_state", "set_state")
    ):
        value = during_transforms(
            value, lambda args, kwargs: sampled(source, name, *args, **kwargs), __name__
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_theirs)
