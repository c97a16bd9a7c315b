"""Targets that a tool resumes: the tool's own sessions come back whole, and of others each turn and call."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent_journal import writers
from agent_journal.conversion.output import write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import CannotWrite
from agent_journal.model import (
    Conversation,
    Event,
    Item,
    Memory,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.notes import Notes
from agent_journal.writers.dialects.agent_sessions import Branch, branch_of, obstacle, texts_of
from tests.cases import Case, all_cases, outcome

TARGETS = sorted(name for name, writer in writers.discover().items() if writer.INFO.homes)
CASES = all_cases()
OWN_CASES = [case for case in CASES if case.reader in TARGETS]
each_target = pytest.mark.parametrize("target", TARGETS)
EXACT = {"claude-code"}
"""Targets that write all lines of their own sessions again; the others write all messages."""
WITHOUT_LINKS = {"pi"}
"""Targets whose readers know the parent of a session by the place of its file."""
# The reader moves what a tool has stored in another file to `extra`; it is in its place again.
MOVED = ("persisted_output_preview", "cut_output")


def written_and_read(items: list[Item], target: str) -> list[Conversation]:
    with tempfile.TemporaryDirectory() as folder:
        write_items(items, target, f"{folder}/written/", Notes())
        return [each for each in read_all([f"{folder}/written"], Notes()) if isinstance(each, Conversation)]


@pytest.mark.parametrize("case", OWN_CASES, ids=str)
def test_own_sessions_come_back_whole(case: Case, tmp_path: Path) -> None:
    items = [each for each in outcome(case.location(tmp_path)).items if not obstacle(each, case.reader)]
    if not items:
        pytest.skip("nothing in it can be resumed")
    again = written_and_read(items, case.reader)

    before, after = by_id(items), by_id([*again])
    if case.reader in EXACT and not any(each.product for each in before):
        assert [whole(each) for each in before] == [whole(each) for each in after]
        return
    if case.reader in WITHOUT_LINKS:
        before, after = ([replace(each, link=None) for each in several] for several in (before, after))
    if "damaged" in case.name:  # what was damaged is in another order afterward
        before, after = ([replace(each, head_id=None) for each in several] for several in (before, after))
    assert [dialogue(each) for each in before] == [dialogue(each) for each in after]


def by_id(items: list[Item]) -> list[Conversation]:
    return sorted((each for each in items if isinstance(each, Conversation)), key=lambda each: each.id)


def whole(conversation: Conversation) -> Any:
    """Everything but ids that the reader has made of the bytes, and the place of stored outputs."""
    made: dict[str | None, str] = {}
    for number, entry in enumerate(conversation.timeline):
        if entry.made_id:
            made[entry.id] = f"made {number}"
    timeline = [
        replace(
            entry,
            id=made.get(entry.id, entry.id),
            made_id=False,
            parent_id=made.get(entry.parent_id, entry.parent_id),
            **({} if isinstance(entry, Event) else {"parts": [in_place(part) for part in entry.parts]}),
            **({} if isinstance(entry, Event) or not moved(entry) else {"native": None}),
        )
        for entry in conversation.timeline
    ]
    head = made.get(conversation.head_id, conversation.head_id)
    return replace(conversation, origin=None, extra={}, made_id=False, head_id=head, timeline=timeline)


def dialogue(conversation: Conversation) -> Any:
    """Each message, call and text, with who said it and when; not how the lines were numbered."""
    entries = [each for each in conversation.timeline if isinstance(each, Message) and each.parts]
    numbers: dict[str | None, int] = {each.id: number for number, each in enumerate(entries)}
    messages = [
        (each.role, each.at, each.model, each.hidden, [bare(part) for part in each.parts], tokens(each))
        for each in entries
    ]
    facts = (
        conversation.id,
        conversation.title,
        conversation.cwd,
        conversation.git_branch,
        conversation.link,
    )
    return facts, numbers.get(conversation.head_id), messages


def tokens(message: Message) -> Any:
    return None if message.usage is None else replace(message.usage, key=None)


def bare(part: Any) -> Any:
    return replace(in_place(part), native=None) if isinstance(part, ToolResult) else part


def moved(message: Message) -> bool:
    """Whether native content may differ, as the reader has put an output in place that was elsewhere."""
    return any(isinstance(part, ToolResult) for part in message.parts)


def in_place(part: Any) -> Any:
    if not isinstance(part, ToolResult):
        return part
    return replace(part, extra={name: value for name, value in part.extra.items() if name not in MOVED})


@each_target
@pytest.mark.parametrize("case", CASES, ids=str)
def test_of_others_each_turn_and_call_comes_back(case: Case, target: str, tmp_path: Path) -> None:
    items = [each for each in outcome(case.location(tmp_path)).items if not obstacle(each)]
    others = [replace(each, source="elsewhere") for each in items if isinstance(each, Conversation)]
    others = [each for each in others if branch_of(each, "").turns]
    if not others:
        pytest.skip("nobody says anything in it")
    again = written_and_read([*others], target)

    expected = Counter(spoken(branch_of(each, "")) for each in others)
    assert expected == Counter(spoken(branch_of(each, "")) for each in again)
    signatures = [part for each in again for part in parts_of(each) if isinstance(part, Reasoning)]
    assert [] == [part for part in signatures if part.signature or part.encrypted]


def parts_of(conversation: Conversation) -> list[Any]:
    return [part for entry in conversation.timeline if isinstance(entry, Message) for part in entry.parts]


def spoken(branch: Branch) -> str:
    """What people and models said, in order, and each call with its result."""
    lines: list[Any] = []
    for turn in branch.turns:
        if turn.is_hidden or turn.role == "system":
            continue
        said = " ".join(" ".join(texts_of(turn.parts)).split())  # joining texts may add blank lines
        lines += [(turn.role, said)] if said else []
        lines += [(call.name, call.arguments, call.output.strip(), len(call.images)) for call in turn.calls]
    return repr(lines)


def talk(**more: Any) -> Conversation:
    timeline = [
        Message(id="u1", role="user", at="2026-02-01T10:00:00Z", parts=[Text(text="list it")]),
        Message(
            id="a1",
            role="assistant",
            parent_id="u1",
            model="other-1",
            at="2026-02-01T10:00:01Z",
            parts=[
                Reasoning(text="hm", signature="foreign"),
                ToolCall(name="run it", call_id="a|b", input='{"command": "ls"}'),
                ToolCall(name="wait", call_id="c"),
            ],
        ),
        Message(id="t1", role="tool", parent_id="a1", parts=[ToolResult(call_id="a|b", output="one file")]),
        Message(id="a2", role="assistant", parent_id="t1", parts=[Text(text="One file.")]),
    ]
    return Conversation(
        **({"id": "talk", "source": "elsewhere", "timeline": timeline, "head_id": "a2"} | more)
    )


@each_target
def test_calls_get_ids_names_and_results_that_services_accept(target: str) -> None:
    [again] = written_and_read([talk()], target)
    calls = [part for part in parts_of(again) if isinstance(part, ToolCall)]
    results = {part.call_id: part for part in parts_of(again) if isinstance(part, ToolResult)}

    assert [call.name for call in calls] == ["run_it", "wait"]
    assert all(call.call_id and call.call_id.replace("_", "").isalnum() for call in calls)
    assert [results[call.call_id].output for call in calls] == [
        "one file",
        "No result of this call was recorded.",
    ]
    assert "foreign" not in repr(again)


@each_target
def test_a_branch_that_is_left_out_is_noted(target: str, tmp_path: Path) -> None:
    other = Message(id="a9", role="assistant", parent_id="u1", parts=[Text(text="No.")])
    conversation = talk()
    notes = Notes()
    write_items(
        [replace(conversation, timeline=[*conversation.timeline, other])], target, f"{tmp_path}/w/", notes
    )

    assert any("1 × message outside of the current branch" in str(note) for note in notes.collected)


@each_target
@pytest.mark.parametrize(
    ("item", "why"),
    [
        (talk(timeline=[]), "without messages"),
        (talk(only_prompts=True), "only the prompts"),
        (Memory(id="m", source="elsewhere", kind="note", text="tea"), "a memory"),
    ],
    ids=["empty", "prompts", "memory"],
)
def test_what_cannot_be_resumed_leaves_no_file(target: str, item: Item, why: str, tmp_path: Path) -> None:
    notes = Notes()

    with pytest.raises(CannotWrite, match="nothing in the input"):
        write_items([item], target, f"{tmp_path}/w/", notes)

    assert any(why in str(note) for note in notes.collected)
    assert [] == [*tmp_path.iterdir()]


@each_target
def test_the_same_conversation_gives_the_same_files(target: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_items([talk()], target, f"{tmp_path}/{name}/", Notes())

    files = [
        sorted((path.name, path.read_bytes()) for path in (tmp_path / name).rglob("*") if path.is_file())
        for name in ("one", "two")
    ]
    assert files[0] == files[1]
