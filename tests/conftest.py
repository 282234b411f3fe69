"""Settings of all tests, and a line that says how far they are."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault(
    "NUMBA_DISABLE_JIT", "1"
)  # sparse would compile its kernels for arrays of some elements

import numpy.fft  # noqa: F401
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

import funcgrad.rules  # noqa: F401
from funcgrad.core.libraries import load_late
from tests import grouping

load_late()  # else they would come with the first test that needs them, in the middle of others
PROMPT = b">>> "
collect_ignore = ["types"]  # read by type checkers (`make types`), and never run

# A deadline would make the outcome depend on how busy the machine is.
settings.register_profile("funcgrad", deadline=None)
settings.load_profile("funcgrad")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--case", action="append", default=[], help="of sweeps, run the cases whose name has this text"
    )


def pytest_configure(config: pytest.Config) -> None:
    grouping.ONLY[:] = config.getoption("--case")
    config.pluginmanager.register(Examples(), "funcgrad-examples")
    # with -q, and not in a worker of xdist
    if config.getoption("verbose") < 0 and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config), "funcgrad-progress")


@pytest.fixture(scope="module", autouse=True)
def _few_objects() -> None:
    """The collector does not look again through what there was before: many tests ask it what calls have left."""
    gc.collect()
    gc.freeze()


class Examples:
    """With --doctest-modules, files without a prompt are not read for examples (three in four have none)."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Any:
        collectors = yield
        if file_path.suffix == ".py" and PROMPT not in file_path.read_bytes():
            return [x for x in collectors if not isinstance(x, DoctestModule)]
        return collectors


class Progress:
    """In place of dots: every ten seconds, how many tests have run, how many failed, and the time."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.start = config, time.monotonic()
        self.shown = self.start
        self.done = self.failed = self.total = 0

    def pytest_collection_finish(self, session: Any) -> None:
        self.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.total = len(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """A test that passed prints nothing."""
        return ("passed", "", "") if report.passed and report.when == "call" else None

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed += report.failed
        self.done += report.when == "teardown"
        now = time.monotonic()
        if now - self.shown >= 10:
            self.shown = now
            reporter = self.config.pluginmanager.get_plugin("terminalreporter")
            minutes, seconds = divmod(int(now - self.start), 60)
            reporter.ensure_newline()
            reporter.write_line(
                f"{self.done:,} of {self.total:,} tests, {self.failed} failed, {minutes}:{seconds:02}"
            )
