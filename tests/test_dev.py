"""`aj dev new-reader`, in a copy of the project: the new reader works from the first moment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
CHATS = [
    {
        "chat_key": "c1",
        "subject": "Tea",
        "turns": [
            {"sender": "human", "body": "Green or black?", "sent": 3, "created_at": "2026-01-02T03:04:05Z"},
            {"sender": "bot", "body": "Green.", "likes": ["ana"]},
        ],
    }
]
LINES = '{"who": "user", "body": "hi", "at": 1767323045}\n{"who": "ai", "body": "hello", "at": 1767323050}\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(TOP / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests" / "readers").mkdir(parents=True)
    for path in (TOP / "tests").glob("*.py"):
        if path.name == "test_readers.py" or not path.name.startswith("test_"):
            shutil.copy(path, tmp_path / "tests")
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    (tmp_path / "tea.json").write_text(json.dumps(CHATS), encoding="utf-8")
    (tmp_path / "tea.jsonl").write_text(LINES, encoding="utf-8")
    return tmp_path


def run(checkout: Path, *arguments: str, where: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        check=False,
        cwd=where or checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "src")},
        capture_output=True,
        text=True,
        timeout=600,
    )


def new_reader(checkout: Path, name: str, sample: str) -> subprocess.CompletedProcess[str]:
    return run(checkout, "agent_journal", "dev", "new-reader", name, sample)


@pytest.mark.parametrize(("name", "sample"), [("tea-talk", "tea.json"), ("tea-log", "tea.jsonl")])
def test_a_new_reader_is_green_at_once(checkout: Path, name: str, sample: str) -> None:
    made = new_reader(checkout, name, sample)
    module = f"src/agent_journal/readers/{name.replace('-', '_')}.py"

    assert (made.returncode, made.stderr) == (0, "")
    assert [f"wrote {module}", f"wrote tests/readers/{name}/first/"] == made.stdout.splitlines()[:2]
    assert (checkout / sample).read_bytes() == (
        checkout / f"tests/readers/{name}/first/{sample}"
    ).read_bytes()
    for check in (["ruff", "check"], ["ruff", "format", "--check"]):
        assert run(checkout, *check, module).returncode == 0
    tested = run(
        checkout, "pytest", "-p", "no:cacheprovider", "tests/test_readers.py", "-k", name, "--accept"
    )
    assert tested.returncode == 0, tested.stdout


def test_a_new_reader_claims_its_sample_and_keeps_everything(checkout: Path) -> None:
    new_reader(checkout, "tea-talk", "tea.json")
    done = run(checkout, "agent_journal", "convert", "tea.json", "-t", "json")
    chat = json.loads(done.stdout)

    assert ("tea-talk", "Tea", {"chat_key": "c1"}) == (chat["source"], chat["title"], chat["extra"])
    assert ["user", "assistant"] == [message["role"] for message in chat["timeline"]]
    assert {"sender": "human", "sent": 3} == chat["timeline"][0]["extra"]
    assert "2026-01-02T03:04:05Z" == chat["timeline"][0]["at"]


def test_lines_that_are_messages_become_one_conversation(checkout: Path) -> None:
    new_reader(checkout, "tea-log", "tea.jsonl")
    chat = json.loads(run(checkout, "agent_journal", "convert", "tea.jsonl", "-t", "json").stdout)

    assert [("user", "hi"), ("assistant", "hello")] == [
        (message["role"], message["parts"][0]["text"]) for message in chat["timeline"]
    ]
    assert "2026-01-02T03:04:05Z" == chat["timeline"][0]["at"]


def test_a_keyword_is_no_module_name(checkout: Path) -> None:
    assert new_reader(checkout, "yield", "tea.json").returncode == 0
    assert (checkout / "src/agent_journal/readers/yield_dev.py").exists()
    assert (checkout / "tests/readers/yield/first/tea.json").exists()


@pytest.mark.parametrize(
    ("name", "sample", "code", "words"),
    [
        ("Tea", "tea.json", 2, "is not a reader name"),
        ("../tea", "tea.json", 2, "is not a reader name"),
        ("json", "tea.json", 1, "it already exists"),
        ("tea", "missing.json", 1, "there is no such file"),
        ("tea", "src", 1, "it is not a file"),
        ("tea", "pyproject.toml", 1, "it looks like JSON but holds no object"),
        ("tea", "own.jsonl", 1, "The reader 'json' already reads own.jsonl"),
        ("tea", "expected.json", 1, "rename the sample"),
    ],
)
def test_refusals_are_one_line_and_write_nothing(
    checkout: Path, name: str, sample: str, code: int, words: str
) -> None:
    own = '{"type": "conversation", "id": "1", "source": "x"}\n'
    (checkout / "own.jsonl").write_text(own, encoding="utf-8")
    shutil.copy(checkout / "tea.json", checkout / "expected.json")
    before = sorted(path for path in checkout.rglob("*") if "__pycache__" not in path.parts)
    done = new_reader(checkout, name, sample)

    assert code == done.returncode
    assert 1 == len(done.stderr.splitlines())
    assert words in done.stderr
    assert before == sorted(path for path in checkout.rglob("*") if "__pycache__" not in path.parts)


def test_it_works_on_a_checkout_only(checkout: Path) -> None:
    elsewhere = checkout / "elsewhere"
    elsewhere.mkdir()
    done = run(checkout, "agent_journal", "dev", "new-reader", "tea", "../tea.json", where=elsewhere)

    assert done.returncode == 1
    assert "the current folder is not the top of a checkout of Agent Journal" in done.stderr
    assert [] == list(elsewhere.iterdir())
