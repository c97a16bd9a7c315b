"""What came back: the messages of a response body, whichever dialect it is in, and what else it says."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import Usage
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind
from agent_journal.readers.dialects import (
    anthropic_blocks,
    converse_blocks,
    google_contents,
    openai_items,
    openai_messages,
    sse,
)
from agent_journal.readers.dialects.api_calls.dialects import (
    CLAUDE,
    CONVERSE,
    GEMINI,
    OPENAI,
    RESPONSES,
    Dialect,
)
from agent_journal.readers.dialects.openai_messages import Said

if TYPE_CHECKING:
    from agent_journal.notes import Notes


# What a stream holds that was noted when it was folded, and the flag that it is one.
_EXPLAINED = frozenset({"stream", "events", "sse_lines"})


# What a choice usually has beside its message, and nothing else.
_OF_CHOICES = frozenset({"message", "index", "finish_reason", "logprobs"})


# What an answer is made of; what else a body says stays beside it.
_OF_BODIES = ("choices", "id", "model", "usage")
# What Groq says in a way of its own, as the counts of what it streams; it stays.
_OWN = "x_groq"
# What tells how long a prompt is and answers nothing, by the names of each API, and what may be beside it.
_COUNTS = {
    "input_tokens": frozenset({"object", "context_management"}),
    "totalTokens": frozenset({"promptTokensDetails", "totalBillableCharacters", "cachedContentTokenCount"}),
    "inputTokens": frozenset[str](),
}
# What services and gateways say when they refuse a call and have no `error`, and what they say it in.
_REFUSALS = ("message", "detail")
_OF_REFUSALS = frozenset(
    {*_REFUSALS, "object", "type", "__type", "code", "param", "status", "statusCode", "activityId"}
)
_CONTENTS = (list, str)
_TEXT, _BAG = frozenset({str, NoneType}), frozenset({dict, NoneType})


class Reply(Struct, frozen=True, gc=False):
    """One answer: what it says, and the message as a next request would repeat it."""

    said: Said
    raw: Any = None
    dialect: Dialect = OPENAI
    stop_reason: str | None = None


class Answer(Struct, frozen=True, gc=False):
    """All that came back for one request; several replies are choices, or one chain."""

    replies: list[Reply]
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None
    extra: Any = None
    is_chain: bool = False
    """Whether each reply follows the one before."""
    after: str | None = None
    """The id of the response that it says it goes on from."""
    session: str | None = None
    """The id of the dialogue that the service keeps."""


NOTHING = Answer([])


def _silence() -> Reply:
    return Reply(Said("assistant", [], None, {}))


def answer(response: Any, note: Notes, where: int | str) -> Answer:
    """The answer that a response holds; one that says nothing is an empty message.

    The body itself tells its dialect: a request that looks like OpenAI's may still have been Claude's.
    """
    if not response:
        return Answer([_silence()])
    if response.__class__ is list and all(chunk.__class__ is dict for chunk in response):
        # What the Gemini API streams to clients that do not ask for events: an array of chunks.
        body, error = sse.fold_events(response, note, where)
        return _of_body(body, error, note, where)
    if response.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"response is {type(response).__name__}")
        return Answer([_silence()], extra=response)
    error = None
    if response.get("sse_lines").__class__ is list:
        body, error = sse.fold(response["sse_lines"], note, where)
        response = {key: value for key, value in response.items() if key != "sse_lines"} | body
    return _of_body(response, error, note, where)


def _of_body(response: dict[str, Any], error: Any, note: Notes, where: int | str) -> Answer:
    if error is None and (usual := _usual(response)) is not None:
        return usual
    if error is None and _is_refusal(response):
        return Answer([], error=response)
    fields = Fields(response, note, where)
    if error is None and isinstance(fields.look("error"), str | dict):
        error = fields.take("error") or None
    elif error is not None and isinstance(fields.look("error"), dict):
        fields.drop("error")  # the response repeats the error that its stream told of
    return _replies(fields, error)


def _is_refusal(response: dict[str, Any]) -> bool:
    """Whether a body is nothing but an error: Mistral's, that of AWS, of a gateway, of a web framework."""
    told = (response.get(name).__class__ for name in _REFUSALS)
    return response.keys() <= _OF_REFUSALS and any(each in (str, list) for each in told)


def _usual(response: dict[str, Any]) -> Answer | None:
    """The answer in a body with one plain choice, as most are; None for any other."""
    choices, counts = response.get("choices"), response.get("usage")
    response_id, model = response.get("id"), response.get("model")
    if choices.__class__ is not list or len(choices) != 1 or response.get("error") is not None:
        return None
    if counts is None and _OWN in response:
        return None
    if response_id.__class__ not in _TEXT or model.__class__ not in _TEXT or counts.__class__ not in _BAG:
        return None
    reply = _usual_choice(choices[0])
    if reply is None:
        return None
    for name in _OF_BODIES:
        response.pop(name, None)
    return Answer([reply], response_id, model, openai_messages.usage(counts, response_id), extra=response)


def _usual_choice(raw: Any) -> Reply | None:
    """The first choice, if it says nothing but a text and why it ends."""
    if raw.__class__ is not dict or not raw.keys() <= _OF_CHOICES or raw.get("logprobs") is not None:
        return None
    message, stop_reason = raw.get("message"), raw.get("finish_reason")
    if message.__class__ is not dict or stop_reason.__class__ not in _TEXT or raw.get("index", 0) != 0:
        return None
    said = openai_messages.plainly_said(message)
    return None if said is None else Reply(said, message, OPENAI, stop_reason)


def _replies(fields: Fields, error: Any) -> Answer:
    choices, content = fields.look("choices"), fields.look("content")
    if choices.__class__ is list and (choices or error is None):
        found = _choices(fields)
    elif content.__class__ in _CONTENTS or unwrap(content)[0] is not content:
        found = _message(fields)
    elif fields.look("output").__class__ is list:
        found = _items(fields, is_failed=error is not None)
    elif fields.look("candidates").__class__ is list or fields.has("usageMetadata"):
        found = _candidates(fields)
    elif fields.look("output").__class__ is dict and fields.look("output").get("message").__class__ is dict:
        found = _conversed(fields)
    elif fields.look("message").__class__ is dict and fields.has("done"):
        found = _local(fields)
    elif error is None and _is_count(fields.rest()):
        return Answer([], extra=fields.rest())
    else:
        if error is None:
            _explain(fields)
        found = Answer([], extra=fields.rest())
    if not found.replies and (choices or error is None):
        found.replies.append(_silence())
    return found if error is None else replace(found, error=error)


def _is_count(body: dict[str, Any]) -> bool:
    """Whether a body tells nothing but how many tokens a request has."""
    return any(name in body and body.keys() <= beside | {name} for name, beside in _COUNTS.items())


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
    counts = fields.bag("usage")
    own = fields.look(_OWN)
    if counts is None and own.__class__ is dict:
        counts = own.get("usage")
    usage = openai_messages.usage(counts, response_id)
    return Answer(replies, response_id, model, usage, extra=fields.rest())


def _choice(raw: dict[str, Any], place: int, fields: Fields) -> Reply:
    message = raw["message"]
    if message.get("role") is None:
        message = {**message, "role": "assistant"}
    choice = Fields(dict(raw), fields.note, fields.where)
    choice.drop("message")
    if choice.look("index") == place:
        choice.drop("index")
    if choice.look("logprobs") is None:
        choice.drop("logprobs")
    stop_reason = choice.text("finish_reason")
    said = openai_messages.said(message, fields.note, fields.where)
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
    usage = anthropic_blocks.usage(fields.bag("usage"), response_id)
    message = {"role": role or "assistant", "content": content}
    reply = Reply(CLAUDE.said(message, fields.note, fields.where), message, CLAUDE) if content else _silence()
    reply = replace(reply, stop_reason=fields.text("stop_reason"))
    return Answer([reply], response_id, model, usage, extra=fields.rest())


def _conversed(fields: Fields) -> Answer:
    """An answer of Bedrock's Converse API: one message, under `output`."""
    fields.keep("output", dict(fields.look("output")))
    output = fields.nested("output")
    message = {} if output is None else output.take("message")
    message = {**message, "role": message.get("role") or "assistant"}
    reply = Reply(CONVERSE.said(message, fields.note, fields.where), message, CONVERSE)
    reply = replace(reply, stop_reason=fields.text("stopReason"))
    return Answer([reply], usage=converse_blocks.usage(fields.bag("usage"), None), extra=fields.rest())


def _local(fields: Fields) -> Answer:
    """An answer of Ollama's own API: one message in the chat dialect, with counts of its own."""
    message = fields.take("message")
    reply = Reply(openai_messages.said(message, fields.note, fields.where), message)
    counts = fields.take_all(("prompt_eval_count", "eval_count"))
    sent, came = (counted(counts.get(name)) for name in ("prompt_eval_count", "eval_count"))
    usage = Usage(input=sent, output=came, extra=counts) if counts else None
    reply = replace(reply, stop_reason=fields.text("done_reason"))
    return Answer([reply], model=fields.text("model"), usage=usage, extra=fields.rest())


def _items(fields: Fields, *, is_failed: bool) -> Answer:
    """An answer of the Responses API: one message for each item of the output."""
    replies = [Reply(_said_by_model(item, fields), item, RESPONSES) for item in fields.take("output")] or (
        [] if is_failed else [_silence()]
    )
    response_id, model, after = fields.text("id"), fields.text("model"), fields.look("previous_response_id")
    usage = openai_items.usage(fields.bag("usage"), response_id)
    details = fields.look("incomplete_details")
    reason = details.get("reason") if details.__class__ is dict else None
    status = fields.text("status")
    stop_reason = reason if reason.__class__ is str else status
    if status is not None and (stop_reason != status or not replies):
        fields.keep("status", status)
    if replies:
        replies[-1] = replace(replies[-1], stop_reason=stop_reason)
    if fields.look("error") is None:
        fields.drop("error")
    return Answer(
        replies,
        response_id,
        model,
        usage,
        is_chain=True,
        after=after if after.__class__ is str else None,
        session=session_of(fields.look("conversation")),
        extra=fields.rest(),
    )


def _said_by_model(item: Any, fields: Fields) -> Said:
    said = openai_items.said(item, fields.note, fields.where)
    return said if item.__class__ is dict else said._replace(role="assistant")


def session_of(conversation: Any) -> str | None:
    """The id of a dialogue that the service keeps; it is stated alone or in an object."""
    told = conversation.get("id") if conversation.__class__ is dict else conversation
    return told if told.__class__ is str and told else None


def _candidates(fields: Fields) -> Answer:
    """An answer of the Gemini API; a prompt that was refused has none."""
    replies: list[Reply] = []
    strange: list[Any] = []
    for place, raw in enumerate(fields.items("candidates") or ()):
        if raw.__class__ is dict:
            replies.append(_candidate(raw, place, fields))
        else:
            fields.note(Kind.UNKNOWN_TYPE, fields.where, "a candidate that is no object")
            strange.append(raw)
    if strange:
        fields.keep("candidates", strange)
    response_id, model = fields.text("responseId"), fields.text("modelVersion")
    usage = google_contents.usage(fields.bag("usageMetadata"), response_id)
    return Answer(replies, response_id, model, usage, extra=fields.rest())


def _candidate(raw: dict[str, Any], place: int, fields: Fields) -> Reply:
    candidate = Fields(dict(raw), fields.note, fields.where)
    content = candidate.bag("content") or {}
    if candidate.look("index") == place:
        candidate.drop("index")
    stop_reason = candidate.text("finishReason")
    content = {**content, "role": content.get("role") or "model"}
    said = GEMINI.said(content, fields.note, fields.where)
    said = said._replace(parts=google_contents.cited(said.parts, candidate.look("groundingMetadata")))
    if rest := candidate.rest():
        said.extra["candidate"] = rest
    return Reply(said, content, GEMINI, stop_reason)
