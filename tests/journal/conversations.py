"""Journals of conversations that a test makes up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_journal import config, journal
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal import Journal


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def call(call_id: str, name: str, kind: str | None, given: Any) -> dict[str, Any]:
    return {"type": "tool_call", "call_id": call_id, "name": name, "kind": kind, "input": given}


def result(call_id: str, output: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "call_id": call_id, "output": output, "is_error": is_error}


def message(id_: str, role: str, at: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": id_, "role": role, "at": at, "parts": list(parts), **more}


def conversation(id_: str, *timeline: dict[str, Any], source: str = "codex", **more: Any) -> dict[str, Any]:
    times = [each["at"] for each in timeline]
    return {
        "type": "conversation",
        "id": id_,
        "source": source,
        "shape": "list",
        "started_at": min(times, default=None),
        "updated_at": max(times, default=None),
        "timeline": list(timeline),
        **more,
    }


def import_into(home: Path, *conversations: dict[str, Any]) -> None:
    """Import conversations into the journal in a folder, which is created if it is missing."""
    path = home.with_name(f"{home.name}-{len(list(home.parent.iterdir()))}.jsonl")
    path.write_text("".join(f"{json.dumps(each)}\n" for each in conversations), encoding="utf-8")
    journal.import_files(config.load(home, {}), [ImportCandidate(str(path))], lambda _: None)


def open_home(home: Path) -> Journal:
    return Journal(config.load(home, {}))


def journal_of(folder: Path, *conversations: dict[str, Any]) -> Journal:
    """Open a new journal with these conversations."""
    import_into(folder / "journal", *conversations)
    return open_home(folder / "journal")
