"""`state.vscdb`: the editor's state, with the chats of all generations."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind, Notes
from agent_journal.readers.cursor import agent_messages, blobs, metadata, tabs
from agent_journal.readers.cursor.composer import Composer
from agent_journal.readers.cursor.detect import CHAT_LIST, TABS_KEY
from agent_journal.readers.cursor.rows import DISK, ITEMS, Rows, readable_rows
from agent_journal.readers.cursor.values import decode_object
from agent_journal.readers.cursor.workspace import Workspaces, read_chat_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Bag, Item
    from agent_journal.model.tree import Entry

_PREFIX, _BUBBLES = "composerData:", "bubbleId:"
_ALL_CHATS, _CHATS_TABLE = "composer.composerHeaders", "composerHeaders"
_SELECT_CHATS = (
    "SELECT CAST(composerId AS BLOB), CAST(workspaceId AS BLOB), CAST(value AS BLOB) FROM composerHeaders"
)
# Contents of files before they were edited, and the agent's copies of the bubbles.
_UNREAD_PREFIXES = ("ofsContent:", "composer.content.", "inlineDiffs", "agentKv:blob:")
_PROMPTS = ("aiService.prompts", "aiService.generations")
_CHILDREN = ("subagentComposerIds", "subagents")
_NO_NOTES = Notes(keep=0)


class State:
    """The chats of one database."""

    def __init__(self, database: Database, source: Input, note: Notes) -> None:
        self._database = database
        self._note = note
        self._disk = Rows(database, DISK, note)
        self._items = Rows(database, ITEMS, note)
        self._workspaces = Workspaces(source, note)
        self._workspace = self._workspaces.load_own()
        self._counts: Counter[str] = Counter()

    def conversations(self) -> Iterator[Item]:
        """Yield every chat of the composer (in rows or in a window's chat list) and of the old chat pane."""
        for chat_id in self._chat_ids():
            raw = self._disk.value(_PREFIX + chat_id)
            data = decode_object(raw, self._note, _PREFIX + chat_id)
            yield from self._convert(Composer(chat_id, data or {}, self._disk, self._note))
        for chat_id, entry in read_chat_list(self._items, CHAT_LIST, self._note).items():
            if entry.get("conversation") and self._disk.value(_PREFIX + chat_id) is None:
                yield from self._convert(Composer(chat_id, entry, self._disk, self._note))
            else:
                self._counts["elsewhere"] += 1
        for chat in tabs.read_tabs(
            decode_object(self._items.value(TABS_KEY), self._note, TABS_KEY), self._workspace, self._note
        ):
            self._counts["chats" if chat.timeline else "empty"] += 1
            if chat.timeline:
                yield chat
        self._note_totals()

    def _chat_ids(self) -> list[str]:
        """Return the chats with a record, and those of which only bubbles are left."""
        listed = dict.fromkeys(self._disk.next_segments(_PREFIX))
        return sorted({**listed, **dict.fromkeys(self._disk.next_segments(_BUBBLES))})

    def _convert(self, chat: Composer) -> Iterator[Item]:
        chat.read()
        if not self._add_agent_messages(chat) and chat.missing:
            self._note(Kind.MISSING_FILE, chat.where, f"bubbles that are not in the database: {chat.missing}")
        if chat.is_empty and not chat.missing:
            self._counts["empty"] += 1
            return
        self._counts["chats"] += 1
        self._counts["answers"] += chat.bubbles.answers
        self._counts["counted"] += chat.bubbles.counted_answers
        workspace, list_entry = self._workspace_of(chat)
        yield metadata.make_conversation(chat, workspace, list_entry, self._parents.get(chat.id))

    def _workspace_of(self, chat: Composer) -> tuple[Bag, Bag]:
        """Return the workspace of a chat and its entry in a chat list, preferring this database."""
        list_entry = self._list_entries.get(chat.id, {})
        if metadata.folder(chat) is not None:
            return {}, list_entry
        workspace = self._workspace or self._workspaces.load(metadata.window_id(chat, list_entry))
        if not workspace:
            workspace, older_entry = self._workspaces.list_entries.get(chat.id, ({}, {}))
            list_entry = list_entry or older_entry
        return workspace, list_entry

    @cached_property
    def _list_entries(self) -> dict[str, Bag]:
        """The entry of each chat in the chat lists, which since Cursor 3 are in the shared database."""
        entries = read_chat_list(self._items, _ALL_CHATS, self._note)
        if _CHATS_TABLE not in self._database.tables:
            return entries
        for chat_id, workspace_id, raw in readable_rows(
            self._database, self._note, _CHATS_TABLE, _SELECT_CHATS
        ):
            name = (chat_id or b"").decode("utf-8", "replace")
            entry = decode_object(raw, self._note, f"{_CHATS_TABLE} {name}") or {}
            if workspace_id:
                entry["workspaceId"] = workspace_id.decode("utf-8", "replace")
            entries[name] = {**entries.get(name, {}), **entry}
        return entries

    @cached_property
    def _parents(self) -> dict[str, str]:
        """The parent of each subagent's chat, according to the parents' records."""
        parents: dict[str, str] = {}
        for chat_id, raw in self._disk.below(_PREFIX):
            if raw is None or not any(f'"{name}"'.encode() in raw for name in _CHILDREN):
                continue
            data = json_stream.decode(raw, _NO_NOTES, "")
            for child in _children(data) if isinstance(data, dict) else ():
                parents.setdefault(child, chat_id)
        return parents

    def _add_agent_messages(self, chat: Composer) -> bool:
        """Add the messages that only the agent's copy of a chat has: system prompts, or all of a lost chat.

        Return whether the chat was lost and has been restored.
        """
        root = self._agent_root(chat)
        if root is None:
            return False
        is_lost = chat.is_empty
        entries: list[Entry] = []
        id_counts: Counter[str] = Counter()
        for blob in blobs.messages(root, self._blob):
            data = None if blob.data is None else json_stream.decode(blob.data, self._note, blob.hash)
            if isinstance(data, dict) and (is_lost or data.get("role") == "system"):
                entry = agent_messages.entry(data, blob.hash, chat.id, self._note)
                entries.append(agent_messages.with_unique_id(entry, id_counts, chat.id))
            elif not is_lost:
                break
            elif blob.data is None:
                self._note(Kind.MISSING_FILE, chat.where, f"a message of the chat: {blob.hash[:16]}")
        if entries:
            chat.prepend(entries)
        return is_lost and bool(entries)

    def _agent_root(self, chat: Composer) -> bytes | None:
        """Return the agent's state of a chat: in its record, or in a blob that a row names."""
        state = chat.fields.view("conversationState")
        if isinstance(state, str) and state.startswith("~"):
            try:
                return base64.b64decode(state[1:] + "==")
            except (binascii.Error, ValueError):
                return None
        pointer = self._disk.value(f"agentKv:checkpoint:{chat.id}")
        return None if pointer is None else self._blob(pointer.decode("ascii", "replace").strip('"'))

    def _blob(self, name: str) -> bytes | None:
        """Return a blob, which is stored raw or in hexadecimal digits; its hash decides."""
        data = self._disk.value(f"agentKv:blob:{name}")
        if data is None or hashlib.sha256(data).hexdigest() == name:
            return data
        try:
            return bytes.fromhex(data.decode("ascii"))
        except ValueError:
            return data

    def _note_totals(self) -> None:
        """Note once per database what was not read and what is incomplete."""
        counts = self._counts
        if counts["empty"]:
            self._note(Kind.IGNORED_FILE, "", f"chats without messages: {counts['empty']}")
        if counts["elsewhere"]:
            detail = f"chats whose messages are in globalStorage: {counts['elsewhere']}"
            self._note(Kind.IGNORED_FILE, CHAT_LIST, detail)
        if counts["counted"] and counts["counted"] < counts["answers"]:
            detail = f"answers without token counts: {counts['answers'] - counts['counted']}"
            self._note(Kind.PARTIAL_USAGE, "", detail)
        if unread := [prefix for prefix in _UNREAD_PREFIXES if self._disk.has(prefix)]:
            self._note(Kind.IGNORED_FILE, DISK, f"rows that no chat shows: {', '.join(unread)}")
        if prompts := [key for key in _PROMPTS if self._items.value(key)]:
            self._note(Kind.IGNORED_FILE, ITEMS, f"lists that repeat the prompts: {', '.join(prompts)}")
        if not any(counts.values()):
            self._note(Kind.IGNORED_FILE, "", "it contains no chats")


def _children(data: Bag) -> Iterator[str]:
    for name in _CHILDREN:
        children = data.get(name)
        for child in children if isinstance(children, list) else ():
            child_id = child.get("composerId") if isinstance(child, dict) else child
            if isinstance(child_id, str) and child_id:
                yield child_id
