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
)
from agent_journal.notes import Kind
from agent_journal.records import OURS

if TYPE_CHECKING:
    from agent_journal.fields import Fields


class OfEvent(Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of an event.

    `event` is its name where the entry is of another type, `output` the field that is told as an output.
    """

    id: str | None = None
    made_id: bool = False
    event: str | None = None
    output: str | None = None
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
    """What is said of reasoning."""

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
    result: OfResult = OfResult()
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


def taken(fields: Fields, kind: type[Kept]) -> Kept:
    """What is said of an entry; what others wrote there stays in it, with a note."""
    value = fields.take(OURS)
    if value is None:
        return kind()
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
