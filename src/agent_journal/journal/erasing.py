"""Forget conversations: erase them from rows, vault, index and vectors, and finish what was interrupted."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal import archive
from agent_journal.errors import AgentJournalError, CannotWrite, UnfinishedErasure
from agent_journal.journal import index_upkeep
from agent_journal.journal.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent_journal.archive import Archive
    from agent_journal.config import Config


class Erased(NamedTuple):
    """What was erased."""

    freed: int = 0
    """The number of bytes that were freed in the vault."""
    replaced: Sequence[str] = ()
    """The sources whose damaged bytes were replaced, each with the consequence."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"freed": self.freed, "replaced": [*self.replaced]}


def forget(
    config: Config,
    keys: Callable[[Archive], list[int]],
    on_progress: Callable[[int, int], None] | None = None,
    *,
    memories: bool = False,
    names: Iterable[str] = (),
) -> tuple[int, Erased]:
    """Erase conversations from rows, vault and index; return how many, and what was erased in the vault.

    With `memories`, all of these are erased as well. `on_progress` gets the number of entries in the new
    index and their total. Raises UnfinishedErasure if the conversations are forgotten but still in some file:
    `finish_forgetting` continues, and whoever requests the same `names` again gets that error.
    """
    from agent_journal.archive import forgetting  # noqa: PLC0415 (rarely needed)

    with archive.open_to_write(config.home) as opened:
        chosen = keys(opened)
        forgetting.forget(opened, chosen, utc_now(), memories=memories, names=names)
        return len(chosen), finish_erasing(opened, config, on_progress)


def finish_forgetting(config: Config) -> Erased | None:
    """Finish an earlier `forget` that was interrupted; None if there was none.

    Raises UnfinishedErasure if it still cannot be finished, ArchiveInUse if another process is writing.
    """
    with archive.open_to_read(config.home) as opened:
        if opened.store.pending_erasure() is None:
            return None
    with archive.open_to_write(config.home, wait=0, create=False) as opened:
        return finish_erasing(opened, config)


def finish_erasing(
    opened: Archive, config: Config, on_progress: Callable[[int, int], None] | None = None
) -> Erased:
    """Erase what is forgotten but still stored somewhere.

    A killed process may have left it, or it came back with a file that contains other things too.
    """
    pending = opened.store.pending_erasure()
    if pending is None:
        return Erased()
    from agent_journal.archive import forgetting  # noqa: PLC0415 (rarely needed)
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    freed, failures, replaced = forgetting.finish_erasing(opened)
    if pending.rows:
        # Words of what was removed would stay in the index's files for a while.
        steps: list[Callable[[], None]] = [
            opened.store.compact,
            lambda: index_upkeep.rebuild(opened, config, on_progress),
            lambda: embeddings.erase_stale(opened, config),
        ]
        for step in steps:  # if one fails, the others still erase what they can
            try:
                step()
            except AgentJournalError as error:
                failures.append(error)
            except OSError as error:
                failures.append(CannotWrite(str(config.home), (error.strerror or str(error)).lower()))
    if failures:
        raise UnfinishedErasure(failures[0]) from failures[0]
    with opened.store.transaction():
        opened.store.set_pending_erasure(None)
    return Erased(freed, replaced)


@contextmanager
def finishing_erasure(opened: Archive, config: Config) -> Iterator[None]:
    """Finish what an earlier process began to erase, before and after the body.

    What cannot be erased does not prevent the body; the error is raised at the end.
    """
    with suppress(UnfinishedErasure):
        finish_erasing(opened, config)
    yield
    finish_erasing(opened, config)
