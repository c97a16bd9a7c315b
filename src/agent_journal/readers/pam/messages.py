"""Messages that another program wrote, by the fields that the format has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.model import (
    Citation,
    Code,
    Event,
    Media,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
)
from agent_journal.model.roles import role as known_role
from agent_journal.notes import Kind
from agent_journal.readers.pam.names import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import MediaKind, Part, Role
    from agent_journal.notes import Notes

Bag = dict[str, Any]
Entry = Message | Event
_MEDIA: dict[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "file",
    "document": "document",
}
# How many fields a content has that is nothing but text.
_PLAIN = 2
# What a message has beside its content; nearly all have nothing.
_BESIDE = ("attachments", "citations", "tool_calls")


class Speaker:
    """Reads the messages of one conversation."""

    def __init__(self, conversation_id: str, messages: list[Any], note: Notes) -> None:
        self._conversation_id = conversation_id
        self._messages = messages
        self._note = note
        self._known: set[str] = set()
        self._parents, self._listed = _parents(messages)
        self._answered = _answered(messages)

    def entries(self) -> list[Entry]:
        """Every message, in the order of the file; what is none is kept as an event."""
        return [self.entry(index, value) for index, value in enumerate(self._messages)]

    def entry(self, index: int, value: Any) -> Entry:
        """One message."""
        where = f"messages[{index}]"
        if value.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, f"a message is {type(value).__name__}")
            made = ids.made(SOURCE, self._conversation_id, index, value)
            return Event(id=made, made_id=True, name="unknown", data={"value": value})
        return self._message(value, index, where)

    def _message(self, record: Bag, index: int, where: str) -> Message:
        fields = Fields(record, self._note, where)
        message_id, is_made = self._id(fields, index)
        role = _role(fields)
        parts = _Content(fields, role, (self._conversation_id, message_id), self._answered).parts()
        if fields.look("provider_message_id") == message_id:
            fields.drop("provider_message_id")
        if fields.look("raw_metadata") == {}:
            fields.drop("raw_metadata")
        return Message(
            id=message_id,
            made_id=is_made,
            role=role,
            parent_id=self._parent(fields, message_id),
            at=fields.moment("created_at"),
            model=fields.text("model"),
            parts=parts,
            usage=_usage(fields, role),
            extra=fields.rest(),
        )

    def _id(self, fields: Fields, index: int) -> tuple[str, bool]:
        stated = fields.text("id") or None
        if stated is not None and stated not in self._known:
            self._known.add(stated)
            return stated, False
        if stated is None:
            fields.note(Kind.MISSING_ID, fields.where, "no id")
        else:
            fields.note(Kind.DUPLICATE_ID, fields.where, stated)
            fields.keep("id", stated)
        return ids.made(self._conversation_id, "message", index, stated), True

    def _parent(self, fields: Fields, message_id: str) -> str | None:
        """As it is stated, else as the message above lists it among its children."""
        children = fields.look("children_ids")
        if children.__class__ is list and all(self._is_child(child, message_id) for child in children):
            fields.drop("children_ids")
        return fields.text("parent_id") or self._listed.get(message_id)

    def _is_child(self, child: Any, message_id: str) -> bool:
        if child.__class__ is not str:
            return False
        return (self._parents.get(child) or self._listed.get(child)) == message_id


def _parents(messages: list[Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The parent that each message names, and the first that lists it among its children."""
    stated: dict[str, str] = {}
    listed: dict[str, str] = {}
    for message in objects(messages):
        name, parent = words(message.get("id")), words(message.get("parent_id"))
        if name is None:
            continue
        if parent is not None:
            stated.setdefault(name, parent)
        children = message.get("children_ids")
        for child in children if isinstance(children, list) else ():
            if child.__class__ is str:
                listed.setdefault(child, name)
    return stated, listed


def _answered(messages: list[Any]) -> set[str]:
    """Calls that a message of a tool answers."""
    return {
        call_id
        for message in objects(messages)
        if message.get("role") == "tool"
        for call in objects(message.get("tool_calls"))
        if (call_id := words(call.get("id")))
    }


def _role(fields: Fields) -> Role:
    word = fields.take("role")
    role = known_role(word)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(word)[:40]!r}")
    if word != role and word is not None:
        fields.keep("role", word)
    return role or "assistant"


def _usage(fields: Fields, role: Role) -> Usage | None:
    """How many tokens an answer has; of a prompt it says nothing about what a call used, and stays."""
    count = fields.look("token_count")
    if role != "assistant" or count.__class__ is not int or count < 0:
        if count is None:
            fields.drop("token_count")
        return None
    return Usage(output=fields.whole("token_count"))


class _Content:
    """Makes the parts of one message."""

    def __init__(self, fields: Fields, role: Role, place: tuple[str, str], answered: set[str]) -> None:
        self._fields = fields
        self._role = role
        self._place = place
        self._answered = answered

    def parts(self) -> list[Part]:
        """What was said, thought, attached, called and answered."""
        fields = self._fields
        said = self._said()
        if not any(map(fields.look, _BESIDE)) and fields.look("is_thought") in (None, False):
            fields.drop("is_thought", *_BESIDE)
            return [*self._answers([], said)] if self._role == "tool" else said
        if fields.flag("is_thought"):
            said = [Reasoning(text=part.text) if isinstance(part, Text) else part for part in said]
        said += self._attached(said)
        said = self._cited(said)
        calls = [*self._listed("tool_calls")]
        if self._role == "tool":
            return [*self._answers(calls, said)]
        return [*said, *(part for index, call in enumerate(calls) for part in self._called(call, index))]

    def _listed(self, name: str) -> Iterator[Fields]:
        """The objects of a list; what else is in it stays."""
        listed = self._fields.items(name) or []
        if odd := [each for each in listed if each.__class__ is not dict]:
            self._fields.keep(name, odd)
        for each in objects(listed):
            yield Fields(each, self._fields.note, self._fields.where)

    def _said(self) -> list[Part]:
        stated = self._fields.look("content")
        match stated:
            case {"type": "text", "text": str(said)} if said and len(stated) == _PLAIN:  # nearly all messages
                self._fields.drop("content")
                return [Text(text=said)]
            case str(said):
                self._fields.drop("content")
                return [Text(text=said)] if said else []
        content = self._fields.nested("content")
        if content is None:
            return []
        content.drop("type")
        parts = [_part(each, content) for each in content.items("parts") or () if each is not None]
        text = content.text("text")
        if not text:
            return parts
        if not any(isinstance(part, Text | Code) for part in parts):
            return [Text(text=text), *parts]
        if not any(_bare(text) == _bare(_joined(parts, with_code=also)) for also in (False, True)):
            content.keep("text", text)
        return parts

    def _attached(self, said: list[Part]) -> list[Media]:
        """The files beside the content; one that the content names too is told once."""
        found: list[Media] = []
        for fields in self._listed("attachments"):
            kind = _MEDIA.get(str(fields.look("type")))
            if kind is not None:
                fields.drop("type")
            size = fields.whole("size_bytes")
            media = Media(
                kind=kind or "file",
                name=fields.text("name"),
                mime=fields.text("mime_type"),
                size=size,
                ref=fields.text("ref"),
                extra=_stated(fields),
            )
            twin = _twin(media, said)
            if twin is None:
                found.append(media)
            else:
                place, told = twin
                said[place] = replace(media, text=told.text)
        return found

    def _cited(self, parts: list[Part]) -> list[Part]:
        """The parts with the sources on the first text."""
        sources = [
            Citation(
                title=fields.text("title"),
                url=fields.text("url"),
                text=fields.text("snippet"),
                extra=_stated(fields),
            )
            for fields in self._listed("citations")
        ]
        if not sources:
            return parts
        for index, part in enumerate(parts):
            if isinstance(part, Text):
                parts[index] = replace(part, citations=sources)
                return parts
        return [Text(text="", citations=sources), *parts]

    def _called(self, fields: Fields, index: int) -> Iterator[Part]:
        call, output = self._call(fields, index)
        yield call
        if output is not None and call.call_id not in self._answered:
            yield ToolResult(call_id=call.call_id, name=call.name or None, output=output)

    def _call(self, fields: Fields, index: int) -> tuple[ToolCall, str | None]:
        call_id, name, output = fields.text("id") or None, fields.text("name"), fields.text("output")
        value = fields.take("input")
        extra = _stated(fields)
        if call_id is None and output is not None:
            call_id = ids.made(*self._place, index)  # so that the answer is of this call
            extra.setdefault("id", None)
        return ToolCall(name=name or "", call_id=call_id, input=value, extra=extra), output

    def _answers(self, calls: list[Fields], said: list[Part]) -> Iterator[Part]:
        """What tools answered: the content for the first call, and what else each call says."""
        if not calls:
            yield ToolResult(output=_output(said)) if said else ToolResult()
        for index, fields in enumerate(calls):
            call_id, name, output = fields.text("id") or None, fields.text("name"), fields.text("output")
            is_told = index == 0 and said
            if is_told and output is not None and output != _output(said):
                fields.keep("output", output)
            answer = _output(said) if is_told else output or ""
            yield ToolResult(call_id=call_id, name=name or None, output=answer, extra=_stated(fields))


def _part(value: Any, content: Fields) -> Part:
    """A part of the content; one of an unknown kind as it is."""
    if value.__class__ is str:
        return Text(text=value)
    if value.__class__ is not dict:
        return Other(data=value)
    kind = value.get("type")
    fields = Fields({**value}, content.note, content.where)
    if kind in ("text", "code") and value.get("text").__class__ is str:
        fields.drop("type")
        text = fields.take("text")
        if kind == "code":
            return Code(code=text, language=fields.text("language"), extra=_stated(fields))
        return Text(text=text, extra=_stated(fields))
    if kind.__class__ is str and kind in _MEDIA:
        fields.drop("type")
        return Media(
            kind=_MEDIA[kind],
            mime=fields.text("mime_type"),
            ref=fields.text("ref"),
            text=fields.text("text"),
            extra=_stated(fields),
        )
    content.note(Kind.UNKNOWN_TYPE, content.where, f"content part {str(kind)[:40]!r}")
    return Other(data=value, name=words(kind))


def _joined(parts: list[Part], *, with_code: bool) -> str:
    said = [part for part in parts if isinstance(part, Text) or (with_code and isinstance(part, Code))]
    return "".join(part.text if isinstance(part, Text) else part.code for part in said)


def _bare(text: str) -> str:
    return "".join(text.split())


def _stated(fields: Fields) -> Bag:
    """What nobody took, without the many fields that are null."""
    return {name: value for name, value in fields.rest().items() if value is not None}


def _twin(media: Media, said: list[Part]) -> tuple[int, Media] | None:
    """Where in the content a file is that lies beside it too, and what it is there."""
    for index, part in enumerate(said):
        if isinstance(part, Media) and part.ref is not None and part.ref == media.ref and not part.extra:
            return index, part
    return None


def _output(parts: list[Part]) -> Any:
    """What a tool answered: a string if that is all."""
    match parts:
        case [Text() as only] if not only.citations and not only.extra:
            return only.text
    return parts
