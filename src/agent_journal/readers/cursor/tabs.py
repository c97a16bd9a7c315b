"""Tabs of the chat pane, until 0.43: one value holds all of a window's chats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, ids
from agent_journal.notes import Kind
from agent_journal.readers.cursor.bubble import Bubbles
from agent_journal.readers.cursor.detect import TABS
from agent_journal.readers.cursor.names import NAME
from agent_journal.readers.cursor.values import said
from agent_journal.readers.cursor.workspace import folder_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes


def conversations(data: Bag | None, place: Bag, note: Notes) -> Iterator[Conversation]:
    """One conversation for each tab."""
    listed = data.get("tabs") if data else None
    for number, tab in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(tab, dict):
            yield _conversation(Fields(tab, note, f"tab {number}"), number, place)
        else:
            note(Kind.WRONG_TYPE, TABS, f"tab {number} is {type(tab).__name__}")


def _conversation(fields: Fields, number: int, place: Bag) -> Conversation:
    stated = fields.text("tabId") or fields.text("id")
    chat_id = stated or ids.made(NAME, folder_in(place), number)
    timeline = _timeline(fields, chat_id)
    extra = said(fields.rest())
    fields = Fields(extra, fields.note, fields.where)
    return Conversation(
        id=chat_id,
        made_id=stated is None,
        source=NAME,
        title=fields.text("chatTitle") or fields.text("title"),
        updated_at=fields.moment("lastSendTime") or fields.moment("timestamp"),
        cwd=folder_in(place),
        shape="list",
        timeline=timeline,
        extra={**fields.rest(), "workspace": place} if place else fields.rest(),
    )


def _timeline(fields: Fields, chat_id: str) -> list[Entry]:
    bubbles = Bubbles(fields.note)
    found: dict[str, Entry] = {}
    for number, bubble in enumerate(fields.items("bubbles") or ()):
        if not isinstance(bubble, dict):
            fields.note(Kind.WRONG_TYPE, fields.where, f"bubble {number} is {type(bubble).__name__}")
            continue
        made = ids.made(NAME, chat_id, number)
        entry_id = _id_of(bubble)
        if entry_id in found:
            fields.note(Kind.DUPLICATE_ID, fields.where, str(entry_id)[:80])
        is_made = entry_id is None or entry_id in found
        entry_id = made if entry_id is None or is_made else entry_id
        entry = bubbles.entry(entry_id, bubble, {})
        found[entry_id] = msgspec.structs.replace(entry, made_id=True) if is_made else entry
    return list(found.values())


def _id_of(bubble: Bag) -> Any:
    stated = bubble.get("id")
    if isinstance(stated, str) and stated:
        del bubble["id"]
        return stated
    stated = bubble.get("bubbleId")
    return stated if isinstance(stated, str) and stated else None
