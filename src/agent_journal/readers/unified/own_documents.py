"""The documents that this program writes, decoded straight into their fields.

A document with any other field, or a field of another type, is not one of them: it is decoded as it is.
Under `agent_journal` stands what the rest does not tell.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from agent_journal.decoding.json_stream import Shape
from agent_journal.model import Bag, Feedback, Link, Request, Role, Tool, ToolKind

NAME = "agent_journal"
Names: TypeAlias = dict[str, str]


class PartLeft(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """What a block does not tell of its part."""

    text: bool = False
    names: Names = {}
    same: Names = {}
    call_id: UnsetType | None = UNSET
    kind: ToolKind | UnsetType | None = UNSET
    input: str = ""
    input_text: str | None = None
    is_error: bool | UnsetType | None = UNSET
    thinking: Literal["summary", "none"] | None = None
    parts: list[PartLeft | None] = []


class UsageLeft(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """What tokens and cost do not tell of a usage."""

    key: str | UnsetType | None = UNSET
    input: int | UnsetType = UNSET
    output: int | UnsetType = UNSET
    cache_read: int | UnsetType = UNSET
    cache_write: int | UnsetType = UNSET
    cache_write_5m: int | UnsetType = UNSET
    cache_write_1h: int | UnsetType = UNSET
    reasoning: UnsetType | None = UNSET
    total: UnsetType | None = UNSET
    estimated: bool | UnsetType = UNSET
    cost_usd: int | float | UnsetType = UNSET
    extra: Bag = {}
    repeats: list[str] | UnsetType = UNSET


class MessageLeft(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """What a message does not tell."""

    made_id: bool = False
    at: str | UnsetType | None = UNSET
    parent_id: str | UnsetType | None = UNSET
    names: Names = {}
    same: Names = {}
    usage: UsageLeft | None = None
    empty: bool = False
    parts: list[PartLeft | None] = []


class EventLeft(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """What an event does not tell."""

    made_id: bool = False
    at: str | UnsetType | None = UNSET


class ConversationLeft(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Fields of the conversation that are other than what the document seems to say."""

    title: str | UnsetType = UNSET
    started_at: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET
    app_version: str | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    account_id: str | UnsetType = UNSET
    archived: bool | UnsetType | None = UNSET
    shape: Literal["list", "tree"] | UnsetType = UNSET
    head_id: str | UnsetType = UNSET
    link: Link | UnsetType = UNSET
    made_id: bool | UnsetType = UNSET
    only_prompts: bool | UnsetType = UNSET
    feedback: list[Feedback] | UnsetType = UNSET


class MetadataLeft(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """What the platform's metadata does not tell: whose a name is (null: nobody's), and what it is."""

    names: dict[str, str | None] = {}
    same: Names = {}


class Left(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """What the whole document does not tell, and what is the rule in it."""

    source: str
    names: Names = {}
    kinds: dict[str, ToolKind] = {}
    inputs: str = ""
    repeats: list[str] = []
    is_error: UnsetType | None = UNSET
    conversation: ConversationLeft = ConversationLeft()
    events: list[int] = []
    summaries: list[str | None] = []
    platform: list[str] = []
    metadata: MetadataLeft = MetadataLeft()


class TextBlock(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="text",
):
    """A text, or what stands for something that has no block."""

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
    """A call."""

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
    """The first and the last line."""

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
    """What the model thought."""

    thinking: str
    signature: str | None = None
    metadata: Bag = {}


class ImageSource(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True
):
    """Where an image is."""

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


class Result(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    tag_field="type",
    tag="tool_result",
):
    """What a tool answered."""

    tool_use_id: str
    content: str | list[InnerBlock]
    is_error: bool
    metadata: Bag = {}


Block: TypeAlias = TextBlock | ToolUse | CodeBlock | Thinking | Image | Result


class Cost(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A price."""

    amount: int | float
    currency: Literal["USD"]


class Said(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """A message."""

    message_id: str
    parent_message_id: str | None
    role: Role | Literal["function"]
    timestamp: str
    content: list[Block]
    tokens: Bag | None = None
    cost: Cost | None = None
    metadata: Bag = {}
    agent_journal: MessageLeft | None = None


class Happened(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """An event."""

    event_id: str
    name: str
    timestamp: str | None = None
    parent_id: str | None = None
    data: Bag = {}
    agent_journal: EventLeft = EventLeft()


class Summarized(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """A summary."""

    summary_id: str
    type: Literal["automatic", "user_generated", "system"]
    text: str
    timestamp: str
    covers_messages: list[str] = []
    metadata: Bag = {}


class Platform(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """The platform."""

    name: str
    version: str
    model: str | None = None
    metadata: Bag = {}


class Session(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """The session. All but its id follows from the link and the messages."""

    session_id: str
    parent_conversation_id: str | UnsetType | None = UNSET
    fork_point: str | UnsetType | None = UNSET
    is_sidechain: bool


class Workspace(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    """The folder."""

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
    """Where it took place."""

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
    messages: list[Said]
    summaries: list[Summarized] = []
    metrics: Bag = {}
    tags: list[str] = []
    rating: Bag = {}
    events: list[Happened] = []
    tools: list[Tool] = []
    requests: list[Request] = []
    agent_journal: Left


SHAPE = Shape(Document)
