"""What the commands that need a journal share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal import config
from agent_journal.cli._home import environment, home
from agent_journal.journal import Journal
from agent_journal.terminal import say
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.config import Config
    from agent_journal.journal import Erased, Listed


# Of many problems, so many are printed.
MAX_PRINTED_PROBLEMS = 20


def settings() -> Config:
    """The configuration of the journal."""
    return config.load(home(), environment())


def open_journal(config_: Config | None = None) -> Journal:
    """The journal; without a configuration, for a command that needs no settings."""
    return Journal(config_ or config.defaults(home(), environment()), report_upgrade)


def writable_journal() -> Journal:
    """The journal, which need not exist yet."""
    return Journal(settings(), report_upgrade, must_exist=False)


def embed_later(journal: Journal) -> None:
    """After a large import, compute embeddings in a background process."""
    if journal.embed_in_background():
        say("aj: Computing embeddings for semantic search in the background; 'aj status' shows the progress.")


def report_upgrade() -> None:
    """Report that a journal of an older version is being upgraded."""
    say("aj: Upgrading the journal, which an older version wrote. This happens once and may take a while.")


def report_waiting(owner: str) -> None:
    """Report that another process is writing, and that this one waits for it."""
    say(f"aj: Another aj is writing to the journal{owner}; waiting for it to finish.")


def report_finished_forget(erased: Erased) -> None:
    """Report that an earlier `aj forget` that had been interrupted is finished."""
    say("aj: Finished an earlier 'aj forget' that was interrupted.")
    report_replaced(erased)


def report_replaced(erased: Erased) -> None:
    """Name the sources whose damaged bytes were replaced while something was erased."""
    for message in erased.replaced:
        say(f"aj: {message}")


def conversation_count(number: int, hidden: int) -> str:
    """The number of conversations, and how many of them lists do not show."""
    return count(number, "conversation") + (f" ({hidden:,} subagents or duplicates)" if hidden else "")


def name_of_source(each: Listed) -> str:
    """The name of the source, or the product if that is another name."""
    from agent_journal.readers import fold_product  # noqa: PLC0415 (only for people)

    is_same = each.product is None or fold_product(each.product) == fold_product(each.source)
    return each.source if is_same else each.product or ""
