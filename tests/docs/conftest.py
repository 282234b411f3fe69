"""What the pages declare is forgotten after the tests of each file."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.declarations import forgotten


def comes_when_needed(function: Any) -> bool:
    """Is this a rule of ours, that was imported late?"""
    module = getattr(function, "__module__", "numpy") or ""
    return module.partition(".")[0] in ("numpy", "scipy", "funcgrad")


@pytest.fixture(autouse=True, scope="module")
def _declarations_of_pages_are_forgotten() -> Iterator[None]:
    with forgotten(comes_when_needed):
        yield
