"""One line of a session: a message if somebody said it or a tool answered, else an event."""

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

# What the person chose is not yet a model; `session.auto_mode_resolved` names it.
_NO_MODEL = "auto"
# Who sent a prompt in the person's name: a skill that was loaded, another agent, the app.
_SYNTHETIC = ("skill-", "agent-")
_THE_APP = "system"


class Usual(Struct, forbid_unknown_fields=True, gc=False, rename="camel"):
    """An event with the envelope that nearly all have, decoded straight into it: much faster than with care.

    A line with any other field, or a field of another type, is taken apart with care instead.
    """

    type: str
    id: str
    timestamp: str
    data: dict[str, Any]
    parent_id: str | None = None
    agent_id: str | UnsetType = UNSET


decode_usual = msgspec.json.Decoder(Usual).decode


class Line:
    """An event's envelope, and the payload that its values are taken from."""

    __slots__ = ("around", "at", "body", "id", "made_id", "parent_id", "where")

    def __init__(
        self, event_id: str, parent_id: str | None, at: str | None, around: dict[str, Any], body: Fields
    ) -> None:
        self.id = event_id
        self.made_id = False
        self.parent_id = parent_id or None
        self.at = at
        self.around = around
        self.body = body
        self.where = body.where

    def rest(self) -> dict[str, Any]:
        """What nobody took of the payload, with what else the envelope says."""
        left = self.body.rest()
        if not self.around:
            return left
        return left | self.around if left.keys().isdisjoint(self.around) else left | {"event": self.around}

    @property
    def is_sidechain(self) -> bool:
        """Whether a sub-agent is concerned: by its id, or until 2026 by the call that started it.

        A `parentAgentTaskId` says nothing about that: as of 1.0.102, every prompt has one.
        """
        return bool((self.around and self.around.get("agentId")) or self.body.look("parentToolCallId"))


class Events:
    """Makes an entry of each line, and remembers which calls and which model are current."""

    def __init__(self, note: Notes) -> None:
        self.model: str | None = None
        self.calls: dict[str, str | None] = {}
        self._agents_models: dict[str, str | None] = {}
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
        self._learned: dict[str, Callable[[Bag], None]] = {
            "tool.execution_start": self._learn_call,
            "tool.user_requested": self._learn_call,
            "external_tool.requested": self._learn_call,
            "session.start": self._learn_model,
            "session.resume": self._learn_model,
            "session.model_change": self._learn_model,
            "session.auto_mode_resolved": self._learn_model,
            "subagent.started": self._learn_agents_model,
            "subagent.configured": self._learn_agents_model,
            "session.binary_asset": self.assets.learn,
        }

    def usual(self, event: Usual, location: int | str) -> Entry | None:
        """The message or event that a usual line is; None if it must be looked at closely."""
        if not timestamps.is_moment(event.timestamp) or not event.id:
            return None
        name = event.type
        around = {} if event.agent_id is UNSET else {"agentId": event.agent_id}
        make = self._messages.get(name)
        if make is None and not around and name in KNOWN_TYPES:
            if (learn := self._learned.get(name)) is not None:
                learn(event.data)
            return Event(
                id=event.id,
                name=name,
                parent_id=event.parent_id or None,
                at=event.timestamp,
                data=event.data,
            )
        body = Fields(event.data, self._note, location)
        line = Line(event.id, event.parent_id, event.timestamp, around, body)
        return self._event(line, name) if make is None else make(line)

    def entry(self, record: Any, location: int | str, line: bytes) -> Entry:
        """The message or event that a line is; `line` is its bytes, of which a missing id is made."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, location, f"the line is {type(record).__name__}, not an object")
            return Event(id=self._made_id(line), made_id=True, name="unknown", data={"value": record})
        fields = Fields(record, self._note, location)
        name, data, event_id = fields.text("type"), fields.bag("data"), fields.text("id")
        parent, at = fields.text("parentId"), fields.moment("timestamp")
        body = Fields({} if data is None else data, self._note, location)
        about = Line(event_id or "", parent, at, fields.rest(), body)
        if not about.id:
            about.id, about.made_id = self._made_id(line), True
        make = self._messages.get(name or "")
        return self._event(about, name) if make is None or data is None else make(about)

    def _event(self, line: Line, name: str | None) -> Event:
        if name not in KNOWN_TYPES and name not in self._unknown_types:
            self._unknown_types.add(name)
            what = f"event type {name[:40]!r}" if name else "a line without a type"
            self._note(Kind.UNKNOWN_TYPE, line.where, what)
        data = line.rest()
        if (learn := self._learned.get(name or "")) is not None:
            learn(data)
        return Event(
            id=line.id,
            made_id=line.made_id,
            name=name or "unknown",
            parent_id=line.parent_id,
            at=line.at,
            data=data,
        )

    def _learn_call(self, data: Bag) -> None:
        if call := text_in(data, "toolCallId"):
            self.calls.setdefault(call, text_in(data, "toolName"))

    def _learn_model(self, data: Bag) -> None:
        agent = text_in(data, "agentId")
        for name in ("newModel", "chosenModel", "selectedModel"):
            if model := text_in(data, name):
                self._set_model(agent, None if model == _NO_MODEL else model)

    def _learn_agents_model(self, data: Bag) -> None:
        if (agent := text_in(data, "agentId")) and (model := text_in(data, "model")):
            self._set_model(agent, model)

    def _set_model(self, agent: str | None, model: str | None) -> None:
        """Remember the session's model, or that of a subagent: as of 1.0.102 the same event tells both."""
        if agent is None:
            self.model = model
        else:
            self._agents_models[agent] = model

    def _agents_model(self, line: Line) -> str | None:
        """The model of a subagent's answer that does not state it."""
        return self._agents_models.get(text_in(line.around, "agentId") or "")

    def _prompt(self, line: Line) -> Message:
        body = line.body
        source = body.look("source")
        parts = _text(body)
        parts += [attachment(raw, line.body, self.assets) for raw in body.items("attachments") or ()]
        is_sent = isinstance(source, str) and (source.startswith(_SYNTHETIC) or source == _THE_APP)
        hidden = is_sent or body.look("isAutopilotContinuation") is True
        return self._said(line, "user", parts, hidden=hidden)

    def _system_prompt(self, line: Line) -> Message:
        """The instructions that the model was given; the app does not show them."""
        if line.body.look("role") == "system":
            line.body.drop("role")
        return self._said(line, "system", _text(line.body), hidden=True)

    def _notification(self, line: Line) -> Message:
        """What the app told the model has happened."""
        return self._said(line, "system", _text(line.body))

    def _said(self, line: Line, role: Role, parts: list[Part], *, hidden: bool = False) -> Message:
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
        parts = [*_reasoning(body), *_cited(_text(body), body.look("citations"))]
        parts += [self._call(raw, body) for raw in body.items("toolRequests") or ()]
        # A model's answer is split where it went on thinking; all pieces name the call of the API.
        response = body.text("apiCallId") or body.text("messageId")
        tokens = body.whole("outputTokens")
        key = response if body.has("chunkCount") else None
        return Message(
            id=line.id,
            made_id=line.made_id,
            role="assistant",
            parent_id=line.parent_id,
            at=line.at,
            model=body.text("model") or (self._agents_model(line) if sidechain else self.model),
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
        if fields.look("type") == "function":
            fields.drop("type")
        if call_id is not None:
            self.calls[call_id] = name
        kind = TOOL_KINDS.get(name)
        return ToolCall(
            name=name,
            call_id=call_id,
            input=fields.take("arguments"),
            kind="mcp" if kind is None and fields.look("mcpServerName") else kind,
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

    def _made_id(self, line: bytes) -> str:
        digest = hashlib.sha256(line).hexdigest()
        self._without_id[digest] += 1
        return ids.made(digest, self._without_id[digest])


def _text(body: Fields) -> list[Part]:
    found = _text_blocks(body)
    if found is not None:
        return found
    content = body.text("content")
    return [Text(text=content)] if content else []


def _text_blocks(body: Fields) -> list[Part] | None:
    """The texts of a block, of a list of blocks or of an object that holds them; None of other content."""
    content = body.look("content")
    if content.__class__ not in (dict, list):
        return None
    inner, beside = unwrap(content)
    blocks = [{"text": inner}] if inner.__class__ is str else inner
    if blocks.__class__ is not list or not blocks or not all(map(_is_text_block, blocks)):
        return None
    body.drop("content")
    if beside:
        body.keep("content", beside)
    return [
        Text(text=each["text"], extra={name: each[name] for name in each if name not in ("type", "text")})
        for each in blocks
    ]


def _is_text_block(block: Any) -> bool:
    return (
        block.__class__ is dict and block.get("type", "text") == "text" and block.get("text").__class__ is str
    )


def _cited(said: list[Part], citations: Any) -> list[Part]:
    """A text with what it refers to; the sources stay, with what else is known of them."""
    if not said or citations.__class__ is not dict:
        return said
    sources = {text_in(source, "id"): source for source in objects(citations.get("sources"))}
    found = [
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
    return [replace(part, citations=found) if isinstance(part, Text) else part for part in said]


def _reasoning(body: Fields) -> list[Part]:
    """What the model thought; of two opaque forms, Anthropic's and OpenAI's, the second stays beside it."""
    text, opaque = body.text("reasoningText"), body.text("reasoningOpaque")
    opaque = opaque or body.text("encryptedContent")
    return [Reasoning(text=text or None, encrypted=opaque or None)] if text or opaque else []


def text_in(bag: Any, name: str) -> str | None:
    """The text that an object has under a name, if it has one there."""
    value = bag.get(name) if isinstance(bag, dict) else None
    return value if isinstance(value, str) and value else None
