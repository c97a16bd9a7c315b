"""Converts one line of a session: to a message if it has content or a tool result, else to an event."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, objects
from agent_journal.model import (
    Citation,
    Event,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    Usage,
    ids,
    timestamps,
)
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind
from agent_journal.readers.dialects.copilot_events import results
from agent_journal.readers.dialects.copilot_events.attachments import Assets, attachment
from agent_journal.readers.dialects.copilot_events.names import KNOWN_TYPES, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Bag, Part, Role
    from agent_journal.notes import Notes

Entry: TypeAlias = Message | Event

# The user selected no specific model; `session.auto_mode_resolved` names the actual one.
_AUTO_MODEL = "auto"
# Sources of prompts that the user did not type: a loaded skill, another agent, the app.
_SYNTHETIC = ("skill-", "agent-")
_APP_SOURCE = "system"


class CommonEvent(Struct, forbid_unknown_fields=True, gc=False, rename="camel"):
    """The fast path: an event with the envelope that nearly all have, decoded directly into a struct.

    A line with any other field, or a field of another type, takes the slow path instead.
    """

    type: str
    id: str
    timestamp: str
    data: dict[str, Any]
    parent_id: str | None = None
    agent_id: str | UnsetType = UNSET


decode_common = msgspec.json.Decoder(CommonEvent).decode


class Line:
    """An event's envelope and its payload."""

    __slots__ = ("at", "body", "envelope", "id", "made_id", "parent_id", "where")

    def __init__(
        self, event_id: str, parent_id: str | None, at: str | None, envelope: dict[str, Any], body: Fields
    ) -> None:
        self.id = event_id
        self.made_id = False
        self.parent_id = parent_id or None
        self.at = at
        self.envelope = envelope
        self.body = body
        self.where = body.where

    def rest(self) -> dict[str, Any]:
        """Get the remaining fields of the payload and of the envelope."""
        rest = self.body.rest()
        if not self.envelope:
            return rest
        return rest | (self.envelope if rest.keys().isdisjoint(self.envelope) else {"event": self.envelope})

    @property
    def is_sidechain(self) -> bool:
        """Whether the event belongs to a subagent: by its id, or until 2026 by the call that started it.

        A `parentAgentTaskId` says nothing about that: as of 1.0.102, every prompt has one.
        """
        return bool((self.envelope and self.envelope.get("agentId")) or self.body.view("parentToolCallId"))


class Events:
    """Converts each line to an entry, and keeps track of the calls and the current model."""

    def __init__(self, note: Notes) -> None:
        self.model: str | None = None
        self.calls: dict[str, str | None] = {}
        self._subagent_models: dict[str, str | None] = {}
        self.open_results: list[tuple[str | None, int | str]] = []
        self.assets = Assets()
        self._note = note
        self._without_id: Counter[str] = Counter()
        self._unknown_types: set[str | None] = set()
        self._messages: dict[str, Callable[[Line], Message]] = {
            "user.message": self._prompt,
            "assistant.message": self._answer,
            "tool.execution_complete": self._result,
            "system.message": self._system_prompt,
            "system.notification": self._notification,
        }
        self._observers: dict[str, Callable[[Bag], None]] = {
            "tool.execution_start": self._observe_call,
            "tool.user_requested": self._observe_call,
            "external_tool.requested": self._observe_call,
            "session.start": self._observe_model,
            "session.resume": self._observe_model,
            "session.model_change": self._observe_model,
            "session.auto_mode_resolved": self._observe_model,
            "subagent.started": self._observe_subagent_model,
            "subagent.configured": self._observe_subagent_model,
            "session.binary_asset": self.assets.learn,
        }

    def common_entry(self, event: CommonEvent, location: int | str) -> Entry | None:
        """Convert an event of the fast path; None if it needs the slow path."""
        if not timestamps.is_timestamp(event.timestamp) or not event.id:
            return None
        name = event.type
        envelope = {} if event.agent_id is UNSET else {"agentId": event.agent_id}
        convert = self._messages.get(name)
        if convert is None and not envelope and name in KNOWN_TYPES:
            if (observe := self._observers.get(name)) is not None:
                observe(event.data)
            return Event(
                id=event.id,
                name=name,
                parent_id=event.parent_id or None,
                at=event.timestamp,
                data=event.data,
            )
        body = Fields(event.data, self._note, location)
        line = Line(event.id, event.parent_id, event.timestamp, envelope, body)
        return self._event(line, name) if convert is None else convert(line)

    def entry(self, record: Any, location: int | str, line: bytes) -> Entry:
        """Convert a decoded line; a missing id is generated from its bytes, `line`."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, location, f"the line is {type(record).__name__}, not an object")
            return Event(id=self._generate_id(line), made_id=True, name="unknown", data={"value": record})
        fields = Fields(record, self._note, location)
        name, data, event_id = fields.text("type"), fields.bag("data"), fields.text("id")
        parent, at = fields.text("parentId"), fields.timestamp("timestamp")
        body = Fields({} if data is None else data, self._note, location)
        parsed = Line(event_id or "", parent, at, fields.rest(), body)
        if not parsed.id:
            parsed.id, parsed.made_id = self._generate_id(line), True
        convert = self._messages.get(name or "")
        return self._event(parsed, name) if convert is None or data is None else convert(parsed)

    def _event(self, line: Line, name: str | None) -> Event:
        if name not in KNOWN_TYPES and name not in self._unknown_types:
            self._unknown_types.add(name)
            what = f"event type {name[:40]!r}" if name else "a line without a type"
            self._note(Kind.UNKNOWN_TYPE, line.where, what)
        data = line.rest()
        if (observe := self._observers.get(name or "")) is not None:
            observe(data)
        return Event(
            id=line.id,
            made_id=line.made_id,
            name=name or "unknown",
            parent_id=line.parent_id,
            at=line.at,
            data=data,
        )

    def _observe_call(self, data: Bag) -> None:
        if call := text_in(data, "toolCallId"):
            self.calls.setdefault(call, text_in(data, "toolName"))

    def _observe_model(self, data: Bag) -> None:
        agent = text_in(data, "agentId")
        for name in ("newModel", "chosenModel", "selectedModel"):
            if model := text_in(data, name):
                self._set_model(agent, None if model == _AUTO_MODEL else model)

    def _observe_subagent_model(self, data: Bag) -> None:
        if (agent := text_in(data, "agentId")) and (model := text_in(data, "model")):
            self._set_model(agent, model)

    def _set_model(self, agent: str | None, model: str | None) -> None:
        """Store the session's model, or that of a subagent: as of 1.0.102 the same event states both."""
        if agent is None:
            self.model = model
        else:
            self._subagent_models[agent] = model

    def _subagent_model(self, line: Line) -> str | None:
        """Get the model of a subagent whose answer does not state it."""
        return self._subagent_models.get(text_in(line.envelope, "agentId") or "")

    def _prompt(self, line: Line) -> Message:
        body = line.body
        source = body.view("source")
        parts = _text_parts(body)
        parts += [attachment(raw, line.body, self.assets) for raw in body.items("attachments") or ()]
        is_synthetic = isinstance(source, str) and (source.startswith(_SYNTHETIC) or source == _APP_SOURCE)
        hidden = is_synthetic or body.view("isAutopilotContinuation") is True
        return self._text_message(line, "user", parts, hidden=hidden)

    def _system_prompt(self, line: Line) -> Message:
        """Convert the instructions for the model, which the app does not show."""
        if line.body.view("role") == "system":
            line.body.drop("role")
        return self._text_message(line, "system", _text_parts(line.body), hidden=True)

    def _notification(self, line: Line) -> Message:
        """Convert a notification of the model by the app."""
        return self._text_message(line, "system", _text_parts(line.body))

    def _text_message(self, line: Line, role: Role, parts: list[Part], *, hidden: bool = False) -> Message:
        return Message(
            id=line.id,
            made_id=line.made_id,
            role=role,
            parent_id=line.parent_id,
            at=line.at,
            hidden=hidden,
            sidechain=line.is_sidechain,
            parts=parts,
            extra=line.rest(),
        )

    def _answer(self, line: Line) -> Message:
        body = line.body
        sidechain = line.is_sidechain
        parts = [*_reasoning(body), *_with_citations(_text_parts(body), body.view("citations"))]
        parts += [self._call(raw, body) for raw in body.items("toolRequests") or ()]
        # An answer is split where the model continued its reasoning; all pieces name the API call.
        response = body.text("apiCallId") or body.text("messageId")
        tokens = body.whole("outputTokens")
        key = response if body.has("chunkCount") else None
        return Message(
            id=line.id,
            made_id=line.made_id,
            role="assistant",
            parent_id=line.parent_id,
            at=line.at,
            model=body.text("model") or (self._subagent_model(line) if sidechain else self.model),
            sidechain=sidechain,
            response_id=response,
            parts=parts,
            usage=None if tokens is None else Usage(key=key, output=tokens, extra={"outputTokens": tokens}),
            extra=line.rest(),
        )

    def _call(self, raw: Any, body: Fields) -> Part:
        if raw.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, body.where, f"a tool request is {type(raw).__name__}")
            return Other(data=raw, name="toolRequest")
        fields = Fields(raw, self._note, body.where)
        name, call_id = fields.text("name") or "", fields.text("toolCallId")
        if fields.view("type") == "function":
            fields.drop("type")
        if call_id is not None:
            self.calls[call_id] = name
        kind = TOOL_KINDS.get(name)
        return ToolCall(
            name=name,
            call_id=call_id,
            input=fields.take("arguments"),
            kind="mcp" if kind is None and fields.view("mcpServerName") else kind,
            extra=fields.rest(),
        )

    def _result(self, line: Line) -> Message:
        call_id = line.body.text("toolCallId")
        if call_id not in self.calls:
            self.open_results.append((call_id, line.where))
        sidechain = line.is_sidechain
        result = results.result(line.body, call_id, self.calls.get(call_id or ""), self.assets)
        return Message(
            id=line.id,
            made_id=line.made_id,
            role="tool",
            parent_id=line.parent_id,
            at=line.at,
            sidechain=sidechain,
            parts=[result],
            extra=line.rest(),
        )

    def _generate_id(self, line: bytes) -> str:
        digest = hashlib.sha256(line).hexdigest()
        self._without_id[digest] += 1
        return ids.made(digest, self._without_id[digest])


def _text_parts(body: Fields) -> list[Part]:
    blocks = _text_blocks(body)
    if blocks is not None:
        return blocks
    content = body.text("content")
    return [Text(text=content)] if content else []


def _text_blocks(body: Fields) -> list[Part] | None:
    """Take the texts of a block, a list of blocks or an object with blocks; None for other content."""
    content = body.view("content")
    if content.__class__ not in (dict, list):
        return None
    inner, remaining = unwrap(content)
    blocks = [{"text": inner}] if inner.__class__ is str else inner
    if blocks.__class__ is not list or not blocks or not all(map(_is_text_block, blocks)):
        return None
    body.drop("content")
    if remaining:
        body.keep("content", remaining)
    return [
        Text(text=each["text"], extra={name: each[name] for name in each if name not in ("type", "text")})
        for each in blocks
    ]


def _is_text_block(block: Any) -> bool:
    return (
        block.__class__ is dict and block.get("type", "text") == "text" and block.get("text").__class__ is str
    )


def _with_citations(parts: list[Part], citations: Any) -> list[Part]:
    """Add citations to the text; the original citations also stay in the extra fields."""
    if not parts or citations.__class__ is not dict:
        return parts
    sources = {text_in(source, "id"): source for source in objects(citations.get("sources"))}
    converted = [
        Citation(
            title=text_in(source, "title"),
            url=text_in(source, "url") or text_in(source, "path"),
            text=text_in(reference, "citedText"),
            start=counted(span.get("startIndex")),
            end=counted(span.get("endIndex")),
        )
        for span in objects(citations.get("spans"))
        for reference in objects(span.get("references"))
        for source in (sources.get(text_in(reference, "sourceId")),)
    ]
    return [replace(part, citations=converted) if isinstance(part, Text) else part for part in parts]


def _reasoning(body: Fields) -> list[Part]:
    """Take the reasoning; of two opaque forms, Anthropic's and OpenAI's, the second one stays."""
    text, opaque = body.text("reasoningText"), body.text("reasoningOpaque")
    opaque = opaque or body.text("encryptedContent")
    return [Reasoning(text=text or None, encrypted=opaque or None)] if text or opaque else []


def text_in(bag: Any, name: str) -> str | None:
    """Get a non-empty text from an object."""
    value = bag.get(name) if isinstance(bag, dict) else None
    return value if isinstance(value, str) and value else None
