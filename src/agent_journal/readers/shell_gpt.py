"""ShellGPT: one file per named chat, with the messages as they are sent to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Message
from agent_journal.readers import ReaderInfo
from agent_journal.readers.dialects.openai_messages import parse_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

CHAT = "chat"
_ROLES = ("system", "user", "assistant", "tool", "function")
_FOLDER = "chat_cache/"
# A chat begins with the role that it was started in; users may define more.
_OWN_ROLES = tuple(
    f"You are {name}\n"
    for name in ("ShellGPT", "Shell Command Generator", "Shell Command Descriptor", "Code Generator")
)

INFO = ReaderInfo(
    name="shell-gpt",
    title="ShellGPT",
    versions=(CHAT,),
    names={"record": "shell-gpt"},
    config_key="shell_gpt",
    env=("AJ_SHELL_GPT_PATH", "CHAT_CACHE_PATH", "TMPDIR"),
    # Without these variables the tool writes below /tmp, where everybody may put files; that is not searched.
    homes=(
        "%CHAT_CACHE_PATH%/*",
        "%TMPDIR%/chat_cache/*",
        "%LOCALAPPDATA%/Temp/chat_cache/*",
    ),
    ids_may_repeat=True,
    resume="sgpt --repl {id}",
    undercounts="the tool states no tokens",
    evidence=(
        "the vendor's public source of 2026 and what 1.5 writes; verified November 2026. The tool keeps the "
        "last hundred messages of a chat, and states no times"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim lists of messages that begin with a role of the tool, or that are in its folder."""
    if peek.is_folder or peek.opening != "[" or not peek.records:
        return None
    first = peek.records[0]
    if not _is_message(first):
        return None
    is_own = first["role"] == "system" and str(first["content"]).startswith(_OWN_ROLES)
    return CHAT if is_own or _FOLDER in peek.label.replace("\\", "/") else None


def _is_message(record: dict[str, Any]) -> bool:
    return record.get("role") in _ROLES and "content" in record


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is one version)
    """Yield the conversation of a chat, whose name is that of its file."""
    messages: list[Message] = []
    for index, raw in json_stream.elements(source, note):
        parsed = parse_message(raw, note, f"[{index}]")
        messages.append(
            Message(
                id=f"{source.name}:{index}",
                made_id=True,
                role=parsed.role,
                parts=parsed.parts,
                extra=parsed.extra,
            )
        )
    if not messages:
        raise UnreadableSource(source.label, "no message in it can be read")
    yield Conversation(id=source.name, source=INFO.name, shape="list", timeline=list(messages))
