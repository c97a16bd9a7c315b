"""Markdown for people: messages with author and time, with tool calls and reasoning folded."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, cast

from agent_journal.writers import WriterInfo
from agent_journal.writers.markdown.index import write_index, write_missing
from agent_journal.writers.markdown.page import write_page
from agent_journal.writers.rendering.pages import PageSet, write_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import PageFormat

INFO = WriterInfo(
    name="markdown",
    title="Markdown",
    suffix=".md",
    layout="pages",
    loses=(
        "token usage of single messages",
        "offered tools; requests, except for the reasons they failed",
        "signatures and encrypted reasoning",
        "source-specific fields",
        "account, editor, system and shell; whether it is archived",
        "response ids, stop reasons, shares of token counts, positions of citations",
        "times of feedback; messages that summaries and links refer to; generated ids",
    ),
    evidence="CommonMark 0.31 with the HTML elements details, summary and a; verified with comrak",
)
__all__ = ["INFO", "write", "write_index", "write_missing", "write_page", "write_pages"]


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write all items into one document."""
    pages = PageSet(run, None, embeds=False)
    for item in items:
        write_page(item, pages.add_page(item), out)
    for missing in pages.missing_pages():
        write_missing(missing, out)


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a file for each item, and `index.md`."""
    write_folder(items, bundle, run, cast("PageFormat", sys.modules[__name__]), INFO.suffix)
