"""Augment's command line (Auggie): one document per session."""

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
TOOL_KINDS: dict[str, ToolKind] = {
    "launch-process": "shell",
    "read-process": "shell",
    "view": "read",
    "str-replace-editor": "edit",
    "save-file": "write",
    "remove-files": "edit",
    "codebase-retrieval": "search",
    "grep-search": "search",
    "web-search": "web",
    "web-fetch": "web",
    "add_tasks": "plan",
    "update_tasks": "plan",
    "remember": "memory",
}

INFO = ReaderInfo(
    name="augment",
    title="Augment (Auggie)",
    versions=(SESSION,),
    names={"record": "augment"},
    config_key="augment",
    env=("AJ_AUGMENT_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=("~/.augment/sessions/*.json",),
    tool_kinds=TOOL_KINDS,
    sums_requests=True,
    resume="auggie --resume {id}",
    evidence=(
        "programs that read its files (tokscale, on real sessions of 0.36); no real file was seen; verified "
        "November 2026. The chats of the editors' extension are in a database that is not read"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim documents by the exchanges in their history."""
    if peek.is_folder or peek.opening != "{" or not {"sessionId", "chatHistory"} <= peek.keys:
        return None
    return SESSION if any(map(_is_session, peek.records)) else None


def _is_session(record: dict[str, Any]) -> bool:
    history = record.get("chatHistory")
    if history.__class__ is not list or record.get("sessionId").__class__ is not str:
        return False
    return "agentState" in record or any(
        turn.__class__ is dict and turn.get("exchange").__class__ is dict for turn in history
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.augment import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
