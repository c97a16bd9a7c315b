"""One record of a trace: what was sent, what came back, and everything else it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from agent_journal.fields import Fields
from agent_journal.model import Bag
from agent_journal.notes import Kind
from agent_journal.readers.api_trace.answer import NOTHING, Answer, answer
from agent_journal.readers.api_trace.dialects import CLAUDE, Dialect

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_SYSTEM_ROLES = ("system", "developer")


class Sent(NamedTuple):
    """A message of a request: its place in the list it is from, and what it is."""

    place: int
    raw: Any
    dialect: Dialect


class Exchange(Struct, frozen=True, kw_only=True):
    """A request and its answer, taken apart but not yet in the terms of the model."""

    index: int
    where: str
    dialect: Dialect
    id: str | None
    at: str | None
    duration_ms: int | float | None
    model: str | None
    system: list[Sent]
    prompt: list[Sent]
    tools: list[Any]
    answer: Answer
    error: Any
    extra: Bag


def exchange(record: dict[str, Any], index: int, dialect: Dialect, note: Notes, where: str) -> Exchange:
    """A record with a request, taken apart. The record is used up."""
    fields = Fields(record, note, where)
    answered = _answer(fields)
    error = fields.take("error") or answered.error
    request = Fields(fields.take("request"), note, where)
    system, prompt = _messages(request, dialect)
    taken = Exchange(
        index=index,
        where=where,
        dialect=dialect,
        id=fields.text("id") or None,
        at=fields.moment("timestamp"),
        duration_ms=fields.number("duration_ms"),
        model=request.text("model") or None,
        system=system,
        prompt=prompt,
        tools=request.items("tools") or [],
        answer=answered,
        error=error,
        extra=fields.rest(),
    )
    if rest := request.rest():
        taken.extra["request"] = rest
    if answered.extra:
        taken.extra["response"] = answered.extra
    return taken


def _answer(fields: Fields) -> Answer:
    if not fields.has("response"):
        return NOTHING
    response = fields.take("response")
    if not response and fields.look("error"):
        return NOTHING
    return answer(response, fields.note, fields.where)


def _messages(request: Fields, dialect: Dialect) -> tuple[list[Sent], list[Sent]]:
    """System prompts and the rest of what was sent."""
    if not request.has("messages"):
        keys = ", ".join(sorted(request.rest()))
        request.note(Kind.UNKNOWN_TYPE, request.where, f"a request without messages: {keys[:80]}")
    system = _system_field(request)
    prompt = [Sent(place, raw, dialect) for place, raw in enumerate(request.items("messages") or ())]
    if dialect.has_system_messages:
        leading = _leading(prompt)
        system += prompt[:leading]
        prompt = prompt[leading:]
    return system, prompt


def _system_field(request: Fields) -> list[Sent]:
    """The system prompt beside the messages, which is Claude's way; another type of it stays."""
    value = request.look("system")
    if value.__class__ is not str:
        value = request.items("system")
    else:
        request.drop("system")
    # The field has no place among the messages.
    return [Sent(-1, {"role": "system", "content": value}, CLAUDE)] if value else []


def _leading(prompt: list[Sent]) -> int:
    """How many system messages the list begins with."""
    for count, sent in enumerate(prompt):
        if sent.raw.__class__ is not dict or sent.raw.get("role") not in _SYSTEM_ROLES:
            return count
    return len(prompt)
