"""The types of the model: values without behavior.

Every reader creates them and every writer takes them. They are frozen. What a source states and the model
has no field for stays in ``extra``, under the source's own names. Absent is ``None``, never an empty string
or a zero.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

Bag: TypeAlias = dict[str, Any]
Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
Relation: TypeAlias = Literal["continues", "subagent", "fork"]
MediaKind: TypeAlias = Literal["image", "audio", "video", "document", "file"]
ToolKind: TypeAlias = Literal[
    "shell", "read", "edit", "write", "search", "web", "agent", "plan", "memory", "media", "mcp"
]

# msgspec does not inherit kw_only and repeats the rest for clarity. gc=False is safe because a
# value never refers to one that was created after it: no cycle can form.


class Citation(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A document that a text refers to; `start` and `end` count as the source does."""

    title: str | None = None
    url: str | None = None
    text: str | None = None
    start: int | None = None
    end: int | None = None
    extra: Bag = {}


class Text(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="text"):
    """Visible text.

    `injected` marks text that a program put into a user's message: context, reminders, output of commands.
    The user did not write it. A message with no other content is `hidden`.
    """

    text: str
    injected: bool = False
    citations: list[Citation] = []
    extra: Bag = {}


class Code(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="code"):
    """Code that the source stores separately from prose."""

    code: str
    language: str | None = None
    file: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    extra: Bag = {}


class Reasoning(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="reasoning"):
    """The model's thinking; `encrypted` is the vendor's opaque form of it."""

    text: str | None = None
    summary: str | None = None
    signature: str | None = None
    encrypted: str | None = None
    extra: Bag = {}


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="tool_call"):
    """A call of a tool; `input` is the source's value, so a string stays a string."""

    name: str
    call_id: str | None = None
    input: Any = None
    kind: ToolKind | None = None
    extra: Bag = {}


class Media(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="media"):
    """An image, sound or file: inline as base64 in `data`, or referenced by `ref` (URL, pointer, path).

    `text` is its content in words if the source has that: the text of a document, a transcript.
    """

    kind: MediaKind
    mime: str | None = None
    name: str | None = None
    size: int | None = None
    ref: str | None = None
    data: str | None = None
    text: str | None = None
    extra: Bag = {}


class Other(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="other"):
    """Content of an unknown kind, verbatim; `name` is what the source calls the kind."""

    data: Any
    name: str | None = None


class ToolResult(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="tool_result"):
    """The result of a tool call.

    `native` is the source's value, verbatim, for writers that promise native content; it is None if `output`
    represents it exactly.
    """

    call_id: str | None = None
    output: str | list[Text | Code | Reasoning | ToolCall | Media | Other] = ""
    is_error: bool | None = None
    name: str | None = None
    native: Any = None
    extra: Bag = {}


Part: TypeAlias = Text | Code | Reasoning | ToolCall | ToolResult | Media | Other


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The tokens of one API response. Messages with the same `key` are counted once; the last one wins.

    `input` excludes tokens read from or written to a cache; `output` includes reasoning.
    `cache_write` is the total; the 5-minute and 1-hour shares are set only if the source states them.
    """

    key: str | None = None
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    reasoning: int | None = None
    total: int | None = None
    cost_usd: float | None = None
    estimated: bool = False
    extra: Bag = {}


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="message"):
    """One message, as the source delimits them. The messages of one API response share `response_id`.

    `native` is the source's content value, verbatim, for writers that promise native content; it is None if
    the parts represent it exactly.
    """

    id: str
    role: Role
    made_id: bool = False
    parent_id: str | None = None
    at: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    hidden: bool = False
    sidechain: bool = False
    response_id: str | None = None
    parts: list[Part] = []
    usage: Usage | None = None
    native: Any = None
    extra: Bag = {}


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="event"):
    """Something that happened and is not a message: a queue operation, a snapshot, an empty node."""

    id: str
    name: str
    made_id: bool = False
    parent_id: str | None = None
    at: str | None = None
    data: Bag = {}


class Link(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The conversation that this one came from, and the position in it."""

    conversation_id: str
    relation: Relation
    message_id: str | None = None
    call_id: str | None = None


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A summary that the source has; `message_id` is the last message it covers."""

    text: str
    kind: Literal["automatic", "user_generated", "system"] = "automatic"
    at: str | None = None
    message_id: str | None = None
    extra: Bag = {}


class Feedback(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The user's rating of a message or of the whole conversation."""

    rating: Literal["up", "down"] | None = None
    text: str | None = None
    at: str | None = None
    message_id: str | None = None
    extra: Bag = {}


class Tool(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tool that was offered to the model."""

    name: str
    description: str | None = None
    parameters: Any = None
    extra: Bag = {}


class Request(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One call of a model API. It sent `system` and the path to `prompt_id`.

    `since_id` is the first message of the path that was sent, if the client left out earlier ones.
    `index` is its position in the source, `api` its dialect, and `tools` are positions in the conversation's
    tools.
    """

    id: str | None = None
    index: int = 0
    api: str | None = None
    at: str | None = None
    model: str | None = None
    duration_ms: int | float | None = None
    system: list[str] = []
    since_id: str | None = None
    prompt_id: str | None = None
    response_ids: list[str] = []
    tools: list[int] = []
    error: Any = None
    extra: Bag = {}


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The bytes that a value was read from, and the reader that read them."""

    reader: str
    version: str
    revision: int
    file: str | None = None
    sha256: str | None = None
    member: str | None = None
    """The path of the file inside a folder or archive."""
    member_sha256: str | None = None


class Conversation(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="conversation"):
    """One conversation with everything the source knows about it.

    In a `list` the order of the timeline is authoritative and nothing has a parent. In a `tree` parents come
    before their children, and `head_id` is the leaf that the user sees. With `only_prompts` only the user's
    prompts are known: a prompt history may outlive the sessions.
    """

    id: str
    source: str
    product: str | None = None
    """The product people know, if the reader of the source serves several."""
    title: str | None = None
    started_at: str | None = None
    updated_at: str | None = None
    app_version: str | None = None
    model: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None
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
    timeline: list[Message | Event] = []
    summaries: list[Summary] = []
    feedback: list[Feedback] = []
    tools: list[Tool] = []
    requests: list[Request] = []
    platform: Bag = {}
    context: Bag = {}
    origin: Origin | None = None
    extra: Bag = {}


class Memory(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="memory"):
    """Something that a service remembers about the user or a project, outside of any conversation."""

    id: str
    source: str
    kind: str
    text: str
    made_id: bool = False
    account_id: str | None = None
    about: str | None = None
    at: str | None = None
    origin: Origin | None = None
    extra: Bag = {}


Item: TypeAlias = Conversation | Memory
