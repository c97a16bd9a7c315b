"""What a message says, as the index and the tables get it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.archive.bodies import entry_of
from agent_journal.archive.rows import contains_all, row_of, texts_by_field
from agent_journal.model import Media, Message, Other, Part, Text, ToolCall, ToolResult

SAID = 'first\n\tsecond "third"\r\nfourth C:\\new\\table'


def gave(output: str) -> str:
    return row_of(Message(id="m", role="tool", parts=[ToolResult(output=output)])).output


def test_lines_in_json_are_lines() -> None:
    assert {"first", "second", "third", "fourth", "new", "table"} <= set(
        words(gave(json.dumps({"output": SAID})))
    )


def test_so_are_those_of_what_a_tool_is_given() -> None:
    call = ToolCall(name="shell", input=json.dumps({"command": "cat <<E\nhello\nE"}))

    assert "hello" in words(row_of(Message(id="m", role="assistant", parts=[call])).tool)


def test_numbers_in_tool_input_are_counted() -> None:
    call = ToolCall(name="get_issue", input={"repo": "tides", "issue": 4711, "near": [0.25, True, 10**5000]})
    message = Message(id="1", role="assistant", at="2026-10-26T08:14:00Z", parts=[call])
    row = row_of(message)

    assert (row.tool, texts_by_field(message)) == (
        "get_issue\ntides\n4711\n0.25",
        (("tool", "get_issue\ntides\n4711\n0.25"),),
    )
    bare = Message(id="1", role="assistant", at=message.at, parts=[ToolCall(name=call.name, input=["tides"])])
    assert row.copy_hash == row_of(bare).copy_hash, "journals know copies by texts alone"


@pytest.mark.parametrize("text", ["C:\\new", "{C:\\new", "\\n}", "a\\nb", '["a\\nb"]'])
def test_what_is_no_object_stays_as_it_is(text: str) -> None:
    assert text == gave(text)


def test_values_in_tool_output_are_counted() -> None:
    answer = ToolResult(output=[Other(data={"tides": [{"port": "Lyme"}, 3, None]}, name="json")])

    assert row_of(Message(id="m", role="tool", parts=[answer])).output == "Lyme"


def test_files_count_in_addition_to_the_texts() -> None:
    answer = ToolResult(output=[Media(kind="file", text="moss")])
    parts: list[Part] = [Text(text="see"), Media(kind="document", text="ferns"), Media(kind="image"), answer]
    message = Message(id="m", role="user", parts=parts)
    row = row_of(message)

    assert (row.text, row.attached, row.output) == ("see", "ferns", "moss")
    assert message == entry_of(row.body, row.text)
    assert (("text", "see"), ("output", "moss"), ("attached", "ferns")) == texts_by_field(message)


def test_a_file_with_more_text_says_all_of_it() -> None:
    less, more = (
        Message(id="m", role="user", parts=[Media(kind="document", name="a", text=text)])
        for text in ("ferns", "ferns and moss")
    )

    assert (contains_all(more, less), contains_all(less, more)) == (True, False)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\r\t\b\f")))
def test_every_word_of_it_is_there(text: str) -> None:
    assert {"output", *words(text)} == set(words(gave(json.dumps({"output": text}))))


def words(text: str) -> list[str]:
    return "".join(each if each.isalnum() else " " for each in text).split()
