"""Own fields in records that this program wrote: leftover fields, and what restores the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_journal.model import (
    Bag,
    Code,
    Conversation,
    Event,
    Media,
    Message,
    Other,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.model.leftovers import carries
from agent_journal.notes import Kind
from agent_journal.records.forms import OWN_FIELDS, SAME

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields


@carries(Event)
class EventOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of an event.

    `event` is its name if the entry has another type. `output`, `content` and `usage` name the fields of its
    data that the entry has as such. `inside` names fields that the source has in an object.
    """

    id: str | None = None
    made_id: bool = False
    event: str | None = None
    output: str | None = None
    content: str | None = None
    usage: str | None = None
    usage_extra: Bag = {}
    inside: dict[str, list[str]] = {}
    extra: Bag = {}


@carries(Text)
class TextOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of a text that is a separate entry."""

    extra: Bag = {}


@carries(ToolCall)
class CallOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of a call: `added` are fields that the source has elsewhere, `inside` those in an object."""

    input: Any = UNSET
    added: list[str] = []
    inside: dict[str, list[str]] = {}
    extra: Bag = {}


@carries(ToolResult)
class ResultOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of a result; `fields` names those of the source that belong to it, not to its message."""

    output: str | list[Text | Code | Reasoning | ToolCall | Media | Other] | UnsetType = UNSET
    native: bool | None = None
    is_error: bool | UnsetType | None = UNSET
    own_status: bool = False
    added: list[str] = []
    extra: Bag = {}
    fields: list[str] = []


@carries(Reasoning)
class ReasoningOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of reasoning; `content` says what the content is if it is not only the text."""

    content: Literal["summary", "both"] | None = None
    text: str | UnsetType | None = UNSET
    summary: str | None = None
    extra: Bag = {}


@carries(Usage)
class UsageOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of token counts; `names` has the source's names for the draft's counts."""

    names: dict[str, str] = {}
    extra: Bag = {}


@carries(Message)
class MessageOwnFields(Struct, frozen=True, forbid_unknown_fields=True, rename={"preceding": "beside"}):
    """Own fields of a message.

    In `parts` a number is the index of a child; `inside` names fields that the source has in an object.
    `counts` are token counts that an event states; `part` has the own fields of a separate call or reasoning.
    `preceding` counts the entries before it that are its parts, and the events between those and it. `parent`
    is the source's name for its parent-id.
    """

    role: Role | None = None
    id: str | None = None
    made_id: bool = False
    preceding: tuple[int, int] | None = None
    parent: str = ""
    content: Any = UNSET
    parts: list[int | Text | Code | Reasoning | ToolCall | ToolResult | Media | Other] | None = None
    native: bool | None = None
    usage: UsageOwnFields = UsageOwnFields()
    counts: Usage | None = None
    result: ResultOwnFields = ResultOwnFields()
    part: Bag = {}
    inside: dict[str, list[str]] = {}
    extra: Bag = {}


@carries(Conversation)
class ConversationOwnFields(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of a conversation."""

    source: str
    extra: Bag = {}


OwnFields = TypeVar(
    "OwnFields",
    EventOwnFields,
    TextOwnFields,
    CallOwnFields,
    ResultOwnFields,
    ReasoningOwnFields,
    MessageOwnFields,
)


def restore_shared_texts(entry: Any) -> None:
    """Copy shared texts of an entry into its own fields; invalid references are ignored."""
    own_fields = entry.get(OWN_FIELDS) if isinstance(entry, dict) else None
    references = own_fields.pop(SAME, None) if isinstance(own_fields, dict) else None
    for reference in references if isinstance(references, list) else ():
        match reference:
            case [[*target, int() | str() as name], [*source], *part]:
                text, container = _value_at(entry, source), _value_at(entry, target)
                if part and isinstance(text, str) and all(isinstance(end, int) for end in part):
                    text = text[slice(*part[:2])]
                if isinstance(text, str):
                    _set_text(container, name, text)


def _value_at(value: Any, path: list[Any]) -> Any:
    for name in path:
        exists = name in value if isinstance(value, dict) else _has_index(value, name)
        value = value[name] if exists else None
    return value


def _has_index(value: Any, name: Any) -> bool:
    return isinstance(value, list) and isinstance(name, int) and 0 <= name < len(value)


def _set_text(container: Any, name: int | str, text: str) -> None:
    if isinstance(container, dict) or _has_index(container, name):
        container[name] = text


def take_own_fields(fields: Fields, kind: type[OwnFields]) -> OwnFields:
    """Take the own fields of an entry; invalid ones stay, with a note."""
    value = fields.take(OWN_FIELDS)
    return kind() if value is None else _decoded(fields, value, kind)


def _decoded(fields: Fields, value: Any, kind: type[OwnFields]) -> OwnFields:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        fields.keep(OWN_FIELDS, value)
        fields.note(Kind.WRONG_TYPE, fields.where, f"{OWN_FIELDS}: {str(error)[:200]}")
        return kind()


def take_conversation_fields(fields: Fields) -> ConversationOwnFields | None:
    """Take the own fields of a record; None if another program wrote it."""
    value = fields.take(OWN_FIELDS)
    if value is None:
        return None
    try:
        return msgspec.convert(value, ConversationOwnFields)
    except (msgspec.ValidationError, RecursionError) as error:
        fields.keep(OWN_FIELDS, value)
        fields.note(Kind.WRONG_TYPE, fields.where, f"{OWN_FIELDS}: {str(error)[:200]}")
        return None
