"""`state.vscdb`: the editor's state, in which chats of all generations lie."""

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
from agent_journal.readers.cursor.detect import HEADS, TABS
from agent_journal.readers.cursor.rows import DISK, ITEMS, Rows, good_rows
from agent_journal.readers.cursor.values import record
from agent_journal.readers.cursor.workspace import Workspaces, heads_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Bag, Item
    from agent_journal.model.tree import Entry

_PREFIX, _BUBBLES = "composerData:", "bubbleId:"
_ALL_HEADS, _HEADS_TABLE = "composer.composerHeaders", "composerHeaders"
_SELECT_HEADS = (
    "SELECT CAST(composerId AS BLOB), CAST(workspaceId AS BLOB), CAST(value AS BLOB) FROM composerHeaders"
)
# Contents of files before they were changed, and the agent's copies of what the bubbles tell.
_NOT_READ = ("ofsContent:", "composer.content.", "inlineDiffs", "agentKv:blob:")
_PROMPTS = ("aiService.prompts", "aiService.generations")
_CHILDREN = ("subagentComposerIds", "subagents")
_QUIET = Notes(keep=0)


class State:
    """One database: first who started whom, then chat by chat."""

    def __init__(self, database: Database, source: Source, note: Notes) -> None:
        self._database = database
        self._note = note
        self._disk = Rows(database, DISK, note)
        self._items = Rows(database, ITEMS, note)
        self._workspaces = Workspaces(source, note)
        self._place = self._workspaces.own()
        self._counts: Counter[str] = Counter()

    def conversations(self) -> Iterator[Item]:
        """Every chat: of the composer, in rows or in a window's list of chats, and of the old chat pane."""
        for chat_id in self._chat_ids():
            raw = self._disk.value(_PREFIX + chat_id)
            data = record(raw, self._note, _PREFIX + chat_id)
            yield from self._told(Composer(chat_id, data or {}, self._disk, self._note))
        for chat_id, head in heads_in(self._items, HEADS, self._note).items():
            if head.get("conversation") and self._disk.value(_PREFIX + chat_id) is None:
                yield from self._told(Composer(chat_id, head, self._disk, self._note))
            else:
                self._counts["elsewhere"] += 1
        for chat in tabs.conversations(
            record(self._items.value(TABS), self._note, TABS), self._place, self._note
        ):
            self._counts["chats" if chat.timeline else "empty"] += 1
            if chat.timeline:
                yield chat
        self._sum_up()

    def _chat_ids(self) -> list[str]:
        """Chats with a record, and those of which only bubbles are left."""
        listed = dict.fromkeys(self._disk.groups(_PREFIX))
        return sorted({**listed, **dict.fromkeys(self._disk.groups(_BUBBLES))})

    def _told(self, chat: Composer) -> Iterator[Item]:
        chat.read()
        if not self._hear_the_model(chat) and chat.missing:
            self._note(Kind.MISSING_FILE, chat.where, f"bubbles that are not in the database: {chat.missing}")
        if chat.is_empty and not chat.missing:
            self._counts["empty"] += 1
            return
        self._counts["chats"] += 1
        self._counts["answers"] += chat.bubbles.answers
        self._counts["counted"] += chat.bubbles.counted
        place, head = self._known_of(chat)
        yield metadata.conversation(chat, place, head, self._parents.get(chat.id))

    def _known_of(self, chat: Composer) -> tuple[Bag, Bag]:
        """The place and the head of a chat, from the nearest that tell them."""
        head = self._heads.get(chat.id, {})
        if metadata.folder(chat) is not None:
            return {}, head
        place = self._place or self._workspaces.place(metadata.window(chat, head))
        if not place:
            place, older = self._workspaces.heads.get(chat.id, ({}, {}))
            head = head or older
        return place, head

    @cached_property
    def _heads(self) -> dict[str, Bag]:
        """What the lists of chats say of each, which since Cursor 3 are in the shared database."""
        found = heads_in(self._items, _ALL_HEADS, self._note)
        if _HEADS_TABLE not in self._database.tables:
            return found
        for chat_id, workspace_id, raw in good_rows(self._database, self._note, _HEADS_TABLE, _SELECT_HEADS):
            name = (chat_id or b"").decode("utf-8", "replace")
            head = record(raw, self._note, f"{_HEADS_TABLE} {name}") or {}
            if workspace_id:
                head["workspaceId"] = workspace_id.decode("utf-8", "replace")
            found[name] = {**found.get(name, {}), **head}
        return found

    @cached_property
    def _parents(self) -> dict[str, str]:
        """Who started whom, as the records of those that started others tell."""
        found: dict[str, str] = {}
        for chat_id, raw in self._disk.below(_PREFIX):
            if raw is None or not any(f'"{name}"'.encode() in raw for name in _CHILDREN):
                continue
            data = json_stream.decode(raw, _QUIET, "")
            for child in _children(data) if isinstance(data, dict) else ():
                found.setdefault(child, chat_id)
        return found

    def _hear_the_model(self, chat: Composer) -> bool:
        """Take what only the agent's own copy of a chat has: what the model was told first, or all of it.

        Whether it was all of it.
        """
        root = self._root(chat)
        if root is None:
            return False
        is_lost = chat.is_empty
        heard: list[Entry] = []
        used: Counter[str] = Counter()
        for blob in blobs.messages(root, self._blob):
            data = None if blob.data is None else json_stream.decode(blob.data, self._note, blob.hash)
            if isinstance(data, dict) and (is_lost or data.get("role") == "system"):
                entry = agent_messages.entry(data, blob.hash, chat.id, self._note)
                heard.append(agent_messages.told_once(entry, used, chat.id))
            elif not is_lost:
                break
            elif blob.data is None:
                self._note(Kind.MISSING_FILE, chat.where, f"a message that the chat names: {blob.hash[:16]}")
        if heard:
            chat.put_first(heard)
        return is_lost and bool(heard)

    def _root(self, chat: Composer) -> bytes | None:
        """The agent's state of a chat, in its record or in a row that names the blob it is in."""
        state = chat.fields.look("conversationState")
        if isinstance(state, str) and state.startswith("~"):
            try:
                return base64.b64decode(state[1:] + "==")
            except (binascii.Error, ValueError):
                return None
        pointer = self._disk.value(f"agentKv:checkpoint:{chat.id}")
        return None if pointer is None else self._blob(pointer.decode("ascii", "replace").strip('"'))

    def _blob(self, name: str) -> bytes | None:
        """A blob, which is written as it is or in hexadecimal digits; its hash tells."""
        data = self._disk.value(f"agentKv:blob:{name}")
        if data is None or hashlib.sha256(data).hexdigest() == name:
            return data
        try:
            return bytes.fromhex(data.decode("ascii"))
        except ValueError:
            return data

    def _sum_up(self) -> None:
        """Say once for the whole what was not read, and what is known to be incomplete."""
        counts = self._counts
        if counts["empty"]:
            self._note(Kind.IGNORED_FILE, "", f"chats in which nothing was said: {counts['empty']}")
        if counts["elsewhere"]:
            told = f"chats whose messages are in globalStorage: {counts['elsewhere']}"
            self._note(Kind.IGNORED_FILE, HEADS, told)
        if counts["counted"] and counts["counted"] < counts["answers"]:
            told = f"answers whose tokens were not counted: {counts['answers'] - counts['counted']}"
            self._note(Kind.PARTIAL_USAGE, "", told)
        if left := [family for family in _NOT_READ if self._disk.has(family)]:
            self._note(Kind.IGNORED_FILE, DISK, f"rows of kinds that no chat shows: {', '.join(left)}")
        if prompts := [key for key in _PROMPTS if self._items.value(key)]:
            self._note(Kind.IGNORED_FILE, ITEMS, f"what was asked, listed once more: {', '.join(prompts)}")
        if not any(counts.values()):
            self._note(Kind.IGNORED_FILE, "", "no chat is in it")


def _children(data: Bag) -> Iterator[str]:
    for name in _CHILDREN:
        held = data.get(name)
        for child in held if isinstance(held, list) else ():
            child_id = child.get("composerId") if isinstance(child, dict) else child
            if isinstance(child_id, str) and child_id:
                yield child_id
