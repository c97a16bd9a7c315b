"""Aider into the model: what each line of a history says, and who says it."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.detection.peek import Peek
from agent_journal.model import Conversation, Event, Message, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.notes import Kind, Notes
from agent_journal.readers.aider.answers import parts
from agent_journal.readers.aider.blocks import (
    _KNOWN_LINES,
    _MARKS,
    Speaker,
    _SpaceBasedSplitter,
    _without_marks,
    _without_marks_by_line,
    blocks,
)
from agent_journal.readers.aider.printed_lines import _CURRENT_TOKENS, _parse_any_tokens, parse_usage
from tests.inline import converted
from tests.memory_source import Bytes

READER = readers.get("aider")
NAME = ".aider.chat.history.md"
HEADING = "\n# aider chat started at 2026-01-02 10:00:00\n\n"
BLOCK = "a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```"


def printed(*lines: str) -> str:
    return "".join(f"> {line}  \n" for line in lines)


def typed(*lines: str) -> str:
    return "\n" + "".join(f"#### {line}  \n" for line in lines)


def said(text: str) -> str:
    return f"\n{text}\n\n"


def save(folder: Path, text: str, name: str = NAME) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def read(folder: Path, text: str, note: Notes | None = None) -> list[Conversation]:
    found = read_all([str(save(folder, text))], note or Notes())
    return [item for item in found if isinstance(item, Conversation)]


def only(folder: Path, *texts: str) -> Conversation:
    (conversation,) = read(folder, HEADING + "".join(texts))
    return conversation


def roles(conversation: Conversation) -> list[str]:
    return [entry.role if isinstance(entry, Message) else entry.name for entry in conversation.timeline]


def of(conversation: Conversation, role: str) -> Message:
    return next(message for message in tree.messages(conversation) if message.role == role)


# Sessions.


def test_prompts_are_known_before_and_after_an_editor_cut_white_space(tmp_path: Path) -> None:
    before = (
        printed("Aider v0.86.1") + typed("first") + said("One.") + printed("Tokens: 1k sent, 2 received.")
    )
    cut = re.sub("  $", "", before, flags=re.MULTILINE)
    item = only(tmp_path, cut, typed("second"), said("Two.\n\n#### Heading\n\nThree."))
    messages = [entry for entry in item.timeline if isinstance(entry, Message)]

    assert ["system", "user", "assistant", "user", "assistant"] == [message.role for message in messages]
    assert "Two.\n\n#### Heading\n\nThree." == tree.plain_text(messages[-1])


def test_prompts_are_known_where_only_their_ends_were_cut(tmp_path: Path) -> None:
    item = only(
        tmp_path, printed("Aider v0.86.1"), "\n#### first\n", said("One."), "#### second\n", said("Two.")
    )

    assert ["system", "user", "assistant", "user", "assistant"] == roles(item)


def test_each_heading_begins_a_conversation(tmp_path: Path) -> None:
    other = "\n# aider chat started at 2026-01-03 09:00:00\n\n"
    found = read(tmp_path, HEADING + typed("one") + other + typed("two"))

    assert ["one", "two"] == [each.title for each in found]
    assert ["2026-01-02T10:00:00Z", "2026-01-03T09:00:00Z"] == [each.started_at for each in found]
    assert ["2026-01-02 10:00:00", "2026-01-03 09:00:00"] == [each.extra["started"] for each in found]


def test_that_times_have_no_zone_is_noted_once(tmp_path: Path) -> None:
    notes = Notes()
    read(tmp_path, HEADING * 3, notes)

    assert 1 == notes.counts[Kind.BAD_TIME]


def test_sessions_of_one_second_have_ids_of_their_own_that_stay(tmp_path: Path) -> None:
    before = [each.id for each in read(tmp_path, HEADING * 2)]
    after = [each.id for each in read(tmp_path, HEADING + HEADING + typed("more"))]

    assert 2 == len(set(before))
    assert before == after


def test_a_heading_of_the_model_is_no_session(tmp_path: Path) -> None:
    assert "# A heading\n\nText" == tree.plain_text(
        of(only(tmp_path, said("# A heading\n\nText")), "assistant")
    )


def test_the_title_is_the_first_prompt_that_is_no_command(tmp_path: Path) -> None:
    assert "do it" == only(tmp_path, typed("/add a.py"), typed("!ls"), typed("do it", "now")).title
    assert only(tmp_path, typed("/exit")).title is None


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        ("Aider v0.86.1", "app_version", "0.86.1"),
        ("Main model: claude-sonnet-4-5 with diff edit format", "model", "claude-sonnet-4-5"),
        ("Model: gpt-5 with whole edit format", "model", "gpt-5"),
        ("Models: o3 with diff edit format, weak model gpt-4o-mini", "model", "o3"),
        ("Cur working dir: /home/user/project", "cwd", "/home/user/project"),
    ],
)
def test_what_aider_prints_about_a_session(tmp_path: Path, line: str, field: str, expected: str) -> None:
    conversation = only(tmp_path, printed(line))

    assert expected == getattr(conversation, field)
    assert line == tree.plain_text(of(conversation, "system"))


def test_the_project_is_the_folder_of_the_history(tmp_path: Path) -> None:
    assert str(tmp_path) == only(tmp_path, typed("hi")).cwd


def test_what_was_moved_or_packed_states_no_project(tmp_path: Path) -> None:
    moved = save(tmp_path, HEADING + typed("hi"), "moved.md")
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"app/{NAME}", HEADING + typed("hi"))
    found = read_all([str(moved), str(packed)], Notes())

    assert [None, None] == [each.cwd for each in found if isinstance(each, Conversation)]


def test_answers_are_of_the_model_that_was_chosen_last(tmp_path: Path) -> None:
    one, two = printed("Main model: a with diff edit format"), printed("Model: b with diff edit format")
    conversation = only(tmp_path, one, said("1"), typed("/model b"), two, said("2"))

    assert ["a", "b"] == [each.model for each in tree.messages(conversation) if each.role == "assistant"]
    assert "a" == conversation.model


# Who speaks.


def test_marks_with_two_spaces_are_aiders(tmp_path: Path) -> None:
    answer = "> a quotation\n\n#### A heading\n\ntext"
    conversation = only(tmp_path, typed("one", "two"), said(answer), printed("done"))

    assert ["user", "assistant", "system"] == roles(conversation)
    assert "one\ntwo" == tree.plain_text(of(conversation, "user"))
    assert answer == tree.plain_text(of(conversation, "assistant"))


def test_output_of_several_lines_may_have_one_mark(tmp_path: Path) -> None:
    conversation = only(tmp_path, typed("/run ls"), "> a\nb\n\nc  \n", said("text"))
    (result,) = of(conversation, "tool").parts

    assert ToolResult(name="run", output="a\nb\n\nc", extra={"command": "ls"}) == result
    assert "text" == tree.plain_text(of(conversation, "assistant"))


class LineByLine:
    """Who wrote each line of a history in which what Aider writes ends with two spaces."""

    def __init__(self) -> None:
        self.last, self.is_open, self.is_free = "aider", False, True

    def speaker(self, line: str) -> str:
        is_free, self.is_free, is_ended = self.is_free, False, line.endswith("  ")
        if line.startswith("####") and is_ended:
            self.last, self.is_open = "person", False
        elif line.startswith(">") and (is_ended or line.startswith(_KNOWN_LINES)):
            self.last, self.is_open = "aider", not is_ended
        elif self.is_open:
            self.is_open = not is_ended
        elif not line.strip():
            self.is_free = self.last != "model"
            return "model"
        elif line.startswith("> ") and self.last != "model" and not is_free:
            self.last, self.is_open = "aider", True
        else:
            self.last = "model"
        return self.last


LINES = [
    "a",
    "",
    "  ",
    "a  ",
    "#### b  ",
    "#### b",
    "####  ",
    "> c  ",
    "> c",
    ">  ",
    ">",
    "> Tokens: 1",
    "# d",
    "d >  ",
]


@given(st.lists(st.sampled_from(LINES)))
def test_lines_are_detected_together_as_one_by_one(lines: list[str]) -> None:
    text = "\n".join(lines)
    told = ["model"] * len(lines or [""])
    for speaker, start, end in _SpaceBasedSplitter().spans(text.encode(), 0):
        first = text.count("\n", 0, start)
        told[first : first + text.count("\n", start, end) + 1] = [speaker] * (
            text.count("\n", start, end) + 1
        )
    one_by_one = LineByLine()

    assert [one_by_one.speaker(line) for line in text.split("\n")] == told


@given(st.lists(st.sampled_from(LINES), min_size=1), st.sampled_from([*_MARKS]))
def test_marks_are_taken_away_together_as_one_by_one(lines: list[str], speaker: Speaker) -> None:
    text = "\n".join(lines)

    assert _without_marks_by_line(text, _MARKS[speaker]) == _without_marks(
        text.encode(), speaker, 0, len(text)
    )


@given(
    st.lists(
        st.sampled_from(["#### a", "#### a  ", "> b", "> b  ", "c", "", "> Tokens: 1 sent, 1 received.  "])
    )
)
def test_no_line_is_lost_whoever_wrote_it(lines: list[str]) -> None:
    kept = [line for _, text in blocks("\n".join(lines).encode()) for line in text.split("\n") if line]

    assert [line.strip("#> ") for line in lines if line.strip()] == [line.strip("#> ") for line in kept]


# Edits, commands, commits.


def test_a_block_is_an_edit_that_the_line_about_it_answers(tmp_path: Path) -> None:
    conversation = only(
        tmp_path, typed("x"), said(f"Here:\n\n{BLOCK}\n\nDone."), printed("Applied edit to a.py")
    )
    answer, result = of(conversation, "assistant"), of(conversation, "tool")
    (call,) = tree.calls_in(answer)

    assert ("edit", "edit") == (call.name, call.kind)
    assert {"file": "a.py", "search": "old", "replace": "new"} == call.input
    assert [Text(text="Here:\n\na.py"), call, Text(text="Done.")] == answer.parts
    assert [(call.call_id, "Applied edit to a.py")] == [
        (each.call_id, each.output) for each in tree.results_in(result)
    ]
    assert f"Here:\n\n{BLOCK}\n\nDone." == answer.native


EDITS = [
    "<<<<<<< SEARCH",
    "=======",
    "=======  ",
    "========",
    ">>>>>>> REPLACE",
    ">>>>>>> REPLACE x",
    "a",
    "",
]


def whole_blocks(text: str) -> list[tuple[str, str]]:
    """What the whole blocks of a text search for and put, found by one expression; none has another in it."""
    search, middle, put = r"<<<<<<< SEARCH[^\n]*\n", r"={7}[^\S\n]*\n", r">{7} REPLACE[^\S\n]*(?=\n|\Z)"
    line = r"(?!<<<<<<< SEARCH)[^\n]*\n"
    pattern = rf"^{search}((?:(?!{middle}){line})*){middle}((?:(?!{put}){line})*){put}"
    found = re.findall(pattern, text, re.MULTILINE)
    return [(one.removesuffix("\n"), two.removesuffix("\n")) for one, two in found]


@given(st.lists(st.sampled_from(EDITS)))
def test_whole_blocks_are_edits_and_no_others(lines: list[str]) -> None:
    text = "\n".join(lines)
    calls = [part.input for part in parts(text, "m") if isinstance(part, ToolCall)]

    assert whole_blocks(text) == [(each["search"], each["replace"]) for each in calls]


@pytest.mark.parametrize("line", ["<<<<<<< SEARCH\n", "<<<<<<< SEARCH\n=======\n", "=======\n"])
def test_blocks_that_are_never_ended_are_text(line: str) -> None:
    text = line * 20_000

    assert not any(isinstance(part, ToolCall) for part in parts(text, "m"))


def test_a_block_with_nothing_to_search_for_writes_a_file() -> None:
    (_, call) = parts("b.py\n```\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```", "m")

    assert isinstance(call, ToolCall)
    assert ("write", "write", "b.py") == (call.name, call.kind, call.input["file"])


def test_blocks_that_follow_each_other_are_of_one_file() -> None:
    text = BLOCK + "\n\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```"

    assert ["a.py", "a.py"] == [part.input["file"] for part in parts(text, "m") if isinstance(part, ToolCall)]


def test_a_block_that_begins_an_answer_is_of_no_file() -> None:
    (call,) = parts("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE", "m")

    assert isinstance(call, ToolCall)
    assert {"file": None, "search": "x", "replace": "y"} == call.input


def test_an_edit_of_an_earlier_answer_is_not_answered_later(tmp_path: Path) -> None:
    conversation = only(tmp_path, said(BLOCK), typed("again"), said(BLOCK), printed("Applied edit to a.py"))
    first, second = [call.call_id for entry in conversation.timeline for call in tree.calls_in(entry)]

    assert [second] == [
        result.call_id for entry in conversation.timeline for result in tree.results_in(entry)
    ]
    assert first != second


def test_commits_are_events(tmp_path: Path) -> None:
    (event,) = only(tmp_path, printed("Commit 1a2b3c4 feat: x")).timeline

    assert isinstance(event, Event)
    assert {"commit": "1a2b3c4", "message": "feat: x"} == event.data


def test_a_command_that_the_model_proposed(tmp_path: Path) -> None:
    conversation = only(tmp_path, said("x"), printed("Running pytest -q", "1 passed"))
    (result,) = of(conversation, "tool").parts

    assert isinstance(result, ToolResult)
    assert ("Running pytest -q\n1 passed", {"command": "pytest -q"}) == (result.output, result.extra)


def test_thoughts(tmp_path: Path) -> None:
    text = "--------------\n► **THINKING**\n\nHm.\n\n------------\n► **ANSWER**\n\nYes."

    assert [Reasoning(text="Hm."), Text(text="Yes.")] == of(only(tmp_path, said(text)), "assistant").parts


TAG = "thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b"
HM, YES = Reasoning(text="Hm."), Text(text="Yes.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<{TAG}>\n\nHm.\n\n</{TAG}>\n\nYes.", [HM, YES]),
        (f"<{TAG}>\n\nHm.\n\n</think>\n\nYes.", [HM, YES]),
        ("<think>\nHm.\n</think>\n\nYes.", [HM, YES]),
        (f"Hm.\n\n</{TAG}>\n\nYes.", [HM, YES]),
        (f"<{TAG}>\n\nHm.", [HM]),
        (f"<{TAG}>\n\n</{TAG}>\n\nYes.", [YES]),
        (f"<{TAG}>\nHm.\n</{TAG}>\nYes.\n<{TAG}>\nHm.\n</{TAG}>\nYes.", [HM, YES, HM, YES]),
        ("It writes `<think>` first.", [Text(text="It writes `<think>` first.")]),
        ("The end is `</think>`.", [Text(text="The end is `</think>`.")]),
    ],
)
def test_thoughts_in_tags(tmp_path: Path, text: str, expected: list[Any]) -> None:
    assert expected == of(only(tmp_path, said(text)), "assistant").parts


def test_an_answer_with_thoughts_is_the_one_that_the_next_call_sends(tmp_path: Path) -> None:
    log = (
        "TO LLM 2026-01-02T10:00:00\n-------\nUSER Tea?\n"
        "LLM RESPONSE 2026-01-02T10:00:02\n"
        f"ASSISTANT <{TAG}>\nASSISTANT \nASSISTANT Hm.\nASSISTANT \nASSISTANT </{TAG}>\n"
        "ASSISTANT \nASSISTANT Yes.\n"
        "TO LLM 2026-01-02T10:01:00\n-------\nUSER Tea?\n-------\nASSISTANT Yes.\n-------\nUSER Milk?\n"
        "LLM RESPONSE 2026-01-02T10:01:02\nASSISTANT No.\n"
    )
    (conversation,) = read_all([str(save(tmp_path, log, ".aider.llm.history"))], Notes())

    assert isinstance(conversation, Conversation)
    found = [message.parts for message in tree.messages(conversation)]
    assert found == [[Text(text="Tea?")], [HM, YES], [Text(text="Milk?")], [Text(text="No.")]]


# Tokens.


def test_the_line_of_an_odd_heading_is_stated(tmp_path: Path) -> None:
    notes = Notes()
    read(tmp_path, "> before  \n" + HEADING + typed("a") + "\n# aider chat started at noon\n", notes)

    assert ["line 3", "line 8"] == [
        note.where for note in notes.collected if note.kind == Kind.BAD_TIME.label
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"Tokens: {'9' * 400} sent, 7 received.", (None, 7, None, None, None)),
        (
            "Tokens: 5.2k sent, 310 received. Cost: $0.02 message, $0.10 session.",
            (5200, 310, None, None, 0.02),
        ),
        ("Tokens: 1,234 sent, 12 received.", (1234, 12, None, None, None)),
        ("Tokens: 10k sent, 2k cache write, 3k cache hit, 1 received.", (5000, 1, 3000, 2000, None)),
        ("Tokens: 900 sent, 1,000 cached, 7 received. Cost: $1,000.5 request", (0, 7, 1000, None, 1000.5)),
        ("Tokens: 1.5M sent, 2 received.", (1_500_000, 2, None, None, None)),
        ("Tokens: ..k sent, ,, received. Cost: $. message", (None, None, None, None, None)),
    ],
)
def test_tokens(line: str, expected: tuple[Any, ...]) -> None:
    told = parse_usage(line)

    assert told is not None
    assert expected == (told.input, told.output, told.cache_read, told.cache_write, told.cost_usd)
    assert {"line": line} == told.extra


AMOUNTS = st.sampled_from(["", "1", "1.5k", "2.", "3M", "."])


@given(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), AMOUNTS, st.sampled_from(["", ".", " and more"]))
def test_tokens_as_they_are_usually_printed(amounts: tuple[str, ...], cost: str, end: str) -> None:
    names = ("sent", "cache write", "cache hit", "received")
    told = ", ".join(f"{amount} {name}" for name, amount in zip(names, amounts, strict=True) if amount)
    line = f"Tokens: {told}." + (f" Cost: ${cost} message, ${cost} session{end}" if cost else "")

    usual = _CURRENT_TOKENS.match(line)
    assert usual is None or _parse_any_tokens(line) == usual.groups()


def test_tokens_stand_with_the_answer_before_them(tmp_path: Path) -> None:
    first, second = printed("Tokens: 1 sent, 2 received."), printed("Tokens: 3 sent, 4 received.")
    conversation = only(tmp_path, typed("a"), said("x"), first, typed("b"), said("y"), second)

    assert [2, 4] == [told.output for told in tree.usages(conversation.timeline)]


def test_tokens_without_an_answer_are_preserved_as_they_are_printed(tmp_path: Path) -> None:
    conversation = only(tmp_path, typed("a"), printed("Tokens: 1 sent, 2 received."))

    assert "Tokens: 1 sent, 2 received." == tree.plain_text(of(conversation, "system"))


def test_unified_names_the_platform(tmp_path: Path) -> None:
    text = HEADING + printed("Aider v0.86.1") + typed("a") + said("x")

    assert "aider" == converted(save(tmp_path, text), "unified").only["platform"]["name"]


# What lies beside, and detection.


def test_prompts_get_their_times_from_the_history_of_inputs(tmp_path: Path) -> None:
    save(tmp_path, "\n# 2026-01-01 09:00:00.5\n+a\n\n# 2026-01-02 10:00:07.25\n+a\n", ".aider.input.history")

    assert "2026-01-02T10:00:07.25Z" == of(only(tmp_path, typed("a")), "user").at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADING, "chat"),
        ("> the end of another  \n" + HEADING, "chat"),
        ("# A page about it\n\n```\n# aider chat started at 2026-01-02 10:00:00\n```\n", None),
        ("> a mail\n\nno history", None),
        ("TO LLM 2026-01-02T10:00:00\n-------\nUSER x\n", "llm"),
        ("TO LLM and back\n", None),
        (
            '{"event": "launched", "properties": {"aider_version": "1"}, "user_id": "u", "time": 1}\n',
            "analytics",
        ),
        ('{"event": "launched", "properties": {}, "user_id": "u", "time": 1}\n', None),
        ("", None),
    ],
)
def test_files_are_identified_by_what_is_in_them(text: str, expected: str | None) -> None:
    assert expected == READER.sniff(Peek(Bytes(text.encode(), "x.txt")))


def test_it_is_looked_for_in_projects_and_never_over_the_whole_disk() -> None:
    assert NAME in READER.INFO.in_projects
    assert not any("**" in home or home.startswith(("/", "~")) for home in READER.INFO.homes)


def test_calls_yield_each_message_once(tmp_path: Path) -> None:
    one = "TO LLM 2026-01-02T10:00:00\n-------\nUSER a\nLLM RESPONSE 2026-01-02T10:00:01\nASSISTANT b\n"
    two = "TO LLM 2026-01-02T10:01:00\n-------\nUSER a\n-------\nASSISTANT b\n-------\nUSER c\n"
    path = save(tmp_path, one + two, ".aider.llm.history")
    (conversation,) = read_all([str(path)], Notes())
    assert isinstance(conversation, Conversation)

    assert [("user", "a"), ("assistant", "b"), ("user", "c")] == [
        (each.role, tree.plain_text(each)) for each in tree.messages(conversation)
    ]
    assert 2 == len(conversation.requests)
