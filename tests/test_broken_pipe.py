"""Whoever reads standard output may go away at any time; the exit code still says what a verb found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

AJ = (sys.executable, "-m", "agent_journal")
MANY_MESSAGES = 400
TEXT = "enough words to fill the buffer of a pipe " * 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "good.jsonl").write_text(_session("good", MANY_MESSAGES))
    (tmp_path / "torn.jsonl").write_text(_session("torn", MANY_MESSAGES) + '{"type": "user", "uuid": "x\n')
    (tmp_path / "unknown.bin").write_bytes(b"\x00\x01 nothing that anybody knows")
    return tmp_path


def _session(name: str, count: int) -> str:
    return "".join(
        json.dumps(
            {
                "type": "user",
                "uuid": f"{name}-{number}",
                "parentUuid": f"{name}-{number - 1}" if number else None,
                "sessionId": name,
                "timestamp": "2026-03-01T10:00:00.000Z",
                "cwd": "/work",
                "version": "2.1.0",
                "message": {"role": "user", "content": f"{name} {number}: {TEXT}"},
            }
        )
        + "\n"
        for number in range(count)
    )


def aj(folder: Path, *arguments: str) -> str:
    """Standard output of a verb that is read to its end."""
    done = subprocess.run(
        [*AJ, *arguments], cwd=folder, env=_environment(folder, ""), capture_output=True, check=False
    )
    return done.stdout.decode()


def unread(folder: Path, *arguments: str, unbuffered: str) -> int:
    """The exit code of a verb whose output nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*AJ, *arguments],
        cwd=folder,
        env=_environment(folder, unbuffered),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert b"Traceback" not in done.stderr
    assert b"roken pipe" not in done.stderr
    return done.returncode


def _environment(folder: Path, unbuffered: str) -> dict[str, str]:
    own = {"HOME": str(folder / "home"), "AJ_HOME": str(folder / "journal"), "PYTHONUNBUFFERED": unbuffered}
    return {**os.environ, **own, "AJ_EMBED": "0"}


buffering = pytest.mark.parametrize("unbuffered", ["", "1"])


@buffering
def test_a_forged_record_is_not_valid(folder: Path, unbuffered: str) -> None:
    (folder / "small.jsonl").write_text(_session("small", 2))
    aj(folder, "convert", "small.jsonl", "-t", "agent-record", "-o", "record.json")
    aj(folder, "record", "keygen", "-o", "keys")
    aj(folder, "record", "sign", "record.json", "--key", "keys/signing-key.pem")
    record = folder / "record.json"
    verify = ("record", "verify", "--key", "keys/signing-key.pub.pem", *["record.sig.cbor"] * 100)

    assert 0 == unread(folder, *verify, unbuffered=unbuffered)
    record.write_bytes(record.read_bytes().replace(b"enough words", b"enough lies!"))
    assert 1 == unread(folder, *verify, unbuffered=unbuffered)
    assert 1 == unread(folder, *verify, "--json", unbuffered=unbuffered)


@buffering
def test_a_document_that_is_not_valid(folder: Path, unbuffered: str) -> None:
    signs = {"schema_version": "1.0.0", "conversation_id": "x", "platform": {}, "messages": []}
    (folder / "bad.json").write_text(json.dumps(signs))

    assert 1 == unread(folder, "validate", *["bad.json"] * 100, unbuffered=unbuffered)
    assert 1 == unread(folder, "validate", "--json", *["bad.json"] * 100, unbuffered=unbuffered)


@buffering
def test_a_journal_with_damage(folder: Path, unbuffered: str) -> None:
    aj(folder, "import", "good.jsonl")
    assert 0 == unread(folder, "check", unbuffered=unbuffered)
    for place in (folder / "journal" / "vault").rglob("*"):
        if place.is_file():
            place.unlink()

    assert 1 == unread(folder, "check", "--deep", unbuffered=unbuffered)
    (folder / "journal" / "config.toml").write_text("[nothing\n")
    assert 1 == unread(folder, "doctor", unbuffered=unbuffered)


@buffering
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_import_goes_on_and_names_what_is_missing(folder: Path, unbuffered: str, form: list[str]) -> None:
    code = unread(folder, "import", "unknown.bin", "torn.jsonl", "good.jsonl", *form, unbuffered=unbuffered)

    assert 3 == code
    assert {"good", "torn"} == {json.loads(line)["id"] for line in aj(folder, "list", "--json").splitlines()}


@buffering
def test_a_sync_goes_on_and_names_what_is_missing(folder: Path, unbuffered: str) -> None:
    project = folder / "home" / ".claude" / "projects" / "-work"
    project.mkdir(parents=True)
    for name in ("torn", "good"):
        (folder / f"{name}.jsonl").rename(project / f"{name}.jsonl")

    assert 3 == unread(folder, "sync", "--json", unbuffered=unbuffered)
    assert {"good", "torn"} == {json.loads(line)["id"] for line in aj(folder, "list", "--json").splitlines()}


@buffering
@pytest.mark.parametrize("target", ["json", "unified", "markdown", "cooked", "pam"])
def test_a_conversion_of_something_damaged_is_partial(folder: Path, unbuffered: str, target: str) -> None:
    assert 0 == unread(folder, "convert", "good.jsonl", "-t", target, unbuffered=unbuffered)
    assert 3 == unread(folder, "convert", "good.jsonl", "torn.jsonl", "-t", target, unbuffered=unbuffered)


def test_notes_of_a_writer_count_if_they_are_asked_for(folder: Path) -> None:
    (folder / "odd.jsonl").write_text(_session("odd", 1).replace("2026-03-01T10:00:00.000Z", "soon"))
    convert = ("convert", "good.jsonl", "odd.jsonl", "-t", "unified")

    assert 0 == unread(folder, *convert, unbuffered="1")
    assert 3 == unread(folder, *convert, "--fail-on-notes", unbuffered="1")


@pytest.mark.parametrize("verb", [["list"], ["show", "good"], ["usage"], ["status"], ["search", "words"], []])
def test_a_reader_that_has_seen_enough_is_no_failure(folder: Path, verb: list[str]) -> None:
    aj(folder, "import", "good.jsonl")

    assert 0 == unread(folder, *verb, unbuffered="1")
