"""The command, and pages about what is missing, damaged or in use."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agent_journal.cli.web import command
from tests.web.served import copy_demo, remove, serving


def aj(home: Path, *arguments: str) -> tuple[int, str]:
    """The exit code and what was printed of a command that ends at once."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", "--home", str(home), "web", "--no-open", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, printed = aj(tmp_path, "--port", str(taken.getsockname()[1]))
    assert 1 == code
    assert "another program uses it" in printed
    assert 1 == printed.count("\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--idle-exit", "soon"),
        ("--idle-exit", "0"),
        ("--prefix", "x y"),
        ("--allowed-host", "a/b"),
        ("--port", "x"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, printed = aj(tmp_path, *arguments)
    assert 2 == code
    assert 1 == printed.count("\n")


def test_the_page_is_never_on_the_network() -> None:
    assert "--host" not in {name for option in command.params for name in option.opts}


def test_a_missing_journal_says_how_to_start(tmp_path: Path) -> None:
    with serving(tmp_path / "none", "--port", "0") as it:
        for path in ("/", "/search?q=tide", "/c/any"):
            page = it.get(path)
            assert 200 == page.status
            assert "aj sync" in page.text
            assert "aj import PATH" in page.text
        copy_demo(tmp_path)
        (tmp_path / "journal").rename(tmp_path / "none")
        assert "Tide table one hour late" in it.get("/").text  # no restart is needed


def test_a_journal_that_disappears_is_a_page(tmp_path: Path) -> None:
    home = copy_demo(tmp_path)
    with serving(home, "--port", "0") as it:
        assert 200 == it.get("/").status
        remove(home)
        assert it.get("/c/claude-code%3A7d3c52a8-41be-4f6a-9c07-2b8e5f1d6a90").status in {200, 404, 503}
        assert b"Traceback" not in it.get("/search?q=tide").body


def test_a_damaged_index_is_a_note(tmp_path: Path) -> None:
    home = copy_demo(tmp_path)
    for file in (home / "index").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    with serving(home, "--port", "0") as it:
        page = it.get("/search?q=tide")
        assert 200 == page.status
        assert "The search index cannot be used" in page.text
        assert "Tide table" in page.text


def test_missing_embeddings_are_a_note(tmp_path: Path) -> None:
    home = copy_demo(tmp_path)
    with serving(home, "--port", "0") as it:
        assert "no embeddings yet" not in it.get("/search?q=tide&mode=semantic").text
    remove(home / "index.vectors")
    with serving(home, "--port", "0") as it:
        assert "no embeddings yet" in it.get("/search?q=tide&mode=semantic").text


def test_a_damaged_database_is_a_page(tmp_path: Path) -> None:
    home = copy_demo(tmp_path)
    database = next(home.glob("*.db"), None) or next(home.glob("*.sqlite*"))
    database.write_bytes(b"damaged" * 1000)
    with serving(home, "--port", "0") as it:
        for path in ("/", "/search?q=tide", "/c/any"):
            page = it.get(path)
            assert 503 == page.status
            assert "Traceback" not in page.text
            assert "<h1>The journal cannot answer</h1>" in page.text
