"""One record of a trace: what was sent, what came back, and everything else it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.fields import Fields
from agent_journal.readers._api_calls.answer import NOTHING, Answer, answer, session_of
from agent_journal.readers._api_calls.dialects import RESPONSES
from agent_journal.readers._api_calls.exchange import Exchange, messages, offered, system_prompts

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers._api_calls.dialects import Dialect

# What a response of the Responses API repeats of its request.
_REPEATED = ("instructions", "tools")


def exchange(record: dict[str, Any], index: int, dialect: Dialect, note: Notes, where: str) -> Exchange:
    """A record with a request or a response, taken apart. The record is used up."""
    fields = Fields(record, note, where)
    answered = _answer(fields)
    error = fields.take("error") or answered.error
    is_known = fields.has("request")
    request = Fields(fields.take("request") if is_known else {}, note, where)
    _take_repeated(answered, request)
    system, prompt = messages(request, dialect) if is_known else (system_prompts(request, dialect), [])
    after, session = _begun(request, answered) if dialect is RESPONSES else (None, None)
    taken = Exchange(
        index=index,
        where=where,
        dialect=dialect,
        id=fields.text("id") or None,
        at=fields.moment("timestamp"),
        duration_ms=fields.number("duration_ms"),
        model=request.text("model") or (None if is_known else answered.model),
        system=system,
        prompt=prompt,
        tools=offered(request, dialect),
        answer=answered,
        error=error,
        extra=fields.rest(),
        after=after,
        session=session,
        ended_at=fields.moment("ended_at"),
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


def _take_repeated(answered: Answer, request: Fields) -> None:
    """What an answer repeats of its request is told once; where the request is not there, by the answer."""
    extra = answered.extra
    for name in _REPEATED if answered.is_chain and extra.__class__ is dict else ():
        if extra.get(name) and not request.has(name):
            request.keep(name, extra.pop(name))
        elif name in extra and extra[name] == request.look(name):
            del extra[name]


def _begun(request: Fields, answered: Answer) -> tuple[str | None, str | None]:
    """The response that a request goes on from, and the dialogue that the service keeps; both are left."""
    after = request.look("previous_response_id")
    session = session_of(request.look("conversation"))
    return after if after.__class__ is str and after else answered.after, session or answered.session
