"""Batches: what was ordered and what came back, in one file or two, put together by the client's own names.

OpenAI's and Anthropic's name is `custom_id`, Gemini's `key`. Verified November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers.api_trace.detect import CHAT_URLS, is_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes

Record: TypeAlias = dict[str, Any]

_NAMES = ("custom_id", "key")
CLAUDE = "claude"
_SUCCEEDED = "succeeded"
# When an answer was made, by any of the APIs.
_TIMES = ("completed_at", "created_at", "created", "createTime")


class Call(NamedTuple):
    """A call: where it is, as a record of a trace, and the dialect, if that is known from around it."""

    where: str
    record: Record
    api: str | None = None


class Batch:
    """Takes lines in any order; each name is one call."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._others: list[Call] = []

    def add(self, where: str, line: Record, note: Notes) -> None:
        """Take in a line of either kind."""
        url = line.get("url")
        if url.__class__ is str and not url.endswith(CHAT_URLS):
            note(Kind.BAD_RECORD, where, f"a call of {url[:60]}, which is no chat")
            return
        fields = Fields(line, note, where)
        api = CLAUDE if "params" in line or "result" in line else None
        name = next((line.pop(key) for key in _NAMES if line.get(key).__class__ is str), None)
        told = _order(fields) if is_order(line) else _result(fields)
        if rest := fields.rest():
            told["batch"] = rest
        if name is None:
            self._others.append(Call(where, told, api))
        elif name not in self._calls:
            self._calls[name] = Call(where, {"id": name, **told}, api)
        elif self._calls[name].record.keys() & told.keys() - {"batch"}:
            self._others.append(Call(where, {"id": name, **told}, api))  # the same name for another call
        else:
            known = self._calls[name].record
            batch = {**known.get("batch", {}), **told.pop("batch", {})}
            known.update(told, **({"batch": batch} if batch else {}))

    def calls(self) -> Iterator[Call]:
        """Each call, in the order in which the names were first met."""
        for call in (*self._calls.values(), *self._others):
            at = made_at(call.record.get("response") or {})
            yield call if at is None else call._replace(record={**call.record, "ended_at": at})


def made_at(body: Record) -> Any:
    """When an answer was made, if it says so."""
    return next((body[key] for key in _TIMES if body.get(key)), None)


def _order(fields: Fields) -> Record:
    name = next(key for key in ("body", "params", "request") if fields.look(key).__class__ is dict)
    return {"request": fields.take(name)}


def _result(fields: Fields) -> Record:
    """The answer, or why there is none."""
    told: Record = {}
    if fields.look("result").__class__ is dict:
        result = fields.nested("result")
        if result is not None:
            _end(result, told)
        return told
    if error := fields.take("error"):
        told["error"] = error
    response = fields.look("response")
    if response.__class__ is dict and response.get("body").__class__ is dict:
        envelope = fields.nested("response")
        told["response"] = {} if envelope is None else envelope.take("body")
    elif response.__class__ is dict:
        told["response"] = fields.take("response")
    elif response is None:
        fields.drop("response")
    return told


def _end(result: Fields, told: Record) -> None:
    """How one of Anthropic's calls ended: `succeeded`, `errored`, `canceled` or `expired`."""
    kind = result.look("type")
    if kind == _SUCCEEDED and result.look("message").__class__ is dict:
        result.drop("type")
        told["response"] = result.take("message")
    else:
        told["error"] = result.take("error") or {"type": result.take("type")}
