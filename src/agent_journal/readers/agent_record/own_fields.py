"""What records that were written here say under a key of our own, by the names of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_journal.model import (
    Bag,
    Code,
    Feedback,
    Link,
    Media,
    Other,
    Reasoning,
    Request,
    Role,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
)
from agent_journal.notes import Kind
from agent_journal.records.forms import OURS, SAME

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields


class OfEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of an event.

    `event` is its name where the entry is of another type, `output` and `content` the fields that are told as
    such, `usage` the one that is told as token counts; `inside` names fields that are in an object.
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


class OfText(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a text that is an entry of its own."""

    extra: Bag = {}


class OfCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Of a call: `added` are fields that the source has elsewhere, `inside` those in an object."""

    kind: ToolKind | None = None
    input: Any = UNSET
    added: list[str] = []
    inside: dict[str, list[str]] = {}
    extra: Bag = {}


class OfResult(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a result; `fields` are those beside the draft's that are not its message's."""

    output: str | list[Text | Code | Reasoning | ToolCall | Media | Other] | UnsetType = UNSET
    native: bool | None = None
    is_error: bool | UnsetType | None = UNSET
    name: str | None = None
    own_status: bool = False
    added: list[str] = []
    extra: Bag = {}
    fields: list[str] = []


class OfThought(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of reasoning; `content` is what that is where it is not the text alone."""

    content: Literal["summary", "both"] | None = None
    text: str | UnsetType | None = UNSET
    summary: str | None = None
    signature: str | None = None
    extra: Bag = {}


class OfUsage(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of token counts; `names` is what the source calls the draft's counts."""

    key: str | None = None
    input: int | UnsetType | None = UNSET
    output: int | UnsetType | None = UNSET
    cache_read: int | UnsetType | None = UNSET
    reasoning: int | UnsetType | None = UNSET
    total: int | UnsetType | None = UNSET
    cost_usd: float | UnsetType | None = UNSET
    cache_write: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    estimated: bool = False
    names: dict[str, str] = {}
    extra: Bag = {}


class OfMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a message.

    In `parts` a number is a place among its children; `inside` names fields that the source has in an object.
    `counts` are those that an event states, `part` is what is said of the call or thought that an entry is.
    `beside` counts the entries before it that are its parts, and the events between those and it. `parent` is
    what the source calls its parent-id.
    """

    role: Role | None = None
    id: str | None = None
    made_id: bool = False
    beside: tuple[int, int] | None = None
    parent: str = ""
    stop_reason: str | None = None
    hidden: bool = False
    sidechain: bool = False
    response_id: str | None = None
    content: Any = UNSET
    parts: list[int | Text | Code | Reasoning | ToolCall | ToolResult | Media | Other] | None = None
    native: bool | None = None
    usage: OfUsage = OfUsage()
    counts: Usage | None = None
    result: OfResult = OfResult()
    part: Bag = {}
    inside: dict[str, list[str]] = {}
    extra: Bag = {}


class OfConversation(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a conversation."""

    source: str
    title: str | None = None
    started_at: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    account_id: str | None = None
    editor: str | None = None
    os: str | None = None
    shell: str | None = None
    archived: bool | None = None
    tags: list[str] = []
    only_prompts: bool = False
    shape: Literal["list", "tree"] = "tree"
    head_id: str | None = None
    link: Link | None = None
    made_id: bool = False
    summaries: list[Summary] = []
    feedback: list[Feedback] = []
    tools: list[Tool] = []
    requests: list[Request] = []
    platform: Bag = {}
    context: Bag = {}
    extra: Bag = {}


Kept = TypeVar("Kept", OfEvent, OfText, OfCall, OfResult, OfThought, OfMessage)


def put_texts_back(entry: Any) -> None:
    """Put texts that an entry has once where they belong under our key, too; bad places are left alone."""
    ours = entry.get(OURS) if isinstance(entry, dict) else None
    same = ours.pop(SAME, None) if isinstance(ours, dict) else None
    for shared in same if isinstance(same, list) else ():
        match shared:
            case [[*target, int() | str() as name], [*source], *part]:
                text, holder = _at(entry, source), _at(entry, target)
                if part and isinstance(text, str) and all(isinstance(end, int) for end in part):
                    text = text[slice(*part[:2])]
                if isinstance(text, str):
                    _put(holder, name, text)


def _at(value: Any, path: list[Any]) -> Any:
    for name in path:
        is_there = name in value if isinstance(value, dict) else _has(value, name)
        value = value[name] if is_there else None
    return value


def _has(value: Any, name: Any) -> bool:
    return isinstance(value, list) and isinstance(name, int) and 0 <= name < len(value)


def _put(holder: Any, name: int | str, text: str) -> None:
    if isinstance(holder, dict) or _has(holder, name):
        holder[name] = text


def taken(fields: Fields, kind: type[Kept]) -> Kept:
    """What is said of an entry; what others wrote there stays in it, with a note."""
    value = fields.take(OURS)
    return kind() if value is None else _converted(fields, value, kind)


def _converted(fields: Fields, value: Any, kind: type[Kept]) -> Kept:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        fields.keep(OURS, value)
        fields.note(Kind.WRONG_TYPE, fields.where, f"{OURS}: {str(error)[:200]}")
        return kind()


def of_conversation(fields: Fields) -> OfConversation | None:
    """The same of a record; None if it was written elsewhere."""
    value = fields.take(OURS)
    if value is None:
        return None
    try:
        return msgspec.convert(value, OfConversation)
    except (msgspec.ValidationError, RecursionError) as error:
        fields.keep(OURS, value)
        fields.note(Kind.WRONG_TYPE, fields.where, f"{OURS}: {str(error)[:200]}")
        return None
