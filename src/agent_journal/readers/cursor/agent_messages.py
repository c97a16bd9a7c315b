"""Messages as the agent stores them for the model: roles and blocks in the form of the AI SDK."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Media, Message, Other, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.notes import Kind
from agent_journal.readers.cursor.names import NAME, tool_kind
from agent_journal.readers.cursor.query import is_query, prompt_time, unwrap_prompt
from agent_journal.readers.dialects.injected_text import SENT_TEXT_KEY, Tags
from agent_journal.readers.dialects.openai_messages import parse_data_url

if TYPE_CHECKING:
    from collections import Counter

    from agent_journal.model import Bag, MediaKind, Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_ROLES = ("user", "assistant", "system", "tool")
_TEXT_TYPES = ("text", "error-text")
_CONTEXT = "<user_info>"
# The beginnings of texts that the agent writes in the user's turn.
_AGENT_TEXT_TAGS = (_CONTEXT, "<system_notification>", "<system_reminder>", "<system-reminder>")
_CONTEXT_TAGS = Tags(
    (
        *("additional_data", "attached_files", "open_and_recently_viewed_files", "project_layout", "rules"),
        *("git_status", "agent_transcripts", "agent_skills", "manually_attached_skills", "image_files"),
    )
)
# The agent's description of the machine, sent before the first prompt.
_FACTS = {
    "cwd": re.compile(r"^Workspace Path: (.+)$", re.MULTILINE),
    "os": re.compile(r"^OS Version: (.+)$", re.MULTILINE),
    "shell": re.compile(r"^Shell: (.+)$", re.MULTILINE),
}


def entry(data: Bag, name: str, chat_id: str, note: Notes) -> Entry:
    """Convert a message, identified by the hash of its blob."""
    where = f"blob {name[:16]}"
    fields = Fields(data, note, where)
    entry_id = name or ids.made(NAME, chat_id, data)
    role = fields.view("role")
    if role not in _ROLES:
        note(Kind.UNKNOWN_TYPE, where, f"message of {str(role)[:40]!r}")
        return Event(id=entry_id, made_id=not name, name="blob", data=data)
    fields.drop("role")
    content = fields.take("content")
    parts = _parts(content, role, note, where)
    hidden = role == "system" or (role == "user" and is_context(parts))
    if role == "user" and not hidden:
        parts = mark_context(parts)
    return Message(
        id=entry_id,
        made_id=not name,
        role=role,
        at=prompt_time(parts) if role == "user" else None,
        model=_model(fields, content),
        hidden=hidden,
        parts=parts,
        native=content if any(part.__class__ is not Text or part.extra for part in parts) else None,
        extra=fields.rest(),
    )


def with_unique_id(entry: Entry, id_counts: Counter[str], chat_id: str) -> Entry:
    """Return the entry with a unique id: equal messages have the same hash, which `id_counts` counts."""
    id_counts[entry.id] += 1
    if id_counts[entry.id] == 1:
        return entry
    return replace(entry, id=ids.made(NAME, chat_id, entry.id, id_counts[entry.id]), made_id=True)


def is_context(parts: list[Part]) -> bool:
    """Whether a message contains only context about the machine and the work on it."""
    return bool(parts) and all(isinstance(part, Text) and _is_agent_text(part) for part in parts)


def mark_context(parts: list[Part]) -> list[Part]:
    """Mark the parts with context as injected, in a message that also has a prompt."""
    return [
        replace(part, injected=True)
        if isinstance(part, Text) and part.text and _is_agent_text(part)
        else part
        for part in parts
    ]


def _is_agent_text(part: Text) -> bool:
    if is_query(part.extra.get(SENT_TEXT_KEY)):
        return not part.text
    return not part.text or part.text.lstrip().startswith(_AGENT_TEXT_TAGS) or _CONTEXT_TAGS.is_all(part.text)


def environment_facts(parts: list[Part]) -> dict[str, str]:
    """Return the folder, operating system and shell stated in a message."""
    text = "\n".join(part.text for part in parts if isinstance(part, Text) and _CONTEXT in part.text)
    matches = {name: pattern.search(text) for name, pattern in _FACTS.items()} if text else {}
    return {name: match[1].strip() for name, match in matches.items() if match}


def _parts(content: Any, role: Role, note: Notes, where: str) -> list[Part]:
    if isinstance(content, str):
        return [unwrap_prompt(content) if role == "user" else Text(text=content)]
    if not isinstance(content, list):
        return [] if content is None else [Other(data=content)]
    return [_part(block, role, note, where) for block in content]


def _part(block: Any, role: Role, note: Notes, where: str) -> Part:
    if not isinstance(block, dict):
        return Text(text=block) if isinstance(block, str) else Other(data=block)
    kind = block.get("type")
    fields = Fields(dict(block), note, where)
    fields.drop("type")
    match kind:
        case "text" if isinstance(text := fields.take("text"), str):
            return (
                unwrap_prompt(text, fields.rest()) if role == "user" else Text(text=text, extra=fields.rest())
            )
        case "reasoning":
            signature = fields.text("signature")
            return Reasoning(text=fields.text("text"), signature=signature, extra=fields.rest())
        case "redacted-reasoning":
            return Reasoning(encrypted=fields.text("data"), extra=fields.rest())
        case "tool-call":
            return _tool_call(fields)
        case "tool-result":
            return _tool_result(fields)
        case "image" | "file":
            return _media(kind, fields)
    note(Kind.UNKNOWN_TYPE, where, f"content block {str(kind)[:40]!r}")
    return Other(data=block, name=kind if isinstance(kind, str) else None)


def _tool_call(fields: Fields) -> Part:
    name = fields.text("toolName") or ""
    return ToolCall(
        name=name,
        call_id=fields.text("toolCallId"),
        input=fields.take("args" if fields.has("args") else "input"),
        kind=tool_kind(name),
        extra=fields.rest(),
    )


def _tool_result(fields: Fields) -> Part:
    raw = fields.take("result" if fields.has("result") else "output")
    is_error = fields.flag("isError")
    kind, value = (raw.get("type"), raw.get("value")) if isinstance(raw, dict) else (None, None)
    if kind in _TEXT_TYPES and isinstance(value, str):  # since version 5 of the SDK
        raw, is_error = value, True if kind == "error-text" else is_error
    return ToolResult(
        call_id=fields.text("toolCallId"),
        name=fields.text("toolName"),
        output=raw if isinstance(raw, str) else "" if raw is None else [Other(data=raw)],
        is_error=is_error,
        extra=fields.rest(),
    )


def _media(kind: str, fields: Fields) -> Part:
    """Convert an image or file: inline, or by its URL."""
    content = fields.text("image") if kind == "image" else fields.text("data")
    is_url = content is not None and "://" in content[:20]
    media: MediaKind = "image" if kind == "image" else "file"
    mime, data = parse_data_url(content)
    return Media(
        kind=media,
        mime=fields.text("mimeType") or fields.text("mediaType") or mime,
        name=fields.text("filename"),
        ref=content if is_url else None,
        data=None if is_url else data or content,
        extra=fields.rest(),
    )


def _model(fields: Fields, content: Any) -> str | None:
    """Return the model that answered, if the message or one of its blocks names it."""
    all_options = [fields.view("providerOptions")]
    if isinstance(content, list):
        all_options += [block.get("providerOptions") for block in content if isinstance(block, dict)]
    for options in all_options:
        cursor_options = options.get("cursor") if isinstance(options, dict) else None
        name = cursor_options.get("modelName") if isinstance(cursor_options, dict) else None
        if isinstance(name, str) and name:
            return name
    return None
