"""What a test declares is in the catalogue for its time only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from funcgrad.core.engine.catalogue import CATALOGUE


@contextmanager
def forgotten(stays: Callable[[Any], bool] = lambda function: False) -> Iterator[None]:
    """Forget what is declared inside, but for functions that `stays` says yes to."""
    known = set(CATALOGUE)
    yield
    for function in set(CATALOGUE) - known:
        if not stays(function):
            del CATALOGUE[function]
