"""`aj restore`: write the original files of conversations back to disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import open_journal
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.terminal import say, show, show_json
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.journal import RestoredFile


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@click.option(
    "-o", "folder", metavar="DIR", help="Restore below this folder instead of where the files were."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file, then the total.")
def command(*, names: tuple[str, ...], folder: str | None, as_json: bool) -> int:
    """Write the original files of conversations back to disk, byte for byte.

    Files of subagents and other companions are included. Each file is verified after it is written. A file
    that exists is never overwritten; if it has the same bytes, that is fine, otherwise the exit code is 3.
    """
    if folder == "":
        raise click.UsageError("The folder is empty; '.' stands for the current folder.")
    with open_journal() as journal:
        files = journal.restore(names, folder)
    if not files:
        say("aj: The vault has no file of this conversation; 'aj export' writes what the rows have.")
        return FAILED
    refused = [each for each in files if each.state in {"different", "not restorable"}]
    if as_json:
        for each in files:
            show_json(each.to_dict())
        show_json({"restored": _number(files, "restored"), "files": len(files)})
    else:
        _show(files)
    if not refused:
        return 0
    return PARTLY if len(refused) < len(files) else FAILED


def _show(files: list[RestoredFile]) -> None:
    for each in files:
        if each.reason:
            say(f"aj: Not restored: {each.path}: {each.reason}")
        else:
            show(f"{each.state}  {each.path}")
    restored, unchanged = _number(files, "restored"), _number(files, "already there")
    text = f"Restored {count(restored, 'file')}"
    show(f"{text}; {unchanged:,} already there with the same bytes." if unchanged else f"{text}.")


def _number(files: list[RestoredFile], state: str) -> int:
    return sum(each.state == state for each in files)
