from collections.abc import Iterator

import pytest

from funcgrad.core.engine.catalogue import CATALOGUE


@pytest.fixture(autouse=True)
def _declarations_of_a_test_are_forgotten() -> Iterator[None]:
    known = set(CATALOGUE)
    yield
    for function in set(CATALOGUE) - known:
        del CATALOGUE[function]
