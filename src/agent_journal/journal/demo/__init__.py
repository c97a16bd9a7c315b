"""Sample data that shows how a journal works, and a journal filled with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal import config
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal.importing import import_files
from agent_journal.journal.upkeep import embed_newest

if TYPE_CHECKING:
    from agent_journal.config import Config

HISTORIES = Path(__file__).parent / "histories"


def fill(home: Path) -> Config:
    """Create a journal of the sample data in a folder; settings in the environment do not apply to it."""
    loaded = config.load(home, {})
    files = sorted(path for path in HISTORIES.rglob("*") if path.is_file())
    import_files(loaded, [ImportCandidate(str(path)) for path in files], lambda _: None)
    embed_newest(loaded)
    return loaded
