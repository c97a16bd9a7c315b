"""Parallel runs of a tool without ids: each folder has its own conversation, and none is ever doubled."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_journal.archive import Archive, forgetting, identity
from agent_journal.archive.native_content import NativeContentReader
from agent_journal.conversion.pipeline import read_all
from agent_journal.model import ids
from agent_journal.notes import Notes
from tests.archive.journals import NOW, everything, imported, journal, read_again

NAME = ".aider.chat.history.md"
HEADING = "\n# aider chat started at 2026-01-02 10:00:00\n\n> aider --model sonnet  \n"


def history(folder: Path, *prompts: str, heading: str = HEADING) -> Path:
    """A history with one session, or with one more."""
    folder.mkdir(exist_ok=True)
    file = folder / NAME
    with file.open("a") as out:
        out.write(heading + "".join(f"\n#### {prompt}  \n\nDone: {prompt}.\n" for prompt in prompts))
    return file


def folders(archive: Archive) -> dict[str, str]:
    """The name of each conversation's folder by its id."""
    return {each.id: Path(str(each.cwd)).name for each in everything(archive.store)}


def test_each_folder_has_its_own_conversation(tmp_path: Path) -> None:
    files = [history(tmp_path / name, f"look at {name}") for name in "abc"]
    (id_,) = {each.id for each in read_all([*map(str, files)], Notes())}
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files)
        first = folders(archive)

        assert sorted("abc") == sorted(first.values())
        assert "a" == first[id_]
        assert all(each == id_ or each.startswith(f"{id_}.") for each in first)
        assert 0 == imported(archive, *reversed(files)).added
        assert 0 == read_again(archive).added
        assert first == folders(archive)
        for each in everything(archive.store):
            assert f"look at {first[each.id]}" in str(each.timeline)


def test_a_session_that_goes_on_is_still_the_same(tmp_path: Path) -> None:
    files = [history(tmp_path / name, "look") for name in "ab"]
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files)
        before = folders(archive)
        for file in files:
            file.write_text(file.read_text() + f"\n#### more in {file.parent.name}  \n")
        history(files[1].parent, "another one", heading=HEADING.replace("10:00", "11:00"))

        assert 0 < imported(archive, *reversed(files)).added
        assert before.items() <= folders(archive).items()
        assert 3 == len(folders(archive))


def test_a_folder_that_was_moved_or_renamed_keeps_its_conversations(tmp_path: Path) -> None:
    files = [history(tmp_path / name, f"look at {name}") for name in "ab"]
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files)
        before = folders(archive)
        shutil.move(files[1].parent, tmp_path / "renamed")
        imported(archive, tmp_path / "renamed" / NAME)

        assert before.keys() == folders(archive).keys()
        assert {"a", "renamed"} == set(folders(archive).values())
        assert 0 == read_again(archive).added
        assert before.keys() == folders(archive).keys()


def test_what_an_earlier_version_took_for_one_conversation_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [history(tmp_path / name, f"look at {name}") for name in "ab"]
    with journal(tmp_path / "journal") as archive:
        with monkeypatch.context() as earlier:
            earlier.setattr(identity, "with_stored_id", lambda _store, item, _source: item)
            imported(archive, *files)
        before = folders(archive)
        assert 1 == len(before)

        assert 0 == imported(archive, *files).added
        assert 0 == read_again(archive).added
        assert before == folders(archive)
        # A third folder is told apart from then on.
        imported(archive, history(tmp_path / "c", "look at c"))
        assert 2 == len(folders(archive))


def test_a_link_names_the_conversation_of_the_same_folder(tmp_path: Path) -> None:
    restored = HEADING.replace("10:00", "11:00") + "> Restored previous conversation history.  \n"
    files = [history(tmp_path / name, "look") for name in "ab"]
    for file in files:
        history(file.parent, "go on", heading=restored)
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files)
        by_id = {each.id: each for each in everything(archive.store)}
        linked = [each for each in by_id.values() if each.link is not None]

        assert 4 == len(by_id)
        assert 2 == len(linked)
        for each in linked:
            assert each.link is not None
            assert each.cwd == by_id[each.link.conversation_id].cwd


@pytest.mark.parametrize("gone", ["a", "b"])
def test_forgetting_one_folder_erases_nothing_of_another(tmp_path: Path, gone: str) -> None:
    files = [history(tmp_path / name, f"look at {name}") for name in "ab"]
    (other,) = {"a", "b"} - {gone}
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files)
        (id_,) = (id_ for id_, name in folders(archive).items() if name == gone)
        key = archive.store.key_of("aider", id_)
        assert key is not None
        forgetting.forget(archive, [key], NOW)
        forgetting.finish_erasing(archive)

        assert {other} == set(folders(archive).values())
        imported(archive, *files)
        read_again(archive)
        assert {other} == set(folders(archive).values())
        forgetting.finish_erasing(archive)
        sources = {Path(row.path).parent.name: row.key for row in archive.store.sources()}
        stored = {
            name: b"".join(
                archive.vault.get(blob)
                for snapshot in archive.store.snapshots(source)
                for blob in snapshot.manifest.blobs()
            )
            for name, source in sources.items()
        }
    assert b"look at" not in stored[gone]
    assert f"look at {other}".encode() in stored[other]


def test_native_content_is_that_of_the_same_folder(tmp_path: Path) -> None:
    files = [history(tmp_path / name, f"look at {name}") for name in "ab"]
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files)
        reader = NativeContentReader(archive)
        for id_, name in folders(archive).items():
            key = archive.store.key_of("aider", id_)
            assert key is not None
            conversation = reader.read(key)
            assert (id_, name) == (conversation.id, Path(str(conversation.cwd)).name)
            assert f"look at {name}" in str(conversation.timeline)


def test_a_history_without_a_known_folder_is_what_it_was(tmp_path: Path) -> None:
    file = history(tmp_path / "a", "look")
    copy = shutil.copy(file, tmp_path / "old-history.md")
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        imported(archive, copy)

        assert 1 == len(folders(archive))


def test_ids_with_a_folder_are_the_same_on_every_machine() -> None:
    assert "1.b4749aa5" == ids.in_folder("1", "/home/ana/app")
