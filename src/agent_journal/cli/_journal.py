"""What the verbs that need a journal have in common."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal import archive, config
from agent_journal.inputs import compressed
from agent_journal.terminal import say
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.config import Config


def settings() -> Config:
    """The configuration of the journal that is meant; `--home` has become `AJ_HOME` by now."""
    settled = config.load(config.home_of(os.environ), os.environ)
    compressed.allow(settled.storage.max_inflated_mb or None)
    return settled


def reading() -> Archive:
    """The archive, to be read."""
    return archive.open_to_read(config.home_of(os.environ), bringing_up)


def embed_later(settled: Config) -> None:
    """Let much that was imported be prepared for search by meaning, beside what the person does next."""
    from agent_journal.journal import embed_in_background  # noqa: PLC0415 (who imports has it)

    if embed_in_background(settled):
        say("aj: search by meaning is being prepared in the background; 'aj status' tells how far it is")


def bringing_up() -> None:
    """Tell that a journal of an older version is brought up."""
    say("aj: an older version wrote the journal; it is brought up to this one, once, which may take a while")


def waiting(who: str) -> None:
    """Tell that somebody else is writing."""
    say(f"aj: another aj is writing to the journal{who}; waiting for it")


def conversations_told(number: int, aside: int) -> str:
    """How many conversations there are, and how many of them lists leave out."""
    return count(number, "conversation") + (f" ({aside:,} of subagents or twins of others)" if aside else "")
