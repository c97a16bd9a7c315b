"""`--home` and the demo choose a journal for one call, not for later ones in the same process."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_journal import cli
from agent_journal.cli import _home


@pytest.mark.parametrize(
    "arguments", [["--home", "journal", "list"], ["demo"], ["--home", "journal", "nope"]]
)
def test_the_next_call_does_not_use_the_journal_of_the_last(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["aj", *arguments])
    with pytest.raises(SystemExit):
        cli.main()

    assert _home.option() is None
    assert _home.home() != tmp_path / "journal"
