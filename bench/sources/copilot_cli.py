"""Events of a command line agent: prompts, answers with tool requests, their results."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _events(scribe: Scribe) -> Iterator[dict[str, Any]]:
    session, parent = scribe.id(), None
    start = {"sessionId": session, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.40"}
    for kind, data in _said(scribe, start | {"startTime": scribe.time()}):
        event = {
            "id": scribe.id(),
            "type": kind,
            "timestamp": scribe.time(),
            "parentId": parent,
            "data": data,
        }
        parent = event["id"]
        yield event


def _said(scribe: Scribe, start: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "session.start", start
    for turn in count():
        text = scribe.prompt()
        yield "user.message", {"content": text, "transformedContent": f"<now/>\n{text}", "attachments": []}
        for step in range(4):
            call = f"call_{turn}_{step}"
            asked = {"toolCallId": call, "name": "bash", "arguments": {"command": scribe.text(60)}}
            yield "assistant.turn_start", {"turnId": f"{turn}.{step}"}
            said = {
                "messageId": scribe.id(),
                "content": scribe.answer(),
                "toolRequests": [asked],
                "outputTokens": 90,
            }
            yield "assistant.message", said
            yield (
                "tool.execution_start",
                {"toolCallId": call, "toolName": "bash", "arguments": asked["arguments"]},
            )
            done = {
                "toolCallId": call,
                "success": True,
                "result": {"content": scribe.output()},
                "toolTelemetry": {},
            }
            yield "tool.execution_complete", done
            yield "assistant.turn_end", {"turnId": f"{turn}.{step}"}


def make(folder: Path, megabytes: int) -> list[Path]:
    """One long session."""
    return lines(folder / "session-state" / "s" / "events.jsonl", megabytes, _events(Scribe()))


KINDS = {"events": make}
