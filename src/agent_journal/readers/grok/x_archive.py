"""Chats inside an archive of X: `data/grok-chat-item.js`, a script that assigns a list of what was said.

Each item names its chat; chats have no titles, and a prompt and its answer may have the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.decoding.text_encoding import utf8
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import Reading
from agent_journal.model import Conversation, Message, Text, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.grok.assets import described
from agent_journal.readers.grok.citations import MARK, shown
from agent_journal.readers.grok.names import CHATS, SCRIPT, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Source, Stream
    from agent_journal.model import Part
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.values import Bag

_PREFIX_BYTES = 4096


def read_archive(source: Source, note: Notes) -> Iterator[Conversation]:
    """The chats of a file, or of all parts of it in a folder, whose other files are only named."""
    if not source.is_folder:
        yield from _chats([source], note)
        return
    files = [file for file in source.children() if not file.is_folder]
    parts = [file for file in files if CHATS.fullmatch(file.name)]
    yield from _chats(sorted(parts, key=lambda file: (len(file.name), file.name)), note)
    if others := len(files) - len(parts):
        detail = (
            f"{others:,} {'file' if others == 1 else 'files'} of the archive with other things than chats"
        )
        note.add(Kind.IGNORED_FILE, f"{source.label}/*", "", detail)


def _chats(files: Iterable[Source], note: Notes) -> Iterator[Conversation]:
    """Every chat, in the order in which they are first mentioned; a chat may go on in another part."""
    chats: dict[str, list[tuple[str, Bag]]] = {}
    for file in files:
        try:
            for place, item in _items(file, note.about(file.label)):
                chats.setdefault(words(item.get("chatId")) or "", []).append((place, item))
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
    for chat_id, items in chats.items():
        yield _chat(chat_id, items, note)


def _items(file: Source, note: Notes) -> Iterator[tuple[str, Bag]]:
    with _Assigned(utf8(file)) as stream:
        for index, value in json_stream.elements_in(stream, note):
            item = value.get("grokChatItem", value) if value.__class__ is dict else value
            if item.__class__ is not dict:
                note(Kind.BAD_RECORD, f"[{index}]", f"an item is {type(item).__name__}")
                continue
            if item is not value:
                for name in value.keys() - {"grokChatItem"} - item.keys():
                    item[name] = value[name]
            yield f"[{index}]", item


def _chat(chat_id: str, items: list[tuple[str, Bag]], note: Notes) -> Conversation:
    accounts: set[str] = set()
    messages = [_message(chat_id, item, place, accounts, note) for place, item in items]
    if not chat_id:
        note(Kind.MISSING_ID, items[0][0], "no chatId")
    return Conversation(
        id=chat_id or ids.made(SOURCE, "chat", [message.id for message in messages]),
        made_id=not chat_id,
        source=SOURCE,
        account_id=accounts.pop() if len(accounts) == 1 else None,
        shape="list",
        timeline=[*_by_time(_told_apart(messages))],
    )


def _message(chat_id: str, item: Bag, place: str, accounts: set[str], note: Notes) -> Message:
    fields = Fields(item, note, place)
    if chat_id:
        fields.drop("chatId")
    account = words(fields.look("accountId"))
    if account is not None:
        accounts.add(account)
    at, text, is_user = fields.moment("createdAt"), fields.text("message"), _is_user(fields.look("sender"))
    told = text
    if text and MARK in text and not is_user and (told := shown(text)) != text:
        fields.keep("message", text)
    parts: list[Part] = [Text(text=told)] if told else []
    if fields.look("attachments"):
        listed = fields.items("attachments") or []
        parts += [described(each, "file") for each in objects(listed)]
        if odd := [each for each in listed if each.__class__ is not dict]:
            fields.keep("attachments", odd)
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


def _told_apart(messages: list[Message]) -> Iterator[Message]:
    """The messages; one that is said again word for word at the same time gets an id of its own."""
    seen: dict[str, int] = {}
    for message in messages:
        count = seen[message.id] = seen.get(message.id, -1) + 1
        yield message if not count else _again(message, count)


def _again(message: Message, count: int) -> Message:
    from msgspec.structs import replace  # noqa: PLC0415 (rare)

    return replace(message, id=ids.made(SOURCE, message.id, count))


def _by_time(messages: Iterable[Message]) -> list[Message]:
    """In order of time, prompts before answers of the same moment; as they came if a time is missing."""
    found = [*messages]
    moments = [timestamps.epoch_ms(message.at) for message in found]
    if None in moments:
        return found
    keys = {id(each): (at, each.role != "user") for each, at in zip(found, moments, strict=True)}
    return sorted(found, key=lambda message: keys[id(message)])


class _Assigned(Reading):
    """A script from behind its first `=`: what is left is JSON."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        start = stream.read(_PREFIX_BYTES)
        self._head = start.partition(b"=")[2] if SCRIPT.match(start) else start

    def read(self, size: int = -1, /) -> bytes:
        head, self._head = self._head, b""
        return head or self._stream.read(size)
