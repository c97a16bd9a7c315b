"""DeepSeek TUI and its successor CodeWhale: one document per session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import Product, ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

SESSION = "session"
TOOL_KINDS: dict[str, ToolKind] = {
    "exec_shell": "shell",
    "exec_shell_wait": "shell",
    "read_file": "read",
    "write_file": "write",
    "edit_file": "edit",
    "apply_patch": "edit",
    "list_dir": "search",
    "grep_files": "search",
    "file_search": "search",
    "web_search": "web",
    "fetch_url": "web",
    "agent_spawn": "agent",
    "update_plan": "plan",
    "todo_write": "plan",
}

INFO = ReaderInfo(
    name="deepseek-tui",
    title="DeepSeek TUI, CodeWhale",
    products=(
        Product("DeepSeek TUI", ("*/.deepseek/sessions/*",)),
        Product("CodeWhale", ("*/.codewhale/sessions/*",)),
    ),
    versions=(SESSION,),
    names={"record": "deepseek-tui"},
    config_key="deepseek_tui",
    env=("AJ_DEEPSEEK_TUI_PATH",),
    # The same folders on Linux, macOS and Windows; the second is that of older versions.
    homes=("~/.codewhale/sessions/*.json", "~/.deepseek/sessions/*.json"),
    companions=tuple(
        f"*/{home}/sessions/{file}.json"
        for home in (".codewhale", ".deepseek")
        for file in ("latest", "offline_queue")
    ),
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    undercounts="the tool states a total of tokens for a session, without what was sent and received",
    resume="codewhale --resume {id}",
    evidence="the vendor's public source of 2026; no real file was seen; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim documents by the facts of their session and their messages."""
    if peek.is_folder or peek.opening != "{" or not {"metadata", "messages", "schema_version"} <= peek.keys:
        return None
    return SESSION if any(map(_is_session, peek.records)) else None


def _is_session(record: dict[str, Any]) -> bool:
    metadata = record.get("metadata")
    return (
        metadata.__class__ is dict
        and {"id", "message_count"} <= metadata.keys()
        and ("workspace" in metadata or "total_tokens" in metadata)
        and record.get("messages").__class__ is list
    )


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.deepseek_tui import session  # noqa: PLC0415 (only reading needs it)

    yield session.conversation(source, note, INFO.name)
