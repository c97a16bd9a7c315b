"""Reads messages that another program wrote, by the format's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str, objects
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

JsonObject = dict[str, Any]
Entry = Message | Event
_MEDIA: dict[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "file",
    "document": "document",
}
# Fields of a content that is only text.
_PLAIN_TEXT_KEYS = frozenset({"type", "text"})
# Fields that can add parts to the content; nearly all messages have none of them.
_PART_FIELDS = ("attachments", "citations", "tool_calls")


class MessageReader:
    """Reads the messages of one conversation."""

    def __init__(self, conversation_id: str, messages: list[Any], note: Notes) -> None:
        self._conversation_id = conversation_id
        self._messages = messages
        self._note = note
        self._seen_ids: set[str] = set()
        self._stated_parents, self._listed_parents = _parents(messages)
        self._answered_ids = _answered_ids(messages)

    def entries(self) -> list[Entry]:
        """Read all messages in the order of the file; anything else becomes an event."""
        return [self.entry(index, value) for index, value in enumerate(self._messages)]

    def entry(self, index: int, value: Any) -> Entry:
        """Read one message."""
        where = f"messages[{index}]"
        if value.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, f"a message is {type(value).__name__}")
            event_id = ids.made(SOURCE, self._conversation_id, index, value)
            return Event(id=event_id, made_id=True, name="unknown", data={"value": value})
        return self._message(value, index, where)

    def _message(self, record: JsonObject, index: int, where: str) -> Message:
        fields = Fields(record, self._note, where)
        message_id, is_made = self._id(fields, index)
        role = _role(fields)
        parts = _Content(fields, role, (self._conversation_id, message_id), self._answered_ids).parts()
        if fields.view("provider_message_id") == message_id:
            fields.drop("provider_message_id")
        if fields.view("raw_metadata") == {}:
            fields.drop("raw_metadata")
        return Message(
            id=message_id,
            made_id=is_made,
            role=role,
            parent_id=self._parent(fields, message_id),
            at=fields.timestamp("created_at"),
            model=fields.text("model"),
            parts=parts,
            usage=_usage(fields, role),
            extra=fields.rest(),
        )

    def _id(self, fields: Fields, index: int) -> tuple[str, bool]:
        stated = fields.text("id") or None
        if stated is not None and stated not in self._seen_ids:
            self._seen_ids.add(stated)
            return stated, False
        if stated is None:
            fields.note(Kind.MISSING_ID, fields.where, "no id")
        else:
            fields.note(Kind.DUPLICATE_ID, fields.where, stated)
            fields.keep("id", stated)
        return ids.made(self._conversation_id, "message", index, stated), True

    def _parent(self, fields: Fields, message_id: str) -> str | None:
        """Get the stated parent, else the message that lists this one among its children."""
        children = fields.view("children_ids")
        if children.__class__ is list and all(self._is_child(child, message_id) for child in children):
            fields.drop("children_ids")
        return fields.text("parent_id") or self._listed_parents.get(message_id)

    def _is_child(self, child: Any, message_id: str) -> bool:
        if child.__class__ is not str:
            return False
        return (self._stated_parents.get(child) or self._listed_parents.get(child)) == message_id


def _parents(messages: list[Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Map each message to the parent that it names, and to the first one that lists it as a child."""
    stated: dict[str, str] = {}
    listed: dict[str, str] = {}
    for message in objects(messages):
        message_id, parent = nonempty_str(message.get("id")), nonempty_str(message.get("parent_id"))
        if message_id is None:
            continue
        if parent is not None:
            stated.setdefault(message_id, parent)
        children = message.get("children_ids")
        for child in children if isinstance(children, list) else ():
            if child.__class__ is str:
                listed.setdefault(child, message_id)
    return stated, listed


def _answered_ids(messages: list[Any]) -> set[str]:
    """Collect the ids of calls that a tool message answers."""
    return {
        call_id
        for message in objects(messages)
        if message.get("role") == "tool"
        for call in objects(message.get("tool_calls"))
        if (call_id := nonempty_str(call.get("id")))
    }


def _role(fields: Fields) -> Role:
    stated = fields.take("role")
    role = known_role(stated)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
    if stated != role and stated is not None:
        fields.keep("role", stated)
    return role or "assistant"


def _usage(fields: Fields, role: Role) -> Usage | None:
    """Get the output tokens of an answer. The count of a prompt is not usage and stays in `extra`."""
    count = fields.view("token_count")
    if role != "assistant" or count.__class__ is not int or count < 0:
        if count is None:
            fields.drop("token_count")
        return None
    return Usage(output=fields.whole("token_count"))


class _Content:
    """Converts the content of one message to parts."""

    def __init__(self, fields: Fields, role: Role, location: tuple[str, str], answered_ids: set[str]) -> None:
        self._fields = fields
        self._role = role
        self._location = location
        self._answered_ids = answered_ids

    def parts(self) -> list[Part]:
        """Get text, reasoning, attachments, tool calls and tool results."""
        fields = self._fields
        parts = self._content_parts()
        if not any(map(fields.view, _PART_FIELDS)) and fields.view("is_thought") in (None, False):
            fields.drop("is_thought", *_PART_FIELDS)
            return [*self._results([], parts)] if self._role == "tool" else parts
        if fields.flag("is_thought"):
            parts = [Reasoning(text=part.text) if isinstance(part, Text) else part for part in parts]
        parts += self._attachments(parts)
        parts = self._with_citations(parts)
        calls = [*self._objects("tool_calls")]
        if self._role == "tool":
            return [*self._results(calls, parts)]
        return [
            *parts,
            *(part for index, call in enumerate(calls) for part in self._call_and_result(call, index)),
        ]

    def _objects(self, name: str) -> Iterator[Fields]:
        """Take the objects of a list; its other elements stay."""
        elements = self._fields.items(name) or []
        if others := [each for each in elements if each.__class__ is not dict]:
            self._fields.keep(name, others)
        for each in objects(elements):
            yield Fields(each, self._fields.note, self._fields.where)

    def _content_parts(self) -> list[Part]:
        content = self._fields.view("content")
        match content:
            case {"type": "text", "text": str(only_text)} if only_text and content.keys() == _PLAIN_TEXT_KEYS:
                self._fields.drop("content")
                return [Text(text=only_text)]  # nearly all messages
            case str(only_text):
                self._fields.drop("content")
                return [Text(text=only_text)] if only_text else []
        fields = self._fields.nested("content")
        if fields is None:
            return []
        fields.drop("type")
        parts = [_part(each, fields) for each in fields.items("parts") or () if each is not None]
        text = fields.text("text")
        if not text:
            return parts
        if not any(isinstance(part, Text | Code) for part in parts):
            return [Text(text=text), *parts]
        without_space = _without_space(text)
        if all(without_space != _joined(parts, with_code=with_code) for with_code in (False, True)):
            fields.keep("text", text)
        return parts

    def _attachments(self, content_parts: list[Part]) -> list[Media]:
        """Get the attachments; one that the content names too replaces the part there."""
        attachments: list[Media] = []
        for fields in self._objects("attachments"):
            kind = _MEDIA.get(str(fields.view("type")))
            if kind is not None:
                fields.drop("type")
            size = fields.whole("size_bytes")
            media = Media(
                kind=kind or "file",
                name=fields.text("name"),
                mime=fields.text("mime_type"),
                size=size,
                ref=fields.text("ref"),
                extra=_rest(fields),
            )
            duplicate = _same_file(media, content_parts)
            if duplicate is None:
                attachments.append(media)
            else:
                index, part = duplicate
                content_parts[index] = replace(media, text=part.text)
        return attachments

    def _with_citations(self, parts: list[Part]) -> list[Part]:
        """Attach the citations to the first text."""
        citations = [
            Citation(
                title=fields.text("title"),
                url=fields.text("url"),
                text=fields.text("snippet"),
                extra=_rest(fields),
            )
            for fields in self._objects("citations")
        ]
        if not citations:
            return parts
        for index, part in enumerate(parts):
            if isinstance(part, Text):
                parts[index] = replace(part, citations=citations)
                return parts
        return [Text(text="", citations=citations), *parts]

    def _call_and_result(self, fields: Fields, index: int) -> Iterator[Part]:
        call, output = self._call(fields, index)
        yield call
        if output is not None and call.call_id not in self._answered_ids:
            yield ToolResult(call_id=call.call_id, name=call.name or None, output=output)

    def _call(self, fields: Fields, index: int) -> tuple[ToolCall, str | None]:
        call_id, name, output = fields.text("id") or None, fields.text("name"), fields.text("output")
        value = fields.take("input")
        extra = _rest(fields)
        if call_id is None and output is not None:
            call_id = ids.made(*self._location, index)  # links the result to this call
            extra.setdefault("id", None)
        return ToolCall(name=name or "", call_id=call_id, input=value, extra=extra), output

    def _results(self, calls: list[Fields], content_parts: list[Part]) -> Iterator[Part]:
        """Get the tool results: the content is the output of the first call; other calls state their own."""
        if not calls:
            yield ToolResult(output=_output(content_parts)) if content_parts else ToolResult()
        for index, fields in enumerate(calls):
            call_id, name, output = fields.text("id") or None, fields.text("name"), fields.text("output")
            has_content = index == 0 and content_parts
            if has_content and output is not None and output != _output(content_parts):
                fields.keep("output", output)
            result = _output(content_parts) if has_content else output or ""
            yield ToolResult(call_id=call_id, name=name or None, output=result, extra=_rest(fields))


def _part(value: Any, content: Fields) -> Part:
    """Convert a part of the content; one of an unknown kind becomes `Other`."""
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
            return Code(code=text, language=fields.text("language"), extra=_rest(fields))
        return Text(text=text, extra=_rest(fields))
    if kind.__class__ is str and kind in _MEDIA:
        fields.drop("type")
        return Media(
            kind=_MEDIA[kind],
            mime=fields.text("mime_type"),
            ref=fields.text("ref"),
            text=fields.text("text"),
            extra=_rest(fields),
        )
    content.note(Kind.UNKNOWN_TYPE, content.where, f"content part {str(kind)[:40]!r}")
    return Other(data=value, name=nonempty_str(kind))


def _joined(parts: list[Part], *, with_code: bool) -> str:
    """Join the texts of parts without white space, to compare them."""
    texts = [
        part.text if isinstance(part, Text) else part.code
        for part in parts
        if isinstance(part, Text) or (with_code and isinstance(part, Code))
    ]
    return _without_space("".join(texts))


def _without_space(text: str) -> str:
    return "".join(text.split())


def _rest(fields: Fields) -> JsonObject:
    """Get the remaining fields without the many that are null."""
    return {name: value for name, value in fields.rest().items() if value is not None}


def _same_file(media: Media, parts: list[Part]) -> tuple[int, Media] | None:
    """Find the part that refers to the same file, and its index."""
    for index, part in enumerate(parts):
        if isinstance(part, Media) and part.ref is not None and part.ref == media.ref and not part.extra:
            return index, part
    return None


def _output(parts: list[Part]) -> Any:
    """Get the output of a tool: a string if it is one plain text."""
    match parts:
        case [Text() as only] if not only.citations and not only.extra:
            return only.text
    return parts
