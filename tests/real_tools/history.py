"""What Agent Journal makes of a home folder: its conversations, its list and its token counts."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import agent_journal
from agent_journal import Conversation, Memory
from tests.real_tools.fake_model.exchange import Tokens
from tests.real_tools.sandbox import Sandbox

# The package that is under test, which need not be the one that is installed.
_SOURCE = Path(agent_journal.__file__).parents[1]


class SyncFailed(Exception):
    """`aj` could not import what the tool wrote."""


@dataclass(frozen=True, kw_only=True)
class History:
    """What the journal holds, as its commands show it."""

    conversations: list[Conversation]
    listed: list[dict[str, Any]]
    tokens: Tokens
    notes: list[str]


def sync(sandbox: Sandbox, source: str) -> History:
    """Import the sandbox's home folder into a new journal."""
    journal = sandbox.home.parent / "journal"
    reports = _json_lines(sandbox, journal, "sync", "--json")
    exported = _aj(sandbox, journal, "export", "--all", "-t", "json", "--include-secrets")
    items = (msgspec.json.decode(line, type=Conversation | Memory) for line in exported.splitlines() if line)
    conversations = [item for item in items if isinstance(item, Conversation)]
    total = next(row for row in _json_lines(sandbox, journal, "usage", "--json") if row.get("total") is True)
    return History(
        conversations=[each for each in conversations if each.source == source],
        listed=_json_lines(sandbox, journal, "list", "--json"),
        tokens=Tokens(
            **{name: total.get(name) or 0 for name in ("input", "output", "cache_read", "cache_write")}
        ),
        notes=[str(note) for report in reports for note in report.get("notes") or []],
    )


def _json_lines(sandbox: Sandbox, journal: Path, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _aj(sandbox, journal, *arguments).splitlines() if line]


def _aj(sandbox: Sandbox, journal: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "agent_journal", "--home", str(journal), *arguments]
    done = subprocess.run(
        command,
        cwd=sandbox.work,
        env=sandbox.env | {"PYTHONPATH": str(_SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise SyncFailed(f"aj {' '.join(arguments)} exited with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
