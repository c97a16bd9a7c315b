"""Keys of the configuration change what a sync, a search and an export do."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_journal import archive, config, journal, writers
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.cli._run import run as run_verb
from agent_journal.journal import Journal
from agent_journal.model import Conversation, Media, Message, Part
from agent_journal.search.lexical import Index
from tests.cases import all_cases

SAID, THOUGHT, RAN = "kettle", "dandelion", "teaspoon"


class Person:
    """Somebody with a few histories in the project's own format, and one in a project's folder."""

    def __init__(self, top: Path) -> None:
        self.home = top / "ada"
        self.journal = self.home / ".agent-journal"
        self.here = top / "here"
        for folder in (self.journal, self.here):
            folder.mkdir(parents=True)
        for name in ("one", "two"):
            self.write(f"chats/{name}.jsonl", history(name))
        self.settle('[storage.sources]\njson = "~/chats/*"\n')

    def write(self, path: str, text: str) -> None:
        (self.home / path).parent.mkdir(parents=True, exist_ok=True)
        (self.home / path).write_text(text, encoding="utf-8")

    def settle(self, text: str) -> None:
        path = self.journal / config.FILE_NAME
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)

    def sync(self, *arguments: str, **environ: str) -> list[str]:
        """What a sync reads."""
        rows = self._told(["sync", *arguments], environ)
        return sorted(Path(row["file"]).name for row in rows if "file" in row)

    def search(self, word: str, **environ: str) -> list[dict[str, Any]]:
        """What a search tells."""
        return self._told(["search", word], environ)

    def export(self, *arguments: str, **environ: str) -> str:
        """What an export writes to standard output."""
        return self._run(["export", *arguments], environ).decode()

    def _told(self, arguments: list[str], environ: dict[str, str]) -> list[dict[str, Any]]:
        done = self._run([*arguments, "--json"], environ)
        return [json.loads(line) for line in done.splitlines()]

    def _run(self, arguments: list[str], environ: dict[str, str]) -> bytes:
        done = self.run(arguments, environ)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(
        self, arguments: list[str], environ: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a verb, whatever it ends with."""
        return subprocess.run(
            [sys.executable, "-m", "agent_journal", *arguments],
            capture_output=True,
            check=False,
            cwd=self.here,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **(environ or {})},
        )

    def finds(self, word: str) -> bool:
        settled = config.load(self.journal, {"HOME": str(self.home)})
        with Journal(settled) as journal:
            return bool(journal.search(word, 5).hits)


def history(name: str) -> str:
    parts = [
        {"type": "reasoning", "text": f"{THOUGHT} {name}"},
        {"type": "text", "text": f"{SAID} {name}"},
        {"type": "tool_call", "call_id": "1", "name": "stir", "input": {}},
    ]
    result = [{"type": "tool_result", "call_id": "1", "output": f"{RAN} {name}"}]
    timeline = [
        {"type": "message", "id": "m1", "role": "assistant", "parts": parts},
        {"type": "message", "id": "m2", "role": "tool", "parts": result},
    ]
    chat = {"type": "conversation", "id": name, "source": "tea", "shape": "list", "timeline": timeline}
    return json.dumps(chat) + "\n"


def shown(*names: str) -> str:
    """A history that names pictures."""
    parts = [{"type": "media", "kind": "image", "ref": name} for name in names]
    timeline = [{"type": "message", "id": "m1", "role": "user", "parts": parts}]
    chat = {"type": "conversation", "id": "p", "source": "tea", "shape": "list", "timeline": timeline}
    return json.dumps(chat) + "\n"


def parts_of(conversation: Conversation) -> list[Part]:
    return [part for entry in conversation.timeline if isinstance(entry, Message) for part in entry.parts]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_sources_are_where_a_user_sets(person: Person) -> None:
    assert person.sync() == ["one.jsonl", "two.jsonl"]
    person.write("moved/three.jsonl", history("three"))
    assert person.sync(AJ_STORAGE_SOURCES_JSON="~/moved/*.jsonl") == ["three.jsonl"]
    person.write("chats/four.jsonl", history("four"))
    person.settle("[storage.sources]\njson = false\n")
    assert person.sync() == []


def test_a_folder_that_does_not_exist_is_named_and_nothing_failed(person: Person) -> None:
    """A configuration may name the folders of tools that this machine does not have."""
    person.settle(
        '[storage]\nroots = ["~/projects"]\n'
        '[storage.sources]\njson = "~/chats/*"\n'
        'copilot_cli = "~/.copilot-cli/sessions"\naider = "**/.aider.chat.history.md"\n'
    )
    done = person.run(["sync"])

    assert done.returncode == 0
    assert b"2 files read" in done.stdout
    folder = person.home / ".copilot-cli/sessions"
    assert done.stderr.decode().splitlines() == [
        "note: ~/projects: absent-folder: storage.roots names it",
        f"note: {folder}: absent-folder: the configuration names it for copilot_cli",
    ]


def test_a_source_that_is_left_out_is_not_read_where_another_looks_too(
    person: Person, tmp_path: Path
) -> None:
    (case,) = (each for each in all_cases() if str(each) == "cursor/windows")
    shutil.copytree(case.built(tmp_path / "scratch"), person.home / ".config/Cursor/User")
    person.settle("[storage.sources]\ncursor = false\n")
    assert [] == person.sync()
    person.settle("")
    assert [] == person.sync("--source", "vscode-copilot")
    assert ["state.vscdb"] * 3 == person.sync()


def test_what_is_excluded_is_not_read(person: Person) -> None:
    person.settle('[storage]\nexclude = "two.*"\n[storage.sources]\njson = "~/chats/*"\n')

    assert person.sync() == ["one.jsonl"]


def test_roots_are_searched_for_histories_of_projects(person: Person) -> None:
    person.write("src/tea/.history.jsonl", history("three"))
    person.write("other/.history.jsonl", history("four"))
    settled = '[storage.sources]\njson = ".history.jsonl"\n'
    person.settle(settled)
    assert person.sync() == []
    person.settle(f'[storage]\nroots = "~/src"\n{settled}')
    assert person.sync() == [".history.jsonl"]


@pytest.mark.parametrize("variable", ["AJ_INDEX_PATH", "AJ_STORAGE_INDEX_PATH"])
def test_the_index_is_where_a_user_sets(person: Person, variable: str) -> None:
    person.sync(**{variable: "~/index"})

    assert any((person.home / "index").iterdir())
    assert not (person.journal / "index").exists()


def test_everything_can_be_searched(person: Person) -> None:
    person.sync()

    assert [person.finds(word) for word in (SAID, THOUGHT, RAN, "coffee")] == [True, True, True, False]


@pytest.mark.parametrize(("key", "gone"), [("thinking", THOUGHT), ("tool_output", RAN)])
def test_what_is_not_to_be_searched_is_not_found(person: Person, key: str, gone: str) -> None:
    person.settle(f'[storage.sources]\njson = "~/chats/*"\n[index]\n{key} = false\n')
    person.sync()

    assert {word for word in (SAID, THOUGHT, RAN) if person.finds(word)} == {SAID, THOUGHT, RAN} - {gone}


@pytest.mark.parametrize(("key", "gone"), [("thinking", THOUGHT), ("tool_output", RAN)])
def test_what_is_to_be_searched_may_be_settled_later(person: Person, key: str, gone: str) -> None:
    """Rows are looked through until the index has other texts; a sync or a search makes it again."""
    person.sync()
    for value, is_found in (("false", False), ("true", True)):
        person.settle(f'[storage.sources]\njson = "~/chats/*"\n[index]\n{key} = {value}\n')
        assert [is_found, True] == [person.finds(gone), person.finds(SAID)]
        person.sync()
        assert [is_found, True] == [person.finds(gone), person.finds(SAID)]


KEPT = {"none": [], "small": ["pics/cup.png"], "all": ["pics/cup.png", "pics/pot.png"]}


@pytest.mark.parametrize("media", KEPT)
def test_pictures_that_a_history_names_are_preserved(person: Person, media: str) -> None:
    person.write("chats/one.jsonl", shown("pics/cup.png", "pics/pot.png", "../two.jsonl", "pics/gone.png"))
    person.write("chats/pics/cup.png", "small")
    person.write("chats/pics/pot.png", "x" * 1_000_001)
    person.write("chats/pics/other.png", "named by nobody")
    settled = f'[storage]\nmedia = "{media}"\nmedia_max_mb = 1\n[storage.sources]\njson = "~/chats/*.jsonl"\n'
    person.settle(settled)
    person.sync()

    with archive.open_to_read(person.journal) as kept:
        row = kept.store.source(str(person.home / "chats" / "one.jsonl"))
        assert row is not None
        (snapshot,) = kept.store.snapshots(row.key)
    assert sorted(snapshot.manifest.files) == ["", *KEPT[media]]
    assert [note["detail"] for note in row.notes if "media_max_mb" in note["detail"]] == (
        ["its 1,000,001 bytes were not stored: storage.media_max_mb is 1"] if media == "small" else []
    )
    assert row.status == "imported"
    (person.home / "chats" / "pics" / "cup.png").unlink()
    with Journal(config.load(person.journal, {})) as reading:
        pictures = [part for part in parts_of(reading.conversation("p")) if isinstance(part, Media)]
        sizes = [len(reading.media("p", part) or b"") for part in pictures]
    assert sizes == [5 * bool(KEPT[media]), 1_000_001 * (media == "all"), 0, 0]


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (3, 2)])
def test_pictures_of_an_export_are_preserved_up_to_a_size(person: Person, limit: int, count: int) -> None:
    export = person.home / "export"
    case = Path(__file__).parent / "readers" / "chatgpt" / "export_2023" / "input"
    shutil.copytree(case, export)
    (export / "dalle-generations" / "file-Unused02-0000.webp").write_bytes(b"x" * 2_000_000)
    settled = config.load(person.journal, {"AJ_STORAGE_MEDIA_MAX_MB": str(limit)})
    packed = shutil.make_archive(str(person.home / "export"), "zip", export)
    for path in (str(export), packed):
        journal.import_files(settled, [ImportCandidate(path)], lambda _: None)
        with archive.open_to_read(person.journal) as kept:
            row = kept.store.source(path)
            assert row is not None
            files = [file for each in kept.store.snapshots(row.key) for file in each.manifest.files]
            assert row.defects == 0
        pictures = sorted(file for file in files if file.endswith((".png", ".webp")))
        assert (
            pictures == ["dalle-generations/file-Unused02-0000.webp", "file-Harbour01-harbour.png"][-count:]
        )
    with Journal(settled) as reading:
        shown = [part for each in reading.conversations() for part in parts_of(reading.conversation(each.id))]
        (harbour,) = [part for part in shown if isinstance(part, Media) and "Harbour01" in (part.ref or "")]
        (talk,) = [
            each.id for each in reading.conversations() if harbour in parts_of(reading.conversation(each.id))
        ]
        assert reading.media(talk, harbour) == (case / "file-Harbour01-harbour.png").read_bytes()


def test_searching_shows_as_many_as_a_user_sets(person: Person) -> None:
    person.sync()
    assert [len(hit["context"]) for hit in person.search(SAID)] == [1, 1]
    person.settle("[search]\nmax_results = 1\ndefault_context = 0\n")
    assert [len(hit["context"]) for hit in person.search(SAID)] == [0]
    assert len(person.search(SAID, AJ_SEARCH_MAX_RESULTS="2")) == 2


def test_the_writer_of_the_index_has_the_memory_that_a_person_gives(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[Any] = []
    opened = Index.open

    def opening(folder: Path, **options: Any) -> Index:
        budgets.append(options.get("budget_mb"))
        return opened(folder, **options)

    monkeypatch.setattr(Index, "open", opening)
    settled = config.load(person.journal, {"AJ_INDEX_LUCENE_RAM_BUFFER_MB": "33"})
    journal.import_files(settled, [ImportCandidate(str(person.home / "chats" / "one.jsonl"))], lambda _: None)

    assert budgets == [33]


def test_exporting_is_as_a_user_sets(person: Person) -> None:
    person.sync()
    person.settle('[export]\ndefault_format = "markdown"\ninclude_tool_calls = false\n')
    page = person.export("one")
    assert page.startswith("# <a id=")
    assert (SAID in page, THOUGHT in page, RAN in page) == (True, True, False)
    assert RAN in person.export("one", AJ_EXPORT_INCLUDE_TOOL_CALLS="true")
    assert person.export("one", "-t", "json").startswith('{"type":"conversation"')
    assert person.export("one", AJ_EXPORT_DEFAULT_FORMAT="text").startswith("====")


@pytest.mark.parametrize("asked", [(), ("--theme", "auto")])
def test_pages_have_the_colors_that_a_user_sets(
    person: Person, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    seen: list[str] = []
    writer = writers.get("markdown")
    monkeypatch.setattr(writer, "write", lambda items, _out, run: seen.extend(run.theme for _ in items))
    monkeypatch.setenv("AJ_HOME", str(person.journal))
    person.sync()
    person.settle('[export]\nhtml_theme = "light"\n')
    run_verb("export", ["one", "-t", "markdown", *asked])
    gc.enable()

    assert seen == ["auto" if asked else "light"]
