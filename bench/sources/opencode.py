"""A database of sessions, messages and parts."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from sources.writing import MB, Scribe, dumped

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = """
CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT,
  title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,
  data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
CREATE INDEX message_session ON message (session_id);
CREATE INDEX part_message ON part (message_id);
CREATE INDEX part_session ON part (session_id);
"""


def _parts(scribe: Scribe, turn: int) -> list[dict[str, Any]]:
    if turn % 2 == 0:
        return [{"type": "text", "text": scribe.prompt()}]
    at = scribe.milliseconds()
    time = {"start": at, "end": at + 900}
    state = {
        "status": "completed",
        "input": {"command": scribe.text(60)},
        "output": scribe.output(),
        "title": "ls",
    }
    return [
        {"type": "step-start"},
        {"type": "reasoning", "text": scribe.some(200, 2000), "time": time},
        {
            "type": "tool",
            "callID": f"call_{at}",
            "tool": "bash",
            "state": state | {"metadata": {}, "time": time},
        },
        {"type": "text", "text": scribe.answer(), "time": time},
        {
            "type": "step-finish",
            "reason": "stop",
            "cost": 0.01,
            "tokens": {"input": 9, "output": 9, "reasoning": 0},
        },
    ]


def _message(turn: int, at: int) -> dict[str, Any]:
    if turn % 2 == 0:
        return {"role": "user", "time": {"created": at}, "agent": "build"}
    tokens = {"input": 9, "output": 9, "reasoning": 0, "cache": {"read": 1, "write": 2}}
    about = {
        "role": "assistant",
        "time": {"created": at, "completed": at + 999},
        "modelID": "gpt-5",
        "cost": 0.01,
    }
    return about | {
        "providerID": "openai",
        "mode": "build",
        "tokens": tokens,
        "path": {"cwd": "/a", "root": "/a"},
    }


def make(folder: Path, megabytes: int) -> list[Path]:
    """One database."""
    scribe, size, path, number = Scribe(), 0, folder / "opencode.db", 0
    with sqlite3.connect(path) as database:
        database.executescript(_SCHEMA)
        database.execute("INSERT INTO project VALUES ('p', '/a', 1, 2)")
        while size < megabytes * MB:
            session, at = f"ses_{number:06}", scribe.milliseconds()
            row = (session, "p", None, "s", "/a", scribe.text(30), "1.2.3", at, at)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            for turn in range(scribe.random.randrange(4, 40)):
                at, message = scribe.milliseconds(), f"msg_{number:06}_{turn:03}"
                data = dumped(_message(turn, at))
                database.execute(
                    "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (message, session, at, at, data)
                )
                for place, part in enumerate(_parts(scribe, turn)):
                    text = dumped(part)
                    values = (f"prt_{number:06}_{turn:03}_{place}", message, session, at, at, text)
                    database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
                    size += len(text)
            number += 1
    database.close()
    return [path]


KINDS = {"database": make}
