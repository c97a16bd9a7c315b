"""`aj` without a verb: what is archived, what is new on disk, and what to try next."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from agent_journal import archive, discovery, readers
from agent_journal.cli._journal import conversations_told, reading, settings
from agent_journal.journal import inventory
from agent_journal.terminal import out, show
from agent_journal.terminal.local_times import short
from agent_journal.terminal.measure import cut
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count, size
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from agent_journal.archive import Archive
    from agent_journal.archive.store import Counts
    from agent_journal.journal.inventory import Survey

# Letters of an id that mostly tell it from others, and columns in which a hint can be read.
_ENOUGH = 8
_LEAST = 20
_ARCHIVED = (
    Column("source"),
    Column("conversations", right=True),
    Column("messages", right=True),
    Column("newest"),
    Column("new on disk"),
)
_FOUND = (
    Column("source"),
    Column("files", right=True),
    Column("size", right=True),
    Column("where", gives_way=True),
)

_IMPORT = ("aj import PATH", "archive an export, a folder or a zip")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Tell what is archived, what is new on disk, and what to try next."""
    config = settings()
    here = discovery.here()
    if not archive.exists(config.home):
        _without_journal(inventory.taken(config, os.environ, here, None))
        return
    with reading() as kept:
        counts = kept.store.counts()
        newest = next(kept.store.conversations(archive.store.Filter(), limit=1), None)
        shown = _shown(newest.id, kept) if newest else ""
        seen = inventory.taken(config, os.environ, here, kept)
    _with_journal(counts, seen)
    _try(
        ("aj sync", f"archive {count(seen.new_files, 'file')} ({size(seen.new_bytes)})")
        if seen.new_files
        else None,
        ("aj search WORDS", "find what was said, thought or done") if counts.messages else None,
        _IMPORT if not (counts.messages or seen.new_files) else None,
        (f"aj show {shlex.quote(shown)}", newest.title or "the newest conversation") if newest else None,
        ("aj watch", "keep archiving while agents write") if not seen.new_files else None,
        ("aj --help", "everything else"),
    )


def _without_journal(seen: Survey) -> None:
    found = [each for each in seen.by_source.values() if each.files]
    if found:
        files, bytes_ = sum(each.files for each in found), sum(each.bytes for each in found)
        told = f"{count(files, 'history', 'histories')} ({size(bytes_)})"
        show(f"There is no journal yet. Found on this machine: {told}")
        show("")
        rows = ((each.title, f"{each.files:,}", size(each.bytes), ", ".join(each.homes)) for each in found)
        show_table(out(), _FOUND, rows)
        show("")
    else:
        show("There is no journal yet, and no history of a known tool was found on this machine.")
    _try(
        ("aj sync", "archive them all; nothing is sent anywhere, no source is changed") if found else None,
        _IMPORT if not found else None,
        ("aj demo", "see it work on a few histories made up for that"),
        ("aj --help", "everything else"),
    )


def _with_journal(counts: Counts, seen: Survey) -> None:
    memories = f", {count(counts.memories, 'memory', 'memories')}" if counts.memories else ""
    show(
        f"{conversations_told(counts.conversations, counts.aside)}, "
        f"{count(counts.messages, 'message')}{memories} from {count(counts.sources, 'file')}"
        + (f"; gone from disk and kept here: {counts.missing:,}" if counts.missing else "")
    )
    show("")
    known = readers.discover()
    names = {
        **dict.fromkeys(counts.by_source),
        **{name: None for name, each in seen.by_source.items() if each.new_files},
    }
    rows = []
    for name in names:
        told = counts.by_source.get(name, {})
        each = seen.by_source.get(name)
        title = each.title if each else known[name].INFO.title if name in known else name
        rows.append(
            (
                title,
                f"{told.get('conversations', 0):,}",
                f"{told.get('messages', 0):,}",
                short(told.get("updated_at")),
                f"{count(each.new_files, 'file')}, {size(each.new_bytes)}" if each and each.new_files else "",
            )
        )
    if rows:
        show_table(out(), _ARCHIVED, rows)
        show("")


def _shown(id_: str, kept: Archive) -> str:
    """An id as it is to be typed: on a terminal as much of it as does."""
    begun = id_[:_ENOUGH]
    return begun if out().width is not None and len(kept.store.find(begun)) == 1 else id_


def _try(*lines: tuple[str, str] | None) -> None:
    told = [(_called(line[0]), line[1]) for line in lines if line]
    widest = max(len(command) for command, _ in told)
    room = out().width
    for each, what in told:
        line = one_line(what)
        if room is not None:
            line = cut(line, max(room - widest - 4, _LEAST))
        show("  ", ("strong", f"{each:{widest}}"), f"  {line}")


def _called(command: str) -> str:
    """A command as it has to be typed: for another journal, with the flag that was given now."""
    named = len(sys.argv) > 1 and sys.argv[1].startswith("--home")
    return command.replace("aj ", f"aj --home {shlex.quote(os.environ['AJ_HOME'])} ", 1) if named else command
