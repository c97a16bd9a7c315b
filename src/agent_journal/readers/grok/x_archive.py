"""Reads chats in an archive of X: `data/grok-chat-item.js`, a script that assigns a list of messages.

Each item names its chat; chats have no titles, and a prompt and its answer may have the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.decoding.text_encoding import utf8
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import Reading
from agent_journal.model import Conversation, Message, Text, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.grok.assets import from_object
from agent_journal.readers.grok.citations import MARK, without_marks
from agent_journal.readers.grok.names import CHATS, SCRIPT, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input, Stream
    from agent_journal.model import Part
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.values import JsonObject

_PREFIX_BYTES = 4096


def read_archive(source: Input, note: Notes) -> Iterator[Conversation]:
    """Read the chats of a file, or of all its parts in a folder; other files are only noted."""
    if not source.is_folder:
        yield from _chats([source], note)
        return
    files = [file for file in source.children() if not file.is_folder]
    parts = [file for file in files if CHATS.fullmatch(file.name)]
    yield from _chats(sorted(parts, key=lambda file: (len(file.name), file.name)), note)
    if others := len(files) - len(parts):
        detail = f"{others:,} {'file' if others == 1 else 'files'} of the archive without chats"
        note.add(Kind.IGNORED_FILE, f"{source.label}/*", "", detail)


def _chats(files: Iterable[Input], note: Notes) -> Iterator[Conversation]:
    """Yield the chats in the order of their first items; a chat may continue in another part."""
    chats: dict[str, list[tuple[str, JsonObject]]] = {}
    for file in files:
        try:
            for location, item in _items(file, note.about(file.label)):
                chats.setdefault(nonempty_str(item.get("chatId")) or "", []).append((location, item))
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
    for chat_id, items in chats.items():
        yield _chat(chat_id, items, note)


def _items(file: Input, note: Notes) -> Iterator[tuple[str, JsonObject]]:
    with _AssignedValue(utf8(file)) as stream:
        for index, value in json_stream.elements_in(stream, note):
            item = value.get("grokChatItem", value) if value.__class__ is dict else value
            if item.__class__ is not dict:
                note(Kind.BAD_RECORD, f"[{index}]", f"an item is {type(item).__name__}")
                continue
            if item is not value:
                for name in value.keys() - {"grokChatItem"} - item.keys():
                    item[name] = value[name]
            yield f"[{index}]", item


def _chat(chat_id: str, items: list[tuple[str, JsonObject]], note: Notes) -> Conversation:
    accounts: set[str] = set()
    messages = [_message(chat_id, item, location, accounts, note) for location, item in items]
    if not chat_id:
        note(Kind.MISSING_ID, items[0][0], "no chatId")
    return Conversation(
        id=chat_id or ids.made(SOURCE, "chat", [message.id for message in messages]),
        made_id=not chat_id,
        source=SOURCE,
        account_id=accounts.pop() if len(accounts) == 1 else None,
        shape="list",
        timeline=[*_by_time(_with_unique_ids(messages))],
    )


def _message(chat_id: str, item: JsonObject, location: str, accounts: set[str], note: Notes) -> Message:
    fields = Fields(item, note, location)
    if chat_id:
        fields.drop("chatId")
    account = nonempty_str(fields.view("accountId"))
    if account is not None:
        accounts.add(account)
    at, text, is_user = fields.timestamp("createdAt"), fields.text("message"), _is_user(fields.view("sender"))
    plain_text = text
    if text and MARK in text and not is_user and (plain_text := without_marks(text)) != text:
        fields.keep("message", text)
    parts: list[Part] = [Text(text=plain_text)] if plain_text else []
    if fields.view("attachments"):
        attachments = fields.items("attachments") or []
        parts += [from_object(attachment, "file") for attachment in objects(attachments)]
        if invalid := [attachment for attachment in attachments if attachment.__class__ is not dict]:
            fields.keep("attachments", invalid)
    return Message(
        id=ids.made(SOURCE, chat_id, at, is_user, text),
        made_id=True,
        role="user" if is_user else "assistant",
        at=at,
        parts=parts,
        extra=fields.rest(),
    )


def _is_user(sender: Any) -> bool:
    """Whether a sender is the person: `{"value": "1", "name": "User", "originalName": "USER"}`, or a word."""
    if sender.__class__ is dict:
        sender = sender.get("originalName") or sender.get("name")
    return str(sender).strip().lower() in {"user", "human"}


def _with_unique_ids(messages: list[Message]) -> Iterator[Message]:
    """Give each repetition of a message with the same text and time an id of its own."""
    counts: dict[str, int] = {}
    for message in messages:
        count = counts[message.id] = counts.get(message.id, -1) + 1
        yield message if not count else _with_new_id(message, count)


def _with_new_id(message: Message, count: int) -> Message:
    from msgspec.structs import replace  # noqa: PLC0415 (rare)

    return replace(message, id=ids.made(SOURCE, message.id, count))


def _by_time(messages: Iterable[Message]) -> list[Message]:
    """Sort by time, prompts before simultaneous answers; keep the order if any time is missing."""
    unsorted = [*messages]
    times = [timestamps.epoch_ms(message.at) for message in unsorted]
    if None in times:
        return unsorted
    keys = {id(message): (at, message.role != "user") for message, at in zip(unsorted, times, strict=True)}
    return sorted(unsorted, key=lambda message: keys[id(message)])


class _AssignedValue(Reading):
    """A script from after its first `=`: the rest is JSON."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        start = stream.read(_PREFIX_BYTES)
        self._head = start.partition(b"=")[2] if SCRIPT.match(start) else start

    def read(self, size: int = -1, /) -> bytes:
        head, self._head = self._head, b""
        return head or self._stream.read(size)
