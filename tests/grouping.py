"""Sweeps of thousands of cases as some dozens of tests: pytest takes longer for a test than most cases.

    @in_groups({"sum(3)": sample, "sum(2x3,axis=1)": other, ...})
    def test_something(case): ...

is one test for each group of names (by default, for what stands before the first hyphen). All cases of a
group run, whatever becomes of the others, and a failure names each case that failed. `pytest --case 'sum(3)'`
runs only the cases whose names have that text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

ONLY: list[str] = []  # the text of --case, if it is given (conftest.py)


def chapter(name: str) -> str:
    """What stands before the first hyphen of a case's name."""
    return name.split("-", 1)[0]


def in_order(cases: Iterable[str], size: int = 15) -> Callable[[str], str]:
    """Groups of `size` cases, in order, for cases whose names tell no chapter."""
    group = {name: f"{i // size * size}-{i // size * size + size - 1}" for i, name in enumerate(cases)}
    return group.__getitem__


def in_groups(
    cases: Mapping[str, Any] | Iterable[tuple[str, Any]], by: Callable[[str], str] | None = None
) -> Callable[[Callable[[Any], None]], Callable[..., None]]:
    """Turn a check of one case into tests of groups of cases."""
    pairs = list(cases.items() if isinstance(cases, Mapping) else cases)
    by = by or (chapter if any("-" in name for name, _ in pairs) else in_order(name for name, _ in pairs))
    groups: dict[str, list[tuple[str, Any]]] = {}
    for name, case in pairs:
        groups.setdefault(by(name), []).append((name, case))

    def decorate(check: Callable[[Any], None]) -> Callable[..., None]:
        @pytest.mark.parametrize("group", list(groups))
        @functools.wraps(check)
        def run(group: str) -> None:
            check_all(check, groups[group])

        del run.__wrapped__  # pytest would ask it for its parameters
        return run

    return decorate


def check_all(check: Callable[[Any], None], cases: list[tuple[str, Any]]) -> None:
    """Check every case, and raise what was found, with the names of the cases."""
    chosen = [(name, case) for name, case in cases if all(text in name for text in ONLY)]
    errors, skipped = [], []
    for name, case in chosen:
        try:
            check(case)
        except pytest.skip.Exception as reason:
            skipped.append(reason)
        except Exception as error:  # noqa: BLE001 (whatever it is, the other cases are checked, too)
            error.add_note(f"case: {name}")
            errors.append(error)
    if errors:
        names = ", ".join(note[6:] for e in errors for note in e.__notes__ if note.startswith("case: "))
        raise (
            errors[0]
            if len(errors) == 1
            else ExceptionGroup(f"{len(errors)} of {len(chosen)} cases: {names}", errors)
        )
    if skipped and len(skipped) == len(chosen):
        raise skipped[0]
    if not chosen:
        pytest.skip("no case of this group is asked for")
