"""Sessions of a command line agent, as a log and as one document."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, array, dumped, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TOKENS = {"input": 11855, "output": 81, "cached": 500, "thoughts": 9, "tool": 0, "total": 11945}


def _messages(scribe: Scribe) -> Iterator[dict[str, Any]]:
    for turn in count():
        at = scribe.time()
        yield {"id": f"u{turn}", "timestamp": at, "type": "user", "content": [{"text": scribe.prompt()}]}
        thought = {"subject": scribe.text(20), "description": scribe.some(200, 1000), "timestamp": at}
        yield {
            "id": f"g{turn}",
            "timestamp": scribe.time(),
            "type": "gemini",
            "content": scribe.answer(),
            "thoughts": [thought],
            "tokens": _TOKENS,
            "model": "gemini-3-flash-preview",
            "toolCalls": [_call(scribe, f"run-{turn}-{place}", at) for place in range(turn % 3)],
        }


def _call(scribe: Scribe, call: str, at: str) -> dict[str, Any]:
    answer = {"id": call, "name": "run_shell_command", "response": {"output": scribe.output()}}
    return {
        "id": call,
        "name": "run_shell_command",
        "args": {"command": scribe.text(40), "description": scribe.text(50)},
        "result": [{"functionResponse": answer}],
        "status": "success",
        "timestamp": at,
        "resultDisplay": scribe.text(120),
        "displayName": "Shell",
        "renderOutputAsMarkdown": False,
    }


def _head(scribe: Scribe) -> dict[str, Any]:
    at = scribe.time()
    return {"sessionId": scribe.id(), "projectHash": "ab", "startTime": at, "lastUpdated": at, "kind": "main"}


def _log(scribe: Scribe) -> Iterator[dict[str, Any]]:
    yield _head(scribe)
    for message in _messages(scribe):
        yield message
        yield {"$set": {"lastUpdated": message["timestamp"]}}


def log(folder: Path, megabytes: int) -> list[Path]:
    """One long session, line by line."""
    return lines(folder / "chats" / "session-2026-03-01T09-00-ab.jsonl", megabytes, _log(Scribe()))


def document(folder: Path, megabytes: int) -> list[Path]:
    """One long session in one object."""
    scribe = Scribe()
    around = (dumped(_head(scribe))[:-1] + ',"messages":[', "]}")
    return array(folder / "chats" / "session-2026-03-01T09-00-cd.json", megabytes, _messages(scribe), around)


KINDS = {"log": log, "document": document}
