"""Random programs that assign: none differs from NumPy; and errors planted in the engine are found."""

from __future__ import annotations

from typing import Any

import pytest

from funcgrad import errors
from funcgrad.core.memory import families, guard, loops, mutation, places, views
from tests.fuzz.assignment import Report, described, judged, modes_of, named, shortened, written
from tests.fuzz.modes import Case, by_grad
from tests.fuzz.writing import Program


@pytest.mark.parametrize("seed", range(0, 250, 50))
def test_random_programs(seed: int) -> None:
    report = Report()
    for k in range(seed, seed + 50):
        report.add(written(k), modes_of(k))
    assert not report.failures, "\n".join(described(*failure) for failure in report.failures)
    # the rest is refused under vmap, or not smooth enough to be checked
    assert report.verdicts["same"] > 0.7 * report.runs
    assert len(report.refused) <= 1


def _keep_nothing(self: Any, x: Any) -> Any:
    return x


PLANTED: dict[str, tuple[Any, str, Any]] = {
    "of an index twice, both count": (places.Place, "winners", lambda self, shape: None),
    "saved values are overwritten": (families, "copied", lambda x: x),
    "saved values are overwritten in loops": (loops, "copied", lambda x: x),
    "views don't see writes": (mutation, "note_write", lambda root: None),
    "views of views lose their last step": (mutation, "index_in_root", lambda x, index: index),
    "what is overwritten keeps its cotangent": (mutation, "_zeroed", lambda ct, place: ct),
    "plain arrays are not guarded": (guard.SavedArrays, "keep", _keep_nothing),
    "indices are not copied": (places, "kept", lambda index: index),
    "everything is writeable": (views, "check_writeable", lambda x: None),
    "half of a complex number is all of it": (places.Place, "half", property(lambda self: "")),
}


def first_failure(limit: int) -> tuple[Program, Any] | None:
    """The first program that fails under grad, and its verdict."""
    for seed in range(limit):
        verdict = judged(written(seed), by_grad)
        if verdict.kind in ("difference", "crash"):
            return written(seed), verdict
    return None


@pytest.mark.parametrize(("owner", "name", "wrong"), PLANTED.values(), ids=PLANTED)
def test_a_planted_error_is_found(owner: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, name, wrong)
    if name == "check_writeable":
        from funcgrad.core.memory import inplace
        from funcgrad.rules import assignment

        for module in (mutation, inplace, assignment):
            monkeypatch.setattr(module, name, wrong)
    failure = first_failure(600)
    assert failure is not None
    program, verdict = failure
    short = shortened(program, verdict)
    assert judged(short, by_grad).kind == verdict.kind
    assert len(short.statements) <= len(program.statements)
    monkeypatch.undo()
    assert judged(short, by_grad).kind in ("same", "rough")


def test_a_program_is_what_its_seed_says() -> None:
    assert written(7) == written(7)
    assert written(7).source != written(8).source
    assert Case(written(7)).truth[0][0].shape == written(7).shapes[0]


def test_refusals_are_named_without_the_place() -> None:
    error = errors.TracerWriteError("np.put at <program 17>, line 3, in program would write 12 numbers")
    assert named(error) == "TracerWriteError: np.put would write n numbers"
