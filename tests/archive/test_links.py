"""Links in folders: none leads out of the folder that was named, and none leads round and round."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agent_journal.conversion import pipeline
from agent_journal.notes import Notes
from tests.archive.test_worker import history

SLOW_S = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a history in it, and links and special files of every kind."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "deep").mkdir(parents=True)
    outside.mkdir()
    history(inside / "deep", 1)
    history(outside, 2)
    (inside / "root").symlink_to("/", target_is_directory=True)
    (inside / "out").symlink_to(outside, target_is_directory=True)
    (inside / "file-out.jsonl").symlink_to(next(outside.iterdir()))
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    (inside / "deep" / "up").symlink_to("..", target_is_directory=True)
    (inside / "self").symlink_to("self")
    (inside / "dangling").symlink_to("nowhere")
    (inside / "same.jsonl").symlink_to(next(path for path in (inside / "deep").iterdir() if path.is_file()))
    os.mkfifo(inside / "pipe.jsonl")
    here = Path.cwd()
    os.chdir(inside)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("socket.jsonl")
    finally:
        os.chdir(here)
    return inside


def aj(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", *arguments],
        env={**os.environ, "AJ_HOME": str(home / "journal"), "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=SLOW_S,
    )


@pytest.mark.parametrize(
    "verb", [("import", "--json"), ("convert", "-t", "json"), ("validate", "--level", "lenient")]
)
def test_no_link_is_followed_out_of_a_folder(folder: Path, tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = aj(tmp_path, *verb, str(folder))

    assert done.returncode == 3, done.stderr
    assert "00000001-0000" in done.stdout
    assert "00000002-0000" not in done.stdout
    for name in ("root", "out", "file-out.jsonl"):
        (line,) = [line for line in done.stderr.splitlines() if f"{folder / name}: " in line]
        assert "unreadable-file: it is a link out of the folder" in line
    for name in ("loop", "deep/up", "self", "dangling", "same.jsonl"):
        assert f"{folder / name}: ignored-file: it is a link" in done.stderr
    for name in ("pipe.jsonl", "socket.jsonl"):
        assert f"{folder / name}: ignored-file: it is a pipe, socket or device" in done.stderr


def test_links_that_stay_inside_are_no_damage(folder: Path, tmp_path: Path) -> None:
    for name in ("root", "out", "file-out.jsonl"):
        (folder / name).unlink()
    done = aj(tmp_path, "import", "--json", str(folder))

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["conversations"] == 1


def test_what_a_person_names_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(folder / "deep", target_is_directory=True)
    (tmp_path / "named.jsonl").symlink_to(next((tmp_path / "outside").iterdir()))
    done = aj(tmp_path, "import", "--json", str(tmp_path / "named"), str(tmp_path / "named.jsonl"))

    assert json.loads(done.stdout.splitlines()[-1])["conversations"] == 2, done.stderr


def test_a_home_that_is_a_link_is_synced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "projects" / "p").mkdir(parents=True)
    history(tmp_path / "elsewhere" / "projects" / "p", 3)
    (tmp_path / "elsewhere" / "projects" / "p" / "root").symlink_to("/", target_is_directory=True)
    (tmp_path / ".claude").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    done = aj(tmp_path, "sync", "--json")

    assert json.loads(done.stdout.splitlines()[-1])["conversations"] == 1, done.stderr


def test_a_folder_that_links_lead_to_counts_from_where_it_is(tmp_path: Path) -> None:
    """A link on the way to the folder does not make everything in it lie outside."""
    (tmp_path / "real" / "a").mkdir(parents=True)
    (tmp_path / "real" / "b").symlink_to("a")
    (tmp_path / "named").symlink_to(tmp_path / "real")
    note = Notes()
    history(tmp_path / "real" / "a", 1)

    assert len(list(pipeline.units(str(tmp_path / "named"), note))) == 1
    assert [each.kind for each in note.collected] == ["ignored-file"]
