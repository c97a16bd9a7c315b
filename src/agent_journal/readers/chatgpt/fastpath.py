"""Fast path: the most common conversations, decoded straight into their fields, which is faster.

A conversation with any other field, or a field of another type, is decoded into plain objects. So nothing
can be lost here, and both paths have the same result.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_journal.decoding.json_stream import Shape

JsonObject = dict[str, Any]


class Author(Struct, forbid_unknown_fields=True, gc=False):
    """The author of a message. Exports since 2026 omit all but the role."""

    role: Any
    name: Any = UNSET
    metadata: Any = UNSET


class CommonMessage(Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """A message, with its fields in the order in which exports have them."""

    id: str
    author: Author
    create_time: Any = UNSET
    update_time: Any = UNSET
    content: JsonObject
    status: Any = UNSET
    end_turn: Any = UNSET
    weight: Any = UNSET
    metadata: JsonObject
    recipient: Any = UNSET
    channel: Any = UNSET

    def extra(self) -> JsonObject:
        """Collect all but id, author, time and content, under the source's names."""
        extra = {
            "update_time": self.update_time,
            "status": self.status,
            "end_turn": self.end_turn,
            "weight": self.weight,
            "metadata": self.metadata,
            "recipient": self.recipient,
            "channel": self.channel,
        }
        is_complete = (
            self.channel is not UNSET
            and self.recipient is not UNSET
            and self.weight is not UNSET
            and self.end_turn is not UNSET
            and self.status is not UNSET
            and self.update_time is not UNSET
        )
        return extra if is_complete else _without_unset(extra)


class CommonNode(Struct, forbid_unknown_fields=True, gc=False):
    """A node of the graph; most exports since 2026 omit the children."""

    id: str
    message: CommonMessage | None
    parent: str | None
    children: list[str] | UnsetType = UNSET

    def record(self) -> JsonObject:
        """Convert the node to a plain object."""
        record = _set_fields(self)
        if self.message is not None:
            record["message"] = _set_fields(self.message)
            record["message"]["author"] = _set_fields(self.message.author)
        return record


class CommonConversation(Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """A conversation with any of the fields that have been seen up to July 2026."""

    title: Any = UNSET
    create_time: Any = UNSET
    update_time: Any = UNSET
    mapping: dict[str, CommonNode]
    moderation_results: Any = UNSET
    current_node: Any = UNSET
    plugin_ids: Any = UNSET
    conversation_id: Any = UNSET
    conversation_template_id: Any = UNSET
    gizmo_id: Any = UNSET
    gizmo_type: Any = UNSET
    is_archived: Any = UNSET
    is_starred: Any = UNSET
    safe_urls: Any = UNSET
    blocked_urls: Any = UNSET
    default_model_slug: Any = UNSET
    conversation_origin: Any = UNSET
    voice: Any = UNSET
    async_status: Any = UNSET
    disabled_tool_ids: Any = UNSET
    is_do_not_remember: Any = UNSET
    is_read_only: Any = UNSET
    is_study_mode: Any = UNSET
    memory_scope: Any = UNSET
    context_scopes: Any = UNSET
    sugar_item_id: Any = UNSET
    sugar_item_visible: Any = UNSET
    pinned_time: Any = UNSET
    workspace_id: Any = UNSET
    owner: Any = UNSET
    atlas_mode_enabled: Any = UNSET
    is_temporary: Any = UNSET
    id: Any = UNSET

    def record(self) -> JsonObject:
        """Convert the conversation to a plain object; its nodes stay decoded."""
        return _set_fields(self)


def _set_fields(fields: Struct) -> JsonObject:
    return _without_unset(msgspec.structs.asdict(fields))


def _without_unset(values: JsonObject) -> JsonObject:
    return {name: value for name, value in values.items() if value is not UNSET}


SHAPE = Shape(CommonConversation)
