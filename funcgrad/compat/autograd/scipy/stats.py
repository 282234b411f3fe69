"""scipy.stats. Its distributions can be imported as modules, too: `import autograd.scipy.stats.norm as norm`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import funcgrad.scipy as _scipy

__path__: list[str] = []  # it has modules


class _Distribution(ModuleType):
    """A distribution as a module."""

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(_scipy.stats, self.__name__.rsplit(".", 1)[1]), name)


for _name in ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"):
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _Distribution(f"{__name__}.{_name}")


def __getattr__(name: str) -> Any:
    return getattr(_scipy.stats, name)
