"""Plain text: all messages and tool calls, to be read and searched with any tool.

Content is indented by four columns, labels by at most two, so no content can pass for a label. Lines are not
wrapped; misleading characters are shown as escapes.
"""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, cast

from agent_journal.writers import WriterInfo
from agent_journal.writers.rendering.pages import PageSet, write_folder
from agent_journal.writers.text.page import write_index, write_missing, write_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import PageFormat

INFO = WriterInfo(
    name="text",
    title="Plain text",
    suffix=".txt",
    layout="pages",
    loses=(
        "in one document: images and files, except for their names",
        "token usage of single messages",
        "offered tools; requests, except for the reasons they failed",
        "signatures and encrypted reasoning",
        "source-specific fields",
        "account, editor, system and shell; whether it is archived",
        "response ids, stop reasons, shares of token counts, positions of citations",
        "times of feedback; kinds of summaries and tools; generated ids",
    ),
    evidence="UTF-8 with line feeds",
)
__all__ = ["INFO", "write", "write_index", "write_missing", "write_page", "write_pages"]


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write all items into one document."""
    pages = PageSet(run, None)
    for item in items:
        write_page(item, pages.add_page(item), out)


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a file for each item, and `index.txt`."""
    write_folder(items, bundle, run, cast("PageFormat", sys.modules[__name__]), INFO.suffix)
