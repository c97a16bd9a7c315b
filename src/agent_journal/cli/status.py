"""`aj status`: what is in the journal, how large it is, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agent_journal import journal
from agent_journal.archive import checking
from agent_journal.archive.store import Status
from agent_journal.cli._journal import conversations_told, reading, settings
from agent_journal.journal import embeddings, index_upkeep
from agent_journal.terminal import out, show, show_json
from agent_journal.terminal.local_times import short
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count, not_whole, size

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.config import Config

_COLUMNS = (
    Column("source"),
    Column("conversations", right=True),
    Column("messages", right=True),
    Column("newest"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--problems", is_flag=True, help="Name every file that could not be read whole, and why.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(*, problems: bool, as_json: bool) -> None:
    """Tell what is in the journal."""
    with reading() as archive:
        if problems:
            _name_problems(archive, as_json=as_json)
        elif as_json:
            show_json(told(archive, settings()))
        else:
            _show(told(archive, settings()))


def told(archive: Archive, config: Config) -> dict[str, Any]:
    """The state of a journal as data."""
    counts = archive.store.counts()
    return {
        "home": str(config.home),
        "conversations": counts.conversations,
        "aside": counts.aside,
        "messages": counts.messages,
        "tool_calls": counts.tool_calls,
        "memories": counts.memories,
        "sources": counts.by_source,
        "files": counts.sources,
        "missing": counts.missing,
        "partly": counts.partly,
        "unread": counts.unread,
        "bytes": counts.bytes,
        "disk": journal.disk(config),
        "vault": {
            "damaged": len(checking.vault_damage(archive)),
            "read_at": checking.vault_read_at(archive),
        },
        "index": index_upkeep.state(archive, config),
        "vectors": embeddings.state(archive, config)._asdict(),
    }


def _show(told: dict[str, Any]) -> None:
    disk = told["disk"]
    show(
        f"{told['home']}: {conversations_told(told['conversations'], told['aside'])}, "
        f"{count(told['messages'], 'message')}, {count(told['memories'], 'memory', 'memories')} "
        f"from {count(told['files'], 'file')} ({size(told['bytes'])})"
    )
    show(
        f"on disk: rows {size(disk['rows'])}, vault {size(disk['vault'])}, index {size(disk['index'])}, "
        f"vectors {size(disk['vectors'])}"
    )
    if damaged := told["vault"]["damaged"]:
        show(f"{count(damaged, 'piece')} of the vault damaged or gone; 'aj repair' heals what can be healed")
    if told["vault"]["read_at"]:
        show(f"all of the vault was last read {short(told['vault']['read_at'])}")
    if told["missing"]:
        show(f"{count(told['missing'], 'file')} gone from disk and kept here")
    if lacking := not_whole(told["partly"], told["unread"]):
        show(f"of these files {lacking}; --problems names them")
    if not told["index"]["whole"]:
        show(f"the index is behind: {told['index']['problem'] or 'run aj sync'}")
    _show_vectors(told["vectors"])
    rows = (
        (name, f"{each['conversations']:,}", f"{each['messages']:,}", short(each["updated_at"]))
        for name, each in told["sources"].items()
    )
    show_table(out(), _COLUMNS, rows)


def _show_vectors(vectors: dict[str, Any]) -> None:
    """How far search by meaning is, unless all is well."""
    if vectors["problem"]:
        show(f"search by meaning: {vectors['problem']}")
    elif not vectors["whole"]:
        goes_on = (
            f"being prepared{vectors['running']}" if vectors["running"] else "'aj embed' prepares the others"
        )
        show(f"by meaning {vectors['done']:,} of {vectors['entries']:,} entries are found; {goes_on}")


def _name_problems(archive: Archive, *, as_json: bool) -> None:
    for row in archive.store.sources():
        if row.status not in {Status.IMPORTED, Status.FORGOTTEN}:
            whole = archive.store.source_by_key(row.key)
            if as_json:
                show_json(
                    {"file": row.path, "status": row.status, "bytes": row.defects, "notes": whole.notes}
                )
                continue
            show(f"{row.path}: {row.status}, {row.defects:,} bytes")
            for note in whole.notes:
                # In a folder or zip it is told which file it is about.
                file = note["file"].removeprefix(row.path).lstrip("/")
                place = " ".join(part for part in (file, note["where"]) if part)
                show("  " + ": ".join(part for part in (place, note["kind"], note["detail"]) if part))
