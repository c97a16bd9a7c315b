"""Detects recorded calls of chat APIs, and distinguishes requests, responses and events.

Nothing here imports the rest of the reader, because detection runs for every file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

RECORD, BATCH, REQUEST, RESPONSE, EVENT = "record", "batch", "request", "response", "event"

# Fields of a record before its response, and fields of requests that are not for a chat.
_FIELDS_BEFORE_RESPONSE = frozenset({"id", "timestamp", "duration_ms", "error", "request"})
_NON_CHAT_FIELDS = frozenset({"messages", "input", "contents", "prompt", "method", "url", "headers", "body"})
# Top-level fields in records of other tools: HAR, VCR, Langfuse, LiteLLM, Azure, VS Code.
_OTHER_TOOLS_FIELDS = frozenset(
    {
        "log",
        "interactions",
        "observations",
        "batch",
        "call_type",
        "custom_llm_provider",
        "CorrelationId",
        "correlationId",
        "requests",
        "responderUsername",
    }
)
# Every body, event and line of a batch has one of these top-level fields; for a quick rejection.
_TYPICAL_FIELDS = frozenset(
    {
        "request",
        "custom_id",
        "key",
        "messages",
        "input",
        "contents",
        "choices",
        "candidates",
        "object",
        "type",
        "done",
        "output",
        "messageStart",
        "contentBlockDelta",
    }
)
MESSAGE_EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"}
)
_CHUNK = "chat.completion.chunk"
# A tuple, because values in a body may not be hashable.
_OUTPUTS = ("response", "response.compaction")
# All fields in use of a request to each API; a record with any other field is not a request.
_COMMON_REQUEST_FIELDS = frozenset(
    {"model", "temperature", "top_p", "stream", "tools", "tool_choice", "metadata", "user"}
)
_CHAT_FIELDS = _COMMON_REQUEST_FIELDS | {
    *(
        "messages",
        "system",
        "max_tokens",
        "max_completion_tokens",
        "n",
        "stop",
        "seed",
        "logprobs",
        "modalities",
    ),
    *("top_logprobs", "logit_bias", "frequency_penalty", "presence_penalty", "response_format", "store"),
    *(
        "stream_options",
        "parallel_tool_calls",
        "reasoning_effort",
        "service_tier",
        "functions",
        "function_call",
    ),
    *("top_k", "stop_sequences", "thinking", "mcp_servers", "context_management", "container", "betas"),
    *("prediction", "audio", "verbosity", "web_search_options", "safety_identifier", "prompt_cache_key"),
    *("anthropic_version", "output_config", "reasoning", "provider", "extra_body", "cache_control"),
    *("options", "format", "keep_alive", "think"),
}
_RESPONSES_FIELDS = _COMMON_REQUEST_FIELDS | {
    *(
        "input",
        "instructions",
        "previous_response_id",
        "conversation",
        "store",
        "include",
        "reasoning",
        "text",
    ),
    *(
        "max_output_tokens",
        "max_tool_calls",
        "parallel_tool_calls",
        "truncation",
        "background",
        "service_tier",
    ),
    *("prompt", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "stream_options"),
    *("top_logprobs", "context_management"),
}
_GEMINI_FIELDS = frozenset(
    {
        *(
            "contents",
            "model",
            "systemInstruction",
            "system_instruction",
            "tools",
            "toolConfig",
            "tool_config",
        ),
        *("generationConfig", "generation_config", "safetySettings", "safety_settings", "cachedContent"),
        *("cached_content", "labels", "serviceTier", "store"),
    }
)
_CONVERSE_FIELDS = frozenset(
    {
        *("modelId", "messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig"),
        *("additionalModelRequestFields", "additionalModelResponseFieldPaths", "promptVariables"),
        *("requestMetadata", "performanceConfig", "serviceTier", "outputConfig"),
    }
)
_CONVERSE_OPTIONS = frozenset({"inferenceConfig", "toolConfig", "modelId"})
_CONVERSE_EVENTS = (
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"),
    "metadata",
)
# Fields that training examples and chats stored by an app do not have.
_CHAT_OPTIONS = frozenset(
    {
        *(
            "temperature",
            "top_p",
            "stream",
            "max_tokens",
            "max_completion_tokens",
            "tool_choice",
            "stop",
            "n",
        ),
        *("stream_options", "reasoning_effort", "response_format", "seed", "thinking"),
        *("options", "keep_alive"),
    }
)
_RESPONSES_OPTIONS = _RESPONSES_FIELDS - {"model", "input", "user", "metadata"}
_GEMINI_OPTIONS = frozenset(
    {
        "generationConfig",
        "generation_config",
        "safetySettings",
        "safety_settings",
        "cachedContent",
        "toolConfig",
    }
)
CHAT_URLS = ("/chat/completions", "/responses", "/messages")
_BATCH_FIELDS = frozenset({"request", "response", "error"})
_SSE_PREFIXES = (b"data:", b"event:", b": ", b":\n", b"id:", b"retry:")
_MAX_PROBED_LINES = 12


def version_of(peek: Peek) -> str | None:
    """Return `auto` if the input can only be recorded calls of chat APIs."""
    if peek.is_folder:
        return "auto" if _is_batch_folder(peek) else None
    if peek.opening not in ("{", "["):
        return (
            "auto" if peek.head.lstrip().startswith(_SSE_PREFIXES) and _has_known_events(peek.head) else None
        )
    keys = peek.keys
    if _TYPICAL_FIELDS.isdisjoint(keys) or _OTHER_TOOLS_FIELDS & keys:
        return None
    records = peek.records
    if any(map(_is_unmistakable, records)):
        return "auto"
    is_truncated = peek.is_cut and any(
        _is_cut_before_messages(each) or _is_cut_in_response(each) for each in records
    )
    return "auto" if is_truncated else None


def kind_of(value: dict[str, Any]) -> str | None:
    """Get the kind of a value that belongs to calls of chat APIs; None for anything else."""
    if "custom_id" in value or ("key" in value and not _BATCH_FIELDS.isdisjoint(value)):
        return BATCH
    if value.get("request").__class__ is dict:
        return RECORD
    if is_event(value):
        return EVENT
    if is_response(value):
        return RESPONSE
    if any(name in value for name in ("messages", "contents", "input")):
        return REQUEST
    return RESPONSE if value.get("error").__class__ is dict else None


def is_event(value: dict[str, Any]) -> bool:
    """Whether a value is an event of a streamed response; a chunk may be a whole response, too."""
    kind = value.get("type")
    if kind.__class__ is str and (kind in MESSAGE_EVENTS or kind.startswith("response.")):
        return True
    if value.get("object") == _CHUNK or _is_list(value, "candidates"):
        return True
    if _is_ollama_response(value) or _is_converse_event(value):
        return True
    choices = value.get("choices")
    if choices.__class__ is not list:
        return False
    return not choices or (choices[0].__class__ is dict and "delta" in choices[0])


def _is_ollama_response(value: dict[str, Any]) -> bool:
    """Whether a value is a response of Ollama's own API, or a piece of one."""
    message = value.get("message")
    return message.__class__ is dict and "role" in message and value.get("done").__class__ is bool


def _is_converse_event(value: dict[str, Any]) -> bool:
    """Whether a value is an event of Bedrock's Converse API: an object under the name of its type."""
    if len(value) != 1:
        return False
    ((name, event),) = value.items()
    return name in _CONVERSE_EVENTS and event.__class__ is dict and (name != "metadata" or "usage" in event)


def _is_converse_response(value: dict[str, Any]) -> bool:
    """Whether a value is a whole response of the Converse API."""
    output = value.get("output")
    return output.__class__ is dict and output.get("message").__class__ is dict and "stopReason" in value


def is_response(value: dict[str, Any]) -> bool:
    """Whether a value is a whole response."""
    if _is_list(value, "choices") or (value.get("object") in _OUTPUTS and _is_list(value, "output")):
        return True
    if _is_converse_response(value):
        return True
    return value.get("type") == "message" and _is_list(value, "content")


def _is_unmistakable(value: dict[str, Any]) -> bool:
    if "custom_id" in value:
        return is_batch_line(value)
    if "request" in value:
        return _is_record(value) or is_batch_line(value)
    return (
        _is_known_response(value)
        or _is_known_event(value)
        or _is_chat_request(value)
        or _is_responses_request(value)
        or _is_converse_request(value)
        or is_gemini_request(value)
        or is_batch_line(value)
    )


def _is_record(record: dict[str, Any]) -> bool:
    request, response = record.get("request"), record.get("response")
    if request.__class__ is not dict:
        return False
    if _is_list(request, "messages") or (response.__class__ is dict and _is_list(response, "sse_lines")):
        return True
    inner = request.get("request")  # the envelope of Code Assist
    if _are_contents(request.get("contents")) or (
        inner.__class__ is dict and _are_contents(inner.get("contents"))
    ):
        return True
    has_response = response.__class__ is dict and response.get("object") == "response"
    return "input" in request and (has_response or request.get("model").__class__ is str)


def _is_cut_before_messages(record: dict[str, Any]) -> bool:
    """Whether the messages may come after the head, because of a long system prompt or many tools."""
    request = record.get("request")
    return (
        request.__class__ is dict
        and record.keys() <= _FIELDS_BEFORE_RESPONSE
        and _NON_CHAT_FIELDS.isdisjoint(request)
    )


def _is_cut_in_response(value: dict[str, Any]) -> bool:
    """Whether the head ends within an image, so that the distinctive fields of the response come later."""
    if value.keys() != {"candidates"} or not _is_list(value, "candidates") or not value["candidates"]:
        return False
    first = value["candidates"][0]
    content = first.get("content") if first.__class__ is dict else None
    return content.__class__ is dict and _is_list(content, "parts")


def is_batch_line(value: dict[str, Any]) -> bool:
    """Whether a value is a request or result line of a batch."""
    if value.get("custom_id").__class__ is str:
        body, response, result, params = (value.get(key) for key in ("body", "response", "result", "params"))
        if body.__class__ is dict:
            url = value.get("url")
            return "method" in value and url.__class__ is str and url.endswith(CHAT_URLS)
        if response.__class__ is dict:
            return "status_code" in response
        if params.__class__ is dict:
            return _is_list(params, "messages")
        if result.__class__ is dict:
            return result.get("type").__class__ is str
        return response is None and value.get("error").__class__ is dict and "id" in value
    if value.get("key").__class__ is not str:
        return False
    request, response = value.get("request"), value.get("response")
    if request.__class__ is dict:
        return _are_contents(request.get("contents"))
    return response.__class__ is dict and _is_list(response, "candidates")


def _is_known_response(value: dict[str, Any]) -> bool:
    """Whether a value is a whole response that shows which API it is from."""
    if value.get("object") == "chat.completion":
        return _is_list(value, "choices")
    if value.get("object") in _OUTPUTS:
        return _is_list(value, "output") and value.get("id").__class__ is str
    if value.get("type") == "message":
        is_from_api = "stop_reason" in value or str(value.get("id")).startswith("msg_")
        return value.get("role") == "assistant" and _is_list(value, "content") and is_from_api
    return _is_converse_response(value) or _is_gemini_response(value)


def _is_gemini_response(value: dict[str, Any]) -> bool:
    if not _is_list(value, "candidates") or not value["candidates"]:
        return False
    first = value["candidates"][0]
    if first.__class__ is not dict or not ("content" in first or "finishReason" in first):
        return False
    return "usageMetadata" in value or "modelVersion" in value


def _is_known_event(value: dict[str, Any]) -> bool:
    """Whether a value is an event that only one API has."""
    kind = value.get("type")
    if kind == "message_start":
        return value.get("message").__class__ is dict
    if kind == "content_block_delta":
        return value.get("delta").__class__ is dict and "index" in value
    if kind.__class__ is str and kind.startswith("response."):
        return value.get("response").__class__ is dict or "output_index" in value
    if _is_converse_event(value):
        return value.get("messageStart", {}).get("role") == "assistant" or "contentBlockDelta" in value
    if _is_ollama_response(value):
        return value.get("model").__class__ is str and "created_at" in value
    return (value.get("object") == _CHUNK and _is_list(value, "choices")) or _is_gemini_response(value)


def _is_chat_request(value: dict[str, Any]) -> bool:
    if not _is_list(value, "messages") or value.get("model").__class__ is not str:
        return False
    first = value["messages"][0] if value["messages"] else None
    return (
        first.__class__ is dict
        and "role" in first
        and value.keys() <= _CHAT_FIELDS
        and bool(value.keys() & _CHAT_OPTIONS)
    )


def _is_converse_request(value: dict[str, Any]) -> bool:
    has_request_fields = value.keys() <= _CONVERSE_FIELDS and bool(value.keys() & _CONVERSE_OPTIONS)
    return has_request_fields and _is_list(value, "messages") and bool(value["messages"])


def _is_responses_request(value: dict[str, Any]) -> bool:
    if value.get("input").__class__ not in (str, list) or value.get("model").__class__ is not str:
        return False
    return value.keys() <= _RESPONSES_FIELDS and bool(value.keys() & _RESPONSES_OPTIONS)


def is_gemini_request(value: dict[str, Any]) -> bool:
    """Whether a value can only be a request; a training example ends with a message of the model."""
    contents = value.get("contents")
    if (
        not _are_contents(contents)
        or not value.keys() <= _GEMINI_FIELDS
        or not value.keys() & _GEMINI_OPTIONS
    ):
        return False
    last = contents[-1]  # type: ignore[index] # a list that is not empty
    return last.__class__ is dict and last.get("role") != "model"


def _are_contents(contents: Any) -> bool:
    first = contents[0] if contents.__class__ is list and contents else None
    return first.__class__ is dict and first.get("parts").__class__ in (list, dict)


def _is_list(value: dict[str, Any], name: str) -> bool:
    return value.get(name).__class__ is list


def _has_known_events(head: bytes) -> bool:
    from agent_journal.decoding import json_stream  # noqa: PLC0415 (only event streams need it)
    from agent_journal.notes import Notes  # noqa: PLC0415

    lines = [line.strip() for line in head.split(b"\n") if line.startswith(b"data:")]
    for line in lines[:_MAX_PROBED_LINES]:
        event = json_stream.decode(line[5:], Notes(keep=0), "")
        if event.__class__ is dict and _is_known_event(event):
            return True
    return False


def _is_batch_folder(peek: Peek) -> bool:
    """Whether a folder has only the requests and the results of a batch."""
    if not 1 < len(peek.members) <= _MAX_PROBED_LINES or not all(
        name.endswith(".jsonl") for name in peek.members
    ):
        return False
    line_kinds: set[bool] = set()
    for name in peek.members:
        member = peek.member(name)
        lines = () if member is None else member.records
        if not lines or not all(map(is_batch_line, lines)):
            return False
        line_kinds.add(is_request_line(lines[0]))
    return len(line_kinds) > 1


def is_request_line(line: dict[str, Any]) -> bool:
    """Whether a line of a batch is a request, not a result."""
    return any(line.get(name).__class__ is dict for name in ("body", "params", "request"))
