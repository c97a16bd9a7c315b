"""Which conversations are taken for one: never those that something tells apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent_journal import archive, journal, writers
from agent_journal.archive import Archive
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.checking import problems
from agent_journal.archive.sqlite import copies, duplicates
from agent_journal.archive.sqlite.schema import MIGRATIONS
from agent_journal.archive.store import Filter
from agent_journal.config import Config, defaults
from agent_journal.conversion.output import new_run
from agent_journal.model import Conversation, Message, ToolCall, ToolResult, Usage
from agent_journal.notes import Notes
from tests.archive.journals import ALL, minute, put, said, store_in_memory, talk, the
from tests.archive.older import as_of_version

SHOWN = Filter()
# When equal texts at about the same time were sufficient for a duplicate.
_BEFORE_REASSESSMENT = next(
    version for version, statements in enumerate(MIGRATIONS) if duplicates.UNRESOLVED in statements
)
REQUEST = "req_0123456789abcdef"
OTHER_REQUEST = "req_fedcba9876543210"


def answered(id_: str, *, at: str = minute(1), made: bool = True, **more: Any) -> Conversation:
    """A prompt and its answer, in which nothing but words and times identifies them."""
    return talk(
        id_,
        said(f"{id_}-asked", "fix it", at, made_id=made),
        said(f"{id_}-done", "Done.", at, role="assistant", made_id=made),
        made_id=made,
        **more,
    )


def with_answer(conversation: Conversation, **changes: Any) -> Conversation:
    *before, answer = conversation.timeline
    return replace(conversation, timeline=[*before, replace(answer, **changes)])


def with_tool(
    conversation: Conversation, command: str, output: str, call_id: str | None = None
) -> Conversation:
    asked, *rest = conversation.timeline
    at = asked.at
    called = ToolCall(name="Bash", input={"command": command}, call_id=call_id)
    work = [
        Message(id=f"{conversation.id}-call", made_id=True, role="assistant", at=at, parts=[called]),
        Message(
            id=f"{conversation.id}-result",
            made_id=True,
            role="tool",
            at=at,
            parts=[ToolResult(output=output, call_id=call_id)],
        ),
    ]
    return replace(conversation, timeline=[asked, *work, *rest])


def shown(*both: Conversation) -> int:
    """How many of some conversations, each from a file of its own, a list shows."""
    store = store_in_memory()
    for number, each in enumerate(both):
        put(store, each, f"/file-{number}")
    assert [] == list(store.problems())
    found = len(list(store.conversations(SHOWN)))
    store.close()
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(answered("a"), answered("b"), id="nothing identifies them"),
        pytest.param(answered("a", made=False), answered("b"), id="one id is stated"),
        pytest.param(answered("a", cwd="/repo"), answered("b"), id="one folder is known"),
        pytest.param(answered("a", cwd="/repo"), answered("b", cwd="/repo/"), id="one folder"),
        pytest.param(with_tool(answered("a"), "ls", "x"), with_tool(answered("b"), "ls", "x"), id="one call"),
        pytest.param(
            answered("a", at="2026-04-01T10:01:00.123Z"), answered("b"), id="seconds and milliseconds"
        ),
        pytest.param(
            with_answer(answered("a", source="proxy"), response_id=REQUEST),
            with_answer(answered("b", at=minute(1, 5)), response_id=REQUEST),
            id="one response in two tools",
        ),
        pytest.param(
            with_tool(answered("a", source="proxy"), "ls", "x", REQUEST),
            with_tool(answered("b"), "ls", "x", REQUEST),
            id="one call id in two tools",
        ),
        pytest.param(
            answered(f"session-{REQUEST}", made=False, source="export"),
            answered(f"session-{REQUEST}", made=False, source="tool"),
            id="one session id in two tools",
        ),
    ],
)
def test_what_nothing_is_distinctive_is_one(one: Conversation, other: Conversation) -> None:
    assert 1 == shown(one, other)
    assert 1 == shown(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(answered("a", made=False), answered("b", made=False), id="session ids"),
        pytest.param(
            replace(answered("a", made=False), made_id=True),
            replace(answered("b", made=False), made_id=True),
            id="message ids",
        ),
        pytest.param(
            with_answer(answered("a"), response_id=REQUEST),
            with_answer(answered("b"), response_id=OTHER_REQUEST),
            id="response ids",
        ),
        pytest.param(answered("a", cwd="/repo1"), answered("b", cwd="/repo2"), id="folders"),
        pytest.param(answered("a", account_id="me"), answered("b", account_id="you"), id="accounts"),
        pytest.param(
            with_answer(answered("a"), model="m1"), with_answer(answered("b"), model="m2"), id="models"
        ),
        pytest.param(
            with_answer(answered("a"), usage=Usage(input=7, output=1)),
            with_answer(answered("b"), usage=Usage(input=8, output=1)),
            id="tokens",
        ),
        pytest.param(
            with_tool(answered("a"), "ls", "x"), with_tool(answered("b"), "pwd", "x"), id="arguments"
        ),
        pytest.param(with_tool(answered("a"), "ls", "x"), with_tool(answered("b"), "ls", "y"), id="results"),
        pytest.param(with_tool(answered("a"), "ls", "x"), answered("b"), id="tools in one alone"),
        pytest.param(
            with_tool(answered("a"), "ls", "x", "c1"), with_tool(answered("b"), "ls", "x", "c2"),
            id="call ids",
        ),
        pytest.param(answered("a"), answered("b", at=minute(1, 1)), id="a second, and no id"),
        pytest.param(
            answered("a", at="2026-04-01T10:01:00.123Z"), answered("b", at="2026-04-01T10:01:00.124Z"),
            id="a millisecond, and no id",
        ),
        pytest.param(answered("a", source="one-tool"), answered("b", source="another"), id="tools"),
        pytest.param(
            with_tool(answered("a", source="one-tool"), "ls", "x", "call_0"),
            with_tool(answered("b", source="another"), "ls", "x", "call_0"),
            id="counters that are equal",
        ),
    ],
)  # fmt: skip
def test_what_something_is_distinctive_is_two(one: Conversation, other: Conversation) -> None:
    assert 2 == shown(one, other)
    assert 2 == shown(other, one)


def test_what_is_learned_later_takes_duplicates_apart() -> None:
    store = store_in_memory()
    put(store, with_answer(answered("a"), usage=Usage(output=5)), "/a")
    put(store, with_answer(answered("b"), usage=Usage(output=5)), "/b")
    assert 1 == store.indexable() - 1
    assert "some-tool:a" == the(store, "b").twin_of

    more = said("b-more", "Anything else?", minute(2), role="assistant", made_id=True)
    grown = with_tool(with_answer(answered("b"), usage=Usage(output=5)), "ls", "x")
    change = put(store, replace(grown, timeline=[*grown.timeline, more]), "/b")

    assert the(store, "b").twin_of is None
    assert ["Anything else?", "Done.", "fix it"] == sorted(
        each.text for each in change.index_entries if each.text
    )
    assert [5, 5] == [output for (output,) in store._rows("SELECT output FROM usage")]
    assert [] == list(store.problems())


def test_three_of_which_one_turns_out_to_be_another() -> None:
    store = store_in_memory()
    for id_ in "abc":
        put(store, answered(id_), f"/{id_}")
    put(store, answered("a", cwd="/repo"), "/a")
    put(store, answered("b", cwd="/other"), "/b")

    assert {"a": None, "b": None, "c": "some-tool:a"} == {
        each.id: each.twin_of for each in store.conversations(ALL)
    }
    assert [] == list(store.problems())


# Six agents, started at once in six repositories


def session(number: int, root: Path, *, tokens: int = 1000) -> Path:
    """What one of six agents wrote."""
    id_, folder = f"{number:08}-0000-4000-8000-000000000000", f"/home/me/repo{number}"
    common = {"cwd": folder, "sessionId": id_, "version": "2.0.1", "gitBranch": "main"}
    asked, done = (f"{number:08}-{place}111-4000-8000-000000000000" for place in (1, 2))
    message = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": tokens + number, "output_tokens": 1000},
    }  # fmt: skip
    lines = [
        common | {
            "type": "user", "uuid": asked, "parentUuid": None,
            "timestamp": f"2026-05-01T10:00:0{number % 5}Z",
            "message": {"role": "user", "content": "fix the failing test"},
        },
        common | {
            "type": "assistant", "uuid": done, "parentUuid": asked, "requestId": f"req_{number}",
            "timestamp": f"2026-05-01T10:00:1{number % 5}Z", "message": message,
        },
    ]  # fmt: skip
    file = root / folder.replace("/", "-") / f"{id_}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def resumed(file: Path, number: int) -> Path:
    """A session that goes on with the messages of another one, whose ids it repeats."""
    id_ = f"{number:08}-0000-4000-8000-999999999999"
    before = [json.loads(line) | {"sessionId": id_} for line in file.read_text().splitlines()]
    more = before[0] | {
        "uuid": f"{number:08}-3111-4000-8000-000000000000", "parentUuid": before[-1]["uuid"],
        "timestamp": "2026-05-01T11:00:00Z", "message": {"role": "user", "content": f"and now {number}"},
    }  # fmt: skip
    new = file.with_name(f"{id_}.jsonl")
    new.write_text("".join(json.dumps(line) + "\n" for line in [*before, more]))
    return new


def imported(home: Path, *paths: Path) -> Config:
    config = defaults(home, {})
    journal.import_files(config, [ImportCandidate(str(path)) for path in paths], lambda _: None)
    return config


def told(config: Config) -> dict[str, Any]:
    """What people are told of a journal, but for keys."""
    with journal.Journal(config) as opened, archive.open_to_read(config.home) as kept:
        report = opened.usage("conversation")
        listed = {each.id: each.twin_of for each in kept.store.conversations(ALL)}
        return {
            "shown": sorted(each.id for each in kept.store.conversations(SHOWN)),
            "duplicates": listed,
            "usage": sorted(_used(kept)),
            "total": report.total,
            "indexable": kept.store.indexable(),
            "hits": len(opened.search("Done", limit=99).hits),
            "problems": list(problems(kept, deep=True)),
        }


def _used(kept: Archive) -> list[tuple[str, int, int]]:
    sql = "SELECT c.id, u.input, u.output FROM usage u JOIN conversations c ON c.key = u.conversation"
    return [(id_, sent, came) for id_, sent, came in kept.store._rows(sql)]


def test_six_agents_with_one_prompt_are_six(tmp_path: Path) -> None:
    files = [session(number, tmp_path / "projects") for number in range(6)]
    config = imported(tmp_path / "journal", *files)

    with archive.open_to_read(config.home) as kept:
        assert 6 == len(list(kept.store.conversations(SHOWN)))
        assert 6 * 2000 + sum(range(6)) == sum(sent + came for _, sent, came in _used(kept))
        keys = {each.id: each.key for each in kept.store.conversations(ALL)}
    journal.forget(config, lambda _: [min(keys.values())])
    with archive.open_to_read(config.home) as kept:
        assert 5 == len(list(kept.store.conversations(SHOWN)))
        assert 5 == len(_used(kept))


def as_an_older_version_took_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words within five seconds were enough."""
    for module in (copies, duplicates):
        monkeypatch.setattr(module, "is_duplicate", lambda *_: True)
    monkeypatch.setattr(
        copies, "_DUPLICATE_CANDIDATES", copies._DUPLICATE_CANDIDATES.replace("?6", "1 OR ?6")
    )


def test_what_an_older_version_took_for_duplicates_comes_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [session(number, tmp_path / "projects") for number in range(6)]
    files.append(resumed(files[2], 7))
    chats = tmp_path / "chats"
    chats.mkdir()
    same = [answered("one"), answered("again"), answered("elsewhere", cwd="/x"), answered("there", cwd="/y")]
    for each in same:
        with (chats / f"{each.id}.jsonl").open("wb") as out:
            counted = with_answer(each, usage=Usage(output=3))
            writers.get("json").write([counted], out, new_run(Notes()))
        files.append(chats / f"{each.id}.jsonl")
    fresh = told(imported(tmp_path / "fresh", *files))

    with monkeypatch.context() as older:
        as_an_older_version_took_them(older)
        config = imported(tmp_path / "old", *files)
        with archive.open_to_read(config.home) as kept:
            assert 2 == len(list(kept.store.conversations(SHOWN))), "else this test shows nothing"
            as_of_version(kept.store, tmp_path / "old.db", _BEFORE_REASSESSMENT)
    for left in config.home.glob("journal.db*"):
        left.unlink()
    (tmp_path / "old.db").rename(config.home / "journal.db")
    journal.sync(config, lambda _: [], lambda _: None, is_all=False)

    assert fresh == told(config)
    assert 9 == len(fresh["shown"])


def test_a_journal_whose_migration_was_interrupted_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        as_an_older_version_took_them(older)
        files = [session(number, tmp_path / "projects") for number in range(3)]
        config = imported(tmp_path / "journal", *files)
    with archive.open_to_write(config.home) as kept, kept.store.transaction():
        kept.store._db.execute("INSERT INTO journal VALUES (?, 1)", (duplicates.UNRESOLVED,))

    with archive.open_to_write(config.home) as _elsewhere:  # which finishes it
        pass
    with archive.open_to_read(config.home) as kept:
        assert not kept.store.has_unresolved_duplicates()
        assert 3 == len(list(kept.store.conversations(SHOWN)))
