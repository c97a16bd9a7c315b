"""One call of a chat API: what was sent, what came back, and everything else that is known about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from agent_journal.model import Bag
from agent_journal.notes import Kind
from agent_journal.readers._api_calls.answer import Answer
from agent_journal.readers._api_calls.dialects import CLAUDE, Dialect

if TYPE_CHECKING:
    from agent_journal.fields import Fields

_SYSTEM_ROLES = ("system", "developer")
SYSTEM_TAIL = "system"


class Sent(NamedTuple):
    """A message of a request: its place in the list it is from, what it is, and how its id ends."""

    place: int
    raw: Any
    dialect: Dialect
    tail: str


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
    ended_at: str | None = None
    """When the answer was there, if the source states it; else the duration tells."""


def messages(request: Fields, dialect: Dialect) -> tuple[list[Sent], list[Sent]]:
    """System prompts and the rest of what the body of a request sends."""
    if not request.has("messages"):
        keys = ", ".join(sorted(request.rest()))
        request.note(Kind.UNKNOWN_TYPE, request.where, f"a request without messages: {keys[:80]}")
    system = _system_field(request)
    prompt = [
        Sent(place, raw, dialect, str(place)) for place, raw in enumerate(request.items("messages") or ())
    ]
    if dialect.has_system_messages:
        leading = _leading(prompt)
        system += [sent._replace(tail=SYSTEM_TAIL) for sent in prompt[:leading]]
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
    return [Sent(-1, {"role": "system", "content": value}, CLAUDE, SYSTEM_TAIL)] if value else []


def _leading(prompt: list[Sent]) -> int:
    """How many system messages the list begins with."""
    for count, sent in enumerate(prompt):
        if sent.raw.__class__ is not dict or sent.raw.get("role") not in _SYSTEM_ROLES:
            return count
    return len(prompt)
