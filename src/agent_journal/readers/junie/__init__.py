"""Junie: a folder of events per session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

EVENTS = "events"
_KINDS = (
    *("SessionA2uxEvent", "UserPromptEvent", "UserResponseEvent", "UserAsyncResponseEvent"),
    *("SessionTitleSetEvent", "UserMessagesCommittedToHistory", "SendToAgentEvent"),
)
TOOL_KINDS: dict[str, ToolKind] = {"terminal": "shell", "mcp": "mcp", "agent": "agent"}

INFO = ReaderInfo(
    name="junie",
    title="Junie",
    versions=(EVENTS,),
    names={"record": "junie"},
    config_key="junie",
    env=("AJ_JUNIE_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.junie/sessions/*/events.jsonl",),
    companions=(
        "*/.junie/sessions/index.jsonl",
        *(f"*/.junie/sessions/*/{file}" for file in ("state.json", "summary.json", "transcript.md")),
    ),
    tool_kinds=TOOL_KINDS,
    evidence=(
        "several programs that read its files and agree (agentsview, tokscale); no real file was seen; "
        "verified November 2026. Whether its counts of input include cached tokens is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim lines by the kinds of events that only this tool has."""
    if peek.is_folder or peek.opening != "{" or "kind" not in peek.keys:
        return None
    return EVENTS if any(map(_is_event, peek.records)) else None


def _is_event(record: dict[str, Any]) -> bool:
    kind = record.get("kind")
    if kind == "SessionA2uxEvent":
        return record.get("event").__class__ is dict
    return kind.__class__ is str and kind in _KINDS and "source" not in record


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.junie import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
