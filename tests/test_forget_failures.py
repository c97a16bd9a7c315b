"""A `forget` that fails halfway: it says so, and the next command erases the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agent_journal import archive, journal, writers
from agent_journal.archive import forgetting
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.sqlite import SqliteStore
from agent_journal.archive.vault import Vault
from agent_journal.cli import check, doctor, forget
from agent_journal.config import Config, defaults
from agent_journal.conversion.output import new_run
from agent_journal.errors import CannotWrite, UnfinishedErasure
from agent_journal.journal import embeddings, index_upkeep
from agent_journal.notes import Notes
from tests.archive.journals import ALL, minute, said, talk

SECRET, KEPT = "xylophonic", "marimbaphone"
Failing = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A journal with a file of two conversations, and one of them alone in another."""
    found = defaults(tmp_path / "journal", {})
    monkeypatch.setenv("AJ_HOME", str(found.home))
    gone = talk("gone", said("1", f"{SECRET} words", minute(1)), title=f"about {SECRET}")
    kept = talk("kept", said("2", f"{KEPT} words", minute(2)))
    for name, content in {"both": [gone, kept], "one": [gone]}.items():
        with (tmp_path / f"{name}.jsonl").open("wb") as out:
            writers.get("json").write(content, out, new_run(Notes()))
        journal.import_files(found, [ImportCandidate(str(tmp_path / f"{name}.jsonl"))], lambda _: None)
    return found


def holding(home: Path, word: str) -> set[str]:
    """The files below a folder that hold a word, packed or not."""
    sought = word.encode()
    files = {str(file.relative_to(home)) for file in home.rglob("*") if _has(file, sought)}
    with archive.open_without_migrating(home) as opened:
        for pack in opened.vault.packs():
            for blob, place in opened.vault.blobs(pack):
                if _unpacked_has(opened.vault, blob, place, sought):
                    files.add(opened.vault.pack_path(pack))
        blocks = opened.store._rows("SELECT data FROM blocks UNION ALL SELECT detail FROM conversations")
        if any(sought in opened.store._blocks.decompress(data) for (data,) in blocks):
            files.add("blocks")
    return files


def _has(file: Path, sought: bytes) -> bool:
    return file.is_file() and sought in file.read_bytes()


def _unpacked_has(vault: Vault, blob: bytes, place: Any, sought: bytes) -> bool:
    try:
        return sought in vault.read_at(blob, place)
    except Exception:  # noqa: BLE001 (a blob that was damaged on purpose)
        return False


def once(holder: object, name: str, error: Exception) -> Failing:
    """A call that fails the first time."""

    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        real, failed = getattr(holder, name), list[bool]()

        def failing(*args: Any, **named: Any) -> Any:
            if not failed:
                failed.append(True)
                raise error
            return real(*args, **named)

        monkeypatch.setattr(holder, name, failing)

    return install


FULL = CannotWrite("somewhere", "no space left on device")
STEPS = {
    "rewriting what others said": once(Vault, "put", FULL),
    "making it last": once(Vault, "settle", FULL),
    "moving what others need": once(Vault, "move", FULL),
    "dropping a pack": once(Vault, "drop_pack", OSError(5, "Input/output error")),
    "scrubbing a source": once(forgetting, "scrub_source", FULL),
    "writing a snapshot": once(SqliteStore, "put_snapshot", FULL),
    "forgetting where blobs were": once(SqliteStore, "drop_blobs", FULL),
    "giving pages back": once(SqliteStore, "compact", FULL),
    "making the index anew": once(index_upkeep, "rebuild", FULL),
    "erasing vectors": once(embeddings, "erase_stale", FULL),
}


def the_same_again(_: Config) -> None:
    assert 0 == forget.command.main(["gone", "--yes"], standalone_mode=False)


def sync(config: Config) -> None:
    journal.sync(config, lambda _: [], lambda _: None, is_all=False)


def checked(_: Config) -> None:
    assert 0 == check.command.main([], standalone_mode=False)


def examined(_: Config) -> None:
    doctor.command.main([], standalone_mode=False)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("goes_on", [the_same_again, sync, checked, examined])
def test_what_failed_is_finished_by_the_next_command(
    config: Config, monkeypatch: pytest.MonkeyPatch, step: str, goes_on: Callable[[Config], None]
) -> None:
    assert holding(config.home, SECRET), "else this test shows nothing"
    STEPS[step](monkeypatch)
    with pytest.raises(UnfinishedErasure, match=r"not erased from every file yet.*'aj forget'"):
        forget.command.main(["gone", "--yes"], standalone_mode=False)

    goes_on(config)
    assert set() == holding(config.home, SECRET)
    assert holding(config.home, KEPT)
    with archive.open_to_read(config.home) as opened:
        assert ["kept"] == [each.id for each in opened.store.conversations(ALL)]
        assert opened.store.pending_erasure() is None


def test_a_transaction_that_fails_forgets_nothing(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    once(SqliteStore, "set_pending_erasure", FULL)(monkeypatch)
    with pytest.raises(CannotWrite):
        forget.command.main(["gone", "--yes"], standalone_mode=False)
    with archive.open_to_read(config.home) as opened:
        assert {"gone", "kept"} == {each.id for each in opened.store.conversations(ALL)}

    the_same_again(config)
    assert set() == holding(config.home, SECRET)


@pytest.mark.usefixtures("config")
def test_who_cannot_finish_says_so_each_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise FULL

    monkeypatch.setattr(SqliteStore, "compact", full)
    for _ in range(2):
        with pytest.raises(UnfinishedErasure):
            forget.command.main(["gone", "--yes"], standalone_mode=False)
    assert 1 == check.command.main([], standalone_mode=False)
    assert 1 == doctor.command.main([], standalone_mode=False)
    assert capsys.readouterr().out.count("not erased from every file yet") == 2


def test_a_blob_that_cannot_be_read_keeps_nobody_from_forgetting(config: Config) -> None:
    (pack,) = (config.home / "vault").glob("*.pack")
    whole = bytearray(pack.read_bytes())
    with archive.open_without_migrating(config.home) as opened:
        for _, place in opened.store.locations():
            whole[place.start + place.stored // 2] ^= 0xFF
    pack.write_bytes(whole)

    the_same_again(config)
    assert set() == holding(config.home, SECRET)
    assert not _any_frame_has(config.home, SECRET.encode())
    with archive.open_to_read(config.home) as opened:
        assert ["kept"] == [each.id for each in opened.store.conversations(ALL)]
    held = holding(config.home, KEPT)
    assert any(name.endswith(".pack") for name in held), "the vault has what the rows had of it"


def _any_frame_has(home: Path, sought: bytes) -> bool:
    return any(sought in data for pack in (home / "vault").glob("*.pack") for data in _frames(pack))


def _frames(pack: Path) -> Iterator[bytes]:
    data = pack.read_bytes()
    at = data.find(zstandard.FRAME_HEADER)
    while at >= 0:
        try:
            yield zstandard.ZstdDecompressor().decompressobj().decompress(data[at:])
        except zstandard.ZstdError:
            yield b""
        at = data.find(zstandard.FRAME_HEADER, at + 1)


def test_a_name_that_was_never_asked_for_is_not_found(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    once(SqliteStore, "compact", FULL)(monkeypatch)
    with pytest.raises(UnfinishedErasure):
        forget.command.main(["gone", "--yes"], standalone_mode=False)

    with pytest.raises(Exception, match="No conversation has the id 'never-there'"):
        forget.command.main(["never-there", "--yes"], standalone_mode=False)
    assert set() == holding(config.home, SECRET), "what was begun is finished all the same"


def test_what_is_forgotten_already_is_called_so(config: Config) -> None:
    the_same_again(config)
    with pytest.raises(Exception, match="is already deleted"):
        forget.command.main(["some-tool:gone", "--yes"], standalone_mode=False)


def test_no_name_is_left_while_it_is_unfinished(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    once(embeddings, "erase_stale", FULL)(monkeypatch)
    with pytest.raises(UnfinishedErasure):
        forget.command.main(["gone", "--yes"], standalone_mode=False)
    with archive.open_to_read(config.home) as opened:
        value = opened.store._value("SELECT value FROM journal WHERE name = 'erasing'")
    assert "gone" not in value
