"""One record of a trace: what was sent, what came back, and everything else it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.readers.dialects.api_calls.answer import NO_ANSWER, Answer, parse_answer
from agent_journal.readers.dialects.api_calls.exchange import (
    Exchange,
    Prompt,
    find_continued,
    take_messages,
    take_repeated,
    take_system_prompts,
    take_tools,
)

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.api_calls.dialects import Dialect


def exchange(record: dict[str, Any], index: int, dialect: Dialect, note: Notes, where: str) -> Exchange:
    """A record with a request or a response, taken apart. The record is used up."""
    fields = Fields(record, note, where)
    answered = _answer(fields)
    error = fields.take("error") or answered.error
    is_known = fields.has("request")
    request = Fields(fields.take("request") if is_known else {}, note, where)
    take_repeated(answered, request)
    if is_known:
        system, prompt = take_messages(request, dialect)
    else:
        system, prompt = take_system_prompts(request, dialect), Prompt([])
    after, session = find_continued(request, answered, dialect)
    taken = Exchange(
        index=index,
        location=where,
        dialect=dialect,
        id=fields.text("id") or None,
        at=fields.moment("timestamp"),
        duration_ms=fields.number("duration_ms"),
        model=request.text("model") or request.text("modelId") or (None if is_known else answered.model),
        system=system,
        prompt=prompt,
        tools=take_tools(request, dialect),
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
        return NO_ANSWER
    response = fields.take("response")
    if not response and fields.look("error"):
        return NO_ANSWER
    return parse_answer(response, fields.note, fields.where)
