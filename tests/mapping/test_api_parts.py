"""Parts of messages that services of 2026 have, and clients that write them in another case or dialect."""

from __future__ import annotations

import pytest

from agent_journal.model import Media, Part, Reasoning, Text, ToolCall, ToolResult
from agent_journal.notes import Notes
from agent_journal.readers.dialects import google_contents, openai_messages
from tests.mapping.test_api_trace import USER, Raw, only, reply_of

INLINE = {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}
SHOWN = {"function_response": {"name": "look", "response": {"output": "see"}, "parts": [INLINE]}}
GEMINI: dict[str, tuple[Raw, Part]] = {
    "a call of the service's tool": (
        {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["tide"]}}},
        ToolCall(name="GOOGLE_SEARCH_WEB", call_id="t", input={"queries": ["tide"]}, kind="web"),
    ),
    "as a client writes it": (
        {"tool_call": {"id": "t", "tool_type": "FILE_SEARCH"}, "thought_signature": "s"},
        ToolCall(name="FILE_SEARCH", call_id="t", kind="search", extra={"thoughtSignature": "s"}),
    ),
    "what it answered": (
        {"toolResponse": {"id": "t", "toolType": "URL_CONTEXT", "response": {"output": "noon"}}},
        ToolResult(call_id="t", name="URL_CONTEXT", output="noon"),
    ),
    "what it keeps to itself": (
        {"toolResponse": {"id": "t", "toolType": "FILE_SEARCH"}},
        ToolResult(call_id="t", name="FILE_SEARCH", output=""),
    ),
    "what the vendor's library makes of what a function gave": (
        {"functionResponse": {"name": "tide", "response": {"result": "noon"}}},
        ToolResult(name="tide", output="noon"),
    ),
    "an image that a function gave": (
        SHOWN,
        ToolResult(
            name="look", output=[Text(text="see"), Media(kind="image", mime="image/png", data="AAAA")]
        ),
    ),
}


@pytest.mark.parametrize(("raw", "part"), GEMINI.values(), ids=GEMINI)
def test_parts_of_the_gemini_api(raw: Raw, part: Part) -> None:
    notes = Notes()

    assert google_contents.parse_content({"role": "model", "parts": [raw]}, notes, 1).parts == [part]
    assert not notes.collected


def test_one_tool_of_the_gemini_api_alone() -> None:
    notes = Notes()
    tools = {"function_declarations": [{"name": "tide"}, {"name": "wind"}]}
    asked = {"contents": [{"role": "user", "parts": [{"text": "When?"}]}], "tools": tools}

    assert [tool.name for tool in only({"id": "r", "request": asked}, notes=notes).tools] == ["tide", "wind"]
    assert not notes.collected


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
CHAT: dict[str, tuple[Raw, Part]] = {
    "Mistral's document": (
        {"type": "document_url", "document_url": "https://a.example/x.pdf", "document_name": "x.pdf"},
        Media(kind="document", ref="https://a.example/x.pdf", name="x.pdf"),
    ),
    "a document inside": (
        {"type": "document_url", "document_url": {"url": "data:application/pdf;base64,AA=="}},
        Media(kind="document", mime="application/pdf", data="AA=="),
    ),
    "Claude's image": (IMAGE, Media(kind="image", mime="image/png", data="AA==")),
    "Claude's document": (
        {"type": "document", "title": "x", "source": {"type": "url", "url": "https://a.example/x.pdf"}},
        Media(kind="document", name="x", ref="https://a.example/x.pdf"),
    ),
}


@pytest.mark.parametrize(("raw", "part"), CHAT.values(), ids=CHAT)
def test_parts_of_the_chat_dialect(raw: Raw, part: Part) -> None:
    notes = Notes()

    assert openai_messages.parse_message({"role": "user", "content": [raw]}, notes, 1).parts == [part]
    assert not notes.collected


def test_thoughts_of_mistral_s_are_no_sign_of_claude() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    call = {"id": "c", "function": {"name": "tide", "arguments": "{}"}}
    echo = {"role": "assistant", "content": [thought], "tool_calls": [call]}
    found = only({"id": "r", "request": {"messages": [USER, echo]}})

    assert found.requests[0].api == "openai"
    last = found.timeline[-1]
    assert getattr(last, "parts", None) == [
        Reasoning(text="Hm."),
        ToolCall(name="tide", call_id="c", input="{}"),
    ]


def test_fields_that_are_filled_in_with_nothing_say_nothing() -> None:
    spoken = {
        "audio": {"id": "", "data": "", "expires_at": 0},
        "function_call": {"name": "", "arguments": ""},
    }
    message = reply_of({"choices": [{"message": {"role": "assistant", "content": "Hi", **spoken}}]})

    assert message.parts == [Text(text="Hi")]
    assert message.extra == spoken
