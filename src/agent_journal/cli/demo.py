"""`aj demo`: a small journal of our own making, to see it work."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_journal.cli import list as listing
from agent_journal.cli import search as searching
from agent_journal.cli import show as showing
from agent_journal.errors import CannotWrite
from agent_journal.journal import demo
from agent_journal.terminal import show

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOUR: tuple[tuple[click.Command, str, str], ...] = (
    (listing.command, "list", "What is in a journal, newest first:"),
    (searching.command, "search 'summer time'", "Where something was said, thought or done, in any tool:"),
    (showing.command, "show 7d3c --no-pager", "One of them, by the beginning of its id:"),
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Leave the journal in a new folder, to try more.",
)
def command(*, keep: Path | None) -> None:
    """Make a small journal of histories made up for that, and show three commands on it.

    Your own journal and your own histories are not looked at.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="aj-demo-") as folder:
            _tour(Path(folder) / "journal", "aj")
        show("The demo's journal is gone again. 'aj demo --keep DIR' leaves it, to try more.")
    else:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise CannotWrite(str(keep), "it is there already; name a new folder")
        _tour(keep.absolute(), f"aj --home {shlex.quote(str(keep))}")
        show(f"The journal stays in {keep}; delete the folder when you have seen enough.")
    for line in _further():
        show(line)


def _tour(home: Path, called: str) -> None:
    demo.fill(home)
    _be_at(home)
    for number, (verb, arguments, what) in enumerate(_TOUR, 1):
        show(("dim", f"{number}. {what}"))
        show(("strong", f"$ {called} {arguments}"))
        name, *rest = shlex.split(arguments)
        with verb.make_context(f"aj {name}", rest) as context:
            verb.invoke(context)
        show("")


def _be_at(home: Path) -> None:
    """From here on the demo's journal is the one that is meant, without what a person settled for theirs."""
    for name in [name for name in os.environ if name.startswith("AJ_")]:
        del os.environ[name]
    os.environ["AJ_HOME"] = str(home)


def _further() -> Iterator[str]:
    yield "Now with your own:"
    yield "  aj sync         archive every history on this machine; nothing is sent anywhere"
    yield "  aj import PATH  archive an export, a folder or a zip"
    yield "  aj doctor       what was found where, and which tools delete their histories"
