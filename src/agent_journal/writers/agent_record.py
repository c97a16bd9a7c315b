"""Verifiable agent records, 3.0.0-draft, unsigned: one record per conversation and line.

This is the plain profile: messages with their content as the source had it, tool calls, tool results and
reasoning as children, and few events. Parents, tokens and the models of single messages are left out.
"""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Event, Memory, Reasoning, Text, ToolCall, ToolResult, timestamps
from agent_journal.model.content_blocks import DEEDS, answered, content_of, of_parts
from agent_journal.records import canonical_json
from agent_journal.records.forms import PATCH, UNKNOWN, VERSION, RecordForm
from agent_journal.redaction import RECORDED
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_records import (
    agent_meta,
    echoed,
    is_separate,
    is_told,
    recording_agent,
    start,
    token_counts,
    unanswered,
    value_at,
    without_nulls,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Conversation, Item, Message, Part
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="agent-record",
    title="Verifiable agent record",
    suffix=".json",
    layout="lines",
    loses=(
        "memories",
        "title, tags, summaries, feedback, links, tools and requests",
        "whose it is, where it ran but for the folder, and when it ended",
        "that it began later than its first entry",
        "that only the prompts are known",
        "system messages",
        "events other than queue operations, token counts and steps, and their data",
        "parents and branches",
        "tokens and cost of messages",
        "the models of single messages",
        "which messages are hidden, in a side chain or of one response, and why they end",
        "whose the parts are that a source keeps apart, and media and files among them",
        "how content is to be read: it is there as the source had it",
        "what only the source has a field for",
        "ids that no source gave, and names of sources that nobody reads",
    ),
    is_native=True,
    evidence="draft-birkholz-verifiable-agent-conversations-00 and its CDDL, February 2026",
)
_EVENTS = frozenset({"queue-operation", "token-count", "step-start", "step-finish"})
_USUAL = RecordForm()


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one record, in the bytes that are signed; a line feed is between two."""
    between = b""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
            continue
        data = canonical_json.encode(record(item, run))
        out.write(between)
        out.write(data)
        between = b"\n"


def record(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The record of a conversation; what it has no entry for is noted."""
    form = run.record_forms.get(conversation.source, _USUAL)
    began = start(conversation)
    session = {
        "format": "interactive",
        "session-id": conversation.id,
        "session-start": began,
        "agent-meta": agent_meta(conversation, form, run),
        "environment": None if conversation.cwd is None else {"working-dir": conversation.cwd},
        "entries": _Entries(conversation, form).told(run),
    }
    whole = {
        "version": VERSION,
        "id": conversation.id,
        "created": began,
        "session": without_nulls(session),
        "recording-agent": recording_agent(run) | _redactions(conversation),
    }
    return without_nulls(whole)


def _redactions(conversation: Conversation) -> dict[str, Any]:
    """What the recorder replaced before anybody can sign it."""
    stated = conversation.extra.get(RECORDED)
    return {RECORDED: stated} if stated.__class__ is dict else {}


class _Entries:
    """Makes the entries of a conversation, and counts what there is none for."""

    def __init__(self, conversation: Conversation, form: RecordForm) -> None:
        self._conversation = conversation
        self._form = form
        self._left_out: Counter[str] = Counter()
        # A message whose parts are entries of their own follows them; some of them are events.
        self._open: tuple[str, dict[str, Any]] | None = None

    def told(self, run: Run) -> list[dict[str, Any]]:
        """All entries, in the order of the timeline."""
        entries: list[dict[str, Any]] = []
        for entry in self._conversation.timeline:
            if isinstance(entry, Event):
                entries.extend(self._event(entry))
            else:
                entries.extend(self._said(entry))
        entries.extend(self._closed())
        for what, count in sorted(self._left_out.items()):
            run.cannot_say(self._conversation, "", f"{count} × {what}")
        return entries

    def _closed(self) -> Iterator[dict[str, Any]]:
        if self._open is not None:
            yield self._open[1]
            self._open = None

    def _event(self, event: Event) -> Iterator[dict[str, Any]]:
        is_part = bool(self._form.part_of)
        if self._open is not None and event.data.get(self._form.part_of) != self._open[0]:
            yield from self._closed()
        echo = echoed(event, self._form)
        if event.name in _EVENTS:
            entry = {"type": "system-event", "event-type": event.name}
            counts = token_counts(event, self._form)
            yield entry | ({} if is_part else _place(event)) | ({"token-usage": counts} if counts else {})
        elif echo is not None:
            yield {"type": echo[0], "content": echo[1]} | _place(event)
        elif is_part and event.name == PATCH:
            diff = event.data.get("diff", "")
            yield {"type": "tool-result", "output": diff, "status": "success"} | _id(event)
        else:
            self._left_out[f"event {event.name}"] += 1

    def _said(self, message: Message) -> Iterator[dict[str, Any]]:
        role = self._form.system_as if message.role == "system" else message.role
        if role == "tool":
            yield from self._tool_entries(message)
        elif not role:
            self._left_out["system message"] += 1
        elif is_separate(message, self._form):
            yield from self._placed(list(self._children(message)), message)
        elif self._form.separate and message.native is None and not message.parts:
            self._left_out["message that says nothing"] += 1
        elif self._form.part_of:
            yield from self._closed()
            yield from self._beside(message, role)
            self._open = (message.id, {"type": role} | _time(message.at))
        else:
            yield self._message(message, role)

    def _message(self, message: Message, role: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": role} | _place(message)
        content = content_of(message)
        if content is not None:
            entry["content"] = content
        if self._form.names_models and role == "assistant" and message.model:
            entry["model-id"] = message.model
        children = [] if self._form.told_once and is_told(message) else list(self._children(message))
        if children:
            entry["children"] = children
        return entry

    def _children(self, message: Message) -> Iterator[dict[str, Any]]:
        native = message.native
        # Where a source has blocks, each part was made of one of them.
        blocks = native if isinstance(native, list) and len(native) == len(message.parts) else message.parts
        call: ToolCall | None = None
        for part, block in zip(message.parts, blocks, strict=True):
            match part:
                case ToolCall():
                    call = part
                    yield _call(_as_made(part, native)) | self._moment(call, self._form.call_at, message)
                case ToolResult():
                    yield self._result(part, block) | self._moment(call, self._form.answer_at, message)
                case Reasoning():
                    yield _reasoning(part)

    def _moment(self, call: ToolCall | None, place: tuple[str, ...], message: Message) -> dict[str, Any]:
        """When a tool was called, or answered, where the source says so."""
        if not place:
            return {}
        stated = None if call is None else timestamps.moment(value_at(call.extra, place))
        return _time(stated if stated or self._form.part_of else message.at)

    def _result(self, result: ToolResult, block: Any) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "tool-result"}
        if result.call_id is not None:
            entry["call-id"] = result.call_id
        native = result.native
        if native is None and isinstance(block, dict):
            native = block.get("content")
        entry["output"] = answered(result.output) if native is None else native
        return entry | without_nulls({"status": self._status(result)})

    def _status(self, result: ToolResult) -> str | None:
        """How a call went: in the source's own word where records of it have that."""
        stated = result.extra.get("status")
        is_derived = "status" in self._form.derived
        if is_derived or (self._form.own_status and (isinstance(stated, str) or result.is_error is None)):
            return stated if isinstance(stated, str) else None
        return "error" if result.is_error else "success"

    def _beside(self, message: Message, role: str) -> Iterator[dict[str, Any]]:
        """The parts of a message as entries of their own."""
        call: ToolCall | None = None
        for part in message.parts:
            match part:
                case Text():
                    yield {"type": role, "content": part.text} | _id(part)
                case Reasoning():
                    yield {"type": "reasoning", "content": part.text or ""} | _id(part)
                case ToolCall():
                    if open_call := unanswered(call, self._form):
                        yield open_call
                    call = part
                    yield _call(part) | _id(part) | self._moment(part, self._form.call_at, message)
                case ToolResult():
                    yield self._result(part, None) | self._moment(call, self._form.answer_at, message)
                    call = None
                case _:
                    self._left_out[f"{type(part).__name__.lower()} of a message"] += 1
        if open_call := unanswered(call, self._form):
            yield open_call

    def _tool_entries(self, message: Message) -> list[dict[str, Any]]:
        """What a tool said, as entries: the draft's messages are the user's and the assistant's."""
        entries = list(self._children(message))
        said: list[Part] = [part for part in message.parts if not isinstance(part, DEEDS)]
        if not entries and message.native is not None:
            entries.append({"type": "tool-result", "output": message.native})
        elif said or not entries:
            output = of_parts(said)
            entries.append({"type": "tool-result", "output": "" if output is None else output})
        return self._placed(entries, message)

    def _placed(self, entries: list[dict[str, Any]], message: Message) -> list[dict[str, Any]]:
        """Entries that a message is, each with its place."""
        place = _place(message)
        if len(entries) > 1:
            place.pop("id", None)  # an id names one entry
        return [entry | place for entry in entries]


def _place(entry: Message | Event) -> dict[str, Any]:
    return _time(entry.at) | ({} if entry.made_id else {"id": entry.id})


def _time(at: str | None) -> dict[str, Any]:
    return without_nulls({"timestamp": timestamps.moment(at)})


def _id(part: Text | Reasoning | ToolCall | Event) -> dict[str, Any]:
    """The id of something that is a record of its own in the source."""
    if isinstance(part, Event):
        return {} if part.made_id else {"id": part.id}
    stated = part.extra.get("id")
    return {"id": stated} if isinstance(stated, str) else {}


def _as_made(call: ToolCall, native: Any) -> ToolCall:
    """A call as the source has it, of which a reader may have told some words as what was said."""
    blocks = [block for block in native if isinstance(block, dict)] if isinstance(native, list) else []
    made = next((block for block in blocks if call.call_id and block.get("id") == call.call_id), {})
    given, stated = call.input, made.get("input")
    is_more = isinstance(given, dict) and isinstance(stated, dict) and given.keys() < stated.keys()
    return replace(call, input=stated) if is_more else call


def _call(call: ToolCall) -> dict[str, Any]:
    entry = {
        "type": "tool-call",
        "name": call.name or UNKNOWN,
        "input": {} if call.input is None else call.input,
    }
    return entry | without_nulls({"call-id": call.call_id})


def _reasoning(reasoning: Reasoning) -> dict[str, Any]:
    text = reasoning.summary if reasoning.text is None else reasoning.text
    entry = {"type": "reasoning", "content": text or ""}
    subject = reasoning.extra.get("subject")
    stated = {"encrypted": reasoning.encrypted, "subject": subject if isinstance(subject, str) else None}
    return entry | without_nulls(stated)
