"""`KILO_DB` names the database of Kilo, in its folder or anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_journal.archive.syncing import locate_candidates
from agent_journal.config import load
from agent_journal.notes import Notes
from agent_journal.readers import opencode


@pytest.mark.parametrize("is_absolute", [False, True])
def test_the_database_that_kilo_db_names_is_found(tmp_path: Path, *, is_absolute: bool) -> None:
    folder = tmp_path / "elsewhere" if is_absolute else tmp_path / ".local" / "share" / "kilo"
    folder.mkdir(parents=True)
    path = folder / "mine.sqlite"
    path.write_bytes(b"SQLite format 3\0")
    environ = {"HOME": str(tmp_path)}
    named = {**environ, "KILO_DB": str(path) if is_absolute else path.name}

    def found(environ: dict[str, str]) -> list[str]:
        config = load(tmp_path / "journal", environ)
        return [
            each.path
            for each in locate_candidates(config, [opencode.INFO], environ, None, projects=(), note=Notes())
        ]

    assert found(environ) == []
    assert found(named) == [str(path)]
