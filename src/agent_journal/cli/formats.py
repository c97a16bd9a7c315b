"""`aj formats`: the formats that can be read and written, and what each of them does not preserve."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, get_args

import click

from agent_journal import readers, writers
from agent_journal.terminal import show_json, show_text

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per format.")
def command(*, as_json: bool) -> None:
    """List the formats that can be read, with their versions, and those that can be written."""
    if as_json:
        for row in rows():
            show_json(row)
        return
    for heading, group in groupby(rows(), _heading):
        show_text(f"{heading}:")
        for row in group:
            show_text(_line(row))


def rows() -> Iterator[dict[str, Any]]:
    """Every reader and writer as data, readers by category."""
    categories = get_args(readers.Category)
    infos = sorted((reader.INFO for reader in readers.discover().values()), key=lambda info: info.name)
    for info in sorted(infos, key=lambda info: categories.index(info.category)):
        yield {
            "kind": "reader",
            "name": info.name,
            "title": info.title,
            "category": info.category,
            "products": readers.product_names(info),
            "versions": list(info.versions),
            "revision": info.revision,
            "homes": list(info.homes),
            "evidence": info.evidence,
        }
    for _, writer in sorted(writers.discover().items()):
        yield {
            "kind": "writer",
            "name": writer.INFO.name,
            "title": writer.INFO.title,
            "suffix": writer.INFO.suffix,
            "layout": writer.INFO.layout,
            "loses": list(writer.INFO.loses),
            "evidence": writer.INFO.evidence,
        }


def _heading(row: dict[str, Any]) -> str:
    """What a format is listed under."""
    if row["kind"] == "writer":
        return "What can be written"
    category: str = row["category"]
    return f"What can be read: {category}"


def _line(row: dict[str, Any]) -> str:
    if row["kind"] == "reader":
        first = f"read   {row['name']:20} {', '.join(row['products'])} ({', '.join(row['versions'])})"
    else:
        loses = f"not preserved: {'; '.join(row['loses'])}" if row["loses"] else "preserves everything"
        first = f"write  {row['name']:20} {row['title']}; {loses}"
    return f"{first}\n{'':28}based on {row['evidence']}"
