"""`aj cook`: API traces as a deduplicated graph of requests; the same as `aj convert -t cooked`."""

from __future__ import annotations

import click

from agent_journal import readers
from agent_journal.cli._output import output_path
from agent_journal.cli.convert import convert

_ANY = "auto"
DIALECTS = (_ANY, "openai", "claude", "responses", "gemini", "converse")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source", metavar="INPUT")
@click.option(
    "-o", "--output", metavar="PATH", callback=output_path, help="File to write. Default: standard output."
)
@click.option(
    "--format",
    "dialect",
    type=click.Choice(DIALECTS),
    default=_ANY,
    show_default=True,
    help="API of the recorded requests.",
)
def command(source: str, output: str | None, dialect: str) -> int:
    """Turn an API trace into a graph: each message and tool once, each request with its parent."""
    from_format = None if dialect == _ANY else _reader_of(dialect)
    return convert([source], "cooked", from_format=from_format, output=output)


def _reader_of(dialect: str) -> str | None:
    """The reader that reads this dialect, as `NAME@VERSION`."""
    for reader in readers.discover().values():
        if dialect in reader.INFO.versions:
            return f"{reader.INFO.name}@{dialect}"
    return None
