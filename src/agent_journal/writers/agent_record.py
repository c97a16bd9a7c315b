"""Verifiable agent records, 3.0.0-draft, unsigned: one record per conversation and line.

This is the basic profile: messages with their native content, tool calls, tool results and reasoning as
children, and a few events. Parents, token usage and models of single messages are omitted.
"""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Event, Memory, Reasoning, Text, ToolCall, ToolResult, timestamps
from agent_journal.model.content_blocks import ACTIONS, content_of, of_parts, output_as_json
from agent_journal.model.spilled import load_spilled
from agent_journal.records import canonical_json
from agent_journal.records.forms import PATCH, UNKNOWN, VERSION, RecordForm
from agent_journal.redaction import REDACTIONS_KEY
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_records import (
    agent_meta,
    echoed_text,
    is_content_complete,
    is_separate,
    missing_result,
    recording_agent,
    started_at,
    token_counts,
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
        "account, environment other than the folder, and end time",
        "a stated start time later than the first entry",
        "the fact that only the prompts are known",
        "system messages",
        "events other than queue operations, token counts and steps; event data",
        "parents and branches",
        "token usage and cost of messages",
        "models of single messages",
        "hidden and side-chain flags, response ids and stop reasons of messages",
        "the message of separate parts, and media and files among these",
        "the interpretation of content, which is in native form",
        "source-specific fields",
        "generated ids, and names of sources without a reader",
    ),
    is_native=True,
    evidence="draft-birkholz-verifiable-agent-conversations-00 and its CDDL, February 2026",
)
_DRAFT_EVENTS = frozenset({"queue-operation", "token-count", "step-start", "step-finish"})
_DEFAULT_FORM = RecordForm()


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one record, in the bytes that are signed, separated by line feeds."""
    separator = b""
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no conversation")
            continue
        data = canonical_json.encode(record(load_spilled(item), run))
        out.write(separator)
        out.write(data)
        separator = b"\n"


def record(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The record of a conversation; notes what it cannot represent."""
    form = run.record_forms.get(conversation.source, _DEFAULT_FORM)
    started = started_at(conversation)
    session = {
        "format": "interactive",
        "session-id": conversation.id,
        "session-start": started,
        "agent-meta": agent_meta(conversation, form, run),
        "environment": None if conversation.cwd is None else {"working-dir": conversation.cwd},
        "entries": _Entries(conversation, form).build(run),
    }
    document = {
        "version": VERSION,
        "id": conversation.id,
        "created": started,
        "session": without_nulls(session),
        "recording-agent": recording_agent(run) | _redactions(conversation),
    }
    return without_nulls(document)


def _redactions(conversation: Conversation) -> dict[str, Any]:
    """The redactions that were made before signing."""
    stated = conversation.extra.get(REDACTIONS_KEY)
    return {REDACTIONS_KEY: stated} if stated.__class__ is dict else {}


class _Entries:
    """Builds the entries of a conversation, and counts what has no entry."""

    def __init__(self, conversation: Conversation, form: RecordForm) -> None:
        self._conversation = conversation
        self._form = form
        self._losses: Counter[str] = Counter()
        # A message follows its parts if these are separate entries; some of them are events.
        self._pending: tuple[str, dict[str, Any]] | None = None

    def build(self, run: Run) -> list[dict[str, Any]]:
        """All entries in the order of the timeline; notes the losses."""
        entries: list[dict[str, Any]] = []
        for entry in self._conversation.timeline:
            if isinstance(entry, Event):
                entries.extend(self._event(entry))
            else:
                entries.extend(self._message_entries(entry))
        entries.extend(self._flush_pending())
        for kind, count in sorted(self._losses.items()):
            run.note_not_preserved(self._conversation, "", f"{count} × {kind}")
        return entries

    def _flush_pending(self) -> Iterator[dict[str, Any]]:
        if self._pending is not None:
            yield self._pending[1]
            self._pending = None

    def _event(self, event: Event) -> Iterator[dict[str, Any]]:
        has_separate_parts = bool(self._form.part_of)
        if self._pending is not None and event.data.get(self._form.part_of) != self._pending[0]:
            yield from self._flush_pending()
        echo = echoed_text(event, self._form)
        if event.name in _DRAFT_EVENTS:
            entry = {"type": "system-event", "event-type": event.name}
            counts = token_counts(event, self._form)
            yield (
                entry
                | ({} if has_separate_parts else _position(event))
                | ({"token-usage": counts} if counts else {})
            )
        elif echo is not None:
            yield {"type": echo[0], "content": echo[1]} | _position(event)
        elif has_separate_parts and event.name == PATCH:
            diff = event.data.get("diff", "")
            yield {"type": "tool-result", "output": diff, "status": "success"} | _id(event)
        else:
            self._losses[f"event {event.name}"] += 1

    def _message_entries(self, message: Message) -> Iterator[dict[str, Any]]:
        role = self._form.system_as if message.role == "system" else message.role
        if role == "tool":
            yield from self._tool_entries(message)
        elif not role:
            self._losses["system message"] += 1
        elif is_separate(message, self._form):
            yield from self._with_position(list(self._children(message)), message)
        elif self._form.separate and message.native is None and not message.parts:
            self._losses["empty message"] += 1
        elif self._form.part_of:
            yield from self._flush_pending()
            yield from self._separate_entries(message, role)
            self._pending = (message.id, {"type": role} | _time(message.at))
        else:
            yield self._message(message, role)

    def _message(self, message: Message, role: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": role} | _position(message)
        content = content_of(message)
        if content is not None:
            entry["content"] = content
        if self._form.names_models and role == "assistant" and message.model:
            entry["model-id"] = message.model
        children = (
            [] if self._form.omits_repeats and is_content_complete(message) else list(self._children(message))
        )
        if children:
            entry["children"] = children
        return entry

    def _children(self, message: Message) -> Iterator[dict[str, Any]]:
        native = message.native
        # If the source has blocks, each part was read from one of them.
        blocks = native if isinstance(native, list) and len(native) == len(message.parts) else message.parts
        call: ToolCall | None = None
        for part, block in zip(message.parts, blocks, strict=True):
            match part:
                case ToolCall():
                    call = part
                    yield _call(_with_native_input(part, native)) | self._time_of_call(
                        call, self._form.call_at, message
                    )
                case ToolResult():
                    yield self._result(part, block) | self._time_of_call(call, self._form.answer_at, message)
                case Reasoning():
                    yield _reasoning(part)

    def _time_of_call(self, call: ToolCall | None, path: tuple[str, ...], message: Message) -> dict[str, Any]:
        """The time of a call or its result, if the source records it."""
        if not path:
            return {}
        stated = None if call is None else timestamps.parse_timestamp(value_at(call.extra, path))
        return _time(stated if stated or self._form.part_of else message.at)

    def _result(self, result: ToolResult, block: Any) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "tool-result"}
        if result.call_id is not None:
            entry["call-id"] = result.call_id
        native = result.native
        if native is None and isinstance(block, dict):
            native = block.get("content")
        entry["output"] = output_as_json(result.output) if native is None else native
        return entry | without_nulls({"status": self._status(result)})

    def _status(self, result: ToolResult) -> str | None:
        """The status of a call, in the source's own term if its records have one."""
        stated = result.extra.get("status")
        is_derived = "status" in self._form.derived
        if is_derived or (self._form.own_status and (isinstance(stated, str) or result.is_error is None)):
            return stated if isinstance(stated, str) else None
        return "error" if result.is_error else "success"

    def _separate_entries(self, message: Message, role: str) -> Iterator[dict[str, Any]]:
        """The parts of a message as separate entries."""
        call: ToolCall | None = None
        for part in message.parts:
            match part:
                case Text():
                    yield {"type": role, "content": part.text} | _id(part)
                case Reasoning():
                    yield {"type": "reasoning", "content": part.text or ""} | _id(part)
                case ToolCall():
                    if unanswered := missing_result(call, self._form):
                        yield unanswered
                    call = part
                    yield _call(part) | _id(part) | self._time_of_call(part, self._form.call_at, message)
                case ToolResult():
                    yield self._result(part, None) | self._time_of_call(call, self._form.answer_at, message)
                    call = None
                case _:
                    self._losses[f"{type(part).__name__.lower()} of a message"] += 1
        if unanswered := missing_result(call, self._form):
            yield unanswered

    def _tool_entries(self, message: Message) -> list[dict[str, Any]]:
        """A tool message as entries, as the draft has only messages of the user and the assistant."""
        entries = list(self._children(message))
        other_parts: list[Part] = [part for part in message.parts if not isinstance(part, ACTIONS)]
        if not entries and message.native is not None:
            entries.append({"type": "tool-result", "output": message.native})
        elif other_parts or not entries:
            output = of_parts(other_parts)
            entries.append({"type": "tool-result", "output": "" if output is None else output})
        return self._with_position(entries, message)

    def _with_position(self, entries: list[dict[str, Any]], message: Message) -> list[dict[str, Any]]:
        """The entries of a message, each with its time and, if there is only one, the id."""
        position = _position(message)
        if len(entries) > 1:
            position.pop("id", None)  # an id names one entry
        return [entry | position for entry in entries]


def _position(entry: Message | Event) -> dict[str, Any]:
    return _time(entry.at) | ({} if entry.made_id else {"id": entry.id})


def _time(at: str | None) -> dict[str, Any]:
    return without_nulls({"timestamp": timestamps.parse_timestamp(at)})


def _id(part: Text | Reasoning | ToolCall | Event) -> dict[str, Any]:
    """The id of a part or event that is a separate record in the source."""
    if isinstance(part, Event):
        return {} if part.made_id else {"id": part.id}
    stated = part.extra.get("id")
    return {"id": stated} if isinstance(stated, str) else {}


def _with_native_input(call: ToolCall, native: Any) -> ToolCall:
    """A call with its complete input: a reader may have moved some arguments into the text."""
    blocks = [block for block in native if isinstance(block, dict)] if isinstance(native, list) else []
    native_block = next((block for block in blocks if call.call_id and block.get("id") == call.call_id), {})
    read_input, native_input = call.input, native_block.get("input")
    is_larger = (
        isinstance(read_input, dict)
        and isinstance(native_input, dict)
        and read_input.keys() < native_input.keys()
    )
    return replace(call, input=native_input) if is_larger else call


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
