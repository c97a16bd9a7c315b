"""Converts one record of a trace: its request, its response, and its other fields."""

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
    """Convert a record with a request or a response; the record is consumed."""
    fields = Fields(record, note, where)
    answer = _answer(fields)
    error = fields.take("error") or answer.error
    has_request = fields.has("request")
    request = Fields(fields.take("request") if has_request else {}, note, where)
    take_repeated(answer, request)
    if has_request:
        system, prompt = take_messages(request, dialect)
    else:
        system, prompt = take_system_prompts(request, dialect), Prompt([])
    after, session = find_continued(request, answer, dialect)
    result = Exchange(
        index=index,
        location=where,
        dialect=dialect,
        id=fields.text("id") or None,
        at=fields.timestamp("timestamp"),
        duration_ms=fields.number("duration_ms"),
        model=request.text("model") or request.text("modelId") or (None if has_request else answer.model),
        system=system,
        prompt=prompt,
        tools=take_tools(request, dialect),
        answer=answer,
        error=error,
        extra=fields.rest(),
        after=after,
        session=session,
        ended_at=fields.timestamp("ended_at"),
    )
    if rest := request.rest():
        result.extra["request"] = rest
    if answer.extra:
        result.extra["response"] = answer.extra
    return result


def _answer(fields: Fields) -> Answer:
    if not fields.has("response"):
        return NO_ANSWER
    response = fields.take("response")
    if not response and fields.view("error"):
        return NO_ANSWER
    return parse_answer(response, fields.note, fields.where)
