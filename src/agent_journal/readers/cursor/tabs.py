"""Tabs of the chat pane, until 0.43: one value contains all chats of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, ids
from agent_journal.notes import Kind
from agent_journal.readers.cursor.bubble import Bubbles
from agent_journal.readers.cursor.detect import TABS_KEY
from agent_journal.readers.cursor.names import NAME
from agent_journal.readers.cursor.values import nonempty_fields
from agent_journal.readers.cursor.workspace import workspace_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes


def read_tabs(data: Bag | None, workspace: Bag, note: Notes) -> Iterator[Conversation]:
    """Yield one conversation per tab."""
    listed = data.get("tabs") if data else None
    for number, tab in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(tab, dict):
            yield _conversation(Fields(tab, note, f"tab {number}"), number, workspace)
        else:
            note(Kind.WRONG_TYPE, TABS_KEY, f"tab {number} is {type(tab).__name__}")


def _conversation(fields: Fields, number: int, workspace: Bag) -> Conversation:
    stated = fields.text("tabId") or fields.text("id")
    chat_id = stated or ids.made(NAME, workspace_folder(workspace), number)
    timeline = _timeline(fields, chat_id)
    extra = nonempty_fields(fields.rest())
    fields = Fields(extra, fields.note, fields.where)
    return Conversation(
        id=chat_id,
        made_id=stated is None,
        source=NAME,
        title=fields.text("chatTitle") or fields.text("title"),
        updated_at=fields.timestamp("lastSendTime") or fields.timestamp("timestamp"),
        cwd=workspace_folder(workspace),
        shape="list",
        timeline=timeline,
        extra={**fields.rest(), "workspace": workspace} if workspace else fields.rest(),
    )


def _timeline(fields: Fields, chat_id: str) -> list[Entry]:
    bubbles = Bubbles(fields.note)
    entries: dict[str, Entry] = {}
    for number, bubble in enumerate(fields.items("bubbles") or ()):
        if not isinstance(bubble, dict):
            fields.note(Kind.WRONG_TYPE, fields.where, f"bubble {number} is {type(bubble).__name__}")
            continue
        entry_id = _take_id(bubble)
        if entry_id in entries:
            fields.note(Kind.DUPLICATE_ID, fields.where, str(entry_id)[:80])
        made_id = entry_id is None or entry_id in entries
        entry_id = ids.made(NAME, chat_id, number) if made_id else entry_id
        entry = bubbles.entry(entry_id, bubble, {})
        entries[entry_id] = msgspec.structs.replace(entry, made_id=True) if made_id else entry
    return list(entries.values())


def _take_id(bubble: Bag) -> Any:
    stated = bubble.get("id")
    if isinstance(stated, str) and stated:
        del bubble["id"]
        return stated
    stated = bubble.get("bubbleId")
    return stated if isinstance(stated, str) and stated else None
