"""DeepSeek Harness: one file of events per session, mostly compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

SESSION = "session"
_OWN_TYPES = (
    "user/message",
    "assistant/message",
    "assistant/chunk",
    "tool/call",
    "tool/result",
    "turn/start",
)
TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "shell": "shell",
    "read": "read",
    "edit": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "web_search": "web",
    "web_fetch": "web",
    "subagent": "agent",
    "delegate": "agent",
    "todo_write": "plan",
}

INFO = ReaderInfo(
    name="deepseek-harness",
    title="DeepSeek Harness",
    versions=(SESSION,),
    names={"record": "deepseek-harness"},
    config_key="deepseek_harness",
    env=("AJ_DEEPSEEK_HARNESS_PATH", "DSH_HOME"),
    # The same folder on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/sessions/*/*/session.jsonl{suffix}"
        for home in ("~/.dsh", "%DSH_HOME%")
        for suffix in ("", ".zstd")
    ),
    tool_kinds=TOOL_KINDS,
    resume="dsh --resume {id}",
    evidence="the vendor's public source and test data as of August 2026; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim lines by the header, or by types of events that only this tool has."""
    if peek.is_folder or peek.opening != "{" or "type" not in peek.keys:
        return None
    return SESSION if any(map(_is_own, peek.records)) else None


def _is_own(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if kind == "session":
        return record.get("createdAt").__class__ is int and record.get("id").__class__ is str
    return kind.__class__ is str and kind in _OWN_TYPES and record.get("data").__class__ is dict


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.deepseek_harness import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
