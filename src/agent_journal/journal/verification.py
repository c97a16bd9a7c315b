"""Check a journal: rows, vault, index and embeddings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.archive import checking, vault_checks
from agent_journal.archive.checking import Problem
from agent_journal.archive.store import Counts
from agent_journal.archive.vault_checks import CheckOutcome
from agent_journal.errors import AgentJournalError, ArchiveInUse
from agent_journal.journal import embeddings, index_upkeep
from agent_journal.journal.erasing import Erased, finish_forgetting

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.config import Config


class CheckReport(msgspec.Struct, kw_only=True):
    """What a check found, and what it read."""

    problems: list[Problem]
    counts: Counts
    is_deep: bool
    vault_check: CheckOutcome
    vault_read_at: str | None
    """Since when all of the vault has been read."""
    outdated: str
    """What the index lacks until the next sync; empty if nothing."""
    is_erased: bool
    """Whether everything that was forgotten is erased."""
    unfinished: str
    """Why an earlier `forget` cannot be finished; empty if there is none."""
    finished: Erased | None
    """What was erased of an earlier `forget` that had been interrupted."""

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON values; `problems` are separate."""
        checked = {
            "conversations": self.counts.conversations,
            "messages": self.counts.messages,
            "files": self.counts.sources,
            "bytes": self.counts.bytes,
            "deep": self.is_deep,
            "vault": {
                "read": self.vault_check.read_bytes,
                "bytes": self.vault_check.total_bytes,
                "read_at": self.vault_read_at,
                "damaged": len(self.vault_check.damage),
            },
        }
        return {
            "ok": not self.problems,
            "checked": checked,
            "behind": self.outdated,
            "is_erased": self.is_erased,
        }


def check(
    archive: Archive, config: Config, *, deep: bool, finished: Erased | None, unfinished: str
) -> CheckReport:
    """Check an archive and its index. Each check reads a part of the vault, a deep one all of it."""
    counts = archive.store.counts()
    index = index_upkeep.check_index(archive, config)
    vault = vault_checks.check(archive, checking.needed_blobs(archive), time.time(), deep=deep)
    read_at = checking.vault_read_at(archive)
    problems = [
        *checking.problems(archive, deep=deep, vault=vault),
        *(Problem(*each) for each in (*index.problems, *embeddings.find_problems(archive, config))),
    ]
    is_erased = archive.store.pending_erasure() is None
    if unfinished and not is_erased:
        problems.append(Problem(str(config.home), unfinished))
    return CheckReport(
        problems=problems,
        counts=counts,
        is_deep=deep,
        vault_check=vault,
        vault_read_at=read_at,
        outdated=index.outdated,
        is_erased=is_erased,
        unfinished=unfinished,
        finished=finished,
    )


def finish_before(config: Config) -> tuple[Erased | None, str]:
    """Finish an interrupted `forget`; return what was erased, and why it cannot be finished."""
    try:
        return finish_forgetting(config), ""
    except ArchiveInUse:
        return None, ""
    except AgentJournalError as error:
        return None, str(error)
