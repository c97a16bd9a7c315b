"""Restores messages that this program wrote, and joins those that were split.

A message's `raw_metadata.agent_journal` has what the format has no field for. Its `parts` are those of the
model without what is stored elsewhere: text is in the content; reasoning and tool results are in messages of
their own. The values are collected as plain objects and then converted to the model at once.
"""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.model import Event, Message, ids
from agent_journal.notes import Kind
from agent_journal.readers.pam.messages import MessageReader
from agent_journal.readers.pam.names import OWN_KEY

if TYPE_CHECKING:
    from agent_journal.notes import Notes

JsonObject = dict[str, Any]
Entry = Message | Event
# Parts that are separate messages.
_SEPARATE_PARTS = ("reasoning", "tool_result")
# Other own fields of a message are those of the model, and take precedence over the format's.
_OWN_MESSAGE_FIELDS = frozenset(Message.__struct_fields__) - {"parts", "extra"}
_EMPTY: JsonObject = {}
# The fields of a content that is plain text, and the fields of a message that add parts to it.
_PLAIN_TEXT_KEYS = frozenset({"type", "text"})
# Parts of a content that are not files.
_TEXT_PARTS = ("text", "code")
_PART_FIELDS = frozenset({"attachments", "tool_calls"})


def extra_of(raw: Any, provider: str) -> JsonObject:
    """Get the source's own fields from `raw_metadata`, under their original names."""
    if raw.__class__ is not dict:
        return {}
    own_fields = raw.get(OWN_KEY)
    if own_fields.__class__ is not dict:
        own_fields = _EMPTY
    renamed = own_fields.get("renamed")
    names: JsonObject = renamed if renamed.__class__ is dict else {f"{provider}_metadata": "metadata"}
    extra = {nonempty_str(names.get(name)) or name: value for name, value in raw.items() if name != OWN_KEY}
    if own_fields.get("extra").__class__ is dict:
        extra = {**extra, **own_fields["extra"]}
    derived = own_fields.get("derived")
    for name in derived if derived.__class__ is list else ():
        if name.__class__ is str:
            extra.pop(name, None)
    return extra


def _own_fields(record: JsonObject) -> JsonObject:
    raw = record.get("raw_metadata")
    own_fields = raw.get(OWN_KEY) if raw.__class__ is dict else None
    return own_fields if own_fields.__class__ is dict else _EMPTY


class Timeline:
    """Restores the messages of one conversation."""

    def __init__(self, messages: list[Any], provider: str, note: Notes) -> None:
        self.provider = provider
        self._note = note
        self._messages = messages
        message_ids = {nonempty_str(record.get("id")) for record in objects(messages)}
        self._main_records: list[tuple[int, Any]] = []
        self._shares: dict[str, list[tuple[int, Any]]] = {}
        for index, record in enumerate(messages):
            main_id = _own_fields(record).get("part_of") if record.__class__ is dict else None
            if main_id.__class__ is str and main_id in message_ids and main_id != record.get("id"):
                self._shares.setdefault(main_id, []).append((index, record))
            else:
                self._main_records.append((index, record))

    def with_events(self, events: Any) -> list[Entry]:
        """Restore the messages, with the events between them."""
        events_before = _events_by_index(events)
        timeline: list[Entry] = []
        for position, (index, record) in enumerate(self._main_records):
            if position in events_before:
                timeline += events_before.pop(position)
            timeline += self._entries(index, record)
        for remaining in events_before.values():
            timeline += remaining
        return timeline

    def _entries(self, index: int, record: Any) -> list[Entry]:
        """Restore a message; if it has changed since, read it and its separate parts like any other."""
        shares: list[tuple[int, Any]] = []
        if record.__class__ is dict:
            if self._shares:
                shares = self._shares.pop(nonempty_str(record.get("id")) or "", [])
            message = self._message(record, [share for _, share in shares])
            if message is not None:
                return [message]
            self._note(Kind.WRONG_TYPE, f"messages[{index}]", "it is not as this program wrote it")
        return [
            self._changed_message_reader.entry(*each)
            for each in sorted([(index, record), *shares], key=itemgetter(0))
        ]

    @cached_property
    def _changed_message_reader(self) -> MessageReader:
        return MessageReader("", self._messages, self._note)

    def _message(self, record: JsonObject, shares: list[JsonObject]) -> Message | None:
        get = record.get
        own_fields = _own_fields(record)
        fields: JsonObject = {
            "type": "message",
            "id": get("id"),
            "role": get("role"),
            "parent_id": get("parent_id"),
            "at": get("created_at"),
            "model": get("model"),
        }
        if raw := get("raw_metadata"):
            fields |= {name: value for name, value in own_fields.items() if name in _OWN_MESSAGE_FIELDS}
            fields["extra"] = extra_of(raw, self.provider)
            record = _without_own_text(record, own_fields.get("text_field"), fields["extra"])
        try:
            fields["parts"] = _parts(record, shares, own_fields.get("parts"), self.provider)
            return msgspec.convert(fields, Message)
        except (msgspec.ValidationError, _ChangedError):
            return None


def _without_own_text(record: JsonObject, name: Any, extra: JsonObject) -> JsonObject:
    """Move the text that is a field of the source from the content back to `extra`."""
    content = record.get("content")
    if name.__class__ is not str or content.__class__ is not dict or content.get("text").__class__ is not str:
        return record
    extra[name] = content["text"]
    return {**record, "content": {each: value for each, value in content.items() if each != "text"}}


def _events_by_index(values: Any) -> dict[int, list[Entry]]:
    """Group events by how many messages come before them."""
    events: dict[int, list[Entry]] = {}
    for each in objects(values):
        before = each.get("before")
        try:
            event = msgspec.convert(each.get("event"), Event)
        except msgspec.ValidationError:
            event = Event(id=ids.made(OWN_KEY, each), made_id=True, name="unknown", data=each)
        events.setdefault(before if before.__class__ is int else 0, []).append(event)
    return events


class _ChangedError(Exception):
    """Raised if the parts of a message are no longer as this program wrote them."""


def _parts(record: JsonObject, shares: list[JsonObject], entries: Any, provider: str) -> list[JsonObject]:
    """Restore the parts of a message; the whole content must be in one of them."""
    if entries is not None:
        return _PartsRestorer(record, shares, entries, provider).all()
    content = record.get("content")
    if (
        not shares
        and content.__class__ is dict
        and content.keys() == _PLAIN_TEXT_KEYS
        and _PART_FIELDS.isdisjoint(record)
    ):
        return [{"type": "text", "text": content.get("text")}]  # nearly all messages
    content_parts = _ContentParts(record)
    texts, content_parts.texts = content_parts.texts, []
    if shares or content_parts.has_more:
        raise _ChangedError
    return [{"type": "text", "text": text} for text in texts]


class _ContentParts:
    """What a message has in the format's own fields, to be taken in order, kind by kind."""

    def __init__(self, record: JsonObject) -> None:
        content = record.get("content")
        fields: JsonObject = content if content.__class__ is dict else _EMPTY
        text, parts = fields.get("text"), fields.get("parts")
        self.full_text: str | None = text if text.__class__ is str else None
        self.texts: list[Any] = [] if self.full_text is None else [text]
        self._codes: list[JsonObject] = []
        self._media_texts: list[Any] = []
        if parts:
            self.texts = [part.get("text") for part in objects(parts) if part.get("type") == "text"]
            self._codes = [part for part in objects(parts) if part.get("type") == "code"]
            self._media_texts = [
                part.get("text") for part in objects(parts) if part.get("type") not in _TEXT_PARTS
            ]
        self._files = [*objects(files)] if (files := record.get("attachments")) else []
        self.calls = [*objects(calls)] if (calls := record.get("tool_calls")) else []
        self._offset = 0

    @property
    def has_more(self) -> bool:
        """Whether anything has not been taken."""
        return bool(self.texts or self.calls or self._codes or self._files)

    def text(self, length: Any) -> JsonObject:
        """Take the next text; with a length, so many characters of a joined text."""
        if length.__class__ is not int or self.full_text is None:
            return {"text": _next(self.texts)}
        start, end = self._offset, self._offset + length
        if not start <= end <= len(self.full_text):
            raise _ChangedError
        if end == len(self.full_text):
            self.texts = []
        self._offset = end + 1
        return {"text": self.full_text[start:end]}

    def code(self) -> JsonObject:
        """Take the next piece of code."""
        part = _next(self._codes)
        return {"code": part.get("text"), "language": part.get("language")}

    def file(self, *, is_inline: bool) -> JsonObject:
        """Take the next file; its text is in the content."""
        file = _next(self._files)
        text = self._media_texts.pop(0) if self._media_texts else None
        if is_inline:
            return {"data": (nonempty_str(file.get("ref")) or "").partition(";base64,")[2], "text": text}
        return {
            "kind": file.get("type"),
            "name": file.get("name"),
            "mime": file.get("mime_type"),
            "size": file.get("size_bytes"),
            "ref": file.get("ref"),
            "text": text,
        }

    def call(self) -> JsonObject:
        """Take the next call."""
        call = _next(self.calls)
        return {"name": call.get("name"), "call_id": call.get("id"), "input": call.get("input")}


def _next(queue: list[Any]) -> Any:
    if not queue:
        raise _ChangedError
    return queue.pop(0)


class _PartsRestorer:
    """Restores the parts of one message."""

    def __init__(self, record: JsonObject, shares: list[JsonObject], entries: Any, provider: str) -> None:
        self._entries = [*objects(entries)]
        self._content = _ContentParts(record)
        self._provider = provider
        # Without any other part, the message itself is the first of the reasoning or tool results.
        has_content = any(entry.get("type") not in _SEPARATE_PARTS for entry in self._entries)
        self._own_share = None if has_content else record
        separate = shares if has_content else [record, *shares]
        self._reasoning = [each for each in separate if each.get("is_thought") is True]
        self._results = [each for each in separate if each.get("is_thought") is not True]

    def all(self) -> list[JsonObject]:
        """Restore all parts in their original order."""
        parts = [self._part(entry) for entry in self._entries]
        has_more = self._own_share is None and self._content.has_more
        if has_more or self._reasoning or self._results:
            raise _ChangedError
        return parts

    def _part(self, entry: JsonObject) -> JsonObject:
        match entry.get("type"):
            case "reasoning":
                share = _next(self._reasoning)
                return {"text": _ContentParts(share).full_text, **self._extra(share), **entry}
            case "tool_result":
                return self._result(_next(self._results), entry)
            case "tool_call":
                return {**self._content.call(), **entry}
        return _content_part(entry, self._content)

    def _extra(self, share: JsonObject) -> JsonObject:
        """Get the fields of reasoning or a tool result that has a message of its own."""
        return (
            {} if share is self._own_share else {"extra": extra_of(share.get("raw_metadata"), self._provider)}
        )

    def _result(self, share: JsonObject, entry: JsonObject) -> JsonObject:
        content = _ContentParts(share)
        output = entry.get("output")
        if output.__class__ is not list:
            return {"output": content.full_text or "", **self._extra(share), **entry}
        content.calls = []  # the entry names the call
        restored = [_content_part(inner, content) for inner in objects(output)]
        if content.has_more:
            raise _ChangedError
        return {**self._extra(share), **entry, "output": restored}


def _content_part(entry: JsonObject, content: _ContentParts) -> JsonObject:
    """Restore a part from the content of a message, its attachments and its own fields."""
    match entry.get("type"):
        case "text":
            return {**content.text(entry.get("length")), **entry}
        case "code":
            return {**content.code(), **entry}
        case "media":
            is_inline = entry.get("inline") is True
            file = content.file(is_inline=is_inline)
            return {**(file if is_inline or "kind" not in entry else {"text": file["text"]}), **entry}
    return entry
