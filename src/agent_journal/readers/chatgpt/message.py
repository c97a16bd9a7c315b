"""Converts nodes to messages and events: role, time, visibility, and the call of a tool result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import (
    Citation,
    Event,
    Link,
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.model.roles import role as known_role
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt import content, marks
from agent_journal.readers.chatgpt.citations import citations
from agent_journal.readers.chatgpt.names import REASONING_TOOL, TOOL_KINDS, UNREQUESTED_TOOLS

if TYPE_CHECKING:
    from agent_journal.model import Role
    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.assets import Assets
    from agent_journal.readers.chatgpt.graph import Mapping

JsonObject = dict[str, Any]
Entry = Message | Event

# An assistant's message to any other recipient is a call. Exports since 2026 omit `recipient`.
EVERYONE = ("all", None, "")
# "Branch in new chat", since September 2025: the new conversation has a copy of all messages before it.
BRANCHED = "branching_from_conversation_id"
_MEMORY_TOOL = "bio"


class ReadingState:
    """The state of a conversation while its messages are read."""

    def __init__(self, location: str, mapping: Mapping, assets: Assets, note: Notes) -> None:
        self.location = location
        self.mapping = mapping
        self.assets = assets
        self.note = note
        self.timeline: list[Entry] = []
        self.instructions: list[str] = []
        self.memories: list[tuple[str, str | None]] = []
        self.fork_link: Link | None = None
        self.keys: list[str] = []
        """The nodes in the order of the timeline."""
        self._positions: dict[str, int] = {}
        self._by_id: dict[str, Entry] = {}
        self._nearest_calls: dict[str, str | None] = {}

    def has_in_order(self, keys: list[str]) -> bool:
        """Whether the timeline has some nodes in this order."""
        if len(keys) > 1 and not self._positions:
            self._positions = {key: location for location, key in enumerate(self.keys)}
        positions = [self._positions.get(key, 0) for key in keys]
        return positions == sorted(positions)

    def nearest_call(self, entry_id: str | None) -> str | None:
        """Get the nearest call at or above an entry, after the person's last message.

        There are no call ids: a result is below its call, often with other results in between.
        """
        self._by_id.update((entry.id, entry) for entry in self.timeline[len(self._by_id) :])
        visited: list[str] = []
        call_id: str | None = None
        while entry_id is not None and (entry := self._by_id.get(entry_id)) is not None:
            if entry_id in self._nearest_calls:
                call_id = self._nearest_calls[entry_id]
                break
            visited.append(entry_id)
            if isinstance(entry, Message):
                if any(isinstance(part, ToolCall) for part in entry.parts):
                    call_id = entry_id
                    break
                if entry.role == "user" and not entry.hidden:
                    break
            entry_id = entry.parent_id
        self._nearest_calls.update(dict.fromkeys(visited, call_id))
        return call_id


def model_of(metadata: JsonObject) -> str | None:
    """Get the model that wrote a message."""
    model = metadata.get("model_slug")
    return model if model.__class__ is str and model else None


def stop_reason(metadata: JsonObject) -> str | None:
    """Get the reason why the model stopped."""
    finish = metadata.get("finish_details")
    reason = finish.get("type") if finish.__class__ is dict else None
    return reason if reason.__class__ is str and reason else None


def is_hidden(role: str, message: JsonObject, metadata: JsonObject, *, is_shown: bool = False) -> bool:
    """Whether the app hides a message: it is marked so, the model ignored it, or it is a system message.

    `is_shown` messages are displayed although the model does not get them.
    """
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or (message.get("weight") == 0 and not is_shown)
        or (role == "system" and metadata.get("is_user_system_message") is not True)
    )


def read_node(key: str, node: Any, parent: str | None, at: str | None, state: ReadingState) -> Entry:
    """Convert any node: to a message, or to an event if it has no message."""
    location = f"{state.location} {key}"
    if node is not None and node.__class__ is not dict:
        state.note(Kind.WRONG_TYPE, location, f"node is {type(node).__name__}")
        return Event(id=key, name="empty-node", data={"node": node})
    own = _own_fields(key, node or {}, parent, state)
    message = own.pop("message", None)
    if message.__class__ is dict:
        fields = Fields(message, state.note, location)
        if own:
            fields.keep("node" if not fields.has("node") else "mapping", own)
        return _message(key, parent, take_time(fields, "create_time", at), fields, state)
    if message is not None:
        state.note(Kind.WRONG_TYPE, location, f"message is {type(message).__name__}")
        own["message"] = message
    return Event(id=key, parent_id=parent, name="empty-node", data=own)


def _own_fields(key: str, node: JsonObject, parent: str | None, state: ReadingState) -> JsonObject:
    """Copy a node without its id and relatives, with a copy of its message."""
    own = dict(node)
    if own.get("message").__class__ is dict:
        own["message"] = dict(own["message"])
    if own.get("id") in (key, None):
        own.pop("id", None)
    if own.get("parent") in (parent, None, ""):
        own.pop("parent", None)
    children = own.get("children")
    if children is None or (
        children.__class__ is list
        and all(_is_key(child, state.mapping) for child in children)
        and state.has_in_order(children)
    ):
        own.pop("children", None)
    return own


def _is_key(child: Any, mapping: Mapping) -> bool:
    return child.__class__ is str and child in mapping


def _message(key: str, parent: str | None, at: str | None, fields: Fields, state: ReadingState) -> Message:
    metadata = fields.view("metadata")
    if metadata.__class__ is not dict:
        metadata = {}
    if fields.view("id") == key:
        fields.drop("id")
    raw = fields.take("content")
    if not raw or (raw.__class__ is dict and raw.get("parts", raw) in (None, [])):
        state.note(Kind.MISSING_FIELD, str(fields.where), "content")
    kind = raw.get("content_type") if raw.__class__ is dict else None
    role, tool = _take_speaker(fields, kind)
    context = content.ContentContext(state.note, str(fields.where), state.assets, metadata, set())
    recipient = fields.view("recipient")
    parts, rest = _content_parts(key, raw, role, recipient, context)
    parts = [*_with_instructions(kind, parts, metadata, state), *content.unreferenced_attachments(context)]
    parts = _with_citations(parts, citations(metadata))
    _collect_memories(kind, recipient, parts, at, state)
    if origin := nonempty_str(metadata.get(BRANCHED)):
        # The last copied message has this field; if several have it, the last one names the direct origin.
        state.fork_link = Link(conversation_id=origin, relation="fork", message_id=key)
    is_shown = tool == REASONING_TOOL
    if is_shown:
        parts = [_as_reasoning(part, metadata) for part in parts]
    elif role == "tool":
        is_shown = recipient in EVERYONE and any(isinstance(part, Media) for part in parts)
        error = _is_error(kind, fields, metadata)
        call_id = _linked_call_id(parent, tool, fields, state)
        parts = [ToolResult(call_id=call_id, name=tool, output=_output(parts), is_error=error)]
    if rest:
        fields.keep("content", rest)
    extra = fields.rest()
    return Message(
        id=key,
        role=role,
        parent_id=parent,
        at=at,
        model=model_of(metadata),
        stop_reason=stop_reason(metadata),
        hidden=kind == "user_editable_context" or is_hidden(role, extra, metadata, is_shown=is_shown),
        parts=parts,
        extra=extra,
    )


def _content_parts(
    key: str, raw: Any, role: Role, recipient: Any, context: content.ContentContext
) -> tuple[list[Part], JsonObject]:
    """Convert content to parts; also return its other fields, or all if the app displays something else."""
    kind = raw.get("content_type") if raw.__class__ is dict else None
    if role == "assistant" and _is_call(recipient, kind):
        value, rest = content.call_input(raw)
        return [ToolCall(name=recipient, call_id=key, input=value, kind=TOOL_KINDS.get(recipient))], rest
    parts, rest = content.parts(raw, context)
    displayed = marks.displayed_parts(parts, context.metadata) if role == "assistant" else None
    if displayed is None:
        return parts, rest
    return displayed, raw if raw.__class__ is dict else {"parts": raw}


def _linked_call_id(parent: str | None, tool: str | None, fields: Fields, state: ReadingState) -> str | None:
    """Get the call of a tool result; the service runs some tools without a call."""
    call_id = state.nearest_call(parent)
    if call_id is None and tool not in UNREQUESTED_TOOLS:
        state.note(Kind.UNLINKED_RESULT, fields.where, tool or "")
    return call_id


def take_time(fields: Fields, name: str, known: str | None) -> str | None:
    """Take a time unless it is already known; zero is no time, and an unreadable value stays."""
    value = fields.view(name)
    if known is None and value:
        return fields.timestamp(name)
    fields.drop(name)
    return known


def _take_speaker(fields: Fields, kind: Any) -> tuple[Role, str | None]:
    """Take the role, and the tool's name if it is a tool; a role that the model spells differently stays."""
    stated = fields.take("author")
    author = Fields(dict(stated) if stated.__class__ is dict else {}, fields.note, fields.where)
    if stated.__class__ is dict:
        stated_role = author.take("role")
    else:
        stated_role = stated if stated is not None else fields.take("role")
    role = "system" if kind == "user_editable_context" else known_role(stated_role)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated_role)[:40]!r}")
    if stated_role != role and stated_role is not None:
        author.keep("role", stated_role)
    name = author.text("name") if role == "tool" else None
    rest = author.rest() if any(author.rest().values()) else {}
    if name == REASONING_TOOL:
        role, rest = "assistant", {"role": "tool", "name": REASONING_TOOL, **rest}
    if rest:
        fields.keep("author", rest)
    return role or "assistant", name


def _is_call(recipient: Any, kind: Any) -> bool:
    """Whether the assistant addressed a tool; reasoning is never a call."""
    return recipient.__class__ is str and recipient not in EVERYONE and kind not in content.THOUGHTS


def _output(parts: list[Part]) -> Any:
    """Get the output of a tool: a string if it is plain text."""
    match parts:
        case []:
            return ""
        case [Text() as only] if not only.citations and not only.extra:
            return only.text
    return parts


def _as_reasoning(part: Part, metadata: JsonObject) -> Part:
    """Convert text of a model of 2024 to reasoning, which the app displays under "Thought for 8 seconds"."""
    if isinstance(part, Text):
        return Reasoning(
            text=part.text, summary=nonempty_str(metadata.get("finished_text")), extra=part.extra
        )
    return part


def _is_error(kind: Any, fields: Fields, metadata: JsonObject) -> bool | None:
    """Whether the source reports an error; code that was stopped is "finished_partial_completion"."""
    if kind == "system_error":
        return True
    if kind == "execution_output" and fields.view("status") == "finished_partial_completion":
        return True
    stated = metadata.get("is_error")
    return stated if stated.__class__ is bool else None


def _with_citations(parts: list[Part], new_citations: list[Citation]) -> list[Part]:
    """Add the citations to the first text."""
    if new_citations:
        for index, part in enumerate(parts):
            if isinstance(part, Text):
                parts[index] = replace(part, citations=[*part.citations, *new_citations])
                break
    return parts


def _with_instructions(kind: Any, parts: list[Part], metadata: JsonObject, state: ReadingState) -> list[Part]:
    """Add instructions of the person that only the metadata has, in a message made for them."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    missing: list[str] = []
    for instructions in objects([metadata.get("user_context_message_data")]):
        for name in ("about_user_message", "about_model_message"):
            text = nonempty_str(instructions.get(name))
            if text and not any(text in known for known in texts):
                missing.append(text)
    if kind == "user_editable_context":
        state.instructions.extend(texts)
    state.instructions.extend(missing)
    if parts and kind != "user_editable_context":
        return parts
    return [*parts, *(Text(text=text) for text in missing)]


def _collect_memories(
    kind: Any, recipient: Any, parts: list[Part], at: str | None, state: ReadingState
) -> None:
    """Collect what the service saved about the person: injected as context, or sent to the memory tool."""
    match parts:
        case [Text(text=text), *_] if kind == "model_editable_context":
            state.memories.append((text, at))
        case [ToolCall(name=name, input=str() as text), *_] if name == recipient == _MEMORY_TOOL and text:
            state.memories.append((text, at))
