"""The command: `python -m benchmarks [--only WORDS] [--peers NAMES] ...`; status 1 if a target is missed."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.peers import PEERS, installed
from benchmarks.problem import Result
from benchmarks.problems import ALL
from benchmarks.report import as_json, as_markdown, heading, row


def main() -> int:
    """Measure, print each line as it comes, and say what the marks mean."""
    options = _options()
    peers = installed([name for name in options.peers.split(",") if name])
    names = [peer.name for peer in peers]
    print(heading(names))
    results: list[Result] = []
    for line in ALL:
        if options.only.lower() in line.name.lower():
            results.append(line.result(peers))
            print(row(results[-1], names), flush=True)
    print(
        "\nRatios of processor time (of memory where it says so); smaller is better. All in turns, in one process with"
        "\none thread; the median of up to 100 ratios counts. ok: within the target. -: not done, or not installed."
    )
    if options.json:
        options.json.write_text(as_json(results), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(as_markdown(results, names, _versions(names)), encoding="utf-8")
    return int(any(result.passed is False for result in results))


def _versions(names: list[str]) -> str:
    """What was compared, on what."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", *names))
    system = f"{platform.machine()} {platform.system()}"
    return f"Measured with {libraries}, Python {platform.python_version()}, on {system}."


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="only problems with these words in their name"
    )
    parser.add_argument(
        "--peers", default=",".join(PEERS), metavar="NAMES", help=f"of {','.join(PEERS)}; '' for none"
    )
    parser.add_argument("--json", metavar="PATH", type=Path, help="also write all figures to this file")
    parser.add_argument(
        "--markdown", metavar="PATH", type=Path, help="also write the table, as docs/figures.md has it"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
