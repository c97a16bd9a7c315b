"""Markdown for people: who said what and when, with tools and thoughts folded away."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, cast

from agent_journal.writers import WriterInfo
from agent_journal.writers.markdown.index import absent, index
from agent_journal.writers.markdown.page import page
from agent_journal.writers.rendering.pages import Book, write_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import Form

INFO = WriterInfo(
    name="markdown",
    title="Markdown",
    suffix=".md",
    layout="pages",
    loses=(
        "tokens of single messages",
        "tools that were offered, and requests, except for why they failed",
        "signatures and encrypted thoughts",
        "what only the source has a field for",
    ),
    evidence="CommonMark 0.31 with the HTML elements details, summary and a; verified with comrak",
)
__all__ = ["INFO", "absent", "index", "page", "write", "write_pages"]


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write all items one below the other."""
    book = Book(run, None, embeds=False)
    for item in items:
        page(item, book.page(item), out)
    for missing in book.absent():
        absent(missing, out)


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a file for each item, and `index.md`."""
    write_folder(items, bundle, run, cast("Form", sys.modules[__name__]), INFO.suffix)
