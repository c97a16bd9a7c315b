"""`aj demo`: a small journal of sample data, to try the commands on."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_journal.cli import _home
from agent_journal.cli import list as listing
from agent_journal.cli import search as searching
from agent_journal.cli import show as showing
from agent_journal.errors import CannotWrite
from agent_journal.journal import demo
from agent_journal.terminal import show
from agent_journal.terminal.command_name import command_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOUR: tuple[tuple[click.Command, str, str], ...] = (
    (listing.command, "list", "List the conversations of a journal, newest first:"),
    (searching.command, "search 'summer time'", "Search the conversations of all tools:"),
    (showing.command, "show 7d3c --no-pager", "Show a conversation by the first characters of its id:"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Create the journal in DIR, a new folder, and leave it there.",
)
def command(*, keep: Path | None) -> None:
    """Create a small journal of sample data, and show three commands on it.

    Your own journal and your tools' conversations are not read.
    """
    aj = command_name()
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="aj-demo-") as folder:
            _tour(Path(folder) / "journal", aj)
        show(
            f"The sample journal is deleted again. '{aj} demo --keep DIR' leaves one to try more commands on."
        )
    else:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise CannotWrite(str(keep), "it already exists; choose a new folder")
        _tour(keep.absolute(), f"{aj} --home {shlex.quote(str(keep))}")
        show(f"The sample journal is in {keep}. Delete the folder when you no longer need it.")
    for line in _next_steps(aj):
        show(line)


def _tour(home: Path, aj: str) -> None:
    demo.fill(home)
    before = _home.option()
    _home.use(str(home), ignore_variables=True)  # also in the environment of a user who has settings
    try:
        for number, (verb, arguments, summary) in enumerate(_TOUR, 1):
            show(("dim", f"{number}. {summary}"))
            show(("strong", f"$ {aj} {arguments}"))
            name, *rest = shlex.split(arguments)
            with verb.make_context(f"aj {name}", rest) as context:
                verb.invoke(context)
            show("")
    finally:
        _home.use(before)


def _next_steps(aj: str) -> Iterator[str]:
    yield "Next, with your own conversations:"
    yield f"  {aj} sync         archive the conversations on this machine; nothing is sent anywhere"
    yield f"  {aj} import PATH  archive an export, a folder or a zip"
    yield f"  {aj} doctor       show which tools were found, and which of them delete conversations"
