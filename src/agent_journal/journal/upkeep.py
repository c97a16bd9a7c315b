"""Maintain a journal: rebuild the index, repair damage, compute embeddings, measure disk usage."""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from agent_journal import archive
from agent_journal.errors import AgentJournalError, CannotWrite, DamagedArchive, UnusableArchive
from agent_journal.journal import index_upkeep
from agent_journal.journal.clock import utc_now
from agent_journal.journal.erasing import finishing_erasure
from agent_journal.journal.importing import importer, largest_media

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.backup import Copied
    from agent_journal.archive.candidates import ImportCandidate, Result
    from agent_journal.archive.repairing import Repaired, RepairOutcome
    from agent_journal.config import Config
    from agent_journal.journal import embeddings

_EMBED_LOCK_WAIT_S = 1.0
"""How long `embed` waits for a process that computes embeddings; a sync holds that lock for a moment."""


def reindex(
    config: Config,
    *,
    from_vault: bool = False,
    on_result: Callable[[Result], None],
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Rebuild the index from the rows; with `from_vault`, first re-import everything in the vault."""
    with archive.open_to_write(config.home) as opened, finishing_erasure(opened, config):
        if from_vault:
            with importer(opened, utc_now(), lambda _: None, on_result) as running:
                for row in list(opened.store.sources()):
                    running.reimport(row)
        index_upkeep.rebuild(opened, config, on_progress)


def update_index(config: Config, *, from_scratch: bool) -> bool:
    """Bring the index up to the rows, or rebuild it; return whether that was done.

    It is not done while another process is writing.
    """
    try:
        with archive.open_to_write(config.home, wait=0, create=False) as opened:
            if from_scratch:
                index_upkeep.rebuild(opened, config)
            else:
                with index_upkeep.Indexer(opened, config) as indexer:
                    indexer.catch_up()
    except (AgentJournalError, OSError):
        return False
    return True


def repair(
    config: Config,
    backup: Path | None = None,
    *,
    gives_up: bool = False,
    on_message: Callable[[str], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> RepairOutcome:
    """Repair damage in rows and vault from the sources, from a backup, and from each other.

    With `gives_up`, the journal does without what is nowhere else. A damaged index is rebuilt.
    """
    from agent_journal.archive import repairing  # noqa: PLC0415 (rarely needed)

    try:
        return _repair(config, backup, gives_up=gives_up, on_message=on_message, on_wait=on_wait)
    except (UnusableArchive, DamagedArchive) as error:
        # A journal may also be of a newer version, or of another machine: then it is not damaged.
        is_damaged = DamagedArchive in {type(error), type(error.__cause__)} or repairing.has_no_rows(
            config.home
        )
        if backup is None or not is_damaged:
            raise
        restored = repairing.restore_rows(config.home, backup)
    outcome = _repair(config, backup, gives_up=gives_up, on_message=on_message, on_wait=on_wait)
    return outcome._replace(repaired=[*restored, *outcome.repaired])


def _repair(
    config: Config,
    backup: Path | None,
    *,
    gives_up: bool,
    on_message: Callable[[str], None] | None,
    on_wait: Callable[[str], None] | None,
) -> RepairOutcome:
    from agent_journal.archive.repairing import Repair  # noqa: PLC0415 (rarely needed)

    with (
        archive.open_to_write(config.home, on_wait=on_wait, create=False) as opened,
        archive.open_without_migrating(backup) if backup is not None else nullcontext() as copy,
        finishing_erasure(opened, config),
    ):
        repairing = Repair(opened, utc_now(), on_message or (lambda _: None))
        outcome = repairing.run(
            copy, gives_up=gives_up, reimport=lambda candidates: _import_again(opened, config, candidates)
        )
        if backup is not None and opened.store.is_damaged():
            raise DamagedArchive(str(config.home / archive.DATABASE), "the database is damaged")
        if index_upkeep.check_index(opened, config).problems:
            index_upkeep.rebuild(opened, config)
            outcome.repaired.append(describe_rebuilt_index(config))
        return outcome


def _import_again(opened: Archive, config: Config, candidates: list[ImportCandidate]) -> None:
    with (
        index_upkeep.Indexer(opened, config) as indexer,
        importer(
            opened,
            utc_now(),
            indexer.apply,
            lambda _: None,
            largest_media=largest_media(config),
            repairs_rows=True,
        ) as running,
    ):
        for each in candidates:
            running.take(each)


def describe_rebuilt_index(config: Config) -> Repaired:
    """Return the report of a damaged index that was rebuilt."""
    from agent_journal.archive.repairing import Repaired  # noqa: PLC0415 (rarely needed)

    return Repaired(str(config.storage.index_path), "rebuilt, because it was damaged")


def embed(
    config: Config,
    *,
    from_scratch: bool = False,
    seconds: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> embeddings.State:
    """Compute the vectors of entries that have none, newest first, for about `seconds`; return the progress.

    With `from_scratch`, all vectors are computed again. Raises ArchiveInUse if another process is embedding.
    """
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as opened:
        model, problem = embeddings.choose_model(config)
        if config.index.vector.enabled and model is not None:
            embedder = embeddings.Embedder(opened, config, model)
            embedder.run(
                seconds=seconds, on_progress=on_progress, wait=_EMBED_LOCK_WAIT_S, from_scratch=from_scratch
            )
            sentence_model, sentence_problem = embeddings.load_sentence_model(config, model)
            problem = problem or sentence_problem
            if sentence_model is not None:
                folder = embeddings.sentence_folder(config)
                embeddings.Embedder(opened, config, sentence_model, folder).run(
                    seconds=seconds, on_progress=on_progress, from_scratch=from_scratch
                )
        state = embeddings.read_state(opened, config)
        return state._replace(problem=state.problem or problem)


def embed_newest(config: Config) -> None:
    """Compute the vectors of what was just imported, unless it is so much that it takes long."""
    if not config.index.vector.enabled:
        return
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as opened:
        embeddings.embed_newest(opened, config)


def embed_in_background(config: Config) -> bool:
    """Start a process that computes missing vectors if they are many; return whether one is running."""
    if not (config.index.vector.enabled and config.index.vector.background):
        return False
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    with archive.open_to_read(config.home) as opened:
        return embeddings.start_in_background(opened, config)


def backup(config: Config, path: str, on_migrate: Callable[[], None] | None = None) -> Copied:
    """Copy a journal with its settings into a new or empty folder, and verify the copy."""
    import shutil  # noqa: PLC0415 (slow to import, and rarely needed)
    from pathlib import Path  # noqa: PLC0415

    from agent_journal.archive.backup import backup as copy_archive  # noqa: PLC0415
    from agent_journal.config import FILE_NAME  # noqa: PLC0415

    target = Path(path)
    if config.home.resolve() in target.resolve().parents:
        reason = "it is in the journal's own folder, and would be lost with it; choose another folder"
        raise CannotWrite(path, reason)
    with archive.open_to_read(config.home, on_migrate) as opened:
        copied = copy_archive(opened, target)
    if (config.home / FILE_NAME).exists():
        copy = target / FILE_NAME
        shutil.copy(config.home / FILE_NAME, copy)
        copy.chmod(0o600)
    return copied


def is_part_of_journal(path: str) -> bool:
    """Whether a path within the journal's folder is one of its own files."""
    from agent_journal.config import FILE_NAME  # noqa: PLC0415

    first = path.partition(os.sep)[0]
    return first in {archive.VAULT, archive.LOCK, FILE_NAME} or first.startswith(archive.DATABASE)


def disk_usage(config: Config) -> dict[str, int]:
    """Return the number of bytes of each part of a journal."""
    from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

    return {
        "rows": _bytes_in(config.home / archive.DATABASE),
        "vault": _bytes_in(config.home / archive.VAULT),
        "index": _bytes_in(config.storage.index_path),
        "vectors": _bytes_in(embeddings.vectors_folder(config))
        + _bytes_in(embeddings.sentence_folder(config)),
    }


def _bytes_in(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    total = 0
    for file in path.rglob("*"):
        with suppress(FileNotFoundError):  # a writer may replace files meanwhile
            total += file.stat().st_size if file.is_file() else 0
    return total
