"""A conversation whose entries are read when they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from agent_journal.archive.store import Outline
    from agent_journal.journal.sessions import Damage, ReadSession
    from agent_journal.model.tree import Entry


class ConversationLoader:
    """Reads the entries of a large conversation by those of its outline."""

    def __init__(
        self,
        lend: Callable[[], AbstractContextManager[ReadSession]],
        key: int,
        outline: Outline,
    ) -> None:
        self.conversation = outline.conversation
        """The outline: roles, times and tool calls, with an ellipsis for each text."""
        self.damage: list[Damage] = []
        """The damage that was met so far."""
        self._lend = lend
        self._key = key
        entries = zip(outline.conversation.timeline, outline.keys, outline.sizes, strict=True)
        self._key_and_size = {id(entry): (key, size) for entry, key, size in entries}

    def entries(self, outlined: Sequence[Entry]) -> list[Entry]:
        """Return the complete entries."""
        keys = [self._key_and_size[id(entry)][0] for entry in outlined if id(entry) in self._key_and_size]
        with self._lend() as session:
            loaded = session.recovering.entries(self._key, keys)
            self.damage += session.take_damage(self._key)
        return [
            loaded.get(self._key_and_size[id(entry)][0], entry) if id(entry) in self._key_and_size else entry
            for entry in outlined
        ]

    def size(self, outlined: Entry) -> int:
        """Return the size of an entry in bytes."""
        return self._key_and_size[id(outlined)][1] if id(outlined) in self._key_and_size else 0
