"""The tables of chats, messages and their parts. Messages are a tree: an edited prompt begins a branch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import (
    Conversation,
    Link,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    roles,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.piebald import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

# Models whose counts of input include what a cache had.
_CACHE_IN_INPUT = re.compile(r"(?:.*/)?(?:gpt|chatgpt|codex|o\d)", re.IGNORECASE)
_COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every chat of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        parts = _Parts(database, note)
        projects = {row.get("id"): row for row in each_row(database, "projects", note)}
        chats = [*each_row(database, "chats", note, order=("created_at", "id"))]
        for row in chats:
            where = f"chat {row.get('id')}"
            if row.get("id") is None:
                note(Kind.MISSING_ID, where, "a chat has no id")
                continue
            try:
                project = projects.get(row.get("project_id"), {})
                yield _conversation(database, Fields(row, note, where), project, parts, name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, where, error.reason)


def _conversation(
    database: Database, facts: Fields, project: dict[str, Any], parts: _Parts, name: str
) -> Conversation:
    note = facts.note
    own_id = facts.take("id")
    session = str(own_id)
    log = SessionLog(session, note, lambda _: False)
    key = ("parent_chat_id", own_id)
    for row in each_row(database, "messages", note, where=key, order=("created_at", "id", ROWID)):
        _add(log, Fields(row, note, f"message {row.get('id')}"), parts)
    entries = log.link({})
    first, last = tree.span(entries)
    model = facts.text("model") or None
    created_at, updated_at = facts.timestamp("created_at"), facts.timestamp("updated_at")
    places = (facts.take("worktree_path"), facts.take("current_directory"), project.get("directory"))
    folder = next((place for place in places if nonempty_str(place)), None)
    deleted = facts.take("is_deleted")
    facts.drop("message_count")
    return Conversation(
        id=session,
        source=name,
        title=facts.text("title") or None,
        started_at=created_at or first,
        updated_at=last or updated_at,
        model=first_model(entries) or model,
        cwd=folder,
        git_branch=facts.text("branch_name") or None,
        archived=True if deleted else None,
        head_id=tree.newest_leaf(entries),
        link=parts.links.get(session),
        timeline=entries,
        extra=facts.rest(),
    )


def _add(log: SessionLog, row: Fields, parts: _Parts) -> None:
    row.drop("parent_chat_id")
    own_id, parent = row.take("id"), row.take("parent_message_id")
    at = row.timestamp("created_at")
    label = row.view("role")
    role = roles.role(label)
    if role is None:
        row.note(Kind.UNKNOWN_ROLE, row.where, f"role {str(label)[:40]!r}")
    elif role == label:
        row.drop("role")
    model = row.text("model") or None
    key = f"{log.session}:{own_id}"
    usage = _usage(row.take_all(_COUNTS), model or "", key) if role == "assistant" else None
    message = Message(
        id=key if own_id is not None else "",
        made_id=own_id is not None,
        role=role or "user",
        parent_id=f"{log.session}:{parent}" if parent is not None else None,
        at=at,
        model=model if role == "assistant" else None,
        stop_reason=row.text("finish_reason") or None,
        parts=parts.of_message(own_id),
        usage=usage,
        extra=row.rest(),
    )
    log.add(message, row.where)


def _usage(raw: dict[str, Any], model: str, key: str) -> Usage | None:
    sent, output, reasoning, read, written = (counted(raw.get(name)) for name in _COUNTS)
    if not any((sent, output, read, written)):
        return None
    if sent is not None and _CACHE_IN_INPUT.match(model):
        sent = max(sent - max(read or 0, written or 0), 0)
    return Usage(
        key=key,
        input=sent,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=reasoning,
        extra=raw,
    )


class _Parts:
    """The parts of all messages. Texts are in nodes of their own."""

    def __init__(self, database: Database, note: Notes) -> None:
        self.links: dict[str, Link] = {}
        self._parts = _by(database, note, "message_parts", "parent_chat_message_id", ("part_index", "id"))
        self._texts = _by(database, note, "message_part_text", "message_part_id", (ROWID,))
        self._nodes = _by(
            database, note, "message_content_nodes", "parent_text_part_id", ("node_index", "id")
        )
        self._node_texts = _by(database, note, "message_node_text", "node_id", (ROWID,))
        self._calls = _by(database, note, "message_part_tool_call", "message_part_id", (ROWID,))
        messages = {row.get("id"): row.get("parent_chat_id") for row in each_row(database, "messages", note)}
        self._note = note
        self._link_subagents(messages)

    def _link_subagents(self, chats: dict[Any, Any]) -> None:
        """Link the chats of subagents to the calls that started them."""
        for message, parts in self._parts.items():
            for part in parts:
                for call in self._calls.get(part.get("id"), ()):
                    child = call.get("sub_agent_chat_id")
                    if child is not None and chats.get(message) is not None:
                        self.links[str(child)] = Link(
                            conversation_id=str(chats[message]),
                            relation="subagent",
                            message_id=f"{chats[message]}:{message}",
                            call_id=_call_id(call),
                        )

    def of_message(self, message: Any) -> list[Part]:
        """Return the parts of a message."""
        parts: list[Part] = []
        for row in self._parts.get(message, ()):
            own_id = row.get("id")
            if own_id in self._calls:
                for call in self._calls[own_id]:
                    parts += _tool(Fields(dict(call), self._note, f"message {message}"))
            elif own_id in self._texts or own_id in self._nodes:
                parts += self._text(own_id)
            else:
                self._note(
                    Kind.UNKNOWN_TYPE, f"message {message}", f"part {str(row.get('part_type'))[:40]!r}"
                )
                parts.append(Other(data=row, name=nonempty_str(row.get("part_type"))))
        return parts

    def _text(self, own_id: Any) -> list[Part]:
        is_thinking = any(row.get("is_thinking") for row in self._texts.get(own_id, ()))
        pieces = [
            str(text.get("content"))
            for node in self._nodes.get(own_id, ())
            for text in self._node_texts.get(node.get("id"), ())
            if text.get("content") is not None
        ]
        text = "".join(pieces)
        if not text:
            return []
        return [Reasoning(text=text) if is_thinking else Text(text=text)]


def _by(
    database: Database, note: Notes, table: str, column: str, order: tuple[str, ...]
) -> dict[Any, list[dict[str, Any]]]:
    """Return the rows of a table by the value of a column."""
    rows: dict[Any, list[dict[str, Any]]] = {}
    for row in each_row(database, table, note, order=order):
        rows.setdefault(row.get(column), []).append(row)
    return rows


def _call_id(call: dict[str, Any]) -> str | None:
    return nonempty_str(call.get("provider_tool_use_id"))


def _tool(call: Fields) -> list[Part]:
    """Return a call and, if there is one, its result."""
    call.drop("message_part_id", "id", "sub_agent_chat_id")
    call_id, name = call.text("provider_tool_use_id"), call.text("tool_name") or ""
    call_input, output, error = call.take("tool_input"), call.take("tool_result"), call.take("tool_error")
    part = ToolCall(
        call_id=call_id, name=name, input=call_input, kind=TOOL_KINDS.get(name), extra=call.rest()
    )
    if output is None and error is None:
        return [part]
    value = error if error is not None else output
    text: Any = value if value.__class__ is str else [Other(data=value)]
    return [part, ToolResult(call_id=call_id, name=name, output=text, is_error=error is not None)]
