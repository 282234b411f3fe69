"""Samples: calls of SciPy's functions that test_sweep.py checks in every way. One file per module.

They are written as those of NumPy's functions (tests/rules/samples): `S(linalg.solve, spd(3), A(3),
assume_a="pos")`.
"""

from __future__ import annotations

from typing import Any

import pytest
import scipy

from tests.rules.samples import Sample


class Present:
    """A module of funcgrad.scipy. In the place of a function that the installed SciPy has not yet stands one that skips."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name, None) or missing(f"{self.module.__name__}.{name}")


def missing(name: str) -> Any:
    """What stands for a function that this SciPy has not."""

    def skip(*args: Any, **kwargs: Any) -> None:
        pytest.skip(f"SciPy {scipy.__version__} has no {name.removeprefix('funcgrad.')}")

    skip.__name__ = name.rpartition(".")[2]
    return skip


def since(version: str, sample: Sample) -> Sample:
    """A sample of what older versions of SciPy have in compiled code, and what is refused by name there."""
    if tuple(map(int, scipy.__version__.split(".")[:2])) >= tuple(map(int, version.split("."))):
        return sample
    return sample.but(
        function=missing(f"{sample.label or sample.function.__name__} in Python"), covers=sample.subject
    )
