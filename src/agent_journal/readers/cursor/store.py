"""`store.db` of the command line: one chat, its messages as blobs."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Link, Message, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor import agent_messages, blobs
from agent_journal.readers.cursor.detect import META, decoded_head
from agent_journal.readers.cursor.names import NAME, SECRETS
from agent_journal.readers.cursor.rows import good_rows
from agent_journal.readers.cursor.values import loaded, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_ROOT = "latestRootBlobId"
# Blobs that begin with "{", in the order in which they were written.
_WRITTEN = (
    "SELECT CAST(id AS BLOB), rowid FROM blobs WHERE substr(CAST(data AS BLOB), 1, 1) = x'7b' ORDER BY rowid"
)
_INDEX = "meta.json"
_UNNAMED = "New Agent"
_BLOB = "SELECT CAST(data AS BLOB) FROM blobs WHERE id = ?"


class Store:
    """The one chat of a database."""

    def __init__(self, database: Database, source: Source, note: Notes) -> None:
        self._database = database
        self._source = source
        self._note = note
        self._timeline: list[Entry] = []

    def conversation(self) -> Conversation:
        """The messages that the newest root names, among those that no root names any more."""
        fields = Fields(self._head(), self._note, "meta")
        fields.drop(*SECRETS)
        stated = fields.text("agentId") or self._called()
        chat_id = stated or ids.made(NAME, fields.look(_ROOT))
        self._read(fields.look(_ROOT), chat_id)
        timeline = self._timeline
        beside = self._beside()
        facts = next(
            filter(None, (agent_messages.facts(e.parts) for e in timeline if isinstance(e, Message))), {}
        )
        return Conversation(
            id=chat_id,
            made_id=stated is None,
            source=NAME,
            title=_title(fields, beside),
            started_at=fields.moment("createdAt") or timestamps.moment(beside.get("createdAtMs")),
            updated_at=timestamps.moment(beside.get("updatedAtMs")),
            model=fields.text("lastUsedModel"),
            cwd=facts.get("cwd") or text_in(beside, "cwd"),
            os=facts.get("os"),
            shell=facts.get("shell"),
            shape="list",
            link=_link(fields.look("subagentInfo"), chat_id),
            timeline=timeline,
            extra={**fields.rest(), _INDEX: beside} if beside else fields.rest(),
        )

    def _head(self) -> Bag:
        for (value,) in good_rows(self._database, self._note, "meta", META):
            head = json_stream.decode(decoded_head(value), self._note, "meta")
            if isinstance(head, dict):
                return head
        return {}

    def _called(self) -> str | None:
        """The name of the folder, which is the chat's id."""
        steps = self._source.label.replace("\\", "/").split("/")
        return steps[-2] if len(steps) > 1 and ids.is_uuid(steps[-2]) else None

    def _beside(self) -> Bag:
        """What `meta.json` says, which since 2026 lies beside the database."""
        file = self._source.companion(_INDEX)
        value = None if file is None else loaded(file, self._note)
        return value if isinstance(value, dict) else {}

    def _read(self, root_id: Any, chat_id: str) -> None:
        root = self._blob(root_id) if isinstance(root_id, str) and root_id else None
        if root is None:
            self._note(Kind.MISSING_FILE, "meta", f"the blob of the newest state: {str(root_id)[:64]!r}")
        found = () if root is None else blobs.messages(root, self._blob)
        reached = [(blob.hash, self._entry(blob, chat_id)) for blob in found]
        asked = sum(_is_asked(entry) for _, entry in reached)
        is_shown = root is None or blobs.count_turns(root) > asked
        used: Counter[str] = Counter()
        for entry in self._in_order(reached, chat_id, is_shown=is_shown):
            self._timeline.append(agent_messages.told_once(entry, used, chat_id))

    def _in_order(
        self, reached: list[tuple[str, Entry | None]], chat_id: str, *, is_shown: bool
    ) -> Iterator[Entry]:
        """The messages that the root names, in its order, and the others where they were written.

        Others were made shorter for the model and are still shown, or were taken back.
        """
        rows = good_rows(self._database, self._note, "blobs", _WRITTEN)
        written = {(name or b"").decode("utf-8", "replace"): place for name, place in rows}
        named = {name for name, _ in reached}
        left = deque(name for name in written if name not in named)
        for name, entry in reached:
            while left and written[left[0]] < written.get(name, 0):
                yield from self._other(left.popleft(), chat_id, is_shown=is_shown)
            if entry is not None:
                yield entry
        for name in left:
            yield from self._other(name, chat_id, is_shown=is_shown)

    def _other(self, name: str, chat_id: str, *, is_shown: bool) -> Iterator[Entry]:
        entry = self._entry(blobs.Blob(name, self._blob(name)), chat_id)
        if entry is not None:
            is_hidden = isinstance(entry, Message) and not is_shown
            yield msgspec.structs.replace(entry, hidden=True) if is_hidden else entry

    def _entry(self, blob: blobs.Blob, chat_id: str) -> Entry | None:
        """The message in a blob; None, noted, if there is none."""
        where = f"blob {blob.hash[:16]}"
        if blob.data is None:
            self._note(Kind.MISSING_FILE, where, "a message that the chat names")
            return None
        value = json_stream.decode(blob.data, self._note, where)
        return (
            agent_messages.entry(value, blob.hash, chat_id, self._note) if isinstance(value, dict) else None
        )

    def _blob(self, name: str) -> bytes | None:
        for (data,) in good_rows(self._database, self._note, f"blob {name[:16]}", _BLOB, name):
            return data  # type: ignore[no-any-return] # cast by the query
        return None


def _link(info: Any, chat_id: str) -> Link | None:
    """The chat whose agent started this one."""
    parent = text_in(info, "parentAgentId") if isinstance(info, dict) else None
    if parent is None or parent == chat_id:
        return None
    return Link(conversation_id=parent, relation="subagent", call_id=text_in(info, "toolCallId"))


def _title(fields: Fields, beside: Bag) -> str | None:
    """What the chat is called; one that nobody named is called as every new one is, which is no title."""
    stated = None if fields.look("name") == _UNNAMED else fields.text("name")
    return stated or text_in(beside, "title")


def _is_asked(entry: Entry | None) -> bool:
    return isinstance(entry, Message) and entry.role == "user" and not entry.hidden
