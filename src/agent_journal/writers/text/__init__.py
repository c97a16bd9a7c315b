"""Plain text: everything that was said and done, to be read and searched with anything.

What others said stands four columns in, our own words at most two: no text can pass for them. Lines are as
long as they were; characters that could mislead are shown as escapes.
"""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, cast

from agent_journal.writers import WriterInfo
from agent_journal.writers.rendering.pages import Book, write_folder
from agent_journal.writers.text.page import absent, index, page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import Form

INFO = WriterInfo(
    name="text",
    title="Plain text",
    suffix=".txt",
    layout="pages",
    loses=(
        "in one document: images and files, except for their names",
        "tokens of single messages",
        "tools that were offered, and requests, except for why they failed",
        "signatures and encrypted thoughts",
        "what only the source has a field for",
    ),
    evidence="UTF-8, lines end with a line feed",
)
__all__ = ["INFO", "absent", "index", "page", "write", "write_pages"]


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write all items one below the other."""
    book = Book(run, None)
    for item in items:
        page(item, book.page(item), out)


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a file for each item, and `index.txt`."""
    write_folder(items, bundle, run, cast("Form", sys.modules[__name__]), INFO.suffix)
