"""What the pages declare is forgotten after the tests of each file."""

from collections.abc import Iterator

import pytest

from funcgrad.core.engine.catalogue import CATALOGUE


@pytest.fixture(autouse=True, scope="module")
def _declarations_of_pages_are_forgotten() -> Iterator[None]:
    known = set(CATALOGUE)
    yield
    for function in set(CATALOGUE) - known:
        module = getattr(function, "__module__", "numpy") or ""
        if module.partition(".")[0] not in ("numpy", "scipy", "funcgrad"):  # whose rules come when needed
            del CATALOGUE[function]
