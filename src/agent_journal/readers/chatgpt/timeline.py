"""The timeline of a conversation: its nodes in order, as messages and events.

Nearly all messages are one plain text. They have a fast way, because exports have hundreds of thousands of
them; `message.py` reads whatever is different and would read these to the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agent_journal.model import Event, Message, Text
from agent_journal.readers.chatgpt.citations import QUOTED
from agent_journal.readers.chatgpt.fastpath import UsualNode
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
    from agent_journal.readers.chatgpt.message import Entry, Scene

_SPEAKERS: tuple[Role, ...] = ("user", "assistant", "system")
# Metadata that something must be made of.
_TELLING = frozenset(
    {"attachments", "citations", "content_references", "user_context_message_data", QUOTED, BRANCHED}
)
_HIDDEN = "is_visually_hidden_from_conversation"
# How many fields a node, a text content and an author have about whom there is nothing to say. Exports since
# 2026 leave out `children`, and all of an author but the role.
_NODE, _CONTENT, _AUTHOR = 4, 2, (3, 1)
_EVERYONE = (*EVERYONE, UNSET)


def read_timeline(scene: Scene, order: Order, written: list[str | None]) -> list[Entry]:
    """Every node of the conversation as a message or event, in order; `written` is when they were."""
    mapping, timeline = scene.mapping, scene.timeline
    scene.keys = order.keys
    moved: dict[str, str | None] = {**order.adopted, **dict.fromkeys(order.cut)}
    for key, at in zip(order.keys, written, strict=False):
        node = mapping[key]
        is_usual = node.__class__ is UsualNode
        entry = None
        if not moved or key not in moved:
            entry = usual(key, node, at, mapping) if is_usual else plain(key, node, at, mapping)
        if entry is None:
            parent = moved[key] if key in moved else parent_of(node)
            entry = read_node(key, node.record() if is_usual else node, parent, at, scene)
        timeline.append(entry)
    return timeline


def plain(key: str, node: Any, at: str | None, mapping: Mapping) -> Entry | None:
    """The entry of a node about which there is nothing to resolve or to note.

    None if there may be something; then the node was not touched.
    """
    try:
        message, parent, children = node["message"], node["parent"], node.get("children")
        if children.__class__ is list:
            if len(children) > 1:
                return None  # their order may say something
            for child in children:
                if child not in mapping:
                    return None
        elif children is not None:
            return None
        if len(node) != (_NODE - 1 if children is None else _NODE) or node["id"] != key:
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
            or len(content) != _CONTENT
            or message["id"] != key
            or role not in _SPEAKERS
            or (role == "assistant" and (message.get("recipient") not in EVERYONE or BEGIN in text))
            or len(author) not in _AUTHOR
            or (len(author) > 1 and (author["name"] is not None or author["metadata"]))
            or (at is None and message["create_time"])
            or metadata.__class__ is not dict
            or (metadata and not _TELLING.isdisjoint(metadata) and any(map(metadata.get, _TELLING)))
        ):
            return None
        del message["create_time"], message["content"], message["author"], message["id"]
    except (AttributeError, IndexError, KeyError, TypeError):
        return None  # not the usual shape
    return Message(
        id=key,
        role=role,
        parent_id=parent or None,
        at=at,
        model=model_of(metadata) if metadata else None,
        stop_reason=stop_reason(metadata) if "finish_details" in metadata else None,
        # Asked only where the answer may be yes.
        hidden=(message.get("weight") == 0 or role == "system" or _HIDDEN in metadata)
        and is_hidden(role, message, metadata),
        parts=[Text(text=text)] if text else [],
        extra=message,
    )


def usual(key: str, node: UsualNode, at: str | None, mapping: Mapping) -> Entry | None:
    """The same for a node that was decoded into its fields."""
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
        or len(content) != _CONTENT
        or message.id != key
        or role not in _SPEAKERS
        or (role == "assistant" and (message.recipient not in _EVERYONE or BEGIN in text))
        or author.name
        or author.metadata
        or (at is None and message.create_time)
        or (metadata and not _TELLING.isdisjoint(metadata) and any(map(metadata.get, _TELLING)))
    ):
        return None
    extra = message.left()
    return Message(
        id=key,
        role=role,
        parent_id=parent or None,
        at=at,
        model=model_of(metadata) if metadata else None,
        stop_reason=stop_reason(metadata) if "finish_details" in metadata else None,
        # Asked only where the answer may be yes.
        hidden=(message.weight == 0 or role == "system" or _HIDDEN in metadata)
        and is_hidden(role, extra, metadata),
        parts=[Text(text=text)] if text else [],
        extra=extra,
    )
