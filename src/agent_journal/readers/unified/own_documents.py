"""The documents that this program writes, decoded directly into structs.

A document with any other field, or a field of another type, is decoded as plain JSON instead.
The own fields, under `agent_journal`, have what is needed to restore the conversation without loss.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from agent_journal.decoding.json_stream import Shape
from agent_journal.model import (
    Bag,
    Code,
    Conversation,
    Event,
    Media,
    Message,
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
from agent_journal.model.leftovers import carries

OWN_KEY = "agent_journal"
Names: TypeAlias = dict[str, str]


@carries(Text, Code, Reasoning, Media, ToolCall, ToolResult)
class PartOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of a part."""

    text: bool = False
    names: Names = {}
    same: Names = {}
    call_id: UnsetType | None = UNSET
    kind: ToolKind | UnsetType | None = UNSET
    input: str = ""
    input_text: str | None = None
    is_error: bool | UnsetType | None = UNSET
    thinking: Literal["summary", "none"] | None = None
    parts: list[PartOwnFields | None] = []


@carries(Usage)
class UsageOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of a usage."""

    extra: Bag = {}
    repeats: list[str] | UnsetType = UNSET


@carries(Message)
class MessageOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of a message."""

    names: Names = {}
    same: Names = {}
    usage: UsageOwnFields | None = None
    empty: bool = False
    parts: list[PartOwnFields | None] = []


@carries(Event)
class EventOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of an event."""


@carries(Summary)
class SummaryOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of a summary."""


@carries(Conversation)
class ConversationOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Leftover fields of the conversation, and those that the document states differently."""


class MetadataOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of the platform's metadata: original names (null: not a field of the source), and copies."""

    names: dict[str, str | None] = {}
    same: Names = {}


class DocumentOwnFields(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Own fields of the whole document, including the rules for its parts."""

    source: str
    names: Names = {}
    kinds: dict[str, ToolKind] = {}
    inputs: str = ""
    repeats: list[str] = []
    is_error: UnsetType | None = UNSET
    conversation: ConversationOwnFields = ConversationOwnFields()
    events: list[int] = []
    summaries: list[str | None] = []
    platform: list[str] = []
    metadata: MetadataOwnFields = MetadataOwnFields()


class TextBlock(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="text",
):
    """A text, or a placeholder for something that has no block."""

    text: str
    metadata: Bag = {}


class ToolUse(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="tool_use",
):
    """A tool call."""

    id: str
    name: str
    input: Bag
    metadata: Bag = {}


class CodeBlock(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="code",
):
    """A piece of code."""

    code: str
    language: str | None = None
    file_path: str | None = None
    line_range: Lines | None = None
    metadata: Bag = {}


class Lines(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """The first and the last line of a piece of code."""

    start: int | None = None
    end: int | None = None


class Thinking(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="thinking",
):
    """The reasoning of the model."""

    thinking: str
    signature: str | None = None
    metadata: Bag = {}


class ImageSource(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """The data or URL of an image."""

    type: Literal["base64", "url"]
    media_type: str | None = None
    data: str


class Image(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="image",
):
    """An image."""

    source: ImageSource | None = None
    alt_text: str | None = None
    metadata: Bag = {}


InnerBlock: TypeAlias = TextBlock | ToolUse | CodeBlock | Thinking | Image


class ToolResultBlock(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="tool_result",
):
    """The result of a tool call."""

    tool_use_id: str
    content: str | list[InnerBlock]
    is_error: bool
    metadata: Bag = {}


Block: TypeAlias = TextBlock | ToolUse | CodeBlock | Thinking | Image | ToolResultBlock


class Cost(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What a message cost."""

    amount: int | float
    currency: Literal["USD"]


class DocumentMessage(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """A message."""

    message_id: str
    parent_message_id: str | None
    role: Role | Literal["function"]
    timestamp: str
    content: list[Block]
    tokens: Bag | None = None
    cost: Cost | None = None
    metadata: Bag = {}
    agent_journal: MessageOwnFields | None = None


class DocumentEvent(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """An event."""

    event_id: str
    name: str
    timestamp: str | None = None
    parent_id: str | None = None
    data: Bag = {}
    agent_journal: EventOwnFields = EventOwnFields()


class DocumentSummary(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """A summary."""

    summary_id: str
    type: Literal["automatic", "user_generated", "system"]
    text: str
    timestamp: str
    covers_messages: list[str] = []
    metadata: Bag = {}
    agent_journal: SummaryOwnFields = SummaryOwnFields()


class Platform(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """The platform."""

    name: str
    version: str
    model: str | None = None
    metadata: Bag = {}


class Session(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """The session. Everything except its id follows from the link and the messages."""

    session_id: str
    parent_conversation_id: str | UnsetType | None = UNSET
    fork_point: str | UnsetType | None = UNSET
    is_sidechain: bool


class Workspace(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """The working folder."""

    path: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None


class Environment(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """The machine."""

    os: str | None = None
    shell: str | None = None
    editor: str | None = None


class Context(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """Where the conversation took place."""

    workspace: Workspace = Workspace()
    environment: Environment = Environment()
    custom: Bag = {}


class Document(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """A conversation. Metrics and rating follow from the messages and the feedback."""

    schema_version: Literal["1.0.0"]
    conversation_id: str
    platform: Platform
    session: Session
    context: Context = Context()
    created_at: str
    updated_at: str | None = None
    status: Literal["archived"] | None = None
    messages: list[DocumentMessage]
    summaries: list[DocumentSummary] = []
    metrics: Bag = {}
    tags: list[str] = []
    rating: Bag = {}
    events: list[DocumentEvent] = []
    tools: list[Tool] = []
    requests: list[Request] = []
    agent_journal: DocumentOwnFields


SHAPE = Shape(Document)
