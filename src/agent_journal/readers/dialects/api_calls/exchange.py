"""One call of a chat API: its request, its answer, and everything else known about it."""

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
    SYSTEM_INDEX,
    Dialect,
)

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields

_SYSTEM_ROLES = ("system", "developer")
SYSTEM_TAIL = "system"
# Fields of the request that a response of the Responses API repeats.
_REPEATED_FIELDS = ("instructions", "tools")


class Sent(Struct, frozen=True, gc=False):
    """A message of a request and its index in the list of messages."""

    place: int
    raw: Any
    dialect: Dialect
    tail: str = ""
    """The end of its id, if not its index."""


class Prompt(Struct, frozen=True, gc=False):
    """The original messages of a request, without leading system prompts."""

    messages: list[Any]
    first: int = 0
    """The index of the first of them in the request's list."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A request and its parsed answer; the messages of the request are not converted yet."""

    index: int
    location: str
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
    """The id of the response that it continues, if the request only sends new messages."""
    session: str | None = None
    """The id of a dialogue stored by the service, if the request only sends new messages."""
    ended_at: str | None = None
    """The time of the answer, if the source states it; else it follows from the duration."""


def take_messages(request: Fields, dialect: Dialect) -> tuple[list[Sent], Prompt]:
    """Take the system prompts and the other messages of a request."""
    if not request.has(dialect.field):
        keys = ", ".join(sorted(request.rest()))
        request.note(Kind.UNKNOWN_TYPE, request.where, f"a request without {dialect.field}: {keys[:80]}")
    system = take_system_prompts(request, dialect)
    all_messages = _take_messages(request, dialect)
    leading_count = _count_leading_system_messages(all_messages) if dialect.has_system_messages else 0
    if not leading_count:
        return system, Prompt(all_messages)
    system += [
        Sent(index, raw, dialect, SYSTEM_TAIL) for index, raw in enumerate(all_messages[:leading_count])
    ]
    return system, Prompt(all_messages[leading_count:], leading_count)


def take_tools(request: Fields, dialect: Dialect) -> list[Any]:
    """Take the definitions of the tools that a request offers."""
    if dialect is CONVERSE:
        return _take_configured_tools(request.nested("toolConfig"))
    if dialect is GEMINI and request.view("tools").__class__ is dict:  # the API also accepts a single object
        return google_contents.flatten_tools([request.take("tools")])
    listed = request.items("tools") or []
    return google_contents.flatten_tools(listed) if dialect is GEMINI else listed


def _take_configured_tools(config: Fields | None) -> list[Any]:
    """Take the tools of a configuration; its other fields stay."""
    return [] if config is None else config.items("tools") or []


def take_repeated(answer: Answer, request: Fields) -> None:
    """Move fields that an answer repeats to the request, or drop them if the request has the same."""
    extra = answer.extra
    for name in _REPEATED_FIELDS if answer.is_chain and extra.__class__ is dict else ():
        if extra.get(name) and not request.has(name):
            request.keep(name, extra.pop(name))
        elif name in extra and extra[name] == request.view(name):
            del extra[name]


def find_continued(request: Fields, answered: Answer, dialect: Dialect) -> tuple[str | None, str | None]:
    """Return the response that a request continues and the dialogue stored by the service; both stay."""
    if dialect is not RESPONSES:
        return None, None
    after = request.view("previous_response_id")
    session = session_of(request.view("conversation"))
    return after if after.__class__ is str and after else answered.after, session or answered.session


def _take_messages(request: Fields, dialect: Dialect) -> list[Any]:
    """Take the messages; the newer APIs also accept a single one."""
    value = request.view(dialect.field)
    if dialect.field != "messages" and value.__class__ in (str, dict):
        return [request.take(dialect.field)]
    return request.items(dialect.field) or []


def take_system_prompts(request: Fields, dialect: Dialect) -> list[Sent]:
    """Take the system prompt outside of the messages in any form; a value of another type stays."""
    prompts: list[Sent] = []
    names = dialect.system_fields if "system" in dialect.system_fields else ("system", *dialect.system_fields)
    for name in names:
        if not request.has(name):
            continue
        value = request.view(name)
        if value.__class__ is str or (value.__class__ is dict and dialect is GEMINI):
            request.drop(name)
        else:
            value = request.items(name)
        if value:
            prompts += [
                Sent(SYSTEM_INDEX, *message, SYSTEM_TAIL) for message in _to_system_messages(value, dialect)
            ]
    return prompts


def _to_system_messages(value: Any, dialect: Dialect) -> list[tuple[Any, Dialect]]:
    """Convert a system prompt to messages: from a text or blocks, a content, or items."""
    if value.__class__ is dict:
        return [({**value, "role": "system"}, dialect)]
    if value.__class__ is list and dialect is RESPONSES:
        return [(item, dialect) for item in value]
    return [({"role": "system", "content": value}, dialect if dialect is CONVERSE else CLAUDE)]


def _count_leading_system_messages(messages: list[Any]) -> int:
    """Count the system messages at the beginning of a list."""
    for count, raw in enumerate(messages):
        if raw.__class__ is not dict or raw.get("role") not in _SYSTEM_ROLES:
            return count
    return len(messages)
