"""Distinguish sessions of different folders, if their source may give them equal ids.

The ids of a tool that writes none are made of what it does write, such as the second of the start. Parallel
runs in several folders can agree in that. The first one that is imported gets this id, and one from another
folder the same id with its folder. A file that was imported before keeps its ids, whatever the order, and so
does one that was moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive.candidates import is_gone
from agent_journal.model import Conversation, ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive.store import Store
    from agent_journal.model import Item


def identified(store: Store, items: Iterable[Item], source: int) -> Iterator[Item]:
    """Yield the items of a source under the ids that they have in the journal."""
    return (with_stored_id(store, item, source) for item in items)


def with_stored_id(store: Store, item: Item, source: int) -> Item:
    """Return an item of a source under the id that it has, or will have, in the journal."""
    if not isinstance(item, Conversation) or not _may_repeat(item):
        return item
    id_ = _stored_id(store, item, item.id, source)
    link = item.link
    if link is not None:
        link = replace(link, conversation_id=_stored_id(store, item, link.conversation_id, source))
    return item if (id_, link) == (item.id, item.link) else replace(item, id=id_, link=link)


def _may_repeat(conversation: Conversation) -> bool:
    reader = readers.discover().get(conversation.source)
    return reader is not None and reader.INFO.ids_may_repeat


def _stored_id(store: Store, conversation: Conversation, id_: str, source: int) -> str:
    """Return the id in the journal of the conversation with this id in the same file as another one."""
    unit = (conversation.origin.file or "") if conversation.origin else ""
    namesakes = store.namesakes(conversation.source, id_)
    for each in namesakes:
        if not each.units.isdisjoint({(source, unit), (source, "")}):
            return each.id
    if not namesakes or conversation.cwd is None or store.is_forgotten(conversation.source, id_):
        return id_
    for each in namesakes:
        if each.folder in (None, conversation.cwd) or all(map(is_gone, each.paths)):
            return each.id
    return ids.in_folder(id_, conversation.cwd)
