"""Messages that this program wrote, as they were: cut ones are put together, and what was said is put back.

A message's `raw_metadata.agent_journal` has what the format has no field for. Its `parts` are those of the
model without what stands elsewhere: texts in the content, thoughts and answers in messages of their own.
All is put together as plain values, which then are converted into the model at once.
"""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import objects, words
from agent_journal.model import Event, Message, ids
from agent_journal.notes import Kind
from agent_journal.readers.pam.messages import Speaker
from agent_journal.readers.pam.names import OURS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

Bag = dict[str, Any]
Entry = Message | Event
# Parts that are messages of their own.
_APART = ("reasoning", "tool_result")
# What our own fields say of a message; they know better than the format's.
_FIELDS = frozenset(
    {
        "id",
        "role",
        "parent_id",
        "at",
        "made_id",
        "stop_reason",
        "hidden",
        "sidechain",
        "response_id",
        "usage",
    }
)
_NOTHING: Bag = {}
# The fields of a content that is plain text, and those that say more than a content.
_PLAIN = frozenset({"type", "text"})
# Parts of a content that are no files.
_WRITTEN = ("text", "code")
_BESIDE = frozenset({"attachments", "tool_calls"})


def extra_of(raw: Any, provider: str) -> Bag:
    """The source's own fields in an open object, under the names they had there."""
    if raw.__class__ is not dict:
        return {}
    block = raw.get(OURS)
    if block.__class__ is not dict:
        block = _NOTHING
    renamed = block.get("renamed")
    names: Bag = renamed if renamed.__class__ is dict else {f"{provider}_metadata": "metadata"}
    found = {words(names.get(name)) or name: value for name, value in raw.items() if name != OURS}
    if block.get("extra").__class__ is dict:
        found = {**found, **block["extra"]}
    derived = block.get("derived")
    for name in derived if derived.__class__ is list else ():
        if name.__class__ is str:
            found.pop(name, None)
    return found


def _ours(record: Bag) -> Bag:
    raw = record.get("raw_metadata")
    block = raw.get(OURS) if raw.__class__ is dict else None
    return block if block.__class__ is dict else _NOTHING


class Timeline:
    """The messages of one conversation."""

    def __init__(self, messages: list[Any], provider: str, note: Notes) -> None:
        self.provider = provider
        self._note = note
        self._messages = messages
        names = {words(record.get("id")) for record in objects(messages)}
        self._whole: list[tuple[int, Any]] = []
        self._shares: dict[str, list[tuple[int, Any]]] = {}
        for index, record in enumerate(messages):
            main = _ours(record).get("part_of") if record.__class__ is dict else None
            if main.__class__ is str and main in names and main != record.get("id"):
                self._shares.setdefault(main, []).append((index, record))
            else:
                self._whole.append((index, record))

    def with_events(self, events: Any) -> list[Entry]:
        """The messages, with the events where they were."""
        before = _events(events)
        timeline: list[Entry] = []
        for place, (index, record) in enumerate(self._whole):
            if place in before:
                timeline += before.pop(place)
            timeline += self._entries(index, record)
        for left in before.values():
            timeline += left
        return timeline

    def _entries(self, index: int, record: Any) -> list[Entry]:
        """A message as it was; if it was changed since, it and what was cut off it, each as it is."""
        shares: list[tuple[int, Any]] = []
        if record.__class__ is dict:
            if self._shares:
                shares = self._shares.pop(words(record.get("id")) or "", [])
            found = self._message(record, [share for _, share in shares])
            if found is not None:
                return [found]
            self._note(Kind.WRONG_TYPE, f"messages[{index}]", "it is not as this program wrote it")
        return [self._other.entry(*each) for each in sorted([(index, record), *shares], key=itemgetter(0))]

    @cached_property
    def _other(self) -> Speaker:
        """Who reads what was changed since."""
        return Speaker("", self._messages, self._note)

    def _message(self, record: Bag, shares: list[Bag]) -> Message | None:
        look = record.get
        block = _ours(record)
        fields: Bag = {
            "type": "message",
            "id": look("id"),
            "role": look("role"),
            "parent_id": look("parent_id"),
            "at": look("created_at"),
            "model": look("model"),
        }
        if raw := look("raw_metadata"):
            fields |= {name: value for name, value in block.items() if name in _FIELDS}
            fields["extra"] = extra_of(raw, self.provider)
            record = _without_literal(record, block.get("text_field"), fields["extra"])
        try:
            fields["parts"] = _parts(record, shares, block.get("parts"), self.provider)
            return msgspec.convert(fields, Message)
        except (msgspec.ValidationError, _Changed):
            return None


def _without_literal(record: Bag, name: Any, extra: Bag) -> Bag:
    """The message without the text that is the source's own; that is put where it was."""
    content = record.get("content")
    if name.__class__ is not str or content.__class__ is not dict or content.get("text").__class__ is not str:
        return record
    extra[name] = content["text"]
    return {**record, "content": {each: value for each, value in content.items() if each != "text"}}


def _events(listed: Any) -> dict[int, list[Entry]]:
    """Events by how many messages come before them."""
    found: dict[int, list[Entry]] = {}
    for each in objects(listed):
        before = each.get("before")
        try:
            event = msgspec.convert(each.get("event"), Event)
        except msgspec.ValidationError:
            event = Event(id=ids.made(OURS, each), made_id=True, name="unknown", data=each)
        found.setdefault(before if before.__class__ is int else 0, []).append(event)
    return found


class _Changed(Exception):
    """Raised where the parts of a message are no longer what was written."""


def _parts(record: Bag, shares: list[Bag], entries: Any, provider: str) -> list[Bag]:
    """The parts of a message; all that was said is in one of them."""
    if entries is not None:
        return _Parts(record, shares, entries, provider).all()
    content = record.get("content")
    if not shares and content.__class__ is dict and content.keys() == _PLAIN and _BESIDE.isdisjoint(record):
        return [{"type": "text", "text": content.get("text")}]  # nearly all messages
    said = _Said(record)
    texts, said.texts = said.texts, []
    if shares or said.is_left:
        raise _Changed
    return [{"type": "text", "text": text} for text in texts]


class _Said:
    """What a message says outside of our own fields, each of a kind in its order."""

    def __init__(self, record: Bag) -> None:
        look = record.get
        content = look("content")
        told: Bag = content if content.__class__ is dict else _NOTHING
        text, listed = told.get("text"), told.get("parts")
        self.whole: str | None = text if text.__class__ is str else None
        self.texts: list[Any] = [] if self.whole is None else [text]
        self._codes: list[Bag] = []
        self._held: list[Any] = []
        if listed:
            self.texts = [part.get("text") for part in objects(listed) if part.get("type") == "text"]
            self._codes = [part for part in objects(listed) if part.get("type") == "code"]
            self._held = [part.get("text") for part in objects(listed) if part.get("type") not in _WRITTEN]
        self._files = [*objects(files)] if (files := look("attachments")) else []
        self.calls = [*objects(calls)] if (calls := look("tool_calls")) else []
        self._at = 0

    @property
    def is_left(self) -> bool:
        """Whether there is more than what was taken."""
        return bool(self.texts or self.calls or self._codes or self._files)

    def text(self, length: Any) -> Bag:
        """The next text; of a text that was several, so many characters of it."""
        if length.__class__ is not int or self.whole is None:
            return {"text": _next(self.texts)}
        start, end = self._at, self._at + length
        if not start <= end <= len(self.whole):
            raise _Changed
        if end == len(self.whole):
            self.texts = []
        self._at = end + 1
        return {"text": self.whole[start:end]}

    def code(self) -> Bag:
        """The next piece of code."""
        part = _next(self._codes)
        return {"code": part.get("text"), "language": part.get("language")}

    def file(self, *, is_inline: bool) -> Bag:
        """The next file; what it says in words is in the content."""
        file = _next(self._files)
        text = self._held.pop(0) if self._held else None
        if is_inline:
            return {"data": (words(file.get("ref")) or "").partition(";base64,")[2], "text": text}
        return {
            "kind": file.get("type"),
            "name": file.get("name"),
            "mime": file.get("mime_type"),
            "size": file.get("size_bytes"),
            "ref": file.get("ref"),
            "text": text,
        }

    def call(self) -> Bag:
        """The next call."""
        call = _next(self.calls)
        return {"name": call.get("name"), "call_id": call.get("id"), "input": call.get("input")}


def _next(queue: list[Any]) -> Any:
    if not queue:
        raise _Changed
    return queue.pop(0)


class _Parts:
    """Puts what was said into the parts of one message."""

    def __init__(self, record: Bag, shares: list[Bag], entries: Any, provider: str) -> None:
        self._entries = [*objects(entries)]
        self._said = _Said(record)
        self._provider = provider
        # Where nothing was spoken, the message itself is the first of its thoughts or answers.
        is_spoken = any(entry.get("type") not in _APART for entry in self._entries)
        self._own = None if is_spoken else record
        apart = shares if is_spoken else [record, *shares]
        self._thoughts = [each for each in apart if each.get("is_thought") is True]
        self._answers = [each for each in apart if each.get("is_thought") is not True]

    def all(self) -> list[Bag]:
        """Every part, in the order in which they were."""
        found = [self._part(entry) for entry in self._entries]
        is_left = self._own is None and self._said.is_left
        if is_left or self._thoughts or self._answers:
            raise _Changed
        return found

    def _part(self, entry: Bag) -> Bag:
        match entry.get("type"):
            case "reasoning":
                share = _next(self._thoughts)
                return {"text": _Said(share).whole, **self._extra(share), **entry}
            case "tool_result":
                return self._answer(_next(self._answers), entry)
            case "tool_call":
                return {**self._said.call(), **entry}
        return _spoken(entry, self._said)

    def _extra(self, share: Bag) -> Bag:
        """What a thought or an answer has of its own, if it has a message of its own."""
        return {} if share is self._own else {"extra": extra_of(share.get("raw_metadata"), self._provider)}

    def _answer(self, share: Bag, entry: Bag) -> Bag:
        said = _Said(share)
        listed = entry.get("output")
        if listed.__class__ is not list:
            return {"output": said.whole or "", **self._extra(share), **entry}
        said.calls = []  # which call it answers is told by the entry
        output = [_spoken(inner, said) for inner in objects(listed)]
        if said.is_left:
            raise _Changed
        return {**self._extra(share), **entry, "output": output}


def _spoken(entry: Bag, said: _Said) -> Bag:
    """A part that is told by the content of a message and by what lies beside that."""
    match entry.get("type"):
        case "text":
            return {**said.text(entry.get("length")), **entry}
        case "code":
            return {**said.code(), **entry}
        case "media":
            is_inline = entry.get("inline") is True
            file = said.file(is_inline=is_inline)
            return {**(file if is_inline or "kind" not in entry else {"text": file["text"]}), **entry}
    return entry
