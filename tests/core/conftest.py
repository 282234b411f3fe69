"""What a test declares is forgotten after it."""

from collections.abc import Iterator

import pytest

from tests.declarations import forgotten


@pytest.fixture(autouse=True)
def _declarations_of_a_test_are_forgotten() -> Iterator[None]:
    with forgotten():
        yield
