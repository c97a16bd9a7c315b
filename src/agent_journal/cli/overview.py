"""`aj` without a command: what is archived, what is new on disk, and what to try next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from agent_journal import readers
from agent_journal.cli import _home
from agent_journal.cli._journal import conversation_count, writable_journal
from agent_journal.terminal import out, show
from agent_journal.terminal.command_name import command_name
from agent_journal.terminal.local_times import short
from agent_journal.terminal.measure import cut
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count, missing_files, size
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from agent_journal.journal import Counts, Inventory, Journal

# A prefix of this length nearly always identifies a conversation.
_ID_PREFIX_CHARS = 8
_MIN_SUMMARY_COLUMNS = 20
_ARCHIVED_COLUMNS = (
    Column("source"),
    Column("conversations", right=True),
    Column("messages", right=True),
    Column("newest"),
    Column("new on disk"),
)
_ON_DISK_COLUMNS = (
    Column("source"),
    Column("files", right=True),
    Column("size", right=True),
    Column("location", gives_way=True),
)

_IMPORT = ("import PATH", "archive an export, a folder or a zip")
_HELP = ("--help", "list all commands")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Show what is archived, what is new on disk, and what to try next."""
    with writable_journal() as journal:
        if not journal.exists:
            _show_without_journal(journal.inventory())
            return
        counts = journal.count()
        newest = next(iter(journal.list(limit=1).items), None)
        newest_id = _typed_id(newest.id, journal) if newest else ""
        on_disk = journal.inventory()
    _show_journal(counts, on_disk)
    new = f"archive {count(on_disk.new_files, 'file')} ({size(on_disk.new_bytes)})"
    _show_next_steps(
        ("sync", new) if on_disk.new_files else None,
        ("search WORDS", "search all conversations") if counts.messages else None,
        _IMPORT if not (counts.messages or on_disk.new_files) else None,
        (f"show {shlex.quote(newest_id)}", newest.title or "show the newest conversation")
        if newest
        else None,
        ("watch", "keep archiving while agents write") if not on_disk.new_files else None,
        _HELP,
    )


def _show_without_journal(on_disk: Inventory) -> None:
    sources = [each for each in on_disk.by_source.values() if each.files]
    if sources:
        files, bytes_ = sum(each.files for each in sources), sum(each.bytes for each in sources)
        show(f"There is no journal yet. Found on this machine: {count(files, 'file')} ({size(bytes_)}).")
        show("")
        rows = ((each.title, f"{each.files:,}", size(each.bytes), ", ".join(each.homes)) for each in sources)
        show_table(out(), _ON_DISK_COLUMNS, rows)
        show("")
    else:
        show("There is no journal yet, and no conversations of known tools were found on this machine.")
    _show_encrypted(on_disk)
    _show_next_steps(
        ("sync", "archive all of them; nothing is sent anywhere, no source is changed") if sources else None,
        _IMPORT if not sources else None,
        ("demo", "try it out on sample data"),
        _HELP,
    )


def _show_journal(counts: Counts, on_disk: Inventory) -> None:
    memories = f", {count(counts.memories, 'memory', 'memories')}" if counts.memories else ""
    show(
        f"{conversation_count(counts.conversations, counts.hidden_from_lists)}, "
        f"{count(counts.messages, 'message')}{memories} from {count(counts.sources, 'file')}"
        + (f", {missing_files(counts.missing)}" if counts.missing else "")
    )
    show("")
    known = readers.discover()
    names = {
        **dict.fromkeys(counts.by_source),
        **{name: None for name, each in on_disk.by_source.items() if each.new_files},
    }
    rows = []
    for name in names:
        archived = counts.by_source.get(name, {})
        each = on_disk.by_source.get(name)
        title = each.title if each else known[name].INFO.title if name in known else name
        rows.append(
            (
                title,
                f"{archived.get('conversations', 0):,}",
                f"{archived.get('messages', 0):,}",
                short(archived.get("updated_at")),
                f"{count(each.new_files, 'file')}, {size(each.new_bytes)}" if each and each.new_files else "",
            )
        )
    if rows:
        show_table(out(), _ARCHIVED_COLUMNS, rows)
        show("")
    _show_encrypted(on_disk)


def _show_encrypted(on_disk: Inventory) -> None:
    for each in on_disk.encrypted:
        show(str(each))
    if on_disk.encrypted:
        show("")


def _typed_id(id_: str, journal: Journal) -> str:
    """An id as a user would type it: on a terminal, a prefix if that is unambiguous."""
    prefix = id_[:_ID_PREFIX_CHARS]
    return prefix if out().width is not None and len(journal.find(prefix)) == 1 else id_


def _show_next_steps(*steps: tuple[str, str] | None) -> None:
    """Show commands to try, each with a summary."""
    commands = [(f"{_program()} {step[0]}", step[1]) for step in steps if step]
    widest = max(len(command) for command, _ in commands)
    width = out().width
    for command, summary in commands:
        line = one_line(summary)
        if width is not None:
            line = cut(line, max(width - widest - 4, _MIN_SUMMARY_COLUMNS))
        show("  ", ("strong", f"{command:{widest}}"), f"  {line}")


def _program() -> str:
    """How to call `aj` for the same journal again."""
    folder = _home.option()
    return f"{command_name()} --home {shlex.quote(folder)}" if folder is not None else command_name()
