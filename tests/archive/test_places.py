"""What is written where: for its owner alone, and never over what is somebody else's."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archive.test_worker import history


def aj(
    folder: Path, *arguments: str, index: Path | None = None, umask: int = 0o022
) -> subprocess.CompletedProcess[str]:
    named = {} if index is None else {"AJ_INDEX_PATH": str(index)}
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", *arguments],
        env={**os.environ, "AJ_HOME": str(folder / "journal"), "HOME": str(folder), **named},
        capture_output=True,
        text=True,
        check=False,
        umask=umask,
    )


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


OTHERS = {
    "meta.json": "mine",
    "about.json": '{"about": "me"}',
    ".managed.json": "[]",
    "0123456789abcdef0123456789abcdef.idx": "mine",
    "letter.txt": "mine",
}


@pytest.mark.parametrize("place", ["", ".new", ".vectors"])
def test_an_index_is_put_over_nothing(tmp_path: Path, place: str) -> None:
    session = history(tmp_path, 1)
    mine = tmp_path / f"papers{place}"
    mine.mkdir()
    for name, text in OTHERS.items():
        (mine / name).write_text(text)
    for verb in (("import", session.path), ("sync",), ("reindex",)):
        done = aj(tmp_path, *verb, index=tmp_path / "papers")
        assert done.returncode == 1, (verb, done.stdout, done.stderr)
        assert str(mine) in done.stderr
        assert "storage.index_path" in done.stderr
        assert contents(mine) == OTHERS


def test_a_file_is_no_place_for_an_index(tmp_path: Path) -> None:
    (tmp_path / "papers").write_text("mine")
    done = aj(tmp_path, "sync", index=tmp_path / "papers")

    assert done.returncode == 1
    assert "is a file" in done.stderr
    assert (tmp_path / "papers").read_text() == "mine"


def test_a_new_or_empty_folder_and_our_own_are_fine(tmp_path: Path) -> None:
    session = history(tmp_path, 1)
    (tmp_path / "empty").mkdir()
    for index in (tmp_path / "empty", tmp_path / "new" / "index"):
        assert aj(tmp_path, "import", session.path, index=index).returncode == 0
        for left in ("meta.json", "about.json"):  # as after a kill while it was replaced
            (index / left).unlink()
            assert aj(tmp_path, "reindex", index=index).returncode == 0
        found = aj(tmp_path, "search", "question", "--json", index=index)
        assert "question 1" in found.stdout, found.stderr


def test_an_index_from_before_there_was_a_marker_is_ours(tmp_path: Path) -> None:
    session = history(tmp_path, 1)
    assert aj(tmp_path, "import", session.path, index=tmp_path / "index").returncode == 0
    (tmp_path / "index" / ".agent-journal-index").unlink()
    assert aj(tmp_path, "reindex", index=tmp_path / "index").returncode == 0


@pytest.mark.parametrize("umask", [0, 0o777])
def test_a_journal_is_for_its_owner_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    session = history(tmp_path, 1)
    assert aj(tmp_path, "import", session.path, umask=umask).returncode == 0
    assert aj(tmp_path, "reindex", umask=umask).returncode == 0
    assert aj(tmp_path, "backup", str(tmp_path / "copy"), umask=umask).returncode == 0
    out = str(tmp_path / "out.json")
    assert aj(tmp_path, "convert", session.path, "-t", "json", "-o", out, umask=umask).returncode == 0
    made = [tmp_path / "out.json", tmp_path / "journal", tmp_path / "copy"]
    made += [path for top in made[1:] for path in top.rglob("*")]
    wrong = {
        str(path): f"{stat.S_IMODE(path.lstat().st_mode):o}"
        for path in made
        if stat.S_IMODE(path.lstat().st_mode) != (0o700 if path.is_dir() else 0o600)
    }
    assert not wrong
