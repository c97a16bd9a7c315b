"""`aj config`: what is shown, and what is written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_journal import config


def aj(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AJ_")}
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", "--home", str(home), "config", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=kept | environ,
    )


def shown(home: Path, *arguments: str, **environ: str) -> list[dict[str, Any]]:
    done = aj(home, "show", *arguments, "--json", **environ)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_key_is_shown(tmp_path: Path) -> None:
    rows = shown(tmp_path)
    lines = aj(tmp_path, "show").stdout.splitlines()

    assert [row["key"] for row in rows] == [*config.keys(), *config.source_keys()]
    assert [line.split(" = ")[0] for line in lines] == [row["key"] for row in rows]
    assert {row["from"] for row in rows} == {"default"}
    assert all(line.endswith("  # default") for line in lines)


def test_what_is_shown_of_a_key(tmp_path: Path) -> None:
    (row,) = shown(tmp_path, "search.max_results", AJ_SEARCH_MAX_RESULTS="3")

    assert row == {
        "key": "search.max_results",
        "value": 3,
        "from": "environment",
        "where": "AJ_SEARCH_MAX_RESULTS",
        "variables": ["AJ_SEARCH_MAX_RESULTS"],
        "expected": "a whole number from 1 to 1,000,000",
    }


def test_what_is_set_is_shown_and_private(tmp_path: Path) -> None:
    home = tmp_path / "new" / "journal"
    key = config.source_keys()[0]
    for arguments in (("search.max_results", "7"), ("index.thinking", "false"), (key, "~/a", "~/b")):
        assert aj(home, "set", *arguments).returncode == 0
    path = home / config.FILE_NAME

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert shown(home, "search.max_results")[0]["value"] == 7
    assert shown(home, "index.thinking")[0]["value"] is False
    assert shown(home, key)[0]["value"] == ["~/a", "~/b"]
    assert shown(home, key)[0]["where"] == f"{path}:8"
    assert aj(home, "set", key, "false").returncode == 0
    assert shown(home, key)[0]["value"] is False
    assert os.listdir(home) == [config.FILE_NAME]  # noqa: PTH208 (names only)


def test_comments_and_order_stay(tmp_path: Path) -> None:
    path = tmp_path / config.FILE_NAME
    path.write_text("# mine\n[search]\nmax_results = 1 # few\n\n[export] # later\n", encoding="utf-8")
    path.chmod(0o644)
    done = aj(tmp_path, "set", "search.max_results", "2")

    assert done.stdout == f"search.max_results = 2  # {path}:3\n"
    assert path.read_text(encoding="utf-8") == "# mine\n[search]\nmax_results = 2 # few\n\n[export] # later\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_wrong_value_can_be_repaired(tmp_path: Path) -> None:
    path = tmp_path / config.FILE_NAME
    path.write_text("[search]\nmax_results = 'many'\n", encoding="utf-8")
    path.chmod(0o600)

    assert aj(tmp_path, "show").returncode == 1
    assert aj(tmp_path, "set", "search.max_results", "2").returncode == 0
    assert aj(tmp_path, "show").returncode == 0


@pytest.mark.parametrize(
    ("text", "arguments", "code", "said"),
    [
        ("", ("set", "search.max_results", "0"), 2, "is '0', but must be a whole number from 1 to 1,000,000"),
        ("", ("set", "search.max_results", "1", "2"), 2, "takes only one value: a whole number from 1 to "),
        ("", ("set", "storage.exclude", ""), 2, "but must be a glob or a list of them"),
        ("", ("set", "nothing", "1"), 2, "Unknown key 'nothing'"),
        ("", ("set", "search.max_results"), 2, "Missing argument 'VALUE...'"),
        ("", ("set", "storage.index_path", "\udcff"), 2, "is not valid UTF-8"),
        ("", ("unset", "nothing"), 2, "Unknown key 'nothing'"),
        ("search = {max_results = 5}\n", ("unset", "search.max_results"), 1, "in a form that aj cannot edit"),
        ("", ("show", "nothing"), 2, "Unknown key 'nothing'"),
        ("x = 1\n", ("set", "search.max_results", "1"), 1, ": Unknown key 'x'"),
        ("x = \n", ("set", "search.max_results", "1"), 1, "config.toml:1: it is no TOML: invalid value"),
        ("search = {}\n", ("set", "search.max_results", "1"), 1, "that aj cannot edit"),
    ],
)  # fmt: skip
def test_nothing_is_written_if_something_is_wrong(
    tmp_path: Path, text: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    path = tmp_path / config.FILE_NAME
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    done = aj(tmp_path, *arguments)

    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_others_may_write_is_not_written_either(tmp_path: Path) -> None:
    path = tmp_path / config.FILE_NAME
    path.touch()
    path.chmod(0o666)
    done = aj(tmp_path, "set", "search.max_results", "1")

    assert done.returncode == 1
    assert "other users can write to it" in done.stderr


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    home = tmp_path / "journal"
    home.mkdir()
    (tmp_path / "dotfiles").mkdir()
    (home / config.FILE_NAME).symlink_to(tmp_path / "dotfiles" / "aj.toml")
    for value in ("1", "2"):
        done = aj(home, "set", "search.max_results", value)
        assert done.stdout == f"search.max_results = {value}  # {home / config.FILE_NAME}:2\n"

    assert (home / config.FILE_NAME).is_symlink()
    assert shown(home, "search.max_results")[0]["value"] == 2


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("search.max_results = 5\n", ""),
        ("# mine\n[search]\nmax_results = 5 # few\nno_cache = 1\n", None),
        ("[search]\nmax_results = 5\ndefault_context = 1\n", "[search]\ndefault_context = 1\n"),
        ("[search]\ndefault_context = 1\n", "[search]\ndefault_context = 1\n"),
    ],
)
def test_a_key_is_taken_out_of_the_file(tmp_path: Path, text: str, left: str | None) -> None:
    path = tmp_path / config.FILE_NAME
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    done = aj(tmp_path, "unset", "search.max_results")

    assert done.returncode == (0 if left is not None else 1)  # a key that does not exist is never passed over
    assert path.read_text(encoding="utf-8") == (text if left is None else left)
    assert left is None or done.stdout == "search.max_results = 20  # default\n"


def test_nothing_is_made_to_take_a_key_out_of_it(tmp_path: Path) -> None:
    done = aj(tmp_path / "journal", "unset", "search.max_results")

    assert done.returncode == 0
    assert not (tmp_path / "journal").exists()


def test_a_variable_that_goes_before_is_named(tmp_path: Path) -> None:
    done = aj(tmp_path, "set", "search.max_results", "2", AJ_SEARCH_MAX_RESULTS="3")

    assert done.returncode == 0
    assert done.stdout == "search.max_results = 3  # AJ_SEARCH_MAX_RESULTS\n"
    assert done.stderr.startswith(
        "aj config: The environment variable AJ_SEARCH_MAX_RESULTS is set and overrides "
    )


def test_hostile_values_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    done = aj(tmp_path, "show", "storage.index_path", AJ_INDEX_PATH="/a\x1b[31m\nb")

    assert "\x1b" not in done.stdout
    assert done.stdout.count("\n") == 1
