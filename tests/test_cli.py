"""Stories of the command line: each file in tests/cli is a command, its input, and what it prints.

$ aj convert in.jsonl -t json        the command; `in.jsonl` is the block that follows. Of several commands,
                                     those before the last prepare it, and must succeed
```in.jsonl                          files it needs, with their content
```stdout, ```stderr                 what it prints; a line of … matches any lines
=> 3                                 the exit code
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.wildcards import matches, with_wildcards

STORIES = sorted((Path(__file__).parent / "cli").glob("*.md"))
BLOCK = re.compile(r"^```(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MAKE_DEMO = "demo --keep journal"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal that many stories begin with."""
    folder = tmp_path_factory.mktemp("demo")
    assert run(_MAKE_DEMO, folder).returncode == 0
    return folder / "journal"


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)
def test_story(story: Path, tmp_path: Path, demo: Path, request: pytest.FixtureRequest) -> None:
    text = story.read_text(encoding="utf-8")
    blocks = dict(BLOCK.findall(text))
    for name, body in blocks.items():
        if name not in {"stdin", "stdout", "stderr"}:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(body, encoding="utf-8")
    *before, command = re.findall(r"^    \$ aj ?(.*)$", text, re.MULTILINE)
    for preparing in before:
        if preparing == _MAKE_DEMO:
            shutil.copytree(demo, tmp_path / "journal")
        else:
            assert run(preparing, tmp_path).returncode == 0, preparing
    done = run(command, tmp_path, blocks.get("stdin", ""))
    got = {"stdout": done.stdout.decode(), "stderr": done.stderr.decode()}
    if request.config.getoption("--accept"):
        story.write_text(accepted(text, got, done.returncode), encoding="utf-8")
        return

    for name in ("stdout", "stderr"):
        assert matches(blocks.get(name, ""), got[name]), got[name]
    assert f"=> {done.returncode}" in text


def run(command: str, folder: Path, said: str = "") -> subprocess.CompletedProcess[bytes]:
    """The command as somebody runs it who has nothing but what is in the folder."""
    system = ("PATH", "SYSTEMROOT")
    kept = {name: os.environ[name] for name in system if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", *shlex.split(command)],
        input=said.encode(),
        cwd=folder,
        env={**kept, "HOME": str(folder), "USERPROFILE": str(folder), "TZ": "UTC", "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )


@pytest.mark.skipif(os.name == "nt", reason="arguments are text there")
@pytest.mark.parametrize(
    ("arguments", "code"), [("show", 4), ("forget --yes", 4), ("list --title", 0), ("usage --project", 0)]
)
def test_bytes_that_are_no_text_are_nothing_that_is_there(arguments: str, code: int, tmp_path: Path) -> None:
    assert run("demo --keep .agent-journal", tmp_path).returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", *arguments.split(), b"\xff"],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )

    assert (code, b"", 1) == (done.returncode, done.stdout, done.stderr.count(b"\n")), done.stderr


def test_without_the_vault_what_the_rows_have_is_exported(tmp_path: Path) -> None:
    assert run("demo --keep journal", tmp_path).returncode == 0
    (tmp_path / "journal" / "vault" / "000001.pack").unlink()
    done = run("--home journal export 7d3c -t agent-record-v3", tmp_path)

    assert done.returncode == 3
    assert b"Tide table one hour late" in done.stdout
    assert "damaged" in done.stderr.decode()


def test_problems_of_a_zip_name_the_files_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "chats.zip", "w") as chats:
        chats.writestr("a.txt", "nobody knows")
        chats.writestr("b/c.txt", "what that is")
    (tmp_path / "half.zip").write_bytes((tmp_path / "chats.zip").read_bytes()[:100])
    assert run("--home journal import chats.zip half.zip", tmp_path).returncode == 1
    told = run("--home journal status --problems", tmp_path).stdout.decode()

    assert "\n  a.txt: unknown-file: " in told
    assert "\n  b/c.txt: unknown-file: " in told
    assert "unreadable-file: the zip is damaged, or was not downloaded whole (" in told


def test_a_project_may_be_named_as_the_shell_names_folders(tmp_path: Path) -> None:
    here = tmp_path / "tea.pot"
    here.mkdir()
    lines = [_said("oolong", str(here)), _said("sencha", str(here / "lid")), _said("matcha", "/srv/tea.cup")]
    (tmp_path / "all.jsonl").write_text("".join(lines), encoding="utf-8")
    assert run(f"--home {tmp_path}/journal import ../all.jsonl", here).returncode == 0
    for verb in ("list", "search --mode lexical tea"):
        told = run(f"--home {tmp_path}/journal {verb} --project .", here).stdout.decode()
        assert [name in told for name in ("oolong", "sencha", "matcha")] == [True, True, False], told
    assert "oolong" in run(f"--home {tmp_path}/journal list --project ../tea.pot", here).stdout.decode()


def _said(name: str, folder: str) -> str:
    said = {"type": "message", "id": "m", "role": "user", "parts": [{"type": "text", "text": f"tea {name}"}]}
    about = {"type": "conversation", "id": name, "source": "somewhere", "cwd": folder, "timeline": [said]}
    return json.dumps(about) + "\n"


def test_what_is_not_opened_is_to_be_unpacked(tmp_path: Path) -> None:
    for name, inside in (("inner.zip", "chat.json"), ("outer.zip", "inner.zip")):
        with zipfile.ZipFile(tmp_path / name, "w") as packed:
            packed.writestr(
                inside, (tmp_path / inside).read_bytes() if (tmp_path / inside).exists() else "{}"
            )
    with tarfile.open(tmp_path / "takeout.tgz", "w:gz") as packed_otherwise:
        packed_otherwise.add(tmp_path / "inner.zip")
    told = run("import outer.zip takeout.tgz", tmp_path).stderr.decode()

    assert told.count(": it is packed in a way that is not opened; unpack it, and give what is in it\n") == 2
    assert "Unknown format of " in told


@pytest.mark.parametrize("arguments", ["sync --source tea", "import -f tea .", "import -f chatgpt@3 none"])
def test_wrong_usage_makes_no_journal(arguments: str, tmp_path: Path) -> None:
    assert run(f"--home journal {arguments}", tmp_path).returncode == 2
    assert not (tmp_path / "journal").exists()


def test_what_did_not_come_through_is_reported_with_what_there_is(tmp_path: Path) -> None:
    said = (
        b'{"type":"user","uuid":"a1","parentUuid":null,"isSidechain":false,"sessionId":"s",'
        b'"timestamp":"2026-03-14T09:00:00.000Z","cwd":"/tea","message":{"role":"user","content":"Tea?"}}'
    )
    (tmp_path / "half.jsonl").write_bytes(said + b"\n[torn\n")
    (tmp_path / "new.json").write_text("{}")
    assert run("--home journal import half.jsonl new.json", tmp_path).returncode == 3
    told = "1 could not be read completely, 1 not at all"

    assert f"\nFiles: {told}; --problems lists them\n" in _told("status", tmp_path)
    assert f"from 2 files; {told} (" in _told("doctor", tmp_path)
    assert '"partly": 1, "unread": 1,' in _told("status --json", tmp_path)


def _told(verb: str, folder: Path) -> str:
    return run(f"--home journal {verb}", folder).stdout.decode()


def accepted(text: str, got: dict[str, str], code: int) -> str:
    """The story with what the command prints now; wildcards stay wherever what is around them is equal."""
    expected = dict(BLOCK.findall(text))
    kept = BLOCK.sub(lambda match: "" if match[1] in got else match[0], text)
    kept = re.sub(r"\n*^=> \d+$\n*", "\n", kept, flags=re.MULTILINE).rstrip() + "\n"
    for name, body in got.items():
        if body:
            kept += f"\n```{name}\n{with_wildcards(body, expected.get(name, ''))}```\n"
    return re.sub(r"\n{3,}", "\n\n", kept) + f"\n=> {code}\n"


@pytest.mark.parametrize(
    ("expected", "actual", "result"),
    [
        ("a …\n", "a 1\n", "a …\n"),
        ("a …\nb\n", "a 1\nc\n", "a …\nc\n"),
        ("a\n…\nd\n", "a\nb\nc\nd\ne\n", "a\n…\nd\ne\n"),
        ('{"n":1,"sha256":"…"}\n', '{"n":2,"sha256":"0af3"}\n', '{"n":2,"sha256":"…"}\n'),
        (
            "…/journal: 2 messages (… ago)\n",
            "/h/journal: 3 messages (9 d ago)\n",
            "…/journal: 3 messages (… ago)\n",
        ),
        ("a …\n", "b\nc\n", "b\nc\n"),
        ("", "a\n", "a\n"),
    ],
)
def test_wildcards_survive_accepting(expected: str, actual: str, result: str) -> None:
    assert with_wildcards(actual, expected) == result
    assert matches(result, actual)


def test_an_accepted_story_has_its_wildcards() -> None:
    story = "Wildcards.\n\n    $ aj x\n\n```stdout\nid …\none\n```\n\n=> 0\n"
    changed = accepted(story, {"stdout": "id 5\ntwo\n", "stderr": ""}, 0)

    assert changed == story.replace("one", "two")
