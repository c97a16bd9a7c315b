"""What came back: the messages of a response body, whichever dialect it is in, and what else it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers import _blocks_anthropic, _messages_openai, _sse
from agent_journal.readers._api_calls.dialects import CLAUDE, OPENAI, Dialect
from agent_journal.readers._messages_openai import Said

if TYPE_CHECKING:
    from agent_journal.model import Usage
    from agent_journal.notes import Notes


# What a stream holds that was noted when it was folded, and the flag that it is one.
_EXPLAINED = frozenset({"stream", "events", "sse_lines"})


class Reply(NamedTuple):
    """One answer: what it says, and the message as a next request would repeat it."""

    said: Said
    raw: Any = None
    dialect: Dialect = OPENAI
    stop_reason: str | None = None


class Answer(NamedTuple):
    """All that came back for one request; several replies are choices."""

    replies: list[Reply]
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None
    extra: Any = None


NOTHING = Answer([])


def _silence() -> Reply:
    return Reply(Said("assistant", [], None, {}))


def answer(response: Any, note: Notes, where: int | str) -> Answer:
    """The answer that a response holds; one that says nothing is an empty message.

    The body itself tells its dialect: a request that looks like OpenAI's may still have been Claude's.
    """
    if not response:
        return Answer([_silence()])
    if response.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"response is {type(response).__name__}")
        return Answer([_silence()], extra=response)
    error = None
    if response.get("sse_lines").__class__ is list:
        body, error = _sse.fold(response["sse_lines"], note, where)
        response = {key: value for key, value in response.items() if key != "sse_lines"} | body
    fields = Fields(response, note, where)
    if error is None and isinstance(fields.look("error"), str | dict):
        error = fields.take("error") or None
    return _replies(fields, error)


def _replies(fields: Fields, error: Any) -> Answer:
    choices, content = fields.look("choices"), fields.look("content")
    if choices.__class__ is list and (choices or error is None):
        found = _choices(fields)
    elif content.__class__ is list or content.__class__ is str:
        found = _message(fields)
    else:
        if error is None:
            _explain(fields)
        found = Answer([], extra=fields.rest())
    if not found.replies and (choices or error is None):
        found.replies.append(_silence())
    return found._replace(error=error)


def _explain(fields: Fields) -> None:
    """Note why a response that says something gives no message."""
    if fields.has("raw"):
        fields.note(Kind.UNKNOWN_TYPE, fields.where, "the response is not JSON")
    elif keys := sorted(fields.rest().keys() - _EXPLAINED):
        fields.note(Kind.UNKNOWN_TYPE, fields.where, f"a response with {', '.join(keys)[:80]}")


def _choices(fields: Fields) -> Answer:
    replies: list[Reply] = []
    strange: list[Any] = []
    for place, raw in enumerate(fields.take("choices")):
        if raw.__class__ is dict and raw.get("message").__class__ is dict:
            replies.append(_choice(raw, place, fields))
        else:
            fields.note(Kind.UNKNOWN_TYPE, fields.where, "a choice without a message")
            strange.append(raw)
    if strange:
        fields.keep("choices", strange)
    response_id, model = fields.text("id"), fields.text("model")
    usage = _messages_openai.usage(fields.bag("usage"), response_id)
    return Answer(replies, response_id, model, usage, extra=fields.rest())


def _choice(raw: dict[str, Any], place: int, fields: Fields) -> Reply:
    choice = Fields(dict(raw), fields.note, fields.where)
    message = choice.take("message")
    if message.get("role") is None:
        message = {**message, "role": "assistant"}
    if choice.look("index") == place:
        choice.drop("index")
    if choice.look("logprobs") is None:
        choice.drop("logprobs")
    stop_reason = choice.text("finish_reason")
    said = _messages_openai.said(message, fields.note, fields.where)
    if rest := choice.rest():
        said.extra["choice"] = rest
    return Reply(said, message, OPENAI, stop_reason)


def _message(fields: Fields) -> Answer:
    role, content = fields.text("role"), fields.take("content")
    if fields.look("type") == "message":
        fields.drop("type")
    if fields.look("stop_sequence") is None:
        fields.drop("stop_sequence")
    response_id, model = fields.text("id"), fields.text("model")
    usage = _blocks_anthropic.usage(fields.bag("usage"), response_id)
    message = {"role": role or "assistant", "content": content}
    reply = Reply(CLAUDE.said(message, fields.note, fields.where), message, CLAUDE) if content else _silence()
    reply = reply._replace(stop_reason=fields.text("stop_reason"))
    return Answer([reply], response_id, model, usage, extra=fields.rest())
