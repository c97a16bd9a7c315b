"""A list of prompts outlives its sessions: it stands in for what is gone, and adds nothing to others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_journal import archive, journal
from agent_journal.archive import worker
from agent_journal.archive.candidates import ImportCandidate, Result, stat_of
from agent_journal.archive.checking import problems
from agent_journal.archive.importing import Importer
from agent_journal.archive.store import Filter, Listed
from agent_journal.config import defaults
from agent_journal.journal import Journal
from agent_journal.model import Conversation
from tests.archive.journals import ALL, NOW, everything, imported, minute, read_again, texts
from tests.archive.journals import journal as opened

LOST, KEPT = "11111111-2222-4333-8444-000000000001", "11111111-2222-4333-8444-000000000002"
BEGIN_MS = 1_772_359_200_000  # 2026-03-01T10:00:00Z


def prompt(text: str, session: str | None, second: int, **more: Any) -> dict[str, Any]:
    line = {"display": text, "pastedContents": {}, "timestamp": BEGIN_MS + second * 1000, "project": "/tea"}
    return line | ({"sessionId": session} if session else {}) | more


def spoken(role: str, text: str, session: str, second: int) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": f"{session}-{second}",
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": session,
        "timestamp": f"2026-03-01T10:{second // 60:02}:{second % 60:02}.500Z",
        "cwd": "/tea",
        "message": {"role": role, "content": text},
    }


def save(path: Path, *lines: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class Home:
    """Somebody whose tool has deleted a session, and kept the prompts of all."""

    def __init__(self, top: Path) -> None:
        self.config = defaults(top / "journal", {})
        self.list = save(
            top / "tool" / "history.jsonl",
            prompt("Which kettle whistles?", LOST, 0),
            prompt("Name a teapot", KEPT, 60),
            prompt("And a saucer", LOST, 120),
        )
        self.session = top / "tool" / "projects" / "-tea" / f"{KEPT}.jsonl"

    def write_session(self) -> None:
        answer = spoken("assistant", "Brown Betty", KEPT, 70)
        save(self.session, spoken("user", "Name a teapot", KEPT, 60), answer)

    def ask(self, *lines: dict[str, Any]) -> None:
        with self.list.open("a") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)

    def sync(self, *, is_all: bool = True) -> list[Result]:
        told: list[Result] = []
        there = [path for path in (self.session, self.list) if path.exists()]
        found = [ImportCandidate(str(path), "claude-code", "home", stat_of(str(path))) for path in there]
        journal.sync(self.config, lambda _: found, told.append, is_all=is_all)
        return told

    def forget(self, id_: str) -> None:
        journal.forget(self.config, lambda kept: [kept.find_conversation(id_).key])

    def listed(self) -> dict[str, Listed]:
        with Journal(self.config) as kept:
            return {each.id: each for each in kept.conversations(Filter())}

    def words(self) -> list[list[str]]:
        with archive.open_to_read(self.config.home) as kept:
            return [texts(each) for each in everything(kept.store)]

    def hits(self, word: str) -> list[str]:
        with Journal(self.config) as kept:
            return [hit.conversation.id for hit in kept.search(word, 9).hits if hit.conversation]

    def problems(self) -> list[str]:
        with archive.open_to_read(self.config.home) as kept:
            return [str(each) for each in problems(kept, deep=True)]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    assert [] == made.problems()


def test_what_was_lost_is_there_again(home: Home) -> None:
    home.write_session()
    home.sync()

    lost = home.listed()[LOST]
    assert lost.only_prompts
    assert ("Which kettle whistles?", "/tea", 2) == (lost.title, lost.project, lost.messages)
    assert [LOST] == home.hits("kettle")
    assert [KEPT] == home.hits("teapot"), "it is found once"
    assert [["Which kettle whistles?", "And a saucer"], ["Name a teapot", "Brown Betty"]] == home.words()


def test_a_session_that_is_found_later_takes_the_place_of_its_prompts(home: Home) -> None:
    home.sync()
    assert home.listed()[KEPT].only_prompts
    assert [KEPT] == home.hits("teapot")

    home.write_session()
    home.sync()
    assert not home.listed()[KEPT].only_prompts
    assert [KEPT] == home.hits("teapot")
    assert [KEPT] == home.hits("Betty")
    home.ask(prompt("And a cosy", KEPT, 80))
    home.sync()
    assert [["Which kettle whistles?", "And a saucer"], ["Name a teapot", "Brown Betty"]] == home.words()


def test_a_session_that_is_deleted_stays_whole_and_is_shown_as_gone(home: Home) -> None:
    home.write_session()
    home.sync()
    home.session.unlink()
    home.ask(prompt("And a cosy", LOST, 180))
    home.sync()

    assert home.listed()[KEPT].source_missing
    assert ["Name a teapot", "Brown Betty"] in home.words()
    assert not home.listed()[LOST].source_missing


@pytest.mark.parametrize("is_first", [True, False])
def test_a_second_process_makes_no_difference(home: Home, tmp_path: Path, *, is_first: bool) -> None:
    home.write_session()
    home.ask(prompt("Of no session", None, 240), prompt("Name a teapot", None, 61))
    files = [home.list, home.session] if is_first else [home.session, home.list]
    found = [ImportCandidate(str(path), "claude-code", "", stat_of(str(path))) for path in files]
    with opened(tmp_path / "together") as kept:
        with Importer(kept, NOW, lambda _: None, lambda _: None) as importer:
            for _, prepared in worker.prepare(found, NOW):
                assert prepared is not None
                importer.take_prepared(prepared)
        together = everything(kept.store)
        assert [] == list(kept.store.problems())
    with opened(tmp_path / "alone") as kept:
        imported(kept, *files)
        assert together == everything(kept.store)
        assert 3 == len(together)
    home.sync()


def test_a_zip_that_holds_both(home: Home, tmp_path: Path) -> None:
    home.write_session()
    home.ask(prompt("Name a teapot", None, 61))
    home.sync()
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", home.list.parent)
    with opened(tmp_path / "other") as kept:
        for _ in range(2):
            imported(kept, packed)
            assert home.words() == [texts(each) for each in everything(kept.store)]
        read_again(kept)
        assert home.words() == [texts(each) for each in everything(kept.store)]
        assert [] == [str(each) for each in problems(kept, deep=True)]


def test_a_prompt_of_no_session_is_recorded_once(home: Home) -> None:
    """Older lists name no sessions."""
    home.ask(prompt("Name a teapot", None, 61), prompt("Of no session", None, 240))
    home.sync()
    assert 2 == len(home.hits("teapot"))
    home.write_session()
    home.sync()
    assert [KEPT] == home.hits("teapot")
    assert ["Of no session"] in home.words()
    home.ask(prompt("Another", LOST, 300))
    home.sync()
    assert [KEPT] == home.hits("teapot")


@pytest.mark.parametrize("is_list_first", [True, False])
def test_a_prompt_of_another_folder_is_not_that_of_a_session(home: Home, *, is_list_first: bool) -> None:
    home.list.unlink()
    save(home.list, prompt("Name a teapot", None, 60, project="/coffee"), prompt("Name a teapot", None, 60))
    if is_list_first:
        home.sync()
    home.write_session()
    home.sync()

    assert {None, "/tea", "/coffee"} >= {each.project for each in home.listed().values()}
    assert [["Name a teapot"], ["Name a teapot", "Brown Betty"]] == sorted(home.words())


@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_forgotten_does_not_come_back_with_the_list(home: Home, *, is_known: bool) -> None:
    if is_known:
        home.write_session()
    home.ask(prompt("Name a teapot", None, 61), prompt("Of no session", None, 240))
    home.sync()
    home.forget(KEPT)
    home.write_session()
    home.ask(prompt("A secret teapot", KEPT, 300), prompt("Another", LOST, 320))
    home.sync()

    assert [LOST] == home.hits("Another")
    assert [] == home.hits("secret")
    assert len(home.hits("teapot")) == (0 if is_known else 1), (
        "of no session that was known when it was forgotten"
    )
    with opened(home.config.home) as kept:
        (row,) = [row for row in kept.store.sources() if row.path == str(home.list)]
        read_again(kept, [row])  # as the vault has it
        assert KEPT not in {each.id for each in kept.store.conversations(ALL)}
        left = b"".join(map(kept.vault.get, kept.store.needed_blobs()))
        assert b"secret" not in left
        assert (b"teapot" in left) != is_known


def test_what_is_forgotten_goes_from_a_list_without_sessions(home: Home) -> None:
    home.write_session()
    save(home.list, prompt("Name a teapot", None, 61), prompt("Of no session", None, 240))
    home.sync()
    home.forget(KEPT)
    home.session.unlink()
    for word in ("once", "twice"):
        home.ask(prompt(word, None, 241))
        home.sync()
        assert [] == home.hits("teapot")
        with opened(home.config.home) as kept:
            left = b"".join(map(kept.vault.get, kept.store.needed_blobs()))
        assert word.encode() in left
        assert b"teapot" not in left
    assert [["Of no session", "once", "twice"]] == home.words()


def test_forgotten_prompts_stay_forgotten(home: Home) -> None:
    home.sync()
    home.forget(LOST)
    home.ask(prompt("Which kettle sings?", LOST, 400))
    home.sync()

    assert [KEPT] == list(home.listed())
    assert [] == home.hits("kettle")


def test_one_more_prompt_writes_little(home: Home) -> None:
    home.ask(*(prompt(f"Question {n}", f"{n:08}-0000-4000-8000-000000000000", n) for n in range(400)))
    home.ask(*(prompt(f"Question {n}", None, 4000 * n) for n in range(1, 100)))
    with opened(home.config.home) as kept:
        imported(kept, home.list)
        written = []
        for line in (prompt("Once more", LOST, 500_000), prompt("And again", LOST, 500_001)):
            home.ask(line)
            before = kept.store._db.total_changes()
            imported(kept, home.list)
            written.append(kept.store._db.total_changes() - before)
        assert max(written) < 40
        (found,) = [each for each in everything(kept.store) if each.id == LOST]
        assert ["Which kettle whistles?", "And a saucer", "Once more", "And again"] == texts(found)


def test_reading_again_changes_nothing(home: Home) -> None:
    home.write_session()
    home.ask(prompt("Name a teapot", None, 61), prompt("Of no session", None, 240))
    home.sync()
    before = home.words()
    with opened(home.config.home) as kept:
        read_again(kept)
    assert before == home.words()


def test_a_pasted_text_is_preserved_when_the_tool_deletes_it(home: Home) -> None:
    pasted = home.list.parent / "paste-cache" / "0123456789abcdef.txt"
    pasted.parent.mkdir()
    pasted.write_text("a samovar")
    mark = {"1": {"id": 1, "type": "text", "contentHash": pasted.stem}}
    home.ask(prompt("What is [Pasted text #1]?", LOST, 200, pastedContents=mark))
    home.sync()
    pasted.unlink()
    home.ask(prompt("And later", LOST, 300))
    home.sync()

    assert [LOST] == home.hits("samovar")
    assert "What is a samovar?" in home.words()[0]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_list_of_another_tool(tmp_path: Path, *, is_first: bool) -> None:
    head = {"sessionId": KEPT, "projectHash": "0", "startTime": minute(0), "lastUpdated": minute(2)}
    answers = [
        {"id": "u", "type": "user", "timestamp": minute(1), "content": "Name a teapot"},
        {"id": "g", "type": "gemini", "timestamp": minute(2), "content": "Brown Betty"},
    ]
    session, log = tmp_path / "tea" / "chats" / "session-a.json", tmp_path / "tea" / "logs.json"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps({**head, "messages": answers}))
    asked = ((KEPT, "Name a teapot", 1), (KEPT, "/stats", 2), (LOST, "Which kettle whistles?", 3))
    log.write_text(
        json.dumps(
            [
                {"sessionId": id_, "messageId": n, "type": "user", "message": text, "timestamp": minute(n)}
                for id_, text, n in asked
            ]
        )
    )
    (tmp_path / "tea" / ".project_root").write_text("/home/ana/tea")
    with opened(tmp_path / "journal") as kept:
        imported(kept, *((log, session) if is_first else (session, log)))
        lost, told = everything(kept.store)
        assert [] == list(kept.store.problems())
    assert ["Name a teapot", "Brown Betty"] == texts(told)
    assert (["Which kettle whistles?"], "/home/ana/tea", True) == (texts(lost), lost.cwd, lost.only_prompts)


def test_it_is_exported_as_what_it_is(home: Home) -> None:
    home.sync()
    with Journal(home.config) as kept:
        whole: Conversation = kept.conversation(LOST, exact=True)
    assert whole.only_prompts
    assert ["Which kettle whistles?", "And a saucer"] == texts(whole)
