"""The small files of an export: ratings, shared links, the account, the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt.assets import Assets
from agent_journal.readers.chatgpt.names import (
    ASSET_NAMES,
    FEEDBACK,
    LIBRARY,
    SHARED,
    SOURCE,
    TOOL_MESSAGES,
    USER,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

JsonObject = dict[str, Any]


class Rows:
    """Records of a file, by the conversation or else the message that they name."""

    def __init__(
        self, rows: Collection[Any] = (), conversation: str = "conversation_id", messages: Iterable[str] = ()
    ) -> None:
        self.total = self.remaining = len(rows)
        self._by_conversation: dict[str, list[JsonObject]] = {}
        self._by_message: dict[str, list[JsonObject]] = {}
        for row in objects([*rows]):
            if name := nonempty_str(row.get(conversation)):
                self._by_conversation.setdefault(name, []).append(row)
            elif name := next((value for key in messages if (value := nonempty_str(row.get(key)))), None):
                self._by_message.setdefault(name, []).append(row)

    def take(self, conversation_id: str, message_ids: Collection[str]) -> list[JsonObject]:
        """Remove and return the records about a conversation."""
        rows = self._by_conversation.pop(conversation_id, [])
        for message_id in [name for name in self._by_message if name in message_ids]:
            rows += self._by_message.pop(message_id)
        self.remaining -= len(rows)
        return rows


class Sidecars(Struct, frozen=True):
    """The data in the other files of an export; empty for a single file."""

    account_id: str | None
    feedback: Rows
    shared: Rows
    tool_messages: Rows
    library: Rows
    assets: Assets

    @property
    def is_empty(self) -> bool:
        """Whether no record about any conversation remains."""
        return not (
            self.feedback.remaining
            or self.shared.remaining
            or self.tool_messages.remaining
            or self.library.remaining
        )


def empty() -> Sidecars:
    """Make the empty data of a single file."""
    return Sidecars(None, Rows(), Rows(), Rows(), Rows(), Assets())


def read_sidecars(files: dict[str, Input], user: JsonObject, note: Notes) -> Sidecars:
    """Read the files of an export that have data about its conversations and about other files."""
    library = rows_of(files.get(LIBRARY), note)
    names = next(objects(rows_of(files.get(ASSET_NAMES), note)), {})
    others = {path: file for path, file in files.items() if not path.endswith(".json")}
    assets = Assets(others, names, objects(library), note)
    return Sidecars(
        account_id=nonempty_str(user.get("id")),
        feedback=Rows(rows_of(files.get(FEEDBACK), note), messages=("id",)),
        shared=Rows(rows_of(files.get(SHARED), note)),
        tool_messages=Rows(rows_of(files.get(TOOL_MESSAGES), note), messages=("message_id", "id")),
        library=Rows(library, "origination_thread_id", ("origination_message_id",)),
        assets=assets,
    )


def rows_of(file: Input | None, note: Notes) -> list[Any]:
    """Read the records of a small file, as far as it can be read."""
    if file is None:
        return []
    try:
        return [row for _, row in json_stream.elements(file, note.about(file.label))]
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return []


def identity(user: JsonObject) -> Memory:
    """Convert the account to a memory about the person."""
    facts = [f"{name}: {value}" for name, value in user.items() if value.__class__ in (str, int, float)]
    return Memory(
        id=ids.made(SOURCE, "identity", user.get("id") or user),
        made_id=True,
        source=SOURCE,
        kind="identity",
        text=", ".join(facts) or USER,
        about=nonempty_str(user.get("id")),
        extra=user,
    )
