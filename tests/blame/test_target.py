"""Which recorded paths mean a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_journal.blame.target import LineRange, Target, resolved, split_lines

HERE = Target.of_file("/home/ana/tides/src/soup.py", "/home/ana/tides")


@pytest.mark.parametrize(
    ("recorded", "folder", "is_meant"),
    [
        ("/home/ana/tides/src/soup.py", None, True),
        ("src/soup.py", "/home/ana/tides", True),
        ("./src/../src/soup.py", "/home/ana/tides", True),
        ("soup.py", "/home/ana/tides/src", True),
        ("../tides/src/soup.py", "/home/ana/tides", True),
        ("src\\soup.py", "C:\\Users\\ana\\tides", True),  # a copy on another machine
        ("/Users/ana/tides/src/soup.py", None, True),
        ("src/soup.py", None, True),
        ("src/soup.py", "/home/ana/moons", False),
        ("/home/ana/moons/src/soup.py", None, False),
        ("/home/ana/tides/old/soup.py", None, False),
        ("/home/ana/tides/src/my-soup.py", None, False),
        ("", "/home/ana/tides", False),
    ],
)
def test_a_recorded_path(recorded: str, folder: str | None, is_meant: bool) -> None:
    assert is_meant == HERE.is_meant_by(resolved(recorded, folder))


def test_another_copy_that_is_here_is_another_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "tides").mkdir(parents=True)
        (tmp_path / name / "tides" / "soup.py").touch()
    target = Target.of_file(f"{tmp_path}/a/tides/soup.py", f"{tmp_path}/a/tides")

    assert target.is_meant_by(f"{tmp_path}/gone/tides/soup.py")
    assert not target.is_meant_by(f"{tmp_path}/b/tides/soup.py")


def test_a_name_means_every_file_that_ends_with_it() -> None:
    target = Target.of_name("src/soup.py")

    assert target.is_meant_by("/anywhere/src/soup.py")
    assert target.is_meant_by("soup.py")  # recorded without its folder
    assert not target.is_meant_by("/anywhere/notsrc/soup.py")


@pytest.mark.parametrize(
    ("old", "new", "before"),
    [
        ("/home/ana/tides/stew.py", "/home/ana/tides/src/soup.py", "/home/ana/tides/stew.py"),
        ("/Users/ana/tides/stew.py", "/Users/ana/tides/src/soup.py", "/home/ana/tides/stew.py"),
        ("stew.py", "src/soup.py", "/home/ana/tides/stew.py"),
    ],
)
def test_the_name_before_a_move(old: str, new: str, before: str) -> None:
    moved = HERE.before_move(old, new)

    assert moved == Target(before, "tides/stew.py", is_on_disk=True)


@pytest.mark.parametrize(
    ("given", "path", "lines"),
    [
        ("soup.py", "soup.py", None),
        ("soup.py:12", "soup.py", LineRange(12, 12)),
        ("soup.py:12-20", "soup.py", LineRange(12, 20)),
        ("soup.py:12,20", "soup.py", LineRange(12, 20)),
        ("soup.py:x", "soup.py:x", None),
        ("C:\\soup.py", "C:\\soup.py", None),
        (":12", ":12", None),
    ],
)
def test_lines_after_a_path(given: str, path: str, lines: LineRange | None) -> None:
    assert (path, lines) == split_lines(given)


def test_a_file_whose_name_ends_with_a_number(tmp_path: Path) -> None:
    (tmp_path / "notes:7").touch()

    assert (f"{tmp_path}/notes:7", None) == split_lines(f"{tmp_path}/notes:7")
