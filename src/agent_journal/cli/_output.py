"""Where the verbs that write files may put them."""

from __future__ import annotations

import os

from agent_journal.errors import CannotWrite


def insist_on_elsewhere(path: str | None) -> None:
    """Refuse to write over the journal, which may be the only copy of what it holds."""
    if path is None:
        return
    from agent_journal.config import FILE_NAME, home_of  # noqa: PLC0415 (slow to import)

    home, place = (os.path.realpath(each) for each in (home_of(os.environ), path))
    if not place.startswith(home + os.sep):
        return
    from agent_journal.archive import DATABASE, LOCK, VAULT  # noqa: PLC0415 (nobody else needs it here)

    first = place.removeprefix(home + os.sep).partition(os.sep)[0]
    if first in {VAULT, LOCK, FILE_NAME} or first.startswith(DATABASE):
        raise CannotWrite(path, "it is a part of the journal; name another place")
