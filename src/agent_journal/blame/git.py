"""What `git blame` says about the lines of a file."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

_TIMEOUT_S = 20.0
_MAX_OUTPUT_BYTES = 64_000_000
# No program that the repository configures is run, and no lock is taken.
_SAFE_OPTIONS = ("-c", "core.fsmonitor=false", "-c", "blame.ignoreRevsFile=")
_UNCOMMITTED = "0" * 40


class Commit(NamedTuple):
    """The commit that brought a line."""

    id: str
    at_s: int
    """When it was committed, in seconds since 1970; rebasing makes this later, never earlier."""
    summary: str


def project_root(path: str) -> str | None:
    """Return the top folder of the repository that a file or folder is in; None without one."""
    folder = path
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118 (a name as it was typed)
            return folder
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            return None
        folder = parent


def line_commits(path: str, count: int) -> list[Commit | None] | None:
    """Return the commit of each of a file's lines, None for what is not committed.

    None if that is unknown: the file is not in a repository, or not tracked, or git is not installed.
    """
    root = project_root(os.path.dirname(path))  # noqa: PTH120
    if root is None or not count:
        return None
    command = ("git", *_SAFE_OPTIONS, "-C", root, "blame", "--line-porcelain", "--no-textconv", "--", path)
    try:
        done = subprocess.run(  # noqa: S603 (no shell, and `--` before the path)
            command,
            capture_output=True,
            check=True,
            timeout=_TIMEOUT_S,
            env=_environment(),
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    commits = _parse(done.stdout) if len(done.stdout) <= _MAX_OUTPUT_BYTES else []
    return commits if len(commits) == count else None


def _environment() -> dict[str, str]:
    """Return the environment without what a hook of another repository sets."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environment | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def _parse(output: bytes) -> list[Commit | None]:
    """Read the output of `git blame --line-porcelain`: a header for each line, then a tab and the line."""
    commits: list[Commit | None] = []
    header: dict[bytes, bytes] = {}
    id_ = ""
    for line in output.split(b"\n"):
        if line.startswith(b"\t"):
            at = header.get(b"committer-time", b"")
            is_known = id_ != _UNCOMMITTED and at.isdigit()
            summary = header.get(b"summary", b"").decode("utf-8", "replace")
            commits.append(Commit(id_, int(at), summary) if is_known else None)
            header, id_ = {}, ""
        elif not id_:
            id_ = line.partition(b" ")[0].decode("ascii", "replace")
        else:
            name, _, value = line.partition(b" ")
            header[name] = value
    return commits
