"""One record of a trace: what was sent, what came back, and everything else it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.fields import Fields
from agent_journal.readers._api_calls.answer import NOTHING, Answer, answer
from agent_journal.readers._api_calls.exchange import Exchange, messages

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers._api_calls.dialects import Dialect


def exchange(record: dict[str, Any], index: int, dialect: Dialect, note: Notes, where: str) -> Exchange:
    """A record with a request, taken apart. The record is used up."""
    fields = Fields(record, note, where)
    answered = _answer(fields)
    error = fields.take("error") or answered.error
    request = Fields(fields.take("request"), note, where)
    system, prompt = messages(request, dialect)
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
