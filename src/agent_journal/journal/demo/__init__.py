"""A few histories, made up to show how a journal works, and a journal made of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal import config
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal import facade

if TYPE_CHECKING:
    from agent_journal.config import Config

HISTORIES = Path(__file__).parent / "histories"


def fill(home: Path) -> Config:
    """Make a journal of them in a folder; nothing that a person has settled touches it."""
    settled = config.load(home, {})
    files = sorted(path for path in HISTORIES.rglob("*") if path.is_file())
    facade.import_files(settled, [ImportCandidate(str(path)) for path in files], lambda _: None)
    return settled
