"""Check files before they are committed: `python -m tools.check_files [--fix] [FILE...]`.

A file must not be large, and a text must end with exactly one line feed. Without FILE, every file that git
knows is checked. Paths are relative to the current folder, which is the top of the checkout.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_BYTES = 512 * 1024
_HEAD_BYTES = 8192

# Inputs and expected results are compared byte by byte, and page templates end where the page does.
EXACT = ("tests/readers/**", "tests/writers/**", "src/agent_journal/writers/html/*.html")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check files as the command line asks, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.check_files", description="Check the size and the end of files."
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="default: every file that git knows")
    parser.add_argument("--fix", action="store_true", help="correct ends of texts")
    options = parser.parse_args(arguments)
    problems = list(check([Path(name) for name in options.files] or _tracked_files(), fix=options.fix))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def check(files: Sequence[Path], *, fix: bool) -> Iterator[str]:
    """Yield what is wrong with each file, one line each."""
    for path in files:
        if path.is_symlink() or not path.is_file():
            continue  # a deleted file, or a submodule
        size = path.stat().st_size
        if size > MAX_BYTES:
            yield f"{path}: {size:,} bytes are more than {MAX_BYTES:,}; shorten it, or let a test generate it"
        elif not _is_exact(path):
            content = path.read_bytes()
            corrected = _with_one_line_feed(content)
            if content != corrected:
                if fix:
                    path.write_bytes(corrected)
                yield (
                    f"{path}: the end was corrected; add it again"
                    if fix
                    else f"{path}: must end with one line feed"
                )


def _with_one_line_feed(content: bytes) -> bytes:
    if not content or b"\0" in content[:_HEAD_BYTES]:  # empty or binary
        return content
    return content.rstrip(b"\r\n") + b"\n"


def _is_exact(path: Path) -> bool:
    name = PurePosixPath(path.as_posix())
    return any(
        name.is_relative_to(pattern.removesuffix("/**")) if pattern.endswith("/**") else name.match(pattern)
        for pattern in EXACT
    )


def _tracked_files() -> list[Path]:
    command = ["git", "ls-files", "-z"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 (our own words)
    return [Path(name) for name in names.split("\0") if name]


if __name__ == "__main__":
    sys.exit(main())
