"""Compare two versions of the program: `python bench/compare.py OLD [NEW] [--rounds N] [--only NAME…]`.

OLD and NEW are commits, or folders with a checkout; NEW is this checkout if it is left out. They run by turns
with the interpreter and the packages of this one, over the same corpus. The table has the median CPU seconds
of the command and its children, and the median ratio of each pair, which says more on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import corpus

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
CHECKOUT = HERE.parent
_ROUNDS = 5
_CORPUS_SCALE = 0.1  # 22 MB of sessions
_WORD = "alcor"
_TARGETS = ("json", "unified", "session", "pam", "agent-record", "agent-record-v3", "markdown")


class Version(NamedTuple):
    """A checkout, and a folder of its own for journals."""

    checkout: Path
    scratch: Path

    def run(self, *arguments: str, home: str = "journal") -> float:
        """Run `aj` and return its CPU seconds."""
        before = _cpu_seconds()
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.checkout / "src"),
            "HOME": str(self.scratch),
            "AJ_HOME": str(self.scratch / home),
            "AJ_INDEX_VECTOR_BACKGROUND": "false",
            "PYTHONPYCACHEPREFIX": str(self.scratch / "bytecode"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run(
            [sys.executable, "-m", "agent_journal", *arguments],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return _cpu_seconds() - before


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cold_sync(version: Version) -> float:
    shutil.rmtree(version.scratch / "cold", ignore_errors=True)
    return version.run("sync", home="cold")


def _convert(version: Version, target: str) -> float:
    return version.run("convert", str(version.scratch / ".claude"), "-t", target)


MEASUREMENTS: dict[str, Callable[[Version], float]] = {
    "help": lambda version: version.run("--help"),
    **{f"-t {target}": partial(_convert, target=target) for target in _TARGETS},
    "cold sync": _cold_sync,
    "no-op sync": lambda version: version.run("sync"),
    "list": lambda version: version.run("list"),
    "search": lambda version: version.run("search", _WORD, "--mode", "lexical"),
    "usage": lambda version: version.run("usage"),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", help="a commit, or a folder with a checkout")
    parser.add_argument("new", nargs="?", default=str(CHECKOUT), help="likewise; default: this checkout")
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--scale", type=float, default=_CORPUS_SCALE, help="the size of the corpus / 224 MB")
    parser.add_argument(
        "--sessions", type=Path, help="a home folder to sync; default: a small one of bench/corpus.py"
    )
    parser.add_argument("--only", nargs="*", choices=[*MEASUREMENTS], default=[*MEASUREMENTS])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aj-compare-") as folder:
        source = args.sessions or _small_home(Path(folder), args.scale)
        versions = [
            _version(given, Path(folder) / name, source)
            for name, given in (("old", args.old), ("new", args.new))
        ]
        for version in versions:
            version.run("sync")
        print(f"{'':18}{'old s':>9}{'new s':>9}{'ratio':>8}")
        for name in args.only:
            for version in versions:
                MEASUREMENTS[name](version)  # compiles what it imports
            pairs = [tuple(map(MEASUREMENTS[name], versions)) for _ in range(args.rounds)]
            old, new = (statistics.median(each) for each in zip(*pairs, strict=True))
            ratio = statistics.median(after / before for before, after in pairs)
            print(f"{name:18}{old:9.3f}{new:9.3f}{ratio:8.3f}", flush=True)


def _small_home(folder: Path, scale: float) -> Path:
    corpus.make_sessions(folder / "home" / ".claude" / "projects", scale)
    return folder / "home"


def _version(given: str, scratch: Path, source: Path) -> Version:
    """Check a commit out if it is none yet, and give it a copy of the corpus."""
    scratch.mkdir()
    checkout = Path(given)
    if not (checkout / "src").is_dir():
        checkout = scratch / "checkout"
        checkout.mkdir()
        command = ["git", "archive", given, "src"]
        packed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
        subprocess.run(["tar", "x", "-C", str(checkout)], input=packed.stdout, check=True)  # noqa: S607
    shutil.copytree(source, scratch, dirs_exist_ok=True)
    return Version(checkout, scratch)


if __name__ == "__main__":
    main()
