"""`aj watch`: keep importing while agents write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import readers
from agent_journal.cli._journal import writable_journal
from agent_journal.cli._options import SOURCE_HELP
from agent_journal.journal import Status
from agent_journal.terminal import flush, say, show, show_json

if TYPE_CHECKING:
    from agent_journal.journal import Result


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--source", "names", multiple=True, metavar="NAME", help=SOURCE_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per file that is imported.")
def command(*, names: tuple[str, ...], as_json: bool) -> None:
    """Import new conversations like 'aj sync', then keep importing as agents write, until interrupted."""

    def report(result: Result) -> None:
        if as_json:
            show_json(result.to_dict())
        elif result.status not in {Status.IMPORTED, Status.PARTLY, Status.PENDING}:
            say(f"{result.status}: {result.notes[0] if result.notes else result.file}")
        elif result.new_messages or result.new_memories:
            show(f"{result.source}  +{result.new_messages + result.new_memories:,}  {result.file}")
        flush()

    for name in names:
        readers.named(name)  # raises if there is no such source
    with writable_journal() as journal:
        journal.watch(names, on_result=report, on_message=lambda text: say(f"aj: {text}")).run()
