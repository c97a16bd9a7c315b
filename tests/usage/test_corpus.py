"""On the corpus of the benchmarks, where it can be made, the totals are its truth."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_journal.archive.store import Filter
from tests.archive.journals import imported, journal

MAKES = Path(__file__).parents[3] / "shared" / "bench" / "gen_corpus.py"


@pytest.mark.skipif(not MAKES.exists(), reason="what makes the corpus is not here")
def test_the_totals_are_those_of_the_truth(tmp_path: Path) -> None:
    small = ("--claude-mb", "0.3", "--claude-sessions", "4", "--codex-mb", "0.1", "--codex-sessions", "2")
    command = [sys.executable, str(MAKES), str(tmp_path / "made"), *small, "--chatgpt-mb", "0"]
    subprocess.run(command, check=True, capture_output=True)
    truth = json.loads((tmp_path / "made" / "truth.json").read_text(encoding="utf-8"))
    claude, codex = truth["claude"]["usage_dedup"], truth["codex"]["usage"]
    with journal(tmp_path / "journal") as archive:
        imported(archive, *sorted((tmp_path / "made" / "home").rglob("*.jsonl")))
        found = list(archive.store.usage(Filter(), lambda _: 0))

    def total(name: str) -> int:
        return sum(getattr(spent, name) for spent in found)

    cached = codex["cached_input_tokens"]
    assert claude["input_tokens"] + codex["input_tokens"] - cached == total("input")
    assert claude["output_tokens"] + codex["output_tokens"] == total("output")
    assert claude["cache_read_input_tokens"] + cached == total("cache_read")
    assert claude["cache_creation_input_tokens"] == total("cache_write")
    assert codex["reasoning_output_tokens"] == total("reasoning")
