"""Nodes as messages and events: who speaks, when, what is hidden, which call a tool answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, objects, words
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
from agent_journal.readers.chatgpt.names import THINKER, TOOL_KINDS, UNASKED

if TYPE_CHECKING:
    from agent_journal.model import Role
    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.assets import Assets
    from agent_journal.readers.chatgpt.graph import Mapping

Bag = dict[str, Any]
Entry = Message | Event

# An assistant's message to anybody else is a call. Exports since 2026 leave `recipient` out.
EVERYONE = ("all", None, "")
# "Branch in new chat", since September 2025: the new conversation has a copy of all messages up to there.
BRANCHED = "branching_from_conversation_id"
_MEMORY_TOOL = "bio"


class Scene:
    """A conversation while its messages are read."""

    def __init__(self, place: str, mapping: Mapping, assets: Assets, note: Notes) -> None:
        self.place = place
        self.mapping = mapping
        self.assets = assets
        self.note = note
        self.timeline: list[Entry] = []
        self.instructions: list[str] = []
        self.memories: list[tuple[str, str | None]] = []
        self.forked: Link | None = None
        self.keys: list[str] = []
        """The nodes in the order of the timeline."""
        self._places: dict[str, int] = {}
        self._by_id: dict[str, Entry] = {}
        self._call_above: dict[str, str | None] = {}

    def has_in_order(self, keys: list[str]) -> bool:
        """Whether the timeline has some nodes in this order."""
        if len(keys) > 1 and not self._places:
            self._places = {key: place for place, key in enumerate(self.keys)}
        places = [self._places.get(key, 0) for key in keys]
        return places == sorted(places)

    def call_above(self, entry_id: str | None) -> str | None:
        """The nearest call at or above an entry, within what followed one message of the person.

        There are no call ids: a result hangs below its call, often with other results between.
        """
        self._by_id.update((entry.id, entry) for entry in self.timeline[len(self._by_id) :])
        walked: list[str] = []
        found: str | None = None
        while entry_id is not None and (entry := self._by_id.get(entry_id)) is not None:
            if entry_id in self._call_above:
                found = self._call_above[entry_id]
                break
            walked.append(entry_id)
            if isinstance(entry, Message):
                if any(isinstance(part, ToolCall) for part in entry.parts):
                    found = entry_id
                    break
                if entry.role == "user" and not entry.hidden:
                    break
            entry_id = entry.parent_id
        self._call_above.update(dict.fromkeys(walked, found))
        return found


def model_of(metadata: Bag) -> str | None:
    """The model that wrote a message."""
    model = metadata.get("model_slug")
    return model if model.__class__ is str and model else None


def stop_reason(metadata: Bag) -> str | None:
    """Why the model stopped."""
    finish = metadata.get("finish_details")
    reason = finish.get("type") if finish.__class__ is dict else None
    return reason if reason.__class__ is str and reason else None


def is_hidden(role: str, message: Bag, metadata: Bag, *, is_shown: bool = False) -> bool:
    """Whether the person does not see it: it says so, the model ignored it, or it is a system message.

    `is_shown` is what the app shows although the model is not told of it.
    """
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or (message.get("weight") == 0 and not is_shown)
        or (role == "system" and metadata.get("is_user_system_message") is not True)
    )


def read_node(key: str, node: Any, parent: str | None, at: str | None, scene: Scene) -> Entry:
    """Any node as what it is: a message, or an event if there is none in it."""
    where = f"{scene.place} {key}"
    if node is not None and node.__class__ is not dict:
        scene.note(Kind.WRONG_TYPE, where, f"node is {type(node).__name__}")
        return Event(id=key, name="empty-node", data={"node": node})
    own = _rest_of_node(key, node or {}, parent, scene)
    message = own.pop("message", None)
    if message.__class__ is dict:
        fields = Fields(message, scene.note, where)
        if own:
            fields.keep("node" if not fields.has("node") else "mapping", own)
        return _message(key, parent, take_moment(fields, "create_time", at), fields, scene)
    if message is not None:
        scene.note(Kind.WRONG_TYPE, where, f"message is {type(message).__name__}")
        own["message"] = message
    return Event(id=key, parent_id=parent, name="empty-node", data=own)


def _rest_of_node(key: str, node: Bag, parent: str | None, scene: Scene) -> Bag:
    """The message of a node, as a copy, and what it says beyond that and its place in the graph."""
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
        and all(_is_key(child, scene.mapping) for child in children)
        and scene.has_in_order(children)
    ):
        own.pop("children", None)
    return own


def _is_key(child: Any, mapping: Mapping) -> bool:
    return child.__class__ is str and child in mapping


def _message(key: str, parent: str | None, at: str | None, fields: Fields, scene: Scene) -> Message:
    metadata = fields.look("metadata")
    if metadata.__class__ is not dict:
        metadata = {}
    if fields.look("id") == key:
        fields.drop("id")
    raw = fields.take("content")
    if not raw or (raw.__class__ is dict and raw.get("parts", raw) in (None, [])):
        scene.note(Kind.MISSING_FIELD, str(fields.where), "content")
    kind = raw.get("content_type") if raw.__class__ is dict else None
    role, tool = _speaker(fields, kind)
    setting = content.Setting(scene.note, str(fields.where), scene.assets, metadata, set())
    recipient = fields.look("recipient")
    parts, rest = _said(key, raw, role, recipient, setting)
    parts = [*_with_instructions(kind, parts, metadata, scene), *content.attached(setting)]
    parts = _with_citations(parts, citations(metadata))
    _remember(kind, recipient, parts, at, scene)
    if origin := words(metadata.get(BRANCHED)):
        # Said of the last message that was taken over; of several, the last says what this branched from.
        scene.forked = Link(conversation_id=origin, relation="fork", message_id=key)
    is_shown = tool == THINKER
    if is_shown:
        parts = [_thought(part, metadata) for part in parts]
    elif role == "tool":
        is_shown = recipient in EVERYONE and any(isinstance(part, Media) for part in parts)
        error = _is_error(kind, fields, metadata)
        call_id = _answered_call(parent, tool, fields, scene)
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


def _said(key: str, raw: Any, role: Role, recipient: Any, setting: content.Setting) -> tuple[list[Part], Bag]:
    """What a message says, and what else its content has: all of it where the app shows something else."""
    kind = raw.get("content_type") if raw.__class__ is dict else None
    if role == "assistant" and _is_call(recipient, kind):
        value, rest = content.call_input(raw)
        return [ToolCall(name=recipient, call_id=key, input=value, kind=TOOL_KINDS.get(recipient))], rest
    parts, rest = content.parts(raw, setting)
    shown = marks.shown(parts, setting.metadata) if role == "assistant" else None
    if shown is None:
        return parts, rest
    return shown, raw if raw.__class__ is dict else {"parts": raw}


def _answered_call(parent: str | None, tool: str | None, fields: Fields, scene: Scene) -> str | None:
    """The call that a tool answers; some answer what nobody asked for."""
    call_id = scene.call_above(parent)
    if call_id is None and tool not in UNASKED:
        scene.note(Kind.UNLINKED_RESULT, fields.where, tool or "")
    return call_id


def take_moment(fields: Fields, name: str, known: str | None) -> str | None:
    """Move a time out, which may be known already. Zero is no time; what cannot be understood stays."""
    value = fields.look(name)
    if known is None and value:
        return fields.moment(name)
    fields.drop(name)
    return known


def _speaker(fields: Fields, kind: Any) -> tuple[Role, str | None]:
    """Who speaks, and the tool's name if it is one; the source's word stays where ours is another."""
    given = fields.take("author")
    author = Fields(dict(given) if given.__class__ is dict else {}, fields.note, fields.where)
    if given.__class__ is dict:
        word = author.take("role")
    else:
        word = given if given is not None else fields.take("role")
    role = "system" if kind == "user_editable_context" else known_role(word)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(word)[:40]!r}")
    if word != role and word is not None:
        author.keep("role", word)
    name = author.text("name") if role == "tool" else None
    rest = author.rest() if any(author.rest().values()) else {}
    if name == THINKER:
        role, rest = "assistant", {"role": "tool", "name": THINKER, **rest}
    if rest:
        fields.keep("author", rest)
    return role or "assistant", name


def _is_call(recipient: Any, kind: Any) -> bool:
    """Whether the assistant spoke to a tool. Thoughts are never a call."""
    return recipient.__class__ is str and recipient not in EVERYONE and kind not in content.THOUGHTS


def _output(parts: list[Part]) -> Any:
    """What a tool answered: a string if that is all."""
    match parts:
        case []:
            return ""
        case [Text() as only] if not only.citations and not only.extra:
            return only.text
    return parts


def _thought(part: Part, metadata: Bag) -> Part:
    """What a model of 2024 thought, as the app told it below "Thought for 8 seconds"."""
    if isinstance(part, Text):
        return Reasoning(text=part.text, summary=words(metadata.get("finished_text")), extra=part.extra)
    return part


def _is_error(kind: Any, fields: Fields, metadata: Bag) -> bool | None:
    """What the source says about success. Code that was stopped is "finished_partial_completion"."""
    if kind == "system_error":
        return True
    if kind == "execution_output" and fields.look("status") == "finished_partial_completion":
        return True
    stated = metadata.get("is_error")
    return stated if stated.__class__ is bool else None


def _with_citations(parts: list[Part], cited: list[Citation]) -> list[Part]:
    """The parts with the citations on the first text."""
    if cited:
        for index, part in enumerate(parts):
            if isinstance(part, Text):
                parts[index] = replace(part, citations=[*part.citations, *cited])
                break
    return parts


def _with_instructions(kind: Any, parts: list[Part], metadata: Bag, scene: Scene) -> list[Part]:
    """The parts and, in a message made for them, the person's instructions that only the metadata has."""
    said = [part.text for part in parts if isinstance(part, Text)]
    missing: list[str] = []
    for given in objects([metadata.get("user_context_message_data")]):
        for name in ("about_user_message", "about_model_message"):
            text = words(given.get(name))
            if text and not any(text in known for known in said):
                missing.append(text)
    if kind == "user_editable_context":
        scene.instructions.extend(said)
    scene.instructions.extend(missing)
    if parts and kind != "user_editable_context":
        return parts
    return [*parts, *(Text(text=text) for text in missing)]


def _remember(kind: Any, recipient: Any, parts: list[Part], at: str | None, scene: Scene) -> None:
    """Keep what the service wrote down about the person: injected as context, or told to the memory tool."""
    match parts:
        case [Text(text=text), *_] if kind == "model_editable_context":
            scene.memories.append((text, at))
        case [ToolCall(name=name, input=str() as text), *_] if name == recipient == _MEMORY_TOOL and text:
            scene.memories.append((text, at))
