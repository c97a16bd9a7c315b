"""The timeline of a conversation: its nodes in order, as messages and events.

Nearly all messages are one plain text. They have a fast path, because exports have hundreds of thousands of
them; `message.py` reads all others, and would read these with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agent_journal.model import Event, Message, Text
from agent_journal.readers.chatgpt.citations import QUOTED
from agent_journal.readers.chatgpt.fastpath import CommonNode
from agent_journal.readers.chatgpt.graph import parent_of
from agent_journal.readers.chatgpt.marks import BEGIN
from agent_journal.readers.chatgpt.message import (
    BRANCHED,
    EVERYONE,
    is_hidden,
    model_of,
    read_node,
    stop_reason,
)

if TYPE_CHECKING:
    from agent_journal.model import Role
    from agent_journal.readers.chatgpt.graph import Mapping, Order
    from agent_journal.readers.chatgpt.message import Entry, ReadingState

_SPEAKERS: tuple[Role, ...] = ("user", "assistant", "system")
# Metadata that the slow path converts.
_CONVERTED_METADATA = frozenset(
    {"attachments", "citations", "content_references", "user_context_message_data", QUOTED, BRANCHED}
)
_HIDDEN = "is_visually_hidden_from_conversation"
# The numbers of fields of a common node, text content and author. Exports since
# 2026 omit `children`, and all of an author but the role.
_NODE_FIELDS, _CONTENT_FIELDS, _AUTHOR_FIELDS = 4, 2, (3, 1)
_EVERYONE = (*EVERYONE, UNSET)


def read_timeline(state: ReadingState, order: Order, written_at: list[str | None]) -> list[Entry]:
    """Convert every node of the conversation to an entry, in order; `written_at` has their times."""
    mapping, timeline = state.mapping, state.timeline
    state.keys = order.keys
    moved: dict[str, str | None] = {**order.adopted, **dict.fromkeys(order.cut)}
    for key, at in zip(order.keys, written_at, strict=False):
        node = mapping[key]
        is_decoded = node.__class__ is CommonNode
        entry = None
        if not moved or key not in moved:
            entry = (decoded_entry if is_decoded else raw_entry)(key, node, at, mapping)
        if entry is None:
            parent = moved[key] if key in moved else parent_of(node)
            entry = read_node(key, node.record() if is_decoded else node, parent, at, state)
        timeline.append(entry)
    return timeline


def raw_entry(key: str, node: Any, at: str | None, mapping: Mapping) -> Entry | None:
    """Convert a raw node of the common shape; None, and the node untouched, if it needs the slow path."""
    try:
        message, parent, children = node["message"], node["parent"], node.get("children")
        if children.__class__ is list:
            if len(children) > 1:
                return None  # their order may matter
            for child in children:
                if child not in mapping:
                    return None
        elif children is not None:
            return None
        if len(node) != (_NODE_FIELDS - 1 if children is None else _NODE_FIELDS) or node["id"] != key:
            return None
        if parent is not None and parent.__class__ is not str:
            return None
        if message is None:
            return Event(id=key, parent_id=parent or None, name="empty-node")
        content, author, metadata = message["content"], message["author"], message["metadata"]
        parts, role = content["parts"], author["role"]
        text = parts[0]
        if (
            content["content_type"] != "text"
            or text.__class__ is not str
            or parts.__class__ is not list
            or len(parts) != 1
            or len(content) != _CONTENT_FIELDS
            or message["id"] != key
            or role not in _SPEAKERS
            or (role == "assistant" and (message.get("recipient") not in EVERYONE or BEGIN in text))
            or len(author) not in _AUTHOR_FIELDS
            or (len(author) > 1 and (author["name"] is not None or author["metadata"]))
            or (at is None and message["create_time"])
            or metadata.__class__ is not dict
            or (
                metadata
                and not _CONVERTED_METADATA.isdisjoint(metadata)
                and any(map(metadata.get, _CONVERTED_METADATA))
            )
        ):
            return None
        del message["create_time"], message["content"], message["author"], message["id"]
    except (AttributeError, IndexError, KeyError, TypeError):
        return None  # not the common shape
    return Message(
        id=key,
        role=role,
        parent_id=parent or None,
        at=at,
        model=model_of(metadata) if metadata else None,
        stop_reason=stop_reason(metadata) if "finish_details" in metadata else None,
        # Called only if the result can be true.
        hidden=(message.get("weight") == 0 or role == "system" or _HIDDEN in metadata)
        and is_hidden(role, message, metadata),
        parts=[Text(text=text)] if text else [],
        extra=message,
    )


def decoded_entry(key: str, node: CommonNode, at: str | None, mapping: Mapping) -> Entry | None:
    """Convert a decoded node of the common shape; None if it needs the slow path."""
    message, parent, children = node.message, node.parent, node.children
    if children and (len(children) > 1 or children[0] not in mapping):
        return None
    if node.id != key:
        return None
    if message is None:
        return Event(id=key, parent_id=parent or None, name="empty-node")
    content, author, metadata = message.content, message.author, message.metadata
    role, parts = author.role, content.get("parts")
    if (
        parts.__class__ is not list
        or len(parts) != 1
        or (text := parts[0]).__class__ is not str
        or content.get("content_type") != "text"
        or len(content) != _CONTENT_FIELDS
        or message.id != key
        or role not in _SPEAKERS
        or (role == "assistant" and (message.recipient not in _EVERYONE or BEGIN in text))
        or author.name
        or author.metadata
        or (at is None and message.create_time)
        or (
            metadata
            and not _CONVERTED_METADATA.isdisjoint(metadata)
            and any(map(metadata.get, _CONVERTED_METADATA))
        )
    ):
        return None
    extra = message.extra()
    return Message(
        id=key,
        role=role,
        parent_id=parent or None,
        at=at,
        model=model_of(metadata) if metadata else None,
        stop_reason=stop_reason(metadata) if "finish_details" in metadata else None,
        # Called only if the result can be true.
        hidden=(message.weight == 0 or role == "system" or _HIDDEN in metadata)
        and is_hidden(role, extra, metadata),
        parts=[Text(text=text)] if text else [],
        extra=extra,
    )
