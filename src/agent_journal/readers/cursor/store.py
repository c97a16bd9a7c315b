"""`store.db` of the CLI: one chat, its messages as blobs."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Link, Message, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor import agent_messages, blobs
from agent_journal.readers.cursor.detect import META, decode_meta
from agent_journal.readers.cursor.names import NAME, SECRETS
from agent_journal.readers.cursor.rows import readable_rows
from agent_journal.readers.cursor.values import load_json, nonempty_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_ROOT = "latestRootBlobId"
# Blobs that start with "{", in the order in which they were written.
_SELECT_MESSAGES = (
    "SELECT CAST(id AS BLOB), rowid FROM blobs WHERE substr(CAST(data AS BLOB), 1, 1) = x'7b' ORDER BY rowid"
)
_INDEX = "meta.json"
# The name of a chat that the user has not named.
_DEFAULT_NAME = "New Agent"
_SELECT_BLOB = "SELECT CAST(data AS BLOB) FROM blobs WHERE id = ?"


class Store:
    """The one chat of a database."""

    def __init__(self, database: Database, source: Input, note: Notes) -> None:
        self._database = database
        self._source = source
        self._note = note
        self._timeline: list[Entry] = []

    def conversation(self) -> Conversation:
        """Return the chat: the messages of the latest root, and those that no root names anymore."""
        fields = Fields(self._load_meta(), self._note, "meta")
        fields.drop(*SECRETS)
        stated = fields.text("agentId") or self._folder_id()
        chat_id = stated or ids.made(NAME, fields.view(_ROOT))
        self._read(fields.view(_ROOT), chat_id)
        timeline = self._timeline
        index = self._load_index()
        messages = (entry for entry in timeline if isinstance(entry, Message))
        facts = next(
            filter(None, (agent_messages.environment_facts(message.parts) for message in messages)), {}
        )
        return Conversation(
            id=chat_id,
            made_id=stated is None,
            source=NAME,
            title=_title(fields, index),
            started_at=fields.timestamp("createdAt") or timestamps.parse_timestamp(index.get("createdAtMs")),
            updated_at=timestamps.parse_timestamp(index.get("updatedAtMs")),
            model=fields.text("lastUsedModel"),
            cwd=facts.get("cwd") or nonempty_text(index, "cwd"),
            os=facts.get("os"),
            shell=facts.get("shell"),
            shape="list",
            link=_link(fields.view("subagentInfo"), chat_id),
            timeline=timeline,
            extra={**fields.rest(), _INDEX: index} if index else fields.rest(),
        )

    def _load_meta(self) -> Bag:
        for (value,) in readable_rows(self._database, self._note, "meta", META):
            meta = json_stream.decode(decode_meta(value), self._note, "meta")
            if isinstance(meta, dict):
                return meta
        return {}

    def _folder_id(self) -> str | None:
        """Return the name of the folder, which is the chat's id."""
        steps = self._source.label.replace("\\", "/").split("/")
        return steps[-2] if len(steps) > 1 and ids.is_uuid(steps[-2]) else None

    def _load_index(self) -> Bag:
        """Load `meta.json`, which since 2026 is next to the database."""
        file = self._source.companion(_INDEX)
        value = None if file is None else load_json(file, self._note)
        return value if isinstance(value, dict) else {}

    def _read(self, root_id: Any, chat_id: str) -> None:
        root = self._blob(root_id) if isinstance(root_id, str) and root_id else None
        if root is None:
            self._note(Kind.MISSING_FILE, "meta", f"the blob of the latest state: {str(root_id)[:64]!r}")
        listed = () if root is None else blobs.messages(root, self._blob)
        reached = [(blob.hash, self._entry(blob, chat_id)) for blob in listed]
        prompts = sum(_is_prompt(entry) for _, entry in reached)
        is_shown = root is None or blobs.count_turns(root) > prompts
        id_counts: Counter[str] = Counter()
        for entry in self._in_order(reached, chat_id, is_shown=is_shown):
            self._timeline.append(agent_messages.with_unique_id(entry, id_counts, chat_id))

    def _in_order(
        self, reached: list[tuple[str, Entry | None]], chat_id: str, *, is_shown: bool
    ) -> Iterator[Entry]:
        """Yield the messages of the root in its order, and the others where they were written.

        The others were shortened for the model but are still shown, or were reverted.
        """
        rows = readable_rows(self._database, self._note, "blobs", _SELECT_MESSAGES)
        positions = {(name or b"").decode("utf-8", "replace"): position for name, position in rows}
        named = {name for name, _ in reached}
        others = deque(name for name in positions if name not in named)
        for name, entry in reached:
            while others and positions[others[0]] < positions.get(name, 0):
                yield from self._unlisted_entry(others.popleft(), chat_id, is_shown=is_shown)
            if entry is not None:
                yield entry
        for name in others:
            yield from self._unlisted_entry(name, chat_id, is_shown=is_shown)

    def _unlisted_entry(self, name: str, chat_id: str, *, is_shown: bool) -> Iterator[Entry]:
        entry = self._entry(blobs.Blob(name, self._blob(name)), chat_id)
        if entry is not None:
            is_hidden = isinstance(entry, Message) and not is_shown
            yield msgspec.structs.replace(entry, hidden=True) if is_hidden else entry

    def _entry(self, blob: blobs.Blob, chat_id: str) -> Entry | None:
        """Return the message in a blob; None, and a note, if there is none."""
        where = f"blob {blob.hash[:16]}"
        if blob.data is None:
            self._note(Kind.MISSING_FILE, where, "a message of the chat")
            return None
        value = json_stream.decode(blob.data, self._note, where)
        return (
            agent_messages.entry(value, blob.hash, chat_id, self._note) if isinstance(value, dict) else None
        )

    def _blob(self, name: str) -> bytes | None:
        for (data,) in readable_rows(self._database, self._note, f"blob {name[:16]}", _SELECT_BLOB, name):
            return data  # type: ignore[no-any-return] # cast by the query
        return None


def _link(info: Any, chat_id: str) -> Link | None:
    """Return the link to the chat whose agent started this one."""
    parent = nonempty_text(info, "parentAgentId") if isinstance(info, dict) else None
    if parent is None or parent == chat_id:
        return None
    return Link(conversation_id=parent, relation="subagent", call_id=nonempty_text(info, "toolCallId"))


def _title(fields: Fields, index: Bag) -> str | None:
    """Return the title of a chat; the default name of new chats is not a title."""
    stated = None if fields.view("name") == _DEFAULT_NAME else fields.text("name")
    return stated or nonempty_text(index, "title")


def _is_prompt(entry: Entry | None) -> bool:
    return isinstance(entry, Message) and entry.role == "user" and not entry.hidden
