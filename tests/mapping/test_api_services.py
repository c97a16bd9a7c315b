"""What services do by themselves: tools that they run, counts that they give, calls that they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_journal.detection.peek import Peek
from agent_journal.model import Citation, Media, Other, Part, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.notes import Notes
from agent_journal.readers import api_trace
from agent_journal.readers.dialects import anthropic_blocks, openai_items
from tests.mapping.test_api_trace import USER, Raw, only, read, reply_of
from tests.memory_source import Bytes

# The tools of Anthropic's service.

PAGE = {
    "type": "document",
    "title": "Tides",
    "source": {"type": "text", "media_type": "text/plain", "data": "noon"},
}
RAN = {"type": "bash_code_execution_result", "return_code": 0, "content": []}
VIEWED = {"type": "text_editor_code_execution_view_result", "file_type": "text"}
SERVED: dict[str, tuple[Any, Any]] = {
    "what a program printed": (
        {**RAN, "stdout": "7\n", "stderr": ""},
        [Text(text="7\n", extra={**RAN, "stderr": ""})],
    ),
    "and what was wrong": (
        {**RAN, "stdout": "7\n", "stderr": "oops"},
        [Text(text="7\n", extra=RAN), Text(text="oops", extra={"stream": "stderr"})],
    ),
    "only what was wrong": (
        {**RAN, "stdout": "", "stderr": "oops"},
        [Text(text="oops", extra={**RAN, "stdout": "", "stream": "stderr"})],
    ),
    "nothing printed": (
        {**RAN, "stdout": "", "stderr": ""},
        [Other(data={**RAN, "stdout": "", "stderr": ""}, name="bash_code_execution_result")],
    ),
    "a file": ({**VIEWED, "content": "one"}, [Text(text="one", extra=VIEWED)]),
    "advice": (
        {"type": "advisor_result", "text": "Wait.", "stop_reason": "end_turn"},
        [Text(text="Wait.", extra={"type": "advisor_result", "stop_reason": "end_turn"})],
    ),
    "a page": (
        {"type": "web_fetch_result", "url": "https://example.com/tides", "content": PAGE},
        [
            Media(
                kind="document",
                mime="text/plain",
                name="Tides",
                ref="https://example.com/tides",
                text="noon",
                extra={"type": "web_fetch_result"},
            )
        ],
    ),
    "what a search found": (
        [{"type": "web_search_result", "title": "Tides", "url": "https://example.com", "page_age": "1 day"}],
        [
            Text(
                text="Tides",
                citations=[Citation(title="Tides", url="https://example.com")],
                extra={"page_age": "1 day", "type": "web_search_result"},
            )
        ],
    ),
}
ASKED = {"type": "search_result", "title": "Tides", "content": [{"type": "text", "text": "noon"}]}


def served(content: Any) -> ToolResult:
    block = {"type": "bash_code_execution_tool_result", "tool_use_id": "s1", "content": content}
    (result,) = anthropic_blocks.parse_blocks([block], Notes(), 1, {})
    assert isinstance(result, ToolResult)
    return result


@pytest.mark.parametrize(("content", "output"), SERVED.values(), ids=SERVED)
def test_what_a_tool_of_the_service_answers(content: Any, output: list[Part]) -> None:
    result = served(content)

    assert output == result.output
    assert result.is_error is None


def test_a_tool_of_the_service_that_fails() -> None:
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    result = served(error)

    assert result.is_error is True
    assert result.output == [Other(data=error, name="web_search_tool_result_error")]


@pytest.mark.parametrize(
    ("source", "citation", "extra"),
    [
        pytest.param("https://a.example", Citation(title="Tides", url="https://a.example"), {}, id="web"),
        pytest.param("Almanac", Citation(title="Tides"), {"source": "Almanac"}, id="a name"),
    ],
)
def test_what_a_client_found_is_text(source: str, citation: Citation, extra: Raw) -> None:
    (part,) = anthropic_blocks.parse_blocks([{**ASKED, "source": source}], Notes(), 1, {})

    assert part == Text(text="noon", citations=[citation], extra={**extra, "type": "search_result"})


# Those of OpenAI's, and of services that speak like it.

ITEMS: dict[str, tuple[Raw, list[Part]]] = {
    "what a shell printed": (
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "7", "outcome": {"exit_code": 0}}],
        },
        [ToolResult(call_id="c", output=[Text(text="7", extra={"outcome": {"exit_code": 0}})])],
    ),
    "what a search in files found": (
        {
            "type": "file_search_call",
            "id": "f",
            "queries": ["q"],
            "results": [{"text": "x", "filename": "a.pdf"}],
        },
        [
            ToolCall(name="file_search", call_id="f", input={"queries": ["q"]}, kind="search"),
            ToolResult(call_id="f", output=[Text(text="x", citations=[Citation(title="a.pdf")])]),
        ],
    ),
    "an error of a server": (
        {
            "type": "mcp_call",
            "id": "m",
            "name": "n",
            "arguments": "{}",
            "error": {"message": "no", "code": 5},
        },
        [
            ToolCall(name="n", call_id="m", input="{}", kind="mcp"),
            ToolResult(call_id="m", output=[Text(text="no", extra={"code": 5})], is_error=True),
        ],
    ),
    "an error of a tool": (
        {"type": "mcp_call", "id": "m", "name": "n", "error": {"content": [{"type": "text", "text": "no"}]}},
        [
            ToolCall(name="n", call_id="m", kind="mcp"),
            ToolResult(call_id="m", output=[Text(text="no")], is_error=True),
        ],
    ),
    "a call of another service's tool": (
        {"type": "x_search_call", "call_id": "c", "name": "x_keyword_search", "arguments": '{"query":"q"}'},
        [ToolCall(name="x_keyword_search", call_id="c", input='{"query":"q"}')],
    ),
}


@pytest.mark.parametrize(("item", "parts"), ITEMS.values(), ids=ITEMS)
def test_items_of_the_service_s_tools(item: Raw, parts: list[Part]) -> None:
    notes = Notes()

    assert parts == openai_items.parse_item(item, notes, 1).parts
    assert not notes.collected


# Counts.


def test_tokens_of_a_compaction_are_counted() -> None:
    rounds = [
        {"type": "compaction", "input_tokens": 50_000, "output_tokens": 100, "cache_read_input_tokens": 7},
        {"type": "advisor_message", "model": "other", "input_tokens": 900, "output_tokens": 90},
        {"type": "message", "input_tokens": 200, "output_tokens": 8},
    ]
    usage = anthropic_blocks.parse_usage({"input_tokens": 200, "output_tokens": 8, "iterations": rounds}, "k")

    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read) == (50_200, 108, 7)
    assert usage.cache_write is None


def test_only_the_rounds_of_an_answer_are_counted_however_deep_others_nest() -> None:
    within: dict[str, Any] = {"type": "compaction", "input_tokens": 1}
    for _ in range(100_000):
        within = {"type": "compaction", "input_tokens": 1, "iterations": [{}, within]}
    usage = anthropic_blocks.parse_usage({"input_tokens": 1, "iterations": [{}, within]}, "k")
    while within:  # one by one: all at once would be too deep
        within = within.get("iterations", [{}]).pop()

    assert usage is not None
    assert usage.input == 2


COUNTS = {
    "claude": {"input_tokens": 12},
    "claude, with edits": {"input_tokens": 12, "context_management": {"original_input_tokens": 20}},
    "responses": {"object": "response.input_tokens", "input_tokens": 12},
    "gemini": {"totalTokens": 12, "promptTokensDetails": []},
    "converse": {"inputTokens": 12},
}


@pytest.mark.parametrize("response", COUNTS.values(), ids=COUNTS)
def test_a_count_is_no_answer(response: Raw) -> None:
    notes = Notes()
    asked = {"model": "m", "messages": [USER]}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
    records = [{"id": "0", "request": {**asked}, "response": {**response}}]
    (found,) = read([*records, {"id": "1", "request": asked, "response": answer}], notes=notes)

    assert [entry.id for entry in found.timeline] == ["0-0", "1-response"]
    assert found.requests[0].response_ids == []
    assert found.requests[0].extra["response"] == response
    assert not notes.collected


# Refusals.

REFUSALS = {
    "AWS": {"message": "The provided model identifier is invalid."},
    "a gateway": {"statusCode": 401, "message": "Access denied due to invalid subscription key."},
    "Mistral": {"object": "error", "message": "No such model", "type": "invalid_model", "code": "1500"},
    "a web framework": {"detail": [{"loc": ["body"], "msg": "field required"}]},
}


@pytest.mark.parametrize("response", REFUSALS.values(), ids=REFUSALS)
def test_a_call_that_is_refused_has_an_error_and_no_answer(response: Raw) -> None:
    notes = Notes()
    found = only({"id": "r", "request": {"messages": [USER]}, "response": {**response}}, notes=notes)

    assert found.requests[0].error == response
    assert [entry.id for entry in found.timeline] == ["r-0"]
    assert not notes.collected


def test_a_message_that_says_something_is_no_refusal() -> None:
    response = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True}

    assert reply_of(response).parts == [Text(text="Hi")]


# Streams and bodies that are told by little.


def test_chunks_that_have_an_id_each_are_one_answer() -> None:
    def chunk(number: int, delta: Raw, **more: Any) -> Raw:
        choice = {"index": 0, "delta": delta, "finish_reason": more.pop("end", None)}
        return {"id": f"c{number}", "object": "chat.completion.chunk", "choices": [choice], **more}

    counts = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    deltas = [{"reasoning": "Hm"}, {"content": "No"}, {"content": "on"}]
    pieces = [chunk(number, delta) for number, delta in enumerate(deltas)]
    ended = chunk(9, {}, end="stop", x_groq={"usage": counts})
    again = chunk(10, {"role": "assistant", "content": "Hi"}, end="stop")
    first, second = (tree.messages(found) for found in read([*pieces, ended, again]))

    (message,) = first
    assert message.parts == [Reasoning(text="Hm"), Text(text="Noon")]
    assert message.usage is not None
    assert (message.usage.input, message.usage.output, message.usage.total) == (3, 2, 5)
    assert [other.parts for other in second] == [[Text(text="Hi")]]


CLAIMED = {
    "what a model drew": {
        "candidates": [
            {"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "A" * 100_000}}]}}
        ],
        "modelVersion": "g",
    },
    "a compaction": {"id": "resp_1", "object": "response.compaction", "output": []},
    "a stream that is cut at its beginning": {
        "contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}
    },
}


@pytest.mark.parametrize("body", CLAIMED.values(), ids=CLAIMED)
def test_bodies_with_few_marks_are_claimed(body: Raw) -> None:
    data = json.dumps(body).encode()

    assert api_trace.sniff(Peek(Bytes(data))) == "auto"
    assert len(list(api_trace.read(Bytes(data), "auto", Notes()))) == 1
