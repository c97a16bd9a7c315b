"""Tokens of Claude Code beyond its answers: what the sums of a session have more than all that is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_journal.conversion.pipeline import read_all
from agent_journal.model import Conversation, Usage, tree
from agent_journal.notes import Kind, Notes
from tests.archive.journals import imported, journal
from tests.inline import save_lines
from tests.usage.test_counted_once import totals

SESSION = "0574c517-2408-4a20-8808-7626fd961640"
ORIGINAL = "1574c517-2408-4a20-8808-7626fd961641"
OPUS, HAIKU = "claude-opus-4-8", "claude-haiku-4-5"
_NAMES = ("input", "output", "cache_read", "cache_write")


def line(uuid: str, parent: str | None, type_: str, **more: Any) -> dict[str, Any]:
    envelope = {"type": type_, "uuid": uuid, "parentUuid": parent, "isSidechain": False, "version": "2.1.326"}
    return {**envelope, "sessionId": SESSION, "timestamp": "2026-11-18T08:00:00.000Z", **more}


def prompt(uuid: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    return line(uuid, parent, "user", message={"role": "user", "content": f"Do {uuid}."}, **more)


def answer(uuid: str, parent: str, *counts: int, model: str = OPUS, **more: Any) -> dict[str, Any]:
    names = (
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
    body = {
        "id": f"msg_{uuid}",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": f"Said {uuid}."}],
        "stop_reason": "end_turn",
        "usage": dict(zip(names, counts, strict=True)),
    }
    return line(uuid, parent, "assistant", message=body, requestId=f"req_{uuid}", **more)


def sums(**models: tuple[int, ...]) -> dict[str, Any]:
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    used = {model: dict(zip(names, counts, strict=True)) for model, counts in models.items()}
    return {"type": "cost-state", "sessionId": SESSION, "totalCostUSD": 0.1, "modelUsage": used}


def recap(uuid: str, parent: str) -> list[dict[str, Any]]:
    boundary = line(f"b{uuid}", None, "system", subtype="compact_boundary", logicalParentUuid=parent)
    return [boundary, prompt(uuid, f"b{uuid}", isCompactSummary=True)]


def read(folder: Path, *lines: dict[str, Any], name: str = SESSION) -> tuple[Conversation, Notes]:
    notes = Notes()
    folder.mkdir(exist_ok=True)
    (item,) = read_all([str(save_lines(folder, f"{name}.jsonl", lines))], notes)
    assert isinstance(item, Conversation)
    return item, notes


def total(conversation: Conversation) -> tuple[int, ...]:
    usages = tree.usages(conversation.timeline)
    return tuple(sum(getattr(usage, name) or 0 for usage in usages) for name in _NAMES)


def carried(conversation: Conversation) -> dict[str, tuple[str | None, Usage]]:
    return {
        message.id: (message.model, message.usage)
        for message in tree.messages(conversation)
        if message.usage is not None and message.role == "user"
    }


def test_a_compaction_has_what_no_answer_has(tmp_path: Path) -> None:
    conversation, notes = read(
        tmp_path,
        prompt("u1"),
        answer("a1", "u1", 10, 20, 300, 40),
        *recap("c1", "a1"),
        sums(**{OPUS: (15, 26, 307, 48)}),
    )
    key = f"{SESSION}:cost-state:{OPUS}"

    assert carried(conversation) == {
        "c1": (None, Usage(key=key, input=5, output=6, cache_read=7, cache_write=8))
    }
    assert not notes.counts


def test_another_model_is_named(tmp_path: Path) -> None:
    conversation, _ = read(
        tmp_path,
        prompt("u1"),
        answer("a1", "u1", 10, 20, 300, 40),
        *recap("c1", "a1"),
        sums(**{HAIKU: (3, 2, 0, 0), OPUS: (11, 21, 301, 41)}),
    )

    assert {each: model for each, (model, _) in carried(conversation).items()} == {"c1": None, "u1": HAIKU}
    assert total(conversation) == (14, 23, 301, 41)


def test_the_last_sums_count_without_answers_after_them(tmp_path: Path) -> None:
    conversation, _ = read(
        tmp_path,
        prompt("u1"),
        sums(**{OPUS: (2, 2, 0, 0)}),
        answer("a1", "u1", 10, 20, 300, 40),
        sums(**{OPUS: (12, 22, 300, 40)}),
        prompt("u2", "a1"),
        answer("a2", "u2", 100, 200, 3000, 400),
    )

    assert total(conversation) == (112, 222, 3300, 440)


def test_what_subagents_used_is_counted_in_their_files(tmp_path: Path) -> None:
    agents = tmp_path / SESSION / "subagents"
    agents.mkdir(parents=True)
    (agents / "deep").mkdir()
    save_lines(agents, "agent-1.jsonl", [answer("g1", "g0", 1, 2, 3, 4, isSidechain=True)])
    save_lines(agents / "deep", "agent-2.jsonl", [answer("g2", "g0", 5, 6, 7, 8, isSidechain=True)])
    conversation, _ = read(
        tmp_path, prompt("u1"), answer("a1", "u1", 10, 20, 300, 40), sums(**{OPUS: (17, 28, 310, 52)})
    )

    assert total(conversation) == (11, 20, 300, 40)  # one more than its own answer and those of subagents


@pytest.mark.parametrize("name", [f"{OPUS}[1m]", f"{OPUS}-20261101"])
def test_sums_may_call_a_model_by_a_longer_name(tmp_path: Path, name: str) -> None:
    conversation, notes = read(
        tmp_path, prompt("u1"), answer("a1", "u1", 10, 20, 300, 40), sums(**{name: (10, 20, 300, 40)})
    )

    assert (total(conversation), notes.counts) == ((10, 20, 300, 40), {})


UNKNOWN: dict[str, list[dict[str, Any]]] = {
    "less than the answers": [
        prompt("u1"),
        answer("a1", "u1", 10, 20, 300, 40),
        sums(**{OPUS: (50, 19, 300, 40)}),
    ],
    "another model": [
        prompt("u1"),
        answer("a1", "u1", 10, 20, 300, 40),
        sums(**{HAIKU: (50, 50, 500, 50)}),
    ],
    "no beginning": [
        *recap("c1", "lost"),
        prompt("u1", "c1"),
        answer("a1", "u1", 10, 20, 300, 40),
        sums(**{OPUS: (50, 50, 500, 50)}),
    ],
    "fork of what is not there": [
        prompt("u0"),
        answer("a0", "u0", 1, 1, 1, 1, requestSessionId=ORIGINAL),
        prompt("u1", "a0"),
        answer("a1", "u1", 9, 19, 299, 39),
        sums(**{OPUS: (50, 50, 500, 50)}),
    ],
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_cannot_be_known_is_noted_and_not_counted(tmp_path: Path, case: str) -> None:
    conversation, notes = read(tmp_path, *UNKNOWN[case])

    assert total(conversation) == (10, 20, 300, 40)
    assert notes.counts[Kind.PARTIAL_USAGE] == 1


def test_a_fork_begins_with_the_sums_of_its_original(tmp_path: Path) -> None:
    later = {"timestamp": "2026-11-18T09:00:00.000Z"}
    save_lines(
        tmp_path,
        f"{ORIGINAL}.jsonl",
        [
            prompt("u0"),
            answer("a0", "u0", 10, 20, 300, 40),
            sums(**{OPUS: (17, 27, 307, 47)}),
            prompt("u9", "a0", timestamp="2026-11-18T10:00:00.000Z"),
            sums(**{OPUS: (99, 99, 999, 99)}),
        ],
    )
    conversation, notes = read(
        tmp_path,
        prompt("u0"),
        answer("a0", "u0", 10, 20, 300, 40, requestSessionId=ORIGINAL),
        prompt("u1", "a0", **later),
        answer("a1", "u1", 1, 1, 1, 1, **later),
        sums(**{OPUS: (20, 29, 308, 48)}),
    )

    assert (total(conversation), notes.counts) == ((13, 22, 301, 41), {})
    assert list(carried(conversation)) == ["u1"]


def test_sums_that_grow_are_counted_once(tmp_path: Path) -> None:
    lines = [prompt("u1"), answer("a1", "u1", 10, 20, 300, 40), sums(**{OPUS: (12, 22, 302, 42)})]
    more = [*recap("c1", "a1"), sums(**{OPUS: (15, 25, 305, 45)})]
    last = [prompt("u2", "c1"), answer("a2", "u2", 1, 1, 1, 1), sums(**{OPUS: (16, 26, 306, 46)})]
    with journal(tmp_path / "journal") as archive:
        for count in (3, 6, 9):
            written = [*lines, *more, *last][:count]
            imported(archive, save_lines(tmp_path, f"{SESSION}.jsonl", written))
            state = written[-1]["modelUsage"][OPUS]
            assert tuple(state.values()) == totals(archive.store)
