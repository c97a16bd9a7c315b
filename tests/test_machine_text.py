"""What programs put into a person's messages never counts as the person's words, and is never lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_journal.archive import bodies, rows
from agent_journal.model import Conversation, Message, Text, tree
from agent_journal.readers.claude_code import prompt_text as typed
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags
from agent_journal.text import describe
from agent_journal.writers.dialects.training_dialogue import dialogues
from agent_journal.writers.handoff.work import Work, prompt_text
from agent_journal.writers.session import summary
from tests.cases import Case, all_cases, outcome
from tests.test_writers import written

CASES = all_cases()
MACHINE_TEXT = [case for case in CASES if case.name == "machine_text"]
# Sources where a message may hold both a prompt and what a program put there.
MIXED = [case for case in MACHINE_TEXT if case.reader != "aider"]
TAGS = (
    *HARNESS_TAGS,
    *("command-name", "command-message", "environment_context", "user_instructions", "environment_details"),
    *("turn_aborted", "session_context", "hook_context", "additional_data", "attached_files", "user_info"),
    *("open_and_recently_viewed_files", "git_status", "rules", "SYSTEM_NOTICE", "image", "user_query"),
    *("bash-input", "system_notification", "reminderInstructions", "context", "permissions instructions"),
)
BEGINS = re.compile(
    rf"\s*(?:<(?:{'|'.join(TAGS)})[\s>]|# AGENTS\.md instructions|# Context from my IDE setup"
    r"|\[Request interrupted|Caveat: The messages below|This session is being continued"
    r"|Stop hook feedback:|UserPromptSubmit hook|This is the Gemini CLI|I have \*added these files"
    r"|\[ERROR\] You did not use a tool)"
)
# What people wrote who begin with a tag because they ask about it.
TYPED = (
    "<system-reminder>Be brief</system-reminder> is what it says; where does it come from?",
    "<system-reminder>\nI pasted this.\n</system-reminder>\nWhat is it?",
    "<rules>\nI typed this.\n</rules>",
)


def conversations(case: Case, folder: Path) -> list[Conversation]:
    return [each for each in outcome(case.location(folder)).items if isinstance(each, Conversation)]


def words_of_the_person(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Every place where something is told as what the person said."""
    yield from (("handoff", prompt_text(message)) for message in Work(conversation).prompts)
    if conversation.title is None:
        yield "title", describe.title(conversation)
        if not conversation.summaries:
            yield "session summary", summary(conversation) or ""
    for dialogue in dialogues(conversation):
        turns = [turn for turn in dialogue.turns if turn.role == "user" and not turn.hidden]
        texts = (part for turn in turns for part in turn.parts if isinstance(part, Text))
        yield from (("turn", part.text) for part in texts)
    if any(message.role == "user" and not message.hidden for message in tree.messages(conversation)):
        yield from training(conversation)


def training(conversation: Conversation) -> Iterator[tuple[str, str]]:
    for line in written("openai-messages", [conversation])[0].splitlines():
        for message in json.loads(line)["messages"]:
            if message["role"] == "user":
                yield "openai-messages", str(message["content"])
    for line in written("sharegpt", [conversation])[0].splitlines():
        for value in json.loads(line)["conversations"]:
            if value["from"] == "human":
                yield "sharegpt", value["value"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_that_the_person_wrote_begins_as_machine_text(case: Case, tmp_path: Path) -> None:
    found = [
        (place, text[:80])
        for conversation in conversations(case, tmp_path)
        for place, text in words_of_the_person(conversation)
        if BEGINS.match(text) and text.strip() not in TYPED
    ]

    assert found == []


@pytest.mark.parametrize("case", MIXED, ids=str)
@pytest.mark.parametrize("target", ["markdown", "text", "html"])
def test_pages_show_machine_text_apart(case: Case, target: str, tmp_path: Path) -> None:
    shown = [
        each
        for each in conversations(case, tmp_path)
        if any(part.injected for m in tree.messages(each) for part in m.parts if isinstance(part, Text))
    ]
    page = written(target, shown)[0].decode().lower()

    assert shown
    assert "added by the tool" in page


@pytest.mark.parametrize("case", MACHINE_TEXT, ids=str)
def test_machine_text_is_archived_and_searched_apart(case: Case, tmp_path: Path) -> None:
    for conversation in conversations(case, tmp_path):
        for message in tree.messages(conversation):
            row = rows.row_of(message)
            injected = [part.text for part in message.parts if isinstance(part, Text) and part.injected]

            assert all(text in row.attached and text not in (row.text or "") for text in injected)
            assert bodies.entry_of(row.body, row.text) == rows.without_native(message)


def test_what_was_typed_is_in_the_handoff() -> None:
    (case,) = (case for case in MACHINE_TEXT if case.reader == "claude-code")
    (conversation,) = outcome(case.input).items
    assert isinstance(conversation, Conversation)

    assert [prompt_text(message).partition("\n")[0] for message in Work(conversation).prompts] == [
        "/model opus please",
        "!git status --short",
        "Count the plums.",
        "And the pears?",
        "Why do I see <system-reminder> in my log? What does <bash-stdout> mean?",
        "<system-reminder>Be brief</system-reminder> is what it says; where does it come from?",
        "<system-reminder>",
        "#Plums are blue.",
        "/init",
        "Stop hook feedback is what I want to talk about.",
    ]


def test_hidden_messages_are_found_as_the_system_s() -> None:
    from agent_journal.archive.sqlite.index_entries import message_entries  # noqa: PLC0415

    said = [
        Message(id="1", role="user", hidden=True, parts=[Text(text="<bash-stdout>ok</bash-stdout>")]),
        Message(id="2", role="user", parts=[Text(text="Count the plums.")]),
    ]
    found = message_entries(1, Conversation(id="c", source="kitchen"), enumerate(map(rows.row_of, said)), {})

    assert [("system", said[0].parts[0].text), ("user", "Count the plums.")] == [  # type: ignore[union-attr]
        (entry.role, entry.text) for entry in found
    ]


def test_training_data_distinguishes_injected_text_from_the_prompt() -> None:
    prompt = Message(
        id="1",
        role="user",
        parts=[Text(text="<system-reminder>x</system-reminder>", injected=True), Text(text="Count.")],
    )
    answer = Message(id="2", role="assistant", parts=[Text(text="Seven.")])
    conversation = Conversation(id="c", source="kitchen", shape="list", timeline=[prompt, answer])
    (line,) = written("openai-messages", [conversation])[0].splitlines()
    (shared,) = written("sharegpt", [conversation])[0].splitlines()

    assert [(each["role"], each["content"]) for each in json.loads(line)["messages"]] == [
        ("system", "<system-reminder>x</system-reminder>"),
        ("user", "Count."),
        ("assistant", "Seven."),
    ]
    assert [(each["from"], each["value"]) for each in json.loads(shared)["conversations"]] == [
        ("human", "Count."),
        ("gpt", "Seven."),
    ]


@pytest.mark.parametrize(
    ("text", "before", "rest"),
    [
        ("Why <a-tag>x</a-tag>?", "", "Why <a-tag>x</a-tag>?"),
        ("<a-tag>x</a-tag>\nWhy?", "<a-tag>x</a-tag>", "Why?"),
        ("<a-tag>x</a-tag> is odd", "", "<a-tag>x</a-tag> is odd"),
        ("<a-tag>x</a-tag><b-tag y='1'>z</b-tag>\n\nWhy?", "<a-tag>x</a-tag><b-tag y='1'>z</b-tag>", "Why?"),
        ("<a-tag>x", "", "<a-tag>x"),
        ("<other>x</other>\nWhy?", "", "<other>x</other>\nWhy?"),
    ],
)
def test_blocks_before_a_prompt(text: str, before: str, rest: str) -> None:
    assert Tags(("a-tag", "b-tag")).split(text) == (before, rest)


@pytest.mark.parametrize(
    ("text", "is_all"),
    [
        ("<a-tag>x</a-tag>", True),
        (" <a-tag>x</a-tag>\n<a-tag>y</a-tag>\n", True),
        ("<a-tag>quotes </a-tag> and goes on</a-tag>", True),
        ("<a-tag>x</a-tag>\nWhy?", False),
        ("About <a-tag>x</a-tag>", False),
        ("<a-tag>x", False),
        ("<a-tagged>x</a-tagged>", False),
        ("", False),
    ],
)
def test_a_text_of_nothing_but_blocks(text: str, is_all: bool) -> None:
    assert Tags(("a-tag",)).is_all(text) is is_all


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<command-name>/x</command-name><command-args>a\nb</command-args>", "/x a\nb"),
        ("<command-name>/x</command-name> and more", None),
        ("<command-name></command-name>", None),
        ("<command-name>/x</command-name><command-name>/y</command-name>", None),
        ("<bash-input>ls</bash-input>", "!ls"),
        ("What is <bash-input>ls</bash-input>?", None),
    ],
)
def test_commands_are_as_they_were_typed(text: str, expected: str | None) -> None:
    parts, is_all = typed.separate([Text(text=text)], is_typed=False)

    assert not is_all
    assert [part.text for part in parts if isinstance(part, Text)] == [expected or text]
