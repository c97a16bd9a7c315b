"""A conversation as people read it: what the source shows, then other branches and the work of subagents.

Every entry is in exactly one of these parts, also what belongs to no branch: results of tools that were
called at once, events, notes of the tool.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.errors import NoSuchMessage
from agent_journal.journal.paging import head_of
from agent_journal.model import Event, Message
from agent_journal.rendering.turns import split_sections

if TYPE_CHECKING:
    from agent_journal.archive.store import Listed, Store, TimelineState
    from agent_journal.journal.sessions import Damage, ReadSession
    from agent_journal.model import Conversation
    from agent_journal.rendering.turns import Kind

_MAX_CONVERSATIONS = 16


class ShownPart(NamedTuple):
    """A part of a conversation: the branch that the source shows, another branch, or a subagent's work."""

    kind: Kind
    after: str | None
    """The id of the message that it continues from; None if it starts the conversation."""
    keys: array[int]

    @property
    def total(self) -> int:
        """The number of its entries."""
        return len(self.keys)


class ShownConversation(NamedTuple):
    """The parts of a conversation, without the content of its entries."""

    conversation: Conversation
    """Without its timeline."""
    parts: list[ShownPart]
    """First what the source shows."""
    places: dict[str, tuple[int, int]]
    """The part and the position in it of each entry, by id."""

    def locate(self, message_id: str) -> tuple[int, int]:
        """Return the part and the position of an entry; raises NoSuchMessage."""
        if message_id not in self.places:
            raise NoSuchMessage(message_id)
        return self.places[message_id]


class ShownEntries(NamedTuple):
    """Some consecutive entries of a part, and the damage that was met."""

    entries: list[Message | Event]
    damage: list[Damage]


class ShownCache:
    """Remembers the parts of conversations while their timelines stay the same. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: OrderedDict[int, tuple[TimelineState, ShownConversation]] = OrderedDict()

    def get(self, session: ReadSession, listed: Listed) -> ShownConversation:
        """Return the parts of a conversation."""
        store, key = session.archive.store, listed.key
        state = store.timeline_state(key)
        with self._lock:
            remembered = self._shown.get(key)
            if remembered is not None and remembered[0] == state:
                self._shown.move_to_end(key)
                return remembered[1]
        shown = find_parts(store, key)
        with self._lock:
            self._shown[key] = state, shown
            while len(self._shown) > _MAX_CONVERSATIONS:
                self._shown.popitem(last=False)
        return shown


def find_parts(store: Store, conversation: int) -> ShownConversation:
    """Find the parts of a conversation from its outline."""
    outline = store.outline(conversation)
    outlined = outline.conversation
    key_of = dict(zip(map(id, outlined.timeline), outline.keys, strict=True))
    if outlined.shape == "tree" and outlined.timeline:
        outlined = replace(outlined, head_id=head_of(store, outlined, key_of))
    parts = []
    places: dict[str, tuple[int, int]] = {}
    for number, section in enumerate(split_sections(outlined)):
        keys = array("q", [key_of[id(entry)] for entry in section.entries])
        kind = section.kind
        if number and kind == "branch" and _is_subagent(store, keys[0]):
            kind = "subagent"
        parts.append(ShownPart(kind, section.after.id if section.after is not None else None, keys))
        for position, entry in enumerate(section.entries):
            places.setdefault(entry.id, (number, position))
    return ShownConversation(replace(outline.conversation, timeline=[]), parts, places)


def _is_subagent(store: Store, key: int) -> bool:
    """Whether a branch begins with a message of a subagent, which only its content says."""
    entry = store.entries_by_key([key]).get(key)
    return isinstance(entry, Message) and entry.sidechain


def read_entries(
    session: ReadSession, listed: Listed, part: ShownPart, start: int, limit: int
) -> ShownEntries:
    """Read some entries of a part, and no others."""
    keys = part.keys[max(start, 0) : max(start, 0) + max(limit, 0)].tolist()
    entries = session.recovering.entries(listed.key, keys)
    return ShownEntries([entries[key] for key in keys if key in entries], session.take_damage(listed.key))
