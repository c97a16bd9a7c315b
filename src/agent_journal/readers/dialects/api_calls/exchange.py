"""One call of a chat API: what was sent, what came back, and everything else that is known about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.model import Bag
from agent_journal.notes import Kind
from agent_journal.readers.dialects import google_contents
from agent_journal.readers.dialects.api_calls.answer import Answer, session_of
from agent_journal.readers.dialects.api_calls.dialects import (
    CLAUDE,
    CONVERSE,
    GEMINI,
    RESPONSES,
    SYSTEM_PLACE,
    Dialect,
)

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields

_SYSTEM_ROLES = ("system", "developer")
SYSTEM_TAIL = "system"
# What a response of the Responses API repeats of its request.
_REPEATED = ("instructions", "tools")


class Sent(Struct, frozen=True, gc=False):
    """A message of a request: its place in the list it is from, and what it is."""

    place: int
    raw: Any
    dialect: Dialect
    tail: str = ""
    """How its id ends, if not with its place."""


class Prompt(Struct, frozen=True, gc=False):
    """The messages of a request, as they are; those that lead the list may be its system prompts instead."""

    messages: list[Any]
    first: int = 0
    """The place of the first of them in the list they are from."""


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
    prompt: Prompt
    tools: list[Any]
    answer: Answer
    error: Any
    extra: Bag
    after: str | None = None
    """The id of the response that it goes on from, where a request sends only what is new."""
    session: str | None = None
    """The id of the dialogue, where the service keeps it and a request sends only what is new."""
    ended_at: str | None = None
    """When the answer was there, if the source states it; else the duration tells."""


def messages(request: Fields, dialect: Dialect) -> tuple[list[Sent], Prompt]:
    """System prompts and the rest of what the body of a request sends."""
    if not request.has(dialect.field):
        keys = ", ".join(sorted(request.rest()))
        request.note(Kind.UNKNOWN_TYPE, request.where, f"a request without {dialect.field}: {keys[:80]}")
    system = system_prompts(request, dialect)
    listed = _listed(request, dialect)
    leading = _leading(listed) if dialect.has_system_messages else 0
    if not leading:
        return system, Prompt(listed)
    system += [Sent(place, raw, dialect, SYSTEM_TAIL) for place, raw in enumerate(listed[:leading])]
    return system, Prompt(listed[leading:], leading)


def offered(request: Fields, dialect: Dialect) -> list[Any]:
    """The definitions of the tools that a request offers, one by one."""
    if dialect is CONVERSE:
        return _offered_by(request.nested("toolConfig"))
    if dialect is GEMINI and request.look("tools").__class__ is dict:  # one alone is taken, too
        return google_contents.declared([request.take("tools")])
    listed = request.items("tools") or []
    return google_contents.declared(listed) if dialect is GEMINI else listed


def _offered_by(config: Fields | None) -> list[Any]:
    """The tools of a configuration; what else it says stays."""
    return [] if config is None else config.items("tools") or []


def take_repeated(answered: Answer, request: Fields) -> None:
    """What an answer repeats of its request is told once; where the request is not there, by the answer."""
    extra = answered.extra
    for name in _REPEATED if answered.is_chain and extra.__class__ is dict else ():
        if extra.get(name) and not request.has(name):
            request.keep(name, extra.pop(name))
        elif name in extra and extra[name] == request.look(name):
            del extra[name]


def begun(request: Fields, answered: Answer, dialect: Dialect) -> tuple[str | None, str | None]:
    """The response that a request goes on from, and the dialogue that the service keeps; both are left."""
    if dialect is not RESPONSES:
        return None, None
    after = request.look("previous_response_id")
    session = session_of(request.look("conversation"))
    return after if after.__class__ is str and after else answered.after, session or answered.session


def _listed(request: Fields, dialect: Dialect) -> list[Any]:
    """The messages; the newer APIs take one alone, too."""
    value = request.look(dialect.field)
    if dialect.field != "messages" and value.__class__ in (str, dict):
        return [request.take(dialect.field)]
    return request.items(dialect.field) or []


def system_prompts(request: Fields, dialect: Dialect) -> list[Sent]:
    """The system prompt beside the messages, in whichever way; another type of it stays."""
    found: list[Sent] = []
    names = dialect.system_fields if "system" in dialect.system_fields else ("system", *dialect.system_fields)
    for name in names:
        if not request.has(name):
            continue
        value = request.look(name)
        if value.__class__ is str or (value.__class__ is dict and dialect is GEMINI):
            request.drop(name)
        else:
            value = request.items(name)
        if value:
            found += [Sent(SYSTEM_PLACE, *one, SYSTEM_TAIL) for one in _prompts(value, dialect)]
    return found


def _prompts(value: Any, dialect: Dialect) -> list[tuple[Any, Dialect]]:
    """A system prompt as the messages it is: a text or blocks, a content, or items."""
    if value.__class__ is dict:
        return [({**value, "role": "system"}, dialect)]
    if value.__class__ is list and dialect is RESPONSES:
        return [(item, dialect) for item in value]
    return [({"role": "system", "content": value}, dialect if dialect is CONVERSE else CLAUDE)]


def _leading(listed: list[Any]) -> int:
    """How many system messages the list begins with."""
    for count, raw in enumerate(listed):
        if raw.__class__ is not dict or raw.get("role") not in _SYSTEM_ROLES:
            return count
    return len(listed)
