"""Posit Assistant: a folder per conversation, with a tree and the messages of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

TREE = "tree"
TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "executeCode": "shell",
    "read": "read",
    "edit": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "webSearch": "web",
    "webFetch": "web",
    "task": "agent",
    "todoWrite": "plan",
}
_FOLDER = "workspaces/*/*"

INFO = ReaderInfo(
    name="posit-assistant",
    title="Posit Assistant",
    versions=(TREE,),
    names={"record": "posit-assistant"},
    config_key="posit_assistant",
    env=("AJ_POSIT_ASSISTANT_PATH",),
    # The same folder on Linux, macOS and Windows.
    homes=(
        f"~/.posit/assistant/{_FOLDER}/conversation.json",
        f"~/.posit/assistant/{_FOLDER}/**/subagents/*/conversation.json",
    ),
    companions=(
        "*/lm-messages.jsonl",
        "*/ui-messages.jsonl",
        *(f"*/assistant/workspaces/*/{file}.json" for file in ("workspace", "index")),
    ),
    tool_kinds=TOOL_KINDS,
    evidence="samples of conversations and a program that reads them (agentsview); verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim the document of a tree."""
    if peek.is_folder or peek.opening != "{" or not {"root", "messages"} <= peek.keys:
        return None
    return TREE if any(map(_is_tree, peek.records)) else None


def _is_tree(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    if record.get("root").__class__ is not dict or messages.__class__ is not list:
        return False
    nodes = [node for node in messages if node.__class__ is dict]
    return any("lmMessageIds" in node for node in nodes) or (not messages and "schemaVersion" in record)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a tree."""
    from agent_journal.readers.posit_assistant import conversation  # noqa: PLC0415 (only reading needs it)

    yield conversation.conversation(source, note, INFO.name)
