"""Lists what to change: `python -m tests.language [PATH…] [--counts]`."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from tests.language.check import findings
from tests.language.ratchet import ROOT, findings_by_file, totals


def main() -> None:
    """Print each finding as `file:line: name: advice`, or the number of each package."""
    parser = argparse.ArgumentParser(prog="python -m tests.language", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT], help="files or folders; default: src")
    parser.add_argument("--counts", action="store_true", help="only how many each package has")
    args = parser.parse_args()
    if args.counts:
        counts = totals(findings_by_file())
        for package, count in sorted(counts.items(), key=lambda each: -each[1]):
            print(f"{count:6} {package}")  # noqa: T201 # a command prints
        print(f"{sum(counts.values()):6} total")  # noqa: T201
        return
    files = chain.from_iterable([given] if given.is_file() else given.rglob("*.py") for given in args.paths)
    for path in files:
        for line, name, advice in findings(path):
            print(f"{path}:{line}: {name}: {advice}")  # noqa: T201


main()
