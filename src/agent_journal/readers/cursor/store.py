"""`store.db` of the command line: one chat, its messages as blobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import ids, jsonstream
from agent_journal.fields import Fields
from agent_journal.model import Conversation, Message
from agent_journal.notes import Kind
from agent_journal.readers.cursor import blobs, spoken
from agent_journal.readers.cursor.names import NAME
from agent_journal.readers.cursor.signs import META, decoded_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.database import Database
    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.source import Source
    from agent_journal.tree import Entry

_ROOT = "latestRootBlobId"
# Blobs that begin with "{", in the order in which they were written.
_MESSAGES = (
    "SELECT CAST(id AS BLOB), CAST(data AS BLOB) FROM blobs "
    "WHERE substr(CAST(data AS BLOB), 1, 1) = x'7b' ORDER BY rowid"
)


class Store:
    """The one chat of a database."""

    def __init__(self, database: Database, source: Source, note: Notes) -> None:
        self._database = database
        self._source = source
        self._note = note
        self._timeline: dict[str, Entry] = {}

    def conversation(self) -> Conversation:
        """The messages that the newest root names, then those that no root names any more."""
        fields = Fields(self._head(), self._note, "meta")
        stated = fields.text("agentId") or self._called()
        chat_id = stated or ids.made(NAME, fields.look(_ROOT))
        reached = set(self._read_from(fields.look(_ROOT), chat_id))
        self._read_forgotten(reached, chat_id)
        timeline = list(self._timeline.values())
        facts = next(filter(None, (spoken.facts(e.parts) for e in timeline if isinstance(e, Message))), {})
        return Conversation(
            id=chat_id,
            made_id=stated is None,
            source=NAME,
            title=fields.text("name"),
            started_at=fields.moment("createdAt"),
            updated_at=fields.moment("updatedAt"),
            model=fields.text("lastUsedModel"),
            cwd=facts.get("cwd"),
            os=facts.get("os"),
            shell=facts.get("shell"),
            shape="list",
            timeline=timeline,
            extra=fields.rest(),
        )

    def _head(self) -> Bag:
        for (value,) in self._database.rows(META):
            head = jsonstream.decode(decoded_head(value), self._note, "meta")
            if isinstance(head, dict):
                return head
        return {}

    def _called(self) -> str | None:
        """The name of the folder, which is the chat's id."""
        steps = self._source.label.replace("\\", "/").split("/")
        return steps[-2] if len(steps) > 1 and ids.is_uuid(steps[-2]) else None

    def _read_from(self, root_id: Any, chat_id: str) -> Iterator[str]:
        root = self._blob(root_id) if isinstance(root_id, str) and root_id else None
        if root is None:
            self._note(Kind.MISSING_FILE, "meta", f"the blob of the newest state: {str(root_id)[:64]!r}")
            return
        for blob in blobs.messages(root, self._blob):
            yield blob.hash
            if blob.data is None:
                self._note(Kind.MISSING_FILE, f"blob {blob.hash[:16]}", "a message that the chat names")
            else:
                self._add(blob.hash, blob.data, chat_id, hidden=False)

    def _read_forgotten(self, reached: set[str], chat_id: str) -> None:
        """Messages of states before the newest: what was taken back, or made shorter for the model."""
        for raw_id, data in self._database.rows(_MESSAGES):
            name = (raw_id or b"").decode("utf-8", "replace")
            if name not in reached and data:
                self._add(name, data, chat_id, hidden=True)

    def _add(self, name: str, data: bytes, chat_id: str, *, hidden: bool) -> None:
        value = jsonstream.decode(data, self._note, f"blob {name[:16]}")
        if not isinstance(value, dict) or (hidden and "role" not in value):
            return
        entry = spoken.entry(value, name, chat_id, self._note)
        if hidden and isinstance(entry, Message):
            entry = msgspec.structs.replace(entry, hidden=True)
        entry = spoken.told_once(entry, self._timeline, chat_id)
        self._timeline[entry.id] = entry

    def _blob(self, name: str) -> bytes | None:
        for (data,) in self._database.rows("SELECT CAST(data AS BLOB) FROM blobs WHERE id = ?", name):
            return data  # type: ignore[no-any-return] # cast by the query
        return None
