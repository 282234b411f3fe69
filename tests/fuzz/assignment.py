"""Run random programs that assign: `python -m tests.fuzz.assignment 1000 --seed 0`.

What is printed: each silent difference, with a program made as short as possible; the refusals, by what they
say; and counts.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from funcgrad.errors import BatchedControlFlowError, FuncgradError
from tests.fuzz.modes import FIRST_ORDER, ROUNDED, SECOND_ORDER, Case, Difference, Rough, by_grad
from tests.fuzz.statements import STATEMENTS
from tests.fuzz.writing import Program, Writer

LENGTH = 8  # statements in a program
Mode = Callable[[Case], None]


class Verdict(NamedTuple):
    """One program's outcome in one mode: "same", "rough", "refused", "difference", "crash", ..."""

    kind: str
    mode: Mode
    text: str = ""


def written(seed: int) -> Program:
    """The random program of this seed."""
    return Writer(seed).write(STATEMENTS, LENGTH)


def modes_of(seed: int) -> list[Mode]:
    """The modes of this program: each under grad and two others, every sixth in one of second order."""
    rng = Random(seed)
    return [by_grad, *rng.sample(FIRST_ORDER, 2), *rng.sample(SECOND_ORDER, int(seed % 6 == 0))]


def judged(program: Program, mode: Mode) -> Verdict:
    """Run a program in a mode."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            mode(Case(program))
        except Rough:
            return Verdict("rough", mode)
        except Difference as error:
            return Verdict("difference", mode, str(error))
        except BatchedControlFlowError as error:
            return Verdict("needs one value", mode, named(error))
        except FuncgradError as error:
            return Verdict("refused", mode, named(error))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
            return Verdict("crash", mode, f"{type(error).__name__}: {error}")
    return Verdict("same", mode)


def named(error: FuncgradError) -> str:
    """What was refused, without the place and the numbers."""
    text = re.sub(r" at (<program \d+>|[\w<>]+\.py), line \d+, in \w+", "", str(error))
    return f"{type(error).__name__}: {re.sub(r'[0-9]+', 'n', text)[:110]}"


def shortened(program: Program, verdict: Verdict) -> Program:
    """The program without the statements that its failure does not need."""
    k = len(program.statements) - 1
    while k >= 0:
        shorter = program.without(k)
        try:
            assert Case(shorter).truth is not None
            fails = judged(shorter, verdict.mode).kind == verdict.kind
        except (NameError, ValueError, TypeError, IndexError):
            fails = False
        if fails:
            program = shorter
        k -= 1
    return program


class Report:
    """The counts of a run."""

    def __init__(self) -> None:
        self.programs = self.runs = 0
        self.verdicts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.refused: set[int] = set()
        self.needing: set[int] = set()
        self.statements: Counter[str] = Counter()
        self.modes: Counter[str] = Counter()
        self.failures: list[tuple[Program, Verdict]] = []

    def add(self, program: Program, modes: Sequence[Mode]) -> None:
        """Run one program in these modes."""
        self.programs += 1
        self.statements.update(kind for kind, _ in program.statements)
        for mode in modes:
            verdict = judged(program, mode)
            self.runs += 1
            self.modes[mode.__name__] += 1
            self.verdicts[verdict.kind] += 1
            if verdict.kind in ("refused", "needs one value"):
                self.refusals[verdict.text] += 1
                (self.refused if verdict.kind == "refused" else self.needing).add(program.seed)
            elif verdict.kind in ("difference", "crash"):
                self.failures.append((program, verdict))
                return

    def __str__(self) -> str:
        lines = [
            f"{self.programs} programs, {self.runs} runs: "
            + ", ".join(f"{n} {kind}" for kind, n in self.verdicts.most_common())
        ]
        lines.append(f"arrays that differ from NumPy's in the last bits: {len(ROUNDED)}")
        lines.append(f"runs in each mode: {', '.join(f'{n} {name}' for name, n in self.modes.most_common())}")
        lines.append(
            f"programs refused: {len(self.refused)} ({len(self.refused) / max(self.programs, 1):.2%})"
        )
        lines.append(
            f"programs that need one value where vmap has many: {len(self.needing)} ({len(self.needing) / max(self.programs, 1):.2%})"
        )
        lines += [f"  {n:6}  {text}" for text, n in self.refusals.most_common()]
        lines.append("statements: " + ", ".join(f"{n} {kind}" for kind, n in self.statements.most_common()))
        return "\n".join(lines)


def described(program: Program, verdict: Verdict) -> str:
    """A failure, for a person to read."""
    short = shortened(program, verdict)
    again = judged(short, verdict.mode)
    head = f"--- {verdict.kind}, seed {program.seed}, {verdict.mode.__name__}, {short.dtype}, {short.layout}, shapes {short.shapes}"
    return f"{head}\n{short.source}{again.text}\n"


def main(argv: Sequence[str]) -> int:
    """Run programs; the exit status is 1 if there was a difference or a crash."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--stop-after", type=int, default=10, help="failures")
    options = parser.parse_args(argv)
    report = Report()
    for seed in range(options.seed, options.seed + options.programs):
        report.add(written(seed), modes_of(seed))
        if report.failures and report.failures[-1][0].seed == seed:
            print(described(*report.failures[-1]), flush=True)
            if len(report.failures) >= options.stop_after:
                break
        if report.programs % 1000 == 0:
            print(f"{report.programs} programs", file=sys.stderr, flush=True)
    print(report)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
