"""Batches: requests and results, in one file or two, joined by the client's ids.

OpenAI and Anthropic call the id `custom_id`, Gemini `key`. Verified November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers.api_trace.detect import CHAT_URLS, is_request_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes

Record: TypeAlias = dict[str, Any]

_ID_FIELDS = ("custom_id", "key")
CLAUDE = "claude"
_SUCCEEDED = "succeeded"
# Fields with the time of an answer, in any of the APIs.
_TIME_FIELDS = ("completed_at", "created_at", "created", "createTime")


class Call(NamedTuple):
    """A call as a record of a trace, with its location and, if its context shows it, its dialect."""

    where: str
    record: Record
    api: str | None = None


class Batch:
    """Joins the lines of a batch, which come in any order; each id is one call."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._others: list[Call] = []

    def add(self, where: str, line: Record, note: Notes) -> None:
        """Add a request or result line."""
        url = line.get("url")
        if url.__class__ is str and not url.endswith(CHAT_URLS):
            note(Kind.BAD_RECORD, where, f"a call of {url[:60]}, which is no chat")
            return
        fields = Fields(line, note, where)
        api = CLAUDE if "params" in line or "result" in line else None
        call_id = next((line.pop(key) for key in _ID_FIELDS if line.get(key).__class__ is str), None)
        record = _request(fields) if is_request_line(line) else _result(fields)
        if rest := fields.rest():
            record["batch"] = rest
        if call_id is None:
            self._others.append(Call(where, record, api))
        elif call_id not in self._calls:
            self._calls[call_id] = Call(where, {"id": call_id, **record}, api)
        elif self._calls[call_id].record.keys() & record.keys() - {"batch"}:
            self._others.append(Call(where, {"id": call_id, **record}, api))  # another call with the same id
        else:
            joined = self._calls[call_id].record
            batch = {**joined.get("batch", {}), **record.pop("batch", {})}
            joined.update(record, **({"batch": batch} if batch else {}))

    def calls(self) -> Iterator[Call]:
        """Yield each call, in the order in which the ids first occurred."""
        for call in (*self._calls.values(), *self._others):
            ended_at = answer_time(call.record.get("response") or {})
            if ended_at is None:
                yield call
            else:
                yield call._replace(record={**call.record, "ended_at": ended_at})


def answer_time(body: Record) -> Any:
    """Get the stated time of an answer, if there is one."""
    return next((body[key] for key in _TIME_FIELDS if body.get(key)), None)


def _request(fields: Fields) -> Record:
    name = next(key for key in ("body", "params", "request") if fields.view(key).__class__ is dict)
    return {"request": fields.take(name)}


def _result(fields: Fields) -> Record:
    """Get the answer, or the error."""
    record: Record = {}
    if fields.view("result").__class__ is dict:
        result = fields.nested("result")
        if result is not None:
            _add_anthropic_result(result, record)
        return record
    if error := fields.take("error"):
        record["error"] = error
    response = fields.view("response")
    if response.__class__ is dict and response.get("body").__class__ is dict:
        envelope = fields.nested("response")
        record["response"] = {} if envelope is None else envelope.take("body")
    elif response.__class__ is dict:
        record["response"] = fields.take("response")
    elif response is None:
        fields.drop("response")
    return record


def _add_anthropic_result(result: Fields, record: Record) -> None:
    """Add the result of a call to Anthropic: `succeeded`, `errored`, `canceled` or `expired`."""
    kind = result.view("type")
    if kind == _SUCCEEDED and result.view("message").__class__ is dict:
        result.drop("type")
        record["response"] = result.take("message")
    else:
        record["error"] = result.take("error") or {"type": result.take("type")}
