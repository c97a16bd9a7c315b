"""Parses a response body in any dialect: its messages and its other fields."""

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
from agent_journal.readers.dialects.openai_messages import ParsedMessage

if TYPE_CHECKING:
    from agent_journal.notes import Notes


# Fields of a stream that were noted when it was folded, and the flag of a stream.
_ALREADY_NOTED = frozenset({"stream", "events", "sse_lines"})


# The common fields of a choice.
_COMMON_CHOICE_FIELDS = frozenset({"message", "index", "finish_reason", "logprobs"})


# The fields of a body that become an answer; the others go to `extra`.
_ANSWER_FIELDS = ("choices", "id", "model", "usage")
# Groq's own field, with the token counts of its streams, among others; it goes to `extra`.
_GROQ_FIELD = "x_groq"
# Token counts of a prompt without an answer: each API's field, and the fields allowed next to it.
_TOKEN_COUNT_FIELDS = {
    "input_tokens": frozenset({"object", "context_management"}),
    "totalTokens": frozenset({"promptTokensDetails", "totalBillableCharacters", "cachedContentTokenCount"}),
    "inputTokens": frozenset[str](),
}
# Refused calls without `error`: the fields with the message, by service or gateway, and their other fields.
_REFUSAL_MESSAGES = ("message", "detail")
_REFUSAL_FIELDS = frozenset(
    {*_REFUSAL_MESSAGES, "object", "type", "__type", "code", "param", "status", "statusCode", "activityId"}
)
_CONTENTS = (list, str)
_TEXT, _BAG = frozenset({str, NoneType}), frozenset({dict, NoneType})


class Reply(Struct, frozen=True, gc=False):
    """One answer: its message, parsed and in the form in which the next request repeats it."""

    message: ParsedMessage
    raw: Any = None
    dialect: Dialect = OPENAI
    stop_reason: str | None = None


class Answer(Struct, frozen=True, gc=False):
    """The full answer to one request; several replies are choices, or one chain."""

    replies: list[Reply]
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Any = None
    extra: Any = None
    is_chain: bool = False
    """Whether each reply follows the previous one."""
    after: str | None = None
    """The id of the response that this answer says it continues."""
    session: str | None = None
    """The id of the dialogue that the service stores."""


NO_ANSWER = Answer([])


def _empty_reply() -> Reply:
    return Reply(ParsedMessage("assistant", [], None, {}))


def parse_answer(response: Any, note: Notes, location: int | str) -> Answer:
    """Parse a response; an answer without content is an empty message.

    The body itself determines the dialect: a request that looks like OpenAI's may have a Claude answer.
    """
    if not response:
        return Answer([_empty_reply()])
    if response.__class__ is list and all(chunk.__class__ is dict for chunk in response):
        # The Gemini API streams an array of chunks to clients that do not request events.
        body, error = sse.fold_events(response, note, location)
        return _parse_body(body, error, note, location)
    if response.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"response is {type(response).__name__}")
        return Answer([_empty_reply()], extra=response)
    error = None
    if response.get("sse_lines").__class__ is list:
        body, error = sse.fold(response["sse_lines"], note, location)
        response = {key: value for key, value in response.items() if key != "sse_lines"} | body
    return _parse_body(response, error, note, location)


def _parse_body(response: dict[str, Any], error: Any, note: Notes, location: int | str) -> Answer:
    if error is None and (common_answer := _parse_common_body(response)) is not None:
        return common_answer
    if error is None and _is_refusal(response):
        return Answer([], error=response)
    fields = Fields(response, note, location)
    if error is None and isinstance(fields.view("error"), str | dict):
        error = fields.take("error") or None
    elif error is not None and isinstance(fields.view("error"), dict):
        fields.drop("error")  # the response repeats the error of its stream
    return _parse_by_shape(fields, error)


def _is_refusal(response: dict[str, Any]) -> bool:
    """Return whether a body is only an error of Mistral, AWS, a gateway, or a web framework."""
    message_types = (response.get(name).__class__ for name in _REFUSAL_MESSAGES)
    return response.keys() <= _REFUSAL_FIELDS and any(
        message_type in (str, list) for message_type in message_types
    )


def _parse_common_body(response: dict[str, Any]) -> Answer | None:
    """Parse a body with one plain choice, as most are; None for any other."""
    choices, counts = response.get("choices"), response.get("usage")
    response_id, model = response.get("id"), response.get("model")
    if choices.__class__ is not list or len(choices) != 1 or response.get("error") is not None:
        return None
    if counts is None and _GROQ_FIELD in response:
        return None
    if response_id.__class__ not in _TEXT or model.__class__ not in _TEXT or counts.__class__ not in _BAG:
        return None
    reply = _parse_common_choice(choices[0])
    if reply is None:
        return None
    for name in _ANSWER_FIELDS:
        response.pop(name, None)
    return Answer(
        [reply], response_id, model, openai_messages.parse_usage(counts, response_id), extra=response
    )


def _parse_common_choice(raw: Any) -> Reply | None:
    """Parse the first choice if it has only a text and a stop reason."""
    if (
        raw.__class__ is not dict
        or not raw.keys() <= _COMMON_CHOICE_FIELDS
        or raw.get("logprobs") is not None
    ):
        return None
    message, stop_reason = raw.get("message"), raw.get("finish_reason")
    if message.__class__ is not dict or stop_reason.__class__ not in _TEXT or raw.get("index", 0) != 0:
        return None
    parsed = openai_messages.parse_plain_message(message)
    return None if parsed is None else Reply(parsed, message, OPENAI, stop_reason)


def _parse_by_shape(fields: Fields, error: Any) -> Answer:
    choices, content = fields.view("choices"), fields.view("content")
    if choices.__class__ is list and (choices or error is None):
        parsed = _choices(fields)
    elif content.__class__ in _CONTENTS or unwrap(content)[0] is not content:
        parsed = _message(fields)
    elif fields.view("output").__class__ is list:
        parsed = _items(fields, is_failed=error is not None)
    elif fields.view("candidates").__class__ is list or fields.has("usageMetadata"):
        parsed = _candidates(fields)
    elif fields.view("output").__class__ is dict and fields.view("output").get("message").__class__ is dict:
        parsed = _converse_message(fields)
    elif fields.view("message").__class__ is dict and fields.has("done"):
        parsed = _ollama_message(fields)
    elif error is None and _is_count(fields.rest()):
        return Answer([], extra=fields.rest())
    else:
        if error is None:
            _note_unparsed(fields)
        parsed = Answer([], extra=fields.rest())
    if not parsed.replies and (choices or error is None):
        parsed.replies.append(_empty_reply())
    return parsed if error is None else replace(parsed, error=error)


def _is_count(body: dict[str, Any]) -> bool:
    """Return whether a body has only a request's token count."""
    return any(
        name in body and body.keys() <= others | {name} for name, others in _TOKEN_COUNT_FIELDS.items()
    )


def _note_unparsed(fields: Fields) -> None:
    """Note why a response with content has no message."""
    if fields.has("raw"):
        fields.note(Kind.UNKNOWN_TYPE, fields.where, "the response is not JSON")
    elif keys := sorted(fields.rest().keys() - _ALREADY_NOTED):
        fields.note(Kind.UNKNOWN_TYPE, fields.where, f"a response with {', '.join(keys)[:80]}")


def _choices(fields: Fields) -> Answer:
    replies: list[Reply] = []
    invalid: list[Any] = []
    for index, raw in enumerate(fields.take("choices")):
        if raw.__class__ is dict and raw.get("message").__class__ is dict:
            replies.append(_choice(raw, index, fields))
        else:
            fields.note(Kind.UNKNOWN_TYPE, fields.where, "a choice without a message")
            invalid.append(raw)
    if invalid:
        fields.keep("choices", invalid)
    response_id, model = fields.text("id"), fields.text("model")
    counts = fields.bag("usage")
    groq = fields.view(_GROQ_FIELD)
    if counts is None and groq.__class__ is dict:
        counts = groq.get("usage")
    usage = openai_messages.parse_usage(counts, response_id)
    return Answer(replies, response_id, model, usage, extra=fields.rest())


def _choice(raw: dict[str, Any], index: int, fields: Fields) -> Reply:
    message = raw["message"]
    if message.get("role") is None:
        message = {**message, "role": "assistant"}
    choice = Fields(dict(raw), fields.note, fields.where)
    choice.drop("message")
    if choice.view("index") == index:
        choice.drop("index")
    if choice.view("logprobs") is None:
        choice.drop("logprobs")
    stop_reason = choice.text("finish_reason")
    parsed = openai_messages.parse_message(message, fields.note, fields.where)
    if rest := choice.rest():
        parsed.extra["choice"] = rest
    return Reply(parsed, message, OPENAI, stop_reason)


def _message(fields: Fields) -> Answer:
    role, content = fields.text("role"), fields.take("content")
    if fields.view("type") == "message":
        fields.drop("type")
    if fields.view("stop_sequence") is None:
        fields.drop("stop_sequence")
    response_id, model = fields.text("id"), fields.text("model")
    usage = anthropic_blocks.parse_usage(fields.bag("usage"), response_id)
    message = {"role": role or "assistant", "content": content}
    reply = (
        Reply(CLAUDE.parse_message(message, fields.note, fields.where), message, CLAUDE)
        if content
        else _empty_reply()
    )
    reply = replace(reply, stop_reason=fields.text("stop_reason"))
    return Answer([reply], response_id, model, usage, extra=fields.rest())


def _converse_message(fields: Fields) -> Answer:
    """Parse an answer of Bedrock's Converse API: one message, under `output`."""
    fields.keep("output", dict(fields.view("output")))
    output = fields.nested("output")
    message = {} if output is None else output.take("message")
    message = {**message, "role": message.get("role") or "assistant"}
    reply = Reply(CONVERSE.parse_message(message, fields.note, fields.where), message, CONVERSE)
    reply = replace(reply, stop_reason=fields.text("stopReason"))
    return Answer([reply], usage=converse_blocks.parse_usage(fields.bag("usage"), None), extra=fields.rest())


def _ollama_message(fields: Fields) -> Answer:
    """Parse an answer of Ollama's own API: one message in the chat dialect, with its own token counts."""
    message = fields.take("message")
    reply = Reply(openai_messages.parse_message(message, fields.note, fields.where), message)
    counts = fields.take_all(("prompt_eval_count", "eval_count"))
    prompt_tokens, output_tokens = (counted(counts.get(name)) for name in ("prompt_eval_count", "eval_count"))
    usage = Usage(input=prompt_tokens, output=output_tokens, extra=counts) if counts else None
    reply = replace(reply, stop_reason=fields.text("done_reason"))
    return Answer([reply], model=fields.text("model"), usage=usage, extra=fields.rest())


def _items(fields: Fields, *, is_failed: bool) -> Answer:
    """Parse an answer of the Responses API: one message for each item of the output."""
    replies = [
        Reply(_parse_output_item(item, fields), item, RESPONSES) for item in fields.take("output")
    ] or ([] if is_failed else [_empty_reply()])
    response_id, model, after = fields.text("id"), fields.text("model"), fields.view("previous_response_id")
    usage = openai_items.parse_usage(fields.bag("usage"), response_id)
    details = fields.view("incomplete_details")
    reason = details.get("reason") if details.__class__ is dict else None
    status = fields.text("status")
    stop_reason = reason if reason.__class__ is str else status
    if status is not None and (stop_reason != status or not replies):
        fields.keep("status", status)
    if replies:
        replies[-1] = replace(replies[-1], stop_reason=stop_reason)
    if fields.view("error") is None:
        fields.drop("error")
    return Answer(
        replies,
        response_id,
        model,
        usage,
        is_chain=True,
        after=after if after.__class__ is str else None,
        session=session_of(fields.view("conversation")),
        extra=fields.rest(),
    )


def _parse_output_item(item: Any, fields: Fields) -> ParsedMessage:
    message = openai_items.parse_item(item, fields.note, fields.where)
    return message if item.__class__ is dict else message._replace(role="assistant")


def session_of(conversation: Any) -> str | None:
    """Return the id of a dialogue stored by the service, from a bare id or an object."""
    session_id = conversation.get("id") if conversation.__class__ is dict else conversation
    return session_id if session_id.__class__ is str and session_id else None


def _candidates(fields: Fields) -> Answer:
    """Parse an answer of the Gemini API; a refused prompt has no candidates."""
    replies: list[Reply] = []
    invalid: list[Any] = []
    for index, raw in enumerate(fields.items("candidates") or ()):
        if raw.__class__ is dict:
            replies.append(_candidate(raw, index, fields))
        else:
            fields.note(Kind.UNKNOWN_TYPE, fields.where, "a candidate is not an object")
            invalid.append(raw)
    if invalid:
        fields.keep("candidates", invalid)
    response_id, model = fields.text("responseId"), fields.text("modelVersion")
    usage = google_contents.parse_usage(fields.bag("usageMetadata"), response_id)
    return Answer(replies, response_id, model, usage, extra=fields.rest())


def _candidate(raw: dict[str, Any], index: int, fields: Fields) -> Reply:
    candidate = Fields(dict(raw), fields.note, fields.where)
    content = candidate.bag("content") or {}
    if candidate.view("index") == index:
        candidate.drop("index")
    stop_reason = candidate.text("finishReason")
    content = {**content, "role": content.get("role") or "model"}
    parsed = GEMINI.parse_message(content, fields.note, fields.where)
    parsed = parsed._replace(
        parts=google_contents.with_citations(parsed.parts, candidate.view("groundingMetadata"))
    )
    if rest := candidate.rest():
        parsed.extra["candidate"] = rest
    return Reply(parsed, content, GEMINI, stop_reason)
